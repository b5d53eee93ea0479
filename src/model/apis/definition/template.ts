import { fault } from '../../../errors/fault.ts'
import { readablePath } from '../../patterns/readable-path.ts'
import { foldLetters } from '../../text/fold.ts'
import { compileSafePattern, isRiskyPattern } from '../check/risky-pattern.ts'

/** One piece of a listen path: a fixed word, readable, or a placeholder; without `pattern` it takes any word. */
export type Segment = string | { readonly name: string; readonly pattern: string | undefined }

/** First words of paths that the product answers itself. */
export const OWN_WORDS: ReadonlySet<string> = new Set(['svc', 'hello', 'ready', '.well-known'])
/** Of ASCII what a path may hold bare (pchar of RFC 3986 without escapes), of the rest what can be seen. */
const WORD = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|[^\p{ASCII}\p{C}\p{Z}])+$/u
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const MAX_LENGTH = 1024

/**
 * Reads a listen path such as `/orders/` or `/t/{tenant}/{id:[0-9]+}/`. Slashes at the end do not count.
 * @throws Fault `definition_invalid` with the reason
 */
export function parsePathTemplate(path: string): Segment[] {
  const { segments, reason } = readTemplate(path)
  if (reason !== undefined) throw fault('definition_invalid', `listen path ${reason}`)
  return segments
}

/** The reason why a text cannot be a listen path, undefined when it can. */
export function templateFault(path: string): string | undefined {
  const { segments, reason } = readTemplate(path)
  if (reason !== undefined) return reason
  const first = segments[0]
  if (typeof first === 'string' && OWN_WORDS.has(first.toLowerCase()))
    return `is taken: /${first} is answered by the gateway itself`
  return undefined
}

function readTemplate(path: string): { segments: Segment[]; reason?: string } {
  const refuse = (reason: string) => ({ segments: [], reason })
  if (!path.startsWith('/')) return refuse('must begin with "/"')
  if (path.length > MAX_LENGTH) return refuse(`must not be longer than ${MAX_LENGTH} characters`)
  const segments: Segment[] = []
  const pieces = splitAtSlashes(path.slice(1))
  if (pieces === undefined) return refuse('has braces that do not match')
  if (pieces.at(-1) === '') pieces.pop()
  for (const piece of pieces) {
    const reason = pieceFault(piece)
    if (reason !== undefined) return refuse(reason)
    segments.push(toSegment(piece))
  }
  const names = segments.flatMap((segment) => (typeof segment === 'string' ? [] : [segment.name]))
  if (new Set(names).size !== names.length) return refuse('must not use one placeholder name twice')
  return { segments }
}

/** Slashes within braces belong to the placeholder. */
function splitAtSlashes(text: string): string[] | undefined {
  const pieces: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{') depth++
    if (char === '}' && --depth < 0) return undefined
    if (char !== '/' || depth > 0) continue
    pieces.push(text.slice(from, at))
    from = at + 1
  }
  if (depth !== 0) return undefined
  pieces.push(text.slice(from))
  return pieces
}

function toSegment(piece: string): Segment {
  if (!piece.startsWith('{')) return readablePath(piece)
  const colon = piece.indexOf(':')
  if (colon === -1) return { name: piece.slice(1, -1), pattern: undefined }
  return { name: piece.slice(1, colon), pattern: piece.slice(colon + 1, -1) }
}

function wordFault(word: string): string | undefined {
  if (/^\.{1,2}(?:;|$)/.test(word)) return 'must not hold "." or ".." as a segment'
  return WORD.test(word) ? undefined : 'holds a character that a path cannot have'
}

function pieceFault(piece: string): string | undefined {
  if (piece === '') return 'must not hold an empty segment ("//")'
  if (!/[{}]/.test(piece)) return wordFault(readablePath(piece))
  if (!piece.startsWith('{') || !piece.endsWith('}')) return 'must have a placeholder as a whole segment'
  const segment = toSegment(piece)
  if (typeof segment === 'string' || !NAME.test(segment.name)) return 'has a placeholder without a proper name'
  if (segment.pattern === undefined) return undefined
  if (segment.pattern === '') return `has an empty pattern for {${segment.name}}`
  if (segment.pattern.includes('/')) return `has a pattern with "/" for {${segment.name}}`
  if (isRiskyPattern(segment.pattern)) return `has a pattern that is not safe to run for {${segment.name}}`
  return undefined
}

/** The expression of a placeholder, for readable words; without regard to letter case for folded ones. */
export function placeholderExpression(pattern: string, ignoreCase: boolean): RegExp {
  return compileSafePattern(pattern, { whole: true, ignoreCase })
}

/** The members that decide where an API answers. */
export interface ListenPlace {
  readonly listenPath: string
  /** Lower case; '' = every host. */
  readonly domain: string
  readonly ignoreCase: boolean
  readonly active: boolean
  readonly internal: boolean
  /** undefined or empty: loaded only by gateways that are not segmented. */
  readonly tags: readonly string[] | undefined
}

/**
 * True when two APIs would answer at the same place of one gateway: equal domain, paths that match the same
 * (names of placeholders do not matter), and no tags that keep them apart. What is inactive or internal is at no place.
 */
export function collides(a: ListenPlace, b: ListenPlace): boolean {
  if (!a.active || !b.active || a.internal || b.internal) return false
  if (a.domain !== b.domain || areDisjointByTags(a.tags, b.tags)) return false
  const fold = a.ignoreCase || b.ignoreCase
  return templateKey(a.listenPath, fold) === templateKey(b.listenPath, fold)
}

/**
 * Text that is equal for listen paths which match the same, to find collisions by look-up.
 * @throws Fault `definition_invalid` when it is not a listen path
 */
export function templateKey(path: string, ignoreCase = false): string {
  const pieces = parsePathTemplate(path).map((segment) => {
    if (typeof segment !== 'string') return `{${segment.pattern ?? ''}}`
    return ignoreCase ? foldLetters(segment) : segment
  })
  return `/${pieces.join('/')}`
}

/** True when tags keep two APIs from being loaded by one gateway, unless it is one that loads everything. */
export function areDisjointByTags(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) return false
  return !a.some((tag) => b.includes(tag))
}
