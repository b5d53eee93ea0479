/** The fixed words around the placeholders of one path segment; a single one when it has no placeholder. */
type SegmentWords = readonly string[]

/**
 * The path of an operation, ready to be compared: `{name}` stands for one or more characters of a segment, a last `/*` for any tail,
 * everything else for itself. No regular expression, so that no path can make the comparison slow: each character is looked at
 * a bounded number of times.
 */
export class PathPattern {
  readonly #path: string
  readonly #segments: readonly SegmentWords[]
  readonly #anyTail: boolean
  readonly #ignoreCase: boolean

  constructor(path: string, ignoreCase: boolean) {
    this.#path = path
    this.#anyTail = path.endsWith('/*')
    this.#ignoreCase = ignoreCase
    const fixed = this.#anyTail ? path.slice(0, -2) : path
    this.#segments = fixed.split('/').map((segment) => wordsOf(ignoreCase ? segment.toLowerCase() : segment))
  }

  /** True when the whole path fits. */
  matches(path: string): boolean {
    const segments = (this.#ignoreCase ? path.toLowerCase() : path).split('/')
    if (segments.length < this.#segments.length) return false
    if (segments.length > this.#segments.length && !this.#anyTail) return false
    return this.#segments.every((words, i) => fits(words, segments[i]!))
  }

  /** What the placeholders of a path stand for that fits, by their names, as the path spells it. */
  values(path: string): Map<string, string> {
    const values = new Map<string, string>()
    const segments = path.split('/')
    this.#path.split('/').forEach((segment, i) => {
      const names = segment.match(/(?:\{[^}]*\})+/g) ?? []
      const words = segment.split(/(?:\{[^}]*\})+/)
      let at = words[0]!.length
      names.forEach((name, index) => {
        const sent = segments[i] ?? ''
        const next = words[index + 1]!
        const last = index === names.length - 1
        const end = last ? sent.length - next.length : sent.toLowerCase().indexOf(next.toLowerCase(), at + 1)
        values.set(name.slice(1, -1), sent.slice(at, end))
        at = end + next.length
      })
    })
    return values
  }
}

/** Two placeholders side by side are one: which takes what makes no difference. */
function wordsOf(segment: string): SegmentWords {
  return segment.split(/(?:\{[^}]*\})+/)
}

function fits(words: SegmentWords, segment: string): boolean {
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
