/** Bits of CLASS: in which parts of a message a byte is allowed. */
export const TOKEN = 1
/** Field values: VCHAR, obs-text, space and tab (RFC 9110 section 5.5). */
export const VALUE = 2
/** Path characters that need no thought: pchar without `%` (RFC 3986 section 3.3); `/` is looked at by itself. */
export const PCHAR = 4
/** Query characters without `%`: pchar, `/`, `?`, and what serialisers of URLs leave bare (WHATWG URL, query percent-encode set). */
export const QUERY = 8
export const HEX = 16
const DIGIT = 32
const UNRESERVED = 64
/** Names of hosts: unreserved characters. RFC 3986 also knows sub-delims and escapes there; no host of the DNS has them. */
export const HOST = 128

export const CR = 13
export const LF = 10
export const SP = 32
export const TAB = 9
export const COLON = 58
const DASH = 45
export const SLASH = 47
export const DOT = 46
export const PERCENT = 37
export const QUESTION = 63
export const UNDERSCORE = 95

/** The class of each byte: one look-up per byte while a head is scanned. */
export const CLASS: Uint8Array = classes()

/** 1 for the bytes of ordinary field names: letters, digits and `-`. */
export const NAME: Uint8Array = CLASS.map((bits, byte) => (byte === DASH || isAlphanumeric(byte) ? bits & TOKEN : 0))

/** 1 for the bytes that a path holds as escapes only, but that browsers and other clients leave bare in it: UTF-8, and what WHATWG URL leaves. */
export const BARE: Uint8Array = CLASS.map((_, byte) =>
  byte > 127 || '[]{}|^`\\'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

/** Lower case of ASCII letters, every other byte as it is. */
export const LOWER: Uint8Array = lowers()

function classes(): Uint8Array {
  const table = new Uint8Array(256)
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const digits = '0123456789'
  mark(table, `${letters}${digits}!#$%&'*+-.^_\`|~`, TOKEN)
  mark(table, `${letters}${digits}-._~`, UNRESERVED | PCHAR | QUERY | HOST)
  mark(table, "!$&'()*+,;=:@", PCHAR | QUERY)
  mark(table, '/?[]{}|^`\\', QUERY)
  mark(table, `${digits}abcdefABCDEF`, HEX)
  mark(table, digits, DIGIT)
  table[TAB]! |= VALUE
  for (let byte = SP; byte < 256; byte++) if (byte !== 127) table[byte]! |= VALUE
  return table
}

function mark(table: Uint8Array, characters: string, bits: number): void {
  for (const character of characters) table[character.charCodeAt(0)]! |= bits
}

function lowers(): Uint8Array {
  const table = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) table[byte] = byte >= 65 && byte <= 90 ? byte + 32 : byte
  return table
}

/** True when `text` from `start` to `end` is `lower` (which is in lower case), letter case aside. */
export function equalsAt(text: string, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false
  for (let i = 0; i < lower.length; i++) {
    if (LOWER[text.charCodeAt(start + i) & 255] !== lower.charCodeAt(i)) return false
  }
  return true
}

/**
 * True when `text` from `start` to `end` is `lower` to an upstream that makes one character of all but letters and digits: CGI, WSGI and Rack
 * do so with `-` and `_`, lighttpd and Apache 2.2 with all of them. As `foldFieldName`, without a new string.
 */
export function spellsAt(text: string, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false
  for (let i = 0; i < lower.length; i++) {
    const code = LOWER[text.charCodeAt(start + i) & 255]!
    const wanted = lower.charCodeAt(i)
    if (code !== wanted && (isAlphanumeric(code) || isAlphanumeric(wanted))) return false
  }
  return true
}

/** A field name (any letter case) as all of its spellings are compared: in lower case, with `-` for all but letters and digits. */
export function foldFieldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
}

function isAlphanumeric(code: number): boolean {
  const lower = code | 32
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57)
}

/** Value of a hex digit whose class was checked. */
export function hexValue(code: number): number {
  return code <= 57 ? code - 48 : (code | 32) - 87
}
