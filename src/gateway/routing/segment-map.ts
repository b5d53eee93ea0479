import { randomInt } from 'node:crypto'

/** One fixed word of a listen path and what it leads to; words of one hash are linked. */
interface Entry<T> {
  readonly word: string
  readonly value: T
  readonly next: Entry<T> | undefined
}

/**
 * Fixed words by their text, found within a longer text without cutting them out. A map keyed by strings would make V8 put each
 * word that a request brings into its table of unique strings first: 0.4 µs a look-up (Node 26.10), most of what routing costs.
 */
export class SegmentMap<T> {
  readonly #entries: Map<number, Entry<T>>
  #size: number

  constructor(entries: Map<number, Entry<T>> = new Map(), size = 0) {
    this.#entries = entries
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  get(word: string): T | undefined {
    return this.find(word, 0, word.length)
  }

  /** The value of the segment in `text` from `start` to `end`. */
  find(text: string, start: number, end: number): T | undefined {
    let entry = this.#entries.get(hashOf(text, start, end))
    while (entry !== undefined && (entry.word.length !== end - start || !text.startsWith(entry.word, start))) {
      entry = entry.next
    }
    return entry?.value
  }

  /** A copy in which the word leads to `value`. */
  with(word: string, value: T): SegmentMap<T> {
    return new SegmentMap(new Map(this.#entries), this.#size).put(word, value)
  }

  /** A copy without the word. */
  without(word: string): SegmentMap<T> {
    const copy = new SegmentMap(new Map(this.#entries), this.#size)
    copy.#remove(word)
    return copy
  }

  /** Makes the word lead to `value` here: for words that nobody else has yet. */
  put(word: string, value: T): this {
    this.#remove(word)
    const hash = hashOf(word, 0, word.length)
    this.#entries.set(hash, { word, value, next: this.#entries.get(hash) })
    this.#size++
    return this
  }

  #remove(word: string): void {
    const hash = hashOf(word, 0, word.length)
    let kept: Entry<T> | undefined
    let found = false
    for (let entry = this.#entries.get(hash); entry !== undefined; entry = entry.next) {
      if (entry.word === word) found = true
      else kept = { word: entry.word, value: entry.value, next: kept }
    }
    if (!found) return
    this.#size--
    if (kept === undefined) this.#entries.delete(hash)
    else this.#entries.set(hash, kept)
  }
}

/** Odd, and of this process alone: with one that is known, words of one hash could be chosen. */
const MULTIPLIER = randomInt(1 << 30) * 2 + 1

/** 30 bits: V8 keeps such numbers without a box. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0
  for (let i = start; i < end; i++) hash = (Math.imul(hash, MULTIPLIER) + text.charCodeAt(i)) | 0
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}
