import { isUtf8 } from 'node:buffer'
import type { Fault } from '../../errors/fault.ts'
import { CLASS, DOT, hexValue, PCHAR, PERCENT, SLASH } from './chars.ts'
import { REFUSAL } from './refusals.ts'

/** One path, as rules see it and as the upstream gets it. */
export interface PathForms {
  /**
   * Normal form (RFC 3986 section 6.2.2, and further): each character that a path can hold bare is bare, everything else is an
   * escape in upper case, no segment is empty, dot segments are resolved. Two paths that a server decodes to the same text have
   * the same normal form; `%2F` and `%5C` stay escapes.
   */
  readonly path: string
  /** As the client spelled it, dot segments resolved. */
  readonly sent: string
}

/** True when a path is in another than the normal form, or may be: at `code` an escape, or a slash before a slash or a dot. */
export function needsNormalising(code: number, next: number): boolean {
  return code === PERCENT || (code === SLASH && (next === SLASH || next === DOT))
}

/**
 * Reads a path that begins with `/` and whose characters were checked. Answers the fault of one that leaves the root, whose
 * escapes are not UTF-8, or that holds a segment which only becomes `.` or `..` once it is decoded, or cut at a `;`.
 */
export function readPath(raw: string): PathForms | Fault {
  const path: string[] = []
  const sent: string[] = []
  const segments = raw.split('/')
  const last = segments.length - 1
  let directory = false
  for (let i = 1; i <= last; i++) {
    const spelled = segments[i]!
    const segment = spelled.includes('%') ? normalSegment(spelled) : spelled
    if (segment === undefined) return REFUSAL.targetUtf8
    directory = segment === '' || segment === '.' || segment === '..'
    if (segment === '') {
      if (i < last) sent.push('')
    } else if (segment === '..') {
      if (path.pop() === undefined) return REFUSAL.aboveRoot
      while (sent.pop() === '');
    } else if (segment !== '.') {
      if (hidesDots(segment)) return REFUSAL.hiddenDots
      path.push(segment)
      sent.push(spelled)
    }
  }
  return { path: joined(path, directory), sent: joined(sent, directory) }
}

/** The bytes of `BARE`, which a path holds as escapes. */
export const BARE_IN_PATH = /[^\0-\x7f]|[[\]{}|^`\\]/g

/** Text in which each byte is a character, with those that `bytes` matches as escapes. */
export function escapedBytes(latin1: string, bytes: RegExp): string {
  return latin1.replace(bytes, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}

function joined(segments: readonly string[], directory: boolean): string {
  if (segments.length === 0) return '/'
  return `/${segments.join('/')}${directory ? '/' : ''}`
}

/** undefined when the escapes are not UTF-8: an upstream that decodes them somehow could see a path that no rule saw. */
function normalSegment(segment: string): string | undefined {
  let normal = ''
  let bytes = ''
  let from = 0
  for (let at = segment.indexOf('%'); at >= 0; at = segment.indexOf('%', at + 3)) {
    const code = (hexValue(segment.charCodeAt(at + 1)) << 4) | hexValue(segment.charCodeAt(at + 2))
    const bare = (CLASS[code]! & PCHAR) !== 0
    if (code > 127) bytes += String.fromCharCode(code)
    else if (bytes !== '') bytes += '.'
    normal += segment.slice(from, at) + (bare ? String.fromCharCode(code) : segment.slice(at, at + 3).toUpperCase())
    from = at + 3
    // Characters between escapes end a sequence as well as an ASCII escape does.
    if (bytes !== '' && segment.charCodeAt(from) !== PERCENT) bytes += '.'
  }
  if (bytes !== '' && !isUtf8(Buffer.from(bytes, 'latin1'))) return undefined
  return normal + segment.slice(from)
}

/** How often a segment is decoded to find dots: servers behind servers decode more than once. */
const DECODINGS = 3

/**
 * True for a segment that becomes a dot segment, or contains one as a segment, when it is decoded again or its
 * parameters are cut off. Those that are dot segments undecoded were resolved before.
 */
function hidesDots(segment: string): boolean {
  if (segment.charCodeAt(0) !== DOT && !segment.includes('%')) return false
  // Dots are bare in the normal form, or follow an encoded percent sign.
  if (!segment.includes('.') && !segment.includes('%25')) return false
  let text = segment
  for (let i = 0; i <= DECODINGS; i++) {
    if (text.split(/[/\\]/).some((piece) => /^\.{1,2}(?:;|$)/.test(piece))) return true
    const decoded = text.replace(/%(?:25|2e|2f|3b|5c)/gi, decodeURIComponent)
    if (decoded === text) return false
    text = decoded
  }
  return false
}

/** True for a path in normal form that holds a slash or a backslash as an escape. */
export function holdsEncodedSlash(path: string): boolean {
  return path.includes('%') && /%(?:2F|5C)/.test(path)
}

/** Where in a path the part behind its first `count` segments begins; segments that are empty do not count. */
export function behindSegments(path: string, count: number): number {
  let at = 0
  for (let left = count; left > 0; left--) {
    while (path.charCodeAt(at) === SLASH) at++
    const slash = path.indexOf('/', at)
    if (slash === -1) return path.length
    at = slash
  }
  return at
}
