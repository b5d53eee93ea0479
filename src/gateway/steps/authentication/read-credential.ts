import type { SchemeRules } from '../../../model/authentication/scheme.ts'
import { FIELD } from '../../../wire/http1/fields.ts'
import {
  behindSemicolon,
  cookiesNamed,
  foldName,
  isNamed,
  parametersNamed,
  startsNamed,
  startsWithParameter,
} from '../../authentication/name-readings.ts'
import type { Exchange } from '../../server/exchange.ts'

/**
 * The credential as the request carries it: in the header, the query parameter or the cookie of the scheme. '' when there is none;
 * undefined when there are several: in two places, or a header, parameter or cookie given twice, with any values (RFC 6750 section 2).
 * It is unknown which of them the upstream would use.
 */
export function readCredential(auth: SchemeRules, x: Exchange): string | undefined {
  const inHeader = headerValue(auth, x)
  if (inHeader === undefined) return undefined
  if (auth.query === undefined && auth.cookie === undefined) return inHeader
  const bare = readBare(auth, x)
  if (bare === undefined || (bare !== '' && inHeader !== '')) return undefined
  return bare === '' ? inHeader : bare
}

/** The value of the scheme's header; '' and undefined as of `readCredential`. The wire accepts one `Authorization` only. */
export function headerValue({ header }: SchemeRules, x: Exchange): string | undefined {
  if (header === 'authorization') return x.request.known(FIELD.authorization) ?? ''
  return header === undefined ? '' : x.request.singleOfSpellings(header)
}

/** The credential in query or cookie, where no scheme word is needed; '' and undefined as of `readCredential`. */
export function readBare({ query, cookie }: SchemeRules, x: Exchange): string | undefined {
  const inQuery = query === undefined || !x.hasQuery ? '' : singleParameter(x.query, query)
  if (inQuery === undefined || cookie === undefined) return inQuery
  // Most requests with a cookie have one field of them.
  const fields = x.request.known(FIELD.cookie) === undefined ? '' : x.request.all('cookie').join(';')
  const inCookie = onlyOne(fields, ';', cookie, trimmed)
  if (inCookie === undefined || (inQuery !== '' && inCookie !== '')) return undefined
  return inQuery === '' ? unquoted(inCookie) : inQuery
}

/** The value of the only query parameter of this name, percent-decoded; '' when there is none, undefined when there are several. */
export function singleParameter(query: string, name: string): string | undefined {
  return onlyOne(query, '&', name, decoded)
}

/**
 * The value under a name in a list of `name=value`; '' when it is not there, undefined when it is there more than once. What some upstream
 * reads as this name counts too, and has no value (`isNamed`).
 */
function onlyOne(list: string, separator: string, name: string, read: (text: string) => string): string | undefined {
  const countIn = separator === '&' ? parametersNamed : cookiesNamed
  const folded = foldName(name)
  let found: string | undefined
  for (let at = 0; at <= list.length; ) {
    const next = list.indexOf(separator, at)
    const end = next === -1 ? list.length : next
    const part = list.slice(at, end)
    const count = countIn(part, folded)
    if (count > 1 || (count === 1 && found !== undefined)) return undefined
    if (count === 1) {
      const equals = part.indexOf('=')
      found = equals !== -1 && read(part.slice(0, equals)) === name ? read(part.slice(equals + 1)) : ''
    }
    at = end + 1
  }
  return found ?? ''
}

const trimmed = (text: string) => text.trim()

/** Cuts an optional `Bearer` of any letter case off, with the spaces behind it (RFC 9110 section 11.4); nothing else is trimmed. */
export function withoutBearer(credential: string): string {
  if (credential.length < 8 || credential.charCodeAt(6) !== 32) return credential
  const first = credential.charCodeAt(0) | 32
  if (first !== 98 || credential.slice(0, 6).toLowerCase() !== 'bearer') return credential
  return behindSpaces(credential, 7)
}

/** Names and values of all query parameters, percent-decoded; undefined for what is not decodable. */
export function queryPairs(query: string): [name: string | undefined, value: string | undefined][] {
  return query.split('&').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals === -1) return [decodedOrNone(pair), '']
    return [decodedOrNone(pair.slice(0, equals)), decodedOrNone(pair.slice(equals + 1))]
  })
}

/** The text from an offset on, without the spaces there. */
export function behindSpaces(text: string, from: number): string {
  let at = from
  while (text.charCodeAt(at) === 32) at++
  return text.slice(at)
}

/** Values of every query parameter of this exact name, percent-decoded, in order; undefined for one that is not decodable. */
export function queryValues(query: string, name: string): (string | undefined)[] {
  return query.split('&').flatMap((pair) => {
    const equals = pair.indexOf('=')
    if (decodedOrNone(equals === -1 ? pair : pair.slice(0, equals)) !== name) return []
    return [equals === -1 ? '' : decodedOrNone(pair.slice(equals + 1))]
  })
}

/** As `queryValues`, with the escapes of each as they were sent. */
export function escapedQueryValues(query: string, name: string): string[] {
  return query.split('&').flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals !== -1 && decodedOrNone(pair.slice(0, equals)) === name ? [pair.slice(equals + 1)] : []
  })
}

/** The query without every parameter of this name, or of one that upstreams read as it. */
export function withoutQuery(query: string, name: string): string {
  if (query === '') return query
  const folded = foldName(name)
  return query
    .split('&')
    .filter((pair) => !startsWithParameter(pair, folded))
    .map((pair) => {
      const at = behindSemicolon(pair, folded)
      return at === -1 ? pair : pair.slice(0, at)
    })
    .join('&')
}

/** Value of the first cookie of this exact name; '' when absent. Surrounding double quotes go (RFC 6265 §4.1.1). */
export function cookieValue(header: string | undefined, name: string): string {
  if (header === undefined) return ''
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue
    return unquoted(pair.slice(equals + 1).trim())
  }
  return ''
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}

/** The Cookie field without the cookies of this name (`prefixed`: that begin so), or of one that upstreams read as it; '' when none is left. */
export function withoutCookie(header: string, name: string, prefixed: boolean): string {
  const folded = foldName(name)
  const matches = prefixed ? startsNamed : isNamed
  return header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '' && cookiesNamed(part, folded, matches) === 0)
    .join('; ')
}

/** An undecodable value equals no name and no key. */
function decoded(text: string): string {
  return decodedOrNone(text) ?? ''
}

/** A part of a query, decoded; undefined for escapes that are no text in UTF-8. */
export function decodedOrNone(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
