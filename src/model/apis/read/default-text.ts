import type { Json, JsonObject } from '../../json/json.ts'
import { isGatewayField } from '../../network/wire-fields.ts'
import type { ParameterCheck } from '../definition/operation.ts'
import { VALUES } from '../definition/values.ts'

/** A name that a cookie can have, and a value (RFC 6265 section 4.1.1). */
const COOKIE = /^[!#$%&'*+.^`|~\w-]+=[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/

/**
 * A default as a request spells it in the style of its parameter (RFC 6570, as OpenAPI 3.1 section 4.8.12.3 says): `name=value` pairs of a
 * query, the value of a field, or a cookie with its name. undefined where it cannot be spelled or sent.
 */
export function defaultText(parameter: Omit<ParameterCheck, 'fill'>, value: Json): string | undefined {
  const { in: place, name, style } = parameter
  if (place === 'path' || style === 'unread') return undefined
  if (place === 'query') return queryText(parameter, value)
  const text = style === 'json' ? JSON.stringify(value) : listText(value, ',', parameter.explode, String)
  if (text === undefined) return undefined
  if (place === 'header') return isGatewayField(name) || VALUES.fieldValue(text) !== undefined ? undefined : text
  const cookie = `${name}=${text}`
  return COOKIE.test(cookie) ? cookie : undefined
}

function queryText({ name, style, explode }: Omit<ParameterCheck, 'fill'>, value: Json): string | undefined {
  const pair = (key: string, text: string) => `${escaped(key)}=${text}`
  if (style === 'json') return pair(name, escaped(JSON.stringify(value)))
  const isComposed = typeof value === 'object' && value !== null
  if (!isComposed || (!explode && style !== 'deepObject')) {
    const separator = style === 'spaceDelimited' ? '+' : style === 'pipeDelimited' ? '%7C' : ','
    const text = listText(value, separator, false, escaped)
    return text === undefined ? undefined : pair(name, text)
  }
  const keyOf = (key: string) => (Array.isArray(value) ? name : style === 'deepObject' ? `${name}[${key}]` : key)
  const entries = Object.entries(value as JsonObject)
  if (entries.some(([, each]) => scalarText(each) === undefined)) return undefined
  return entries.map(([key, each]) => pair(keyOf(key), escaped(scalarText(each)!))).join('&')
}

/** A scalar, or those of a flat list or object behind one another. */
function listText(
  value: Json,
  separator: string,
  explode: boolean,
  spell: (text: string) => string,
): string | undefined {
  if (typeof value !== 'object' || value === null) return spell(scalarText(value) ?? '')
  const texts = Object.entries(value as JsonObject).map(([key, each]) => {
    const text = scalarText(each)
    if (text === undefined || Array.isArray(value)) return text && spell(text)
    return explode ? `${spell(key)}=${spell(text)}` : `${spell(key)}${separator}${spell(text)}`
  })
  return texts.includes(undefined) ? undefined : texts.join(separator)
}

const scalarText = (value: Json): string | undefined => (typeof value === 'object' ? undefined : String(value))

/** As forms spell it (application/x-www-form-urlencoded). */
function escaped(text: string): string {
  const hex = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, hex)
}
