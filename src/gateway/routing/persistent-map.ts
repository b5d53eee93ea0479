import { randomInt } from 'node:crypto'

/** One text and its value; texts of one hash are linked. */
interface Entry<T> {
  readonly text: string
  readonly value: T
  readonly next: Entry<T> | undefined
}

/** A copy is made of one part: with this many entries in each, of 10,000 that takes a microsecond instead of a millisecond. */
const MOST_IN_PART = 64
const GROWTH = 4

/**
 * A persistent map by texts: a copy with one entry more or less shares the other parts with its origin. A text is found within a longer
 * one without cutting it out: a map keyed by strings would make V8 put each segment that a request brings into its table of unique
 * strings first: 0.4 µs a look-up (Node 26.10), most of what routing costs.
 */
export class PersistentMap<T> {
  /** A power of two of them, each with the hashes that end in its number. */
  #parts: Map<number, Entry<T>>[]
  #size: number

  constructor(parts: Map<number, Entry<T>>[] = [new Map()], size = 0) {
    this.#parts = parts
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  get(text: string): T | undefined {
    return this.find(text, 0, text.length)
  }

  has(text: string): boolean {
    return this.get(text) !== undefined
  }

  /** The value of what is in `text` from `start` to `end`. */
  find(text: string, start: number, end: number): T | undefined {
    const hash = hashOf(text, start, end)
    const parts = this.#parts
    let entry = parts[hash & (parts.length - 1)]!.get(hash)
    while (entry !== undefined && (entry.text.length !== end - start || !text.startsWith(entry.text, start))) {
      entry = entry.next
    }
    return entry?.value
  }

  /** All values, in no particular order. */
  *values(): Generator<T, undefined> {
    for (const part of this.#parts)
      for (const first of part.values())
        for (let entry: Entry<T> | undefined = first; entry !== undefined; entry = entry.next) yield entry.value
    return undefined
  }

  /** A copy in which the text leads to `value`. */
  with(text: string, value: T): PersistentMap<T> {
    return this.#copyFor(text).put(text, value)
  }

  /** A copy without the text. */
  without(text: string): PersistentMap<T> {
    const copy = this.#copyFor(text)
    copy.#remove(text)
    return copy
  }

  /** Makes the text lead to `value` here: in a map that nobody else has yet. */
  put(text: string, value: T): this {
    this.#remove(text)
    const hash = hashOf(text, 0, text.length)
    const part = this.#partOf(hash)
    part.set(hash, { text, value, next: part.get(hash) })
    this.#size++
    if (this.#size > MOST_IN_PART * this.#parts.length) this.#spread()
    return this
  }

  #partOf(hash: number): Map<number, Entry<T>> {
    return this.#parts[hash & (this.#parts.length - 1)]!
  }

  #copyFor(text: string): PersistentMap<T> {
    const parts = this.#parts.slice()
    const at = hashOf(text, 0, text.length) & (parts.length - 1)
    parts[at] = new Map(parts[at])
    return new PersistentMap(parts, this.#size)
  }

  /** Entries go to more parts. The old ones, which others may share, stay as they are. */
  #spread(): void {
    const before = this.#parts
    this.#parts = Array.from({ length: before.length * GROWTH }, () => new Map())
    for (const part of before) for (const [hash, first] of part) this.#partOf(hash).set(hash, first)
  }

  #remove(text: string): void {
    const hash = hashOf(text, 0, text.length)
    const part = this.#partOf(hash)
    let kept: Entry<T> | undefined
    let found = false
    for (let entry = part.get(hash); entry !== undefined; entry = entry.next) {
      if (entry.text === text) found = true
      else kept = { text: entry.text, value: entry.value, next: kept }
    }
    if (!found) return
    this.#size--
    if (kept === undefined) part.delete(hash)
    else part.set(hash, kept)
  }
}

/** Odd, and of this process alone: with one that is known, texts of one hash could be chosen. */
const MULTIPLIER = randomInt(1 << 30) * 2 + 1

/** 30 bits: V8 keeps such numbers without a box. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0
  for (let i = start; i < end; i++) hash = (Math.imul(hash, MULTIPLIER) + text.charCodeAt(i)) | 0
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}
