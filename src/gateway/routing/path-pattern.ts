import { definedSegments } from '../../model/apis/definition/defined-path.ts'
import { readablePath } from '../../model/patterns/readable-path.ts'
import { foldLetters, foldWithOrigins } from '../../model/text/fold.ts'

/** The fixed words around the placeholders of one path segment; a single one when it has no placeholder. */
export type SegmentWords = readonly string[]

const PLACEHOLDERS = /(?:\{[^{}]*\})+/
const PLACEHOLDERS_ALL = new RegExp(PLACEHOLDERS, 'g')

/**
 * The path of an operation, ready to be matched: `{name}` matches one or more characters of a segment, a last `/*` any tail,
 * all other text itself; dot segments are resolved. No regular expression, so that no path can make matching slow: each character is
 * read a bounded number of times. All paths are in readable form.
 */
export class PathPattern {
  readonly segments: readonly SegmentWords[]
  readonly anyTail: boolean
  readonly #names: readonly (readonly string[])[]
  readonly #ignoreCase: boolean

  /** `path` is as the definition spells it. */
  constructor(path: string, ignoreCase: boolean) {
    this.anyTail = path.endsWith('/*')
    this.#ignoreCase = ignoreCase
    // One that leaves the root, stored before such were refused, meets no request.
    const spelled = definedSegments(this.anyTail ? path.slice(0, -2) : path) ?? ['..']
    this.segments = spelled.map((segment) => wordsOf(segment, ignoreCase))
    this.#names = spelled.map((segment) => segment.match(PLACEHOLDERS_ALL) ?? [])
  }

  /** True when the whole path fits. */
  matches(path: string): boolean {
    const segments = segmentsOf(this.#ignoreCase ? foldLetters(path) : path)
    if (segments.length < this.segments.length) return false
    if (segments.length > this.segments.length && !this.anyTail) return false
    return this.segments.every((words, i) => fits(words, segments[i]!))
  }

  /** The values of a matching path's placeholders, by name. */
  values(path: string): Map<string, string> {
    const values = new Map<string, string>()
    const segments = segmentsOf(path)
    this.segments.forEach((words, i) => {
      const names = this.#names[i]!
      if (names.length === 0) return
      const sent = segments[i] ?? ''
      const { text, origins } = this.#ignoreCase ? foldWithOrigins(sent) : { text: sent, origins: undefined }
      let at = words[0]!.length
      names.forEach((name, index) => {
        const next = words[index + 1]!
        const last = index === names.length - 1
        const end = last ? text.length - next.length : text.indexOf(next, at + 1)
        values.set(
          name.slice(1, -1),
          origins === undefined ? sent.slice(at, end) : sent.slice(origins[at], origins[end]),
        )
        at = end + next.length
      })
    })
    return values
  }
}

/** The segments of a path; doubled slashes and one at the end do not count. */
function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '')
}

/** Two placeholders side by side are one: which takes what makes no difference. */
function wordsOf(segment: string, ignoreCase: boolean): SegmentWords {
  return segment.split(PLACEHOLDERS).map((word) => {
    const readable = readablePath(word)
    return ignoreCase ? foldLetters(readable) : readable
  })
}

/** True when a segment has these words in this order, and at least one character for each placeholder. */
export function fits(words: SegmentWords, segment: string): boolean {
  const first = words[0]!
  if (words.length === 1) return segment === first
  const last = words.at(-1)!
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false
  const end = segment.length - last.length
  let at = first.length
  // Each placeholder takes at least one character; the earliest place of every word leaves the most for the rest.
  for (let i = 1; i < words.length - 1; i++) {
    const found = segment.indexOf(words[i]!, at + 1)
    if (found === -1) return false
    at = found + words[i]!.length
  }
  return at < end
}
