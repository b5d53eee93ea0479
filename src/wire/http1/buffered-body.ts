/** The body of an answer that is kept back until all of it is there. */
export class BufferedBody {
  readonly #limitBytes: number
  readonly #parts: Buffer[] = []
  #size = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Copies the bytes: the next read overwrites their buffer. False when they are too many. */
  add(chunk: Buffer, from: number, to: number): boolean {
    this.#size += to - from
    if (this.#size > this.#limitBytes) return false
    if (to > from) this.#parts.push(Buffer.from(chunk.subarray(from, to)))
    return true
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
