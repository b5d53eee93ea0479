import { nearest } from '../../../errors/suggest.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { type Flaw, type TreePath, toPointer } from '../definition/tree.ts'
import { holdingOf, KEYWORD_NAMES } from './schema-keywords.ts'
import { isKnownFormat } from './schema-work.ts'

/** Most sorts of words that are listed for one document. */
const MOST_LISTED = 100
/** Words of fewer letters are near to too many others. */
const SHORT = 5

/** Why a word has no effect. */
export interface Idleness {
  readonly reason: string
  /** The words that may have been meant. */
  readonly among?: readonly string[]
}

interface Noted extends Idleness {
  readonly at: TreePath
  isElsewhere: boolean
}

/** Words of a document that have no effect: each sort once, at its first place. */
export class IdleWords {
  readonly #found = new Map<string, Noted>()

  /** Their places, and what is meant by those that are spelled nearly like a known one. */
  get flaws(): Flaw[] {
    return [...this.#found.values()].map(({ at, reason, among = [], isElsewhere }) => {
      const word = at.at(-1)!
      const meant = word.length < SHORT ? undefined : nearest(word, among)
      const perhaps = meant === undefined ? '' : `; perhaps "${meant}" is meant`
      return { at, reason: `has no effect${isElsewhere ? ', here and elsewhere' : ''}: ${reason}${perhaps}` }
    })
  }

  note(at: TreePath, idleness: Idleness): void {
    const key = `${at.at(-1)} ${idleness.reason}`
    const known = this.#found.get(key)
    if (known === undefined) {
      if (this.#found.size < MOST_LISTED) this.#found.set(key, { at, ...idleness, isElsewhere: false })
    } else known.isElsewhere ||= toPointer(known.at) !== toPointer(at)
  }
}

/** Words of schemas that only readers need. */
const NOTES: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'example', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'nullable'],
  ...['externalDocs', 'xml', 'additionalItems', '$comment', '$defs', 'definitions', '$vocabulary'],
  ...['$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor'],
])

const DIALECTS = /^https?:\/\/(?:json-schema\.org\/draft\/2020-12\/|spec\.openapis\.org\/oas\/3\.[12]\/)/
const AS_2020: Idleness = { reason: 'schemas are read as those of JSON Schema 2020-12' }

/** Keywords that only count beside another one. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ...(['then', 'else'] as const).map((name) => [name, 'if'] as const),
  ...(['minContains', 'maxContains'] as const).map((name) => [name, 'contains'] as const),
])

const UNCOMPARED: ReadonlyMap<string, string> = new Map([
  ['discriminator', 'what fits is what "oneOf", "anyOf" and "const" say'],
  ['contentEncoding', 'texts are compared as they are, not decoded'],
  ['contentMediaType', 'texts are compared as they are, not decoded'],
  ['contentSchema', 'texts are compared as they are, not decoded'],
])

/** Why a word of a schema says nothing of values; undefined where it does, or where nobody expects that. */
export function idleKeyword(schema: JsonObject, name: string): Idleness | undefined {
  const value = schema[name]!
  if (NOTES.has(name) || name.startsWith('x-')) return undefined
  if (name === '$schema') return idleDialect(value)
  if (name === 'format')
    return isKnownFormat(value)
      ? undefined
      : { reason: `${JSON.stringify(value).slice(0, 100)} is no format that is checked` }
  // It says that there is nothing to compare.
  if (name === 'contentMediaType' && value === 'application/octet-stream') return undefined
  const needed = NEEDED.get(name)
  if (needed !== undefined && !Object.hasOwn(schema, needed)) return { reason: `there is no "${needed}" beside it` }
  if (holdingOf(name) !== undefined) return undefined
  const reason = UNCOMPARED.get(name)
  if (reason !== undefined) return { reason }
  return { reason: 'it is no keyword of JSON Schema 2020-12', among: KEYWORD_NAMES }
}

/** The same of the name of a dialect of JSON Schema. */
export function idleDialect(value: Json): Idleness | undefined {
  return typeof value === 'string' && DIALECTS.test(value) ? undefined : AS_2020
}
