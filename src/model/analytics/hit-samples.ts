import { HOUR_MS } from './hit.ts'

/** Words of one sample. */
export const SAMPLE_WORDS = 4
/** Statuses above this have no place in a sample. */
const LAST_STATUS = 1023
/** Bits of the second word that hold the time within the hour; the status is above them. */
export const TIME_BITS = 22

/**
 * Finished requests of one hour, four 32-bit words each, in the byte order of the machine: the number of their set of
 * dimensions (`Hits.number`); status and milliseconds since the hour began; total and upstream latency as floats of
 * 32 bits, the latter below 0 when the request was not handed on.
 */
export interface HitSamples {
  /** Hours since the Unix epoch, UTC. */
  readonly hour: number
  readonly words: Uint32Array<ArrayBuffer>
}

/** Room for a fixed number of samples of one hour. Memory is touched in order, so that adding one costs next to nothing. */
export class SampleBlock {
  /** Samples in it. */
  count = 0
  readonly capacity: number
  readonly #words: Uint32Array<ArrayBuffer>
  readonly #floats: Float32Array<ArrayBuffer>
  #hour = 0
  /** Start of the hour in wall-clock milliseconds. */
  #fromMs = 0

  constructor(capacity: number) {
    this.capacity = capacity
    this.#words = new Uint32Array(capacity * SAMPLE_WORDS)
    this.#floats = new Float32Array(this.#words.buffer)
  }

  /** Empties it and makes it take the samples of the hour of `wallMs`. */
  begin(wallMs: number): void {
    this.count = 0
    this.#hour = Math.floor(wallMs / HOUR_MS)
    this.#fromMs = this.#hour * HOUR_MS
  }

  /**
   * Notes one request and answers true; false when the block is full, the request is of another hour, or its status has no
   * place in a sample. `upstreamMs` below 0 = it was not handed on.
   */
  add(dimension: number, status: number, totalMs: number, upstreamMs: number, wallMs: number): boolean {
    const sinceMs = wallMs - this.#fromMs
    // Written so that NaN is refused as well.
    if (!(sinceMs >= 0 && sinceMs < HOUR_MS && status >= 0 && status <= LAST_STATUS)) return false
    if (this.count === this.capacity) return false
    const at = this.count * SAMPLE_WORDS
    this.#words[at] = dimension
    this.#words[at + 1] = (status << TIME_BITS) | sinceMs
    this.#floats[at + 2] = totalMs
    this.#floats[at + 3] = upstreamMs
    this.count++
    return true
  }

  /** True when requests at `wallMs` belong to a later hour. */
  isBefore(wallMs: number): boolean {
    return wallMs >= this.#fromMs + HOUR_MS
  }

  /** The added samples; shares memory with the block. */
  get samples(): HitSamples {
    return { hour: this.#hour, words: this.#words.subarray(0, this.count * SAMPLE_WORDS) }
  }
}
