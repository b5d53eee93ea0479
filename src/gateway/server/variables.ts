import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { searchParams } from '../../model/network/media-type.ts'
import type { VariablePiece } from '../../model/patterns/variables.ts'
import { isCredentialName } from '../../model/secrets/redact-traffic.ts'
import type { FieldPairs } from '../modules/messages.ts'
import { credentialNames, openFields, splitQuery } from '../modules/views.ts'
import type { Exchange } from './exchange.ts'

/**
 * The value of a variable for a request, '' where there is none: credentials are none, and without context variables of the API
 * (`enable_context_vars`) nothing of the request is.
 */
export function variableText(x: Exchange, piece: Exclude<VariablePiece, string>): string {
  if ('meta' in piece) return metaWithRest(x, piece.meta)
  return x.chain!.api.contextVariables ? textOf(contextValue(x, piece.context)) : ''
}

/** A member of the session's metadata that can be written as one text. */
export function metaText(x: Exchange, name: string): string {
  const meta = x.session?.metaData
  return meta !== undefined && Object.hasOwn(meta, name) ? scalarText(meta[name]) : ''
}

/** The member of the longest name before a dot that the metadata have, a list with commas, and the rest of the text. */
function metaWithRest(x: Exchange, name: string): string {
  const meta = x.session?.metaData
  let end = name.length
  while (meta !== undefined && end > 0 && !Object.hasOwn(meta, name.slice(0, end))) end = name.lastIndexOf('.', end - 1)
  if (meta === undefined || end <= 0) return name.includes('.') ? name.slice(name.indexOf('.')) : ''
  const value = meta[name.slice(0, end)]
  return (Array.isArray(value) ? listText(value) : scalarText(value)) + name.slice(end)
}

/**
 * The request as body templates see it, without credentials: all that variables name, fields in the spelling of Go, and what `asked`
 * names in other letter case.
 */
export function contextObject(x: Exchange, asked: readonly string[]): JsonObject {
  const context: JsonObject = Object.create(null) as JsonObject
  const headers: JsonObject = Object.create(null) as JsonObject
  const fields = openFields(sentFields(x), credentialNames(x.chain!.api))
  for (const [name, value] of fields) {
    const canonical = canonicalName(name)
    const all = headers[canonical]
    if (Array.isArray(all)) all.push(value)
    else headers[canonical] = [value]
    context[`headers_${canonical.replaceAll('-', '_')}`] ??= value
  }
  for (const [name, value] of cookiesOf(fields)) context[`cookies_${name.replaceAll('-', '_')}`] ??= value
  const data = dataLists(x)
  for (const [name, values] of Object.entries(data))
    context[`request_data_${name.replaceAll('-', '_')}`] ??= (values as Json[])[0]!
  for (const [name, claim] of Object.entries(x.claims ?? {})) context[`jwt_claims_${name}`] ??= claim
  for (const name of asked) {
    const value = Object.hasOwn(context, name) ? undefined : contextValue(x, name)
    if (value !== undefined) context[name] = value
  }
  const parts = partsOf(x)
  return {
    ...context,
    ...{ method: x.method, path: x.path, path_parts: parts, remote_addr: x.clientAddress, request_id: x.requestId },
    ...{ headers, request_data: data },
  }
}

/** A value of the request; undefined where it has none. */
function contextValue(x: Exchange, name: string): Json | undefined {
  if (name === 'method') return x.method
  if (name === 'path') return x.path
  if (name === 'path_parts') return partsOf(x)
  if (name === 'remote_addr') return x.clientAddress
  if (name === 'request_id') return x.requestId
  if (name === 'request_data') return dataLists(x)
  const [, place, own = ''] = /^(headers|request_data|cookies|jwt_claims)_(.+)$/.exec(name) ?? []
  // It is no field of those that are edited and forwarded.
  if (place === 'headers' && own.toLowerCase() === 'host') return x.authority
  if (place === 'headers') return named(sentFields(x), own, true)
  if (place === 'cookies') return named(cookiesOf(sentFields(x)), own, false)
  if (place === 'jwt_claims') return named(Object.entries(x.claims ?? {}), own, false)
  return place === 'request_data' ? namedData(x, own) : undefined
}

/** The first value of a name, else of one that is spelled with `-` for `_`; of fields in any letter case. */
function named<T extends Json>(pairs: Iterable<readonly [string, T]>, name: string, anyCase: boolean): T | undefined {
  const inCase = (text: string) => (anyCase ? text.toLowerCase() : text)
  const wanted = inCase(name)
  const loose = wanted.replaceAll('-', '_')
  let other: T | undefined
  for (const [own, value] of pairs) {
    if (inCase(own) === wanted) return value
    if (other === undefined && inCase(own).replaceAll('-', '_') === loose) other = value
  }
  return other
}

/** A list with commas, the query as `name:value,value;name:value`. */
function textOf(value: Json | undefined): string {
  if (Array.isArray(value)) return listText(value)
  if (value === undefined || !isObject(value)) return scalarText(value)
  return Object.entries(value)
    .map(([name, each]) => `${name}:${textOf(each)}`)
    .join(';')
}

function listText(values: readonly Json[]): string {
  return values
    .map(scalarText)
    .filter((each) => each !== '')
    .join(',')
}

function scalarText(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

function partsOf(x: Exchange): string[] {
  return x.path.split('/').filter((part) => part !== '')
}

const sentFields = (x: Exchange): FieldPairs => x.sent?.fields ?? openFieldsOf(x)

/** The fields of a request in their present state, without credentials. */
export function openFieldsOf(x: Exchange): FieldPairs {
  const fields = openFields(x.request.entries(), credentialNames(x.chain!.api), isCredentialName)
  return fields.map(([name, value]) => [name, asText(value)])
}

/** The bytes of a field as a text: UTF-8 where they are, else Latin-1. */
function asText(value: string): string {
  if (!/[^\0-\x7f]/.test(value)) return value
  const text = Buffer.from(value, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? value : text
}

/** The name of a field as it is usually spelled: `X-Own`. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
}

function cookiesOf(fields: FieldPairs): [string, string][] {
  return fields.flatMap(([field, value]) =>
    field.toLowerCase() !== 'cookie'
      ? []
      : value.split(';').flatMap((pair): [string, string][] => {
          const equals = pair.indexOf('=')
          return equals === -1 ? [] : [[pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]]
        }),
  )
}

/** Form and query of a request, read once: a form has up to 10,000 fields, and definitions may ask for as many. */
interface ReadData {
  readonly chain: Exchange['chain']
  readonly query: string
  /** The first value of each name, without credentials. */
  readonly exact: ReadonlyMap<string, string>
  /** The same by the name with `_` for `-`. */
  readonly loose: ReadonlyMap<string, string>
}

/** Module state: a cache of immutable values, those of the requests under way. */
const readData = new WeakMap<object, ReadData>()

/** The first value of this name in form and query, else of one that is spelled with `-` for `_`. */
function namedData(x: Exchange, name: string): string | undefined {
  const known = x.sent && readData.get(x.sent)
  const isSame = known !== undefined && known.chain === x.chain && known.query === x.query
  const { exact, loose } = isSame ? known : readDataOf(x)
  return exact.get(name) ?? loose.get(name.replaceAll('-', '_'))
}

function readDataOf(x: Exchange): ReadData {
  const [exact, loose] = [new Map<string, string>(), new Map<string, string>()]
  const names = credentialNames(x.chain!.api)
  for (const text of dataOf(x))
    for (const [name, value] of searchParams(splitQuery(text, names, isCredentialName).open)) {
      if (!exact.has(name)) exact.set(name, value)
      const spelled = name.replaceAll('-', '_')
      if (!loose.has(spelled)) loose.set(spelled, value)
    }
  const read = { chain: x.chain, query: x.query, exact, loose }
  if (x.sent !== undefined) readData.set(x.sent, read)
  return read
}

/** The fields of a form in the body go before the parameters of the query, as in other products. */
function dataOf(x: Exchange): string[] {
  return [x.sent?.form ?? '', x.query].filter((text) => text !== '')
}

/** Every field of the form and parameter of the query with the list of its values. */
function dataLists(x: Exchange): JsonObject {
  const lists = new Map<string, string[]>()
  const names = credentialNames(x.chain!.api)
  for (const [name, value] of dataOf(x).flatMap((text) => [...searchParams(splitQuery(text, names).open)])) {
    const list = lists.get(name)
    if (list === undefined) lists.set(name, [value])
    else list.push(value)
  }
  return Object.fromEntries(lists)
}
