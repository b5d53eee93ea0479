import { isObject, type JsonObject } from '../../json/json.ts'
import { bareMediaType } from '../../network/media-type.ts'
import type { Flaw } from '../definition/flaw.ts'
import { objectOf, textOf } from '../definition/members.ts'
import { type FieldEncoding, STYLES, type ValueShape } from '../definition/operation.ts'
import { member, type TreePath } from '../definition/tree.ts'
import { describedAt } from '../openapi/described.ts'
import { isJsonType } from './read-mock.ts'
import { isFlat } from './value-shape.ts'

/** Members that say how a value is spelled; with one of them `contentType` has no effect (OpenAPI 3.1 section 4.8.15.1). */
const SPELLING = ['style', 'explode', 'allowReserved']
const QUERY_STYLES: readonly string[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']

/** The spellings of the fields of a form that `encoding` of a media type names, by name; `note` gets those that are not read. */
export function readEncodings(
  document: JsonObject,
  mediaAt: TreePath,
  { members }: ValueShape,
  note: (flaw: Flaw) => void,
): ReadonlyMap<string, FieldEncoding> {
  const { object: media } = describedAt(document, mediaAt)
  const described = objectOf(media, 'encoding')
  const found = new Map<string, FieldEncoding>()
  for (const name of Object.keys(described)) {
    const encoding = member(described, name) ?? null
    const shape = members?.get(name)
    if (!isObject(encoding) || shape === undefined) continue
    const read = readEncoding(encoding, shape)
    if (typeof read === 'string') note({ at: [...mediaAt, 'encoding', name], reason: read })
    else if (read !== undefined) found.set(name, read)
  }
  return found
}

function readEncoding(encoding: JsonObject, shape: ValueShape): FieldEncoding | string | undefined {
  const isComposed = shape.items !== undefined || shape.members !== undefined
  if (SPELLING.some((name) => encoding[name] !== undefined)) {
    const style = textOf(encoding, 'style') || 'form'
    const known = STYLES.find((each) => each === style)
    if (known === undefined || !QUERY_STYLES.includes(style))
      return `has the style ${style}, which is not read in a form`
    const explode =
      typeof encoding.explode === 'boolean' ? encoding.explode : style === 'form' || style === 'deepObject'
    const isSpelled = style === 'deepObject' || isFlat(shape, style === 'form' && explode)
    return isSpelled ? { style: known, explode } : 'holds lists or objects that its style does not spell'
  }
  const types = textOf(encoding, 'contentType')
    .split(',')
    .map(bareMediaType)
    .filter((type) => type !== '')
  if (types.length === 0) return undefined
  // Items of a list are fields of their own.
  if (types.every(isJsonType)) return shape.items === undefined ? { style: 'json', explode: true } : undefined
  if (!isComposed || types.some(isJsonType)) return undefined
  return shape.members === undefined ? undefined : `holds ${types[0]}, which is not read: JSON and text are`
}
