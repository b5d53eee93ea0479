import { CLASS, HEX, HOST } from './chars.ts'

/** Checks the two digits after a `%`: true for two hex digits other than `00`. */
export function isEscape(high: number, low: number): boolean {
  if ((CLASS[high & 255]! & HEX) === 0 || (CLASS[low & 255]! & HEX) === 0) return false
  return high !== 48 || low !== 48
}

/**
 * Length of the host in `host[:port]` (RFC 9110 section 7.2), brackets included; -1 when it is anything else:
 * no host, user information, a port above 65535, an IPv6 address that is none. A port may be empty (RFC 3986 section 3.2.3).
 */
export function hostLength(authority: string): number {
  const length = authority.charCodeAt(0) === 91 ? bracketed(authority) : named(authority)
  if (length <= 0) return -1
  return length === authority.length || isPort(authority, length) ? length : -1
}

/** The authority without the colon of an empty port. */
export function withoutEmptyPort(authority: string): string {
  return authority.charCodeAt(authority.length - 1) === 58 ? authority.slice(0, -1) : authority
}

/** True where both name one host and port: letter case does not count, and the usual port of the scheme may be left out (RFC 9110 section 4.2.3). */
export function sameAuthority(scheme: 'http' | 'https', one: string, other: string): boolean {
  return one === other || withPort(scheme, one) === withPort(scheme, other)
}

function withPort(scheme: 'http' | 'https', authority: string): string {
  const length = hostLength(authority)
  const port = authority.slice(length + 1).replace(/^0+(?=[0-9])/, '') || (scheme === 'http' ? '80' : '443')
  return `${authority.slice(0, length).toLowerCase()}:${port}`
}

function named(authority: string): number {
  let at = 0
  while (at < authority.length && (CLASS[authority.charCodeAt(at) & 255]! & HOST) !== 0) at++
  return at
}

function bracketed(authority: string): number {
  const close = authority.indexOf(']')
  return close > 0 && isIpv6(authority.slice(1, close)) ? close + 1 : -1
}

function isPort(authority: string, colon: number): boolean {
  const digits = authority.length - colon - 1
  if (authority.charCodeAt(colon) !== 58 || digits > 5) return false
  let port = 0
  for (let at = colon + 1; at < authority.length; at++) {
    const digit = authority.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return false
    port = port * 10 + digit
  }
  return port <= 65_535
}

/** Eight groups of 1 to 4 hex digits, one run of groups perhaps left out by `::`, the last two perhaps an IPv4 address. No zone. */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  let groups = 0
  for (const [number, half] of halves.entries()) {
    const last = number === halves.length - 1
    const count = half === '' && halves.length === 2 ? 0 : countGroups(half.split(':'), last)
    if (count < 0) return false
    groups += count
  }
  return halves.length === 2 ? groups < 8 : groups === 8
}

function countGroups(parts: string[], last: boolean): number {
  let count = 0
  for (const [number, part] of parts.entries()) {
    if (last && number === parts.length - 1 && part.includes('.')) return isIpv4(part) ? count + 2 : -1
    if (part.length < 1 || part.length > 4) return -1
    for (let at = 0; at < part.length; at++) if ((CLASS[part.charCodeAt(at) & 255]! & HEX) === 0) return -1
    count++
  }
  return count
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => String(Number(part) & 255) === part)
}
