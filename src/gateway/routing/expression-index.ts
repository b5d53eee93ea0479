import type { Matcher } from '../../model/patterns/matcher.ts'
import { type PatternWork, spendPatternWork } from '../../model/patterns/pattern-work.ts'

const SLASH = 47

/** Expressions with a literal beginning of a segment in common. */
interface Bucket<Entry> {
  readonly matchers: Matcher[]
  readonly entries: Entry[]
  /** The walk that has looked at it last. */
  walk: number
}

/**
 * Expressions of paths, each found by the first two characters of a segment that every path which it matches holds: of 100 a request is
 * compared with those few whose characters it has (0.5 µs instead of 3 to 8).
 */
export class ExpressionIndex<Entry> {
  readonly #buckets = new Map<number, Bucket<Entry>>()
  /** Those without such characters. */
  readonly #others: Bucket<Entry> = { matchers: [], entries: [], walk: 0 }
  #walks = 0

  constructor(expressions: readonly { readonly matcher: Matcher; readonly entry: Entry }[]) {
    const keys = expressions.map(({ matcher }) => [...keysOf(matcher.prefix), ...keysOf(matcher.part)])
    const counts = new Map<number, number>()
    for (const key of keys.flat()) counts.set(key, (counts.get(key) ?? 0) + 1)
    expressions.forEach(({ matcher, entry }, at) => {
      // A key that few others have tells most.
      const [rarest] = keys[at]!.sort((one, other) => counts.get(one)! - counts.get(other)!)
      const bucket = rarest === undefined ? this.#others : this.#bucketOf(rarest)
      bucket.matchers.push(matcher)
      bucket.entries.push(entry)
    })
  }

  /** Visits the entries of all expressions that match. @throws Fault `patterns_over_budget` (503) */
  walk(path: string, visit: (entry: Entry) => void, account: PatternWork): void {
    const walk = ++this.#walks
    search(this.#others, path, visit, account)
    if (this.#buckets.size === 0) return
    spendPatternWork(account, path.length)
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const bucket = this.#buckets.get(keyAt(path, at))
      if (bucket === undefined || bucket.walk === walk) continue
      bucket.walk = walk
      search(bucket, path, visit, account)
    }
  }

  #bucketOf(key: number): Bucket<Entry> {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    const made: Bucket<Entry> = { matchers: [], entries: [], walk: 0 }
    this.#buckets.set(key, made)
    return made
  }
}

function search<Entry>(
  { matchers, entries }: Bucket<Entry>,
  path: string,
  visit: (entry: Entry) => void,
  account: PatternWork,
): void {
  for (let at = 0; at < matchers.length; at++) if (matchers[at]!.test(path, account)) visit(entries[at]!)
}

/** Of all segments of a literal text that show two characters. */
function keysOf(literal: string): number[] {
  const keys: number[] = []
  for (let at = 0; at < literal.length - 2; at++) if (literal.charCodeAt(at) === SLASH) keys.push(keyAt(literal, at))
  return keys
}

/** The two characters behind a slash as a small number; others may have the same. */
function keyAt(text: string, at: number): number {
  return ((text.charCodeAt(at + 1) << 8) ^ text.charCodeAt(at + 2)) & 0xff_ffff
}
