import type { ParameterCheck } from '../../../model/apis/definition/operation.ts'
import { textOfReadable } from '../../../model/patterns/readable-path.ts'
import { FIELD } from '../../../wire/http1/fields.ts'
import type { Exchange } from '../../server/exchange.ts'
import {
  cookieValue,
  decodedOrNone,
  escapedQueryValues,
  queryPairs,
  queryValues,
} from '../authentication/read-credential.ts'
import { bracketed, jsonValue, memberShape, type Spelled, valuesOf } from './text-values.ts'

/** The values that a parameter can mean, or why it means none. */
export type ParameterValues = { readonly values: readonly unknown[] } | { readonly reason: string }

/**
 * Reads a parameter in its style (OpenAPI 3.1 section 4.8.12.3, RFC 6570): the values that it can mean, by the kinds that its schema takes.
 * Undefined when the request does not have it.
 */
export function spelledParameter(
  x: Exchange,
  parameter: ParameterCheck,
  pathValues: ReadonlyMap<string, string>,
): ParameterValues | undefined {
  const { style, explode, shape, name } = parameter
  if (style === 'deepObject' && shape.members !== undefined) return deepObject(x, parameter)
  const byMember = style === 'form' && explode && shape.members !== undefined ? members(x, parameter) : undefined
  const sent = textsOf(x, parameter.in, name, pathValues)
  if (sent.length === 0) return byMember
  if (sent.includes(undefined)) return { reason: 'is no text in UTF-8' }
  const texts = sent as string[]
  if (style === 'unread') return { values: [texts[0]] }
  if (style === 'json') return texts.length > 1 ? TWICE : json(texts[0]!)
  if (parameter.allowEmpty && texts.every((text) => text === '')) return { values: [] }
  const whole = spellings(parameter, texts)
  if (!Array.isArray(whole)) return whole as { readonly reason: string }
  whole.unshift(...itemsByCommas(x, parameter))
  const values = whole.flatMap((each) => valuesOf(each, shape))
  if (byMember !== undefined && 'values' in byMember) values.push(...byMember.values)
  return values.length === 0 ? { values: [texts[0]] } : { values }
}

/** The items of a list between commas as they were sent: one within an item is an escape (RFC 6570 section 3.2.1). */
function itemsByCommas(x: Exchange, { in: place, name, style, explode, shape }: ParameterCheck): Spelled[] {
  if (place !== 'query' || style !== 'form' || explode || shape.items === undefined) return []
  const [text = '', ...more] = escapedQueryValues(x.query, name)
  if (more.length > 0 || !/%2c/i.test(text)) return []
  const items = text.split(',').map(decodedOrNone)
  return items.includes(undefined) ? [] : [items as string[]]
}

const TWICE = { reason: 'must be given once' } as const

function json(text: string): ParameterValues {
  const read = jsonValue(Buffer.from(text))
  return 'value' in read ? { values: [read.value] } : read
}

/** Every value that the request gives a name, undefined for one that is not decodable. */
function textsOf(
  x: Exchange,
  place: ParameterCheck['in'],
  name: string,
  pathValues: ReadonlyMap<string, string>,
): (string | undefined)[] {
  if (place === 'query') return x.hasQuery ? queryValues(x.query, name) : []
  if (place === 'header') return x.request.all(name)
  if (place === 'cookie') {
    const value = cookieValue(x.request.known(FIELD.cookie), name)
    return value === '' ? [] : [value]
  }
  const value = pathValues.get(name)
  return value === undefined ? [] : [textOfReadable(value)]
}

/** `R=100&G=200`: an object whose members are parameters or cookies of their own. */
function members(x: Exchange, { in: place, shape, others }: ParameterCheck): ParameterValues | undefined {
  const found = new Map<string, Spelled>()
  const isOpen = place === 'query' && (shape.rest !== undefined || shape.members!.size === 0)
  const names = new Set(shape.members!.keys())
  const texts = place === 'query' ? queryTexts(x) : undefined
  if (isOpen) for (const name of texts!.keys()) if (name !== '' && !others.has(name)) names.add(name)
  for (const name of names) {
    const inner = memberShape(shape, name) ?? TEXT
    const sent = texts === undefined ? textsOf(x, place, name, NO_PATH) : (texts.get(name) ?? [])
    if (sent.length === 0) continue
    if (sent.includes(undefined)) return { reason: `/${name} is no text in UTF-8` }
    if (sent.length > 1 && inner.items === undefined) return { reason: `/${name} must be given once` }
    found.set(name, inner.items === undefined ? sent[0]! : (sent as string[]))
  }
  return found.size === 0 ? undefined : { values: valuesOf(found, shape) }
}

/** The query's values by name, read once: a request may have thousands of names. */
function queryTexts(x: Exchange): Map<string, (string | undefined)[]> {
  const found = new Map<string, (string | undefined)[]>()
  if (!x.hasQuery) return found
  for (const [name, text] of queryPairs(x.query)) {
    if (name === undefined) continue
    const texts = found.get(name)
    if (texts === undefined) found.set(name, [text])
    else texts.push(text)
  }
  return found
}

const NO_PATH: ReadonlyMap<string, string> = new Map()
const TEXT: ParameterCheck['shape'] = { scalars: ['text'], items: undefined, members: undefined, rest: undefined }

function deepObject(x: Exchange, { name, shape }: ParameterCheck): ParameterValues | undefined {
  if (!x.hasQuery) return undefined
  const pairs = queryPairs(x.query).filter(([key]) => key?.startsWith(`${name}[`))
  if (pairs.some(([, text]) => text === undefined)) return { reason: 'is no text in UTF-8' }
  const spelled = bracketed(name, pairs as [string, string][], shape)
  return spelled === undefined ? undefined : { values: valuesOf(spelled, shape) }
}

/** The members of a parameter that its spelling depends on. */
export type SpelledPart = Pick<ParameterCheck, 'in' | 'name' | 'style' | 'explode' | 'shape'>

/** The texts as one text, a list or an object, as far as the style spells these and the schema takes them. */
export function spellings(parameter: SpelledPart, texts: readonly string[]): Spelled[] | { readonly reason: string } {
  const { style, explode, shape, name } = parameter
  // Several header fields of one name are one list (RFC 9110 section 5.3).
  const isRepeated = texts.length > 1 && (parameter.in !== 'header' || shape.items === undefined)
  if (style === 'form' && explode) {
    if (texts.length > 1 && shape.items === undefined) return TWICE
    const items = shape.items === undefined ? [] : parameter.in === 'cookie' ? [trimmed(texts[0]!.split(','))] : [texts]
    return texts.length === 1 && shape.scalars.length > 0 ? [texts[0]!, ...items] : items
  }
  if (isRepeated) return TWICE
  const body = bodyOf(style, name, texts.join(','), explode)
  if (typeof body !== 'string') return body
  const found: Spelled[] = shape.scalars.length > 0 ? [body] : []
  const splits = separatorsOf(parameter).flatMap((separator) => splitsOf(body, separator, takesDecimals(shape)))
  const inMatrix = style === 'matrix' && explode
  if (shape.items !== undefined)
    for (const parts of splits) found.push(inMatrix ? parts.map((part) => without(part, `${name}=`)) : parts)
  if (shape.members === undefined) return found
  const objects = splits.flatMap((parts) => (explode ? pairsIn(parts) : alternating(parts)) ?? [])
  return found.length + objects.length === 0 ? { reason: 'must name a value for each member' } : [...found, ...objects]
}

const trimmed = (texts: string[]) => texts.map((text) => text.trim())
const without = (text: string, start: string) => (text.startsWith(start) ? text.slice(start.length) : text)

/** The text behind what a style puts before it. */
function bodyOf(style: string, name: string, text: string, explode: boolean): string | { readonly reason: string } {
  if (style === 'label') return text.startsWith('.') ? text.slice(1) : { reason: 'must begin with "."' }
  if (style !== 'matrix') return text
  if (!text.startsWith(';')) return { reason: 'must begin with ";"' }
  if (text === `;${name}`) return ''
  return explode && !text.startsWith(`;${name}=`) ? text.slice(1) : without(text.slice(1), `${name}=`)
}

function separatorsOf({ style, explode }: SpelledPart): string[] {
  if (style === 'spaceDelimited') return [' ']
  if (style === 'pipeDelimited') return ['|']
  if (style === 'matrix' && explode) return [';']
  // OpenAPI 3.0 has points between items in either case, 3.1 and RFC 6570 commas where they do not explode.
  return style !== 'label' ? [','] : explode ? ['.'] : [',', '.']
}

/** The parts between separators; where these are points also with those of decimals taken for what they are. */
function splitsOf(body: string, separator: string, mayHoldDecimals: boolean): string[][] {
  const parts = trimmed(body.split(separator))
  if (separator !== '.' || !mayHoldDecimals || !DECIMAL.test(body)) return [parts]
  return [parts, body.split(/(?<!\d)\.|\.(?!\d)|(?<=\.\d+)\./)]
}

function takesDecimals({ items, members }: SpelledPart['shape']): boolean {
  return [items, ...(members?.values() ?? [])].some((shape) => shape?.scalars.includes('number'))
}

const DECIMAL = /\d\.\d/

function pairsIn(parts: readonly string[]): Spelled | undefined {
  if (parts.some((part) => !part.includes('='))) return undefined
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]))
}

function alternating(parts: readonly string[]): Spelled | undefined {
  if (parts.length % 2 === 1) return undefined
  return new Map(parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1]!] as const] : [])))
}
