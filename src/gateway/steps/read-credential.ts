import type { SchemeRules } from '../../model/scheme-rules.ts'
import { FIELD } from '../../wire/fields.ts'
import type { Exchange } from '../exchange.ts'

/**
 * The credential as the request carries it: a cookie beats a query parameter, which beats a header. '' when there is none.
 */
export function readCredential(auth: SchemeRules, x: Exchange): string {
  let found = ''
  if (auth.header === 'authorization') found = x.request.known(FIELD.authorization) ?? ''
  else if (auth.header !== undefined) found = x.request.get(auth.header) ?? ''
  if (auth.query !== undefined && x.hasQuery) found = queryValue(x.query, auth.query) || found
  if (auth.cookie !== undefined) found = cookieValue(x.request.known(FIELD.cookie), auth.cookie) || found
  return found
}

/** Cuts an optional `Bearer ` of any letter case off, with exactly one space; nothing else is trimmed. */
export function withoutBearer(credential: string): string {
  if (credential.length < 8 || credential.charCodeAt(6) !== 32) return credential
  const first = credential.charCodeAt(0) | 32
  if (first !== 98 || credential.slice(0, 6).toLowerCase() !== 'bearer') return credential
  return credential.slice(7)
}

/** Value of the first query parameter of this exact name, percent-decoded; '' when absent or not decodable. */
export function queryValue(query: string, name: string): string {
  let at = 0
  while (at <= query.length) {
    const and = query.indexOf('&', at)
    const end = and === -1 ? query.length : and
    const equals = query.indexOf('=', at)
    const nameEnd = equals === -1 || equals > end ? end : equals
    if (decoded(query.slice(at, nameEnd)) === name) return nameEnd === end ? '' : decoded(query.slice(nameEnd + 1, end))
    at = end + 1
  }
  return ''
}

/** Values of every query parameter of this exact name, percent-decoded, in order; undefined for one that is not decodable. */
export function queryValues(query: string, name: string): (string | undefined)[] {
  return query.split('&').flatMap((pair) => {
    const equals = pair.indexOf('=')
    if (decodedOrNone(equals === -1 ? pair : pair.slice(0, equals)) !== name) return []
    return [equals === -1 ? '' : decodedOrNone(pair.slice(equals + 1))]
  })
}

/** The query without every parameter of this exact name. */
export function withoutQuery(query: string, name: string): string {
  if (query === '') return query
  return query
    .split('&')
    .filter((pair) => {
      const equals = pair.indexOf('=')
      return decoded(equals === -1 ? pair : pair.slice(0, equals)) !== name
    })
    .join('&')
}

/** Value of the first cookie of this exact name; '' when absent. Surrounding double quotes go (RFC 6265 §4.1.1). */
export function cookieValue(header: string | undefined, name: string): string {
  if (header === undefined) return ''
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue
    const value = pair.slice(equals + 1).trim()
    return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
  }
  return ''
}

/** The Cookie field without the cookies whose name begins with one of these; '' when none is left. */
export function withoutCookies(header: string, prefixes: readonly string[]): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !prefixes.some((prefix) => pair.startsWith(prefix)))
    .join('; ')
}

/** What is not decodable equals no name and no key. */
function decoded(text: string): string {
  return decodedOrNone(text) ?? ''
}

function decodedOrNone(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
