import { type HitSamples, SampleBlock } from '../../model/analytics/hit-samples.ts'

export interface HitLogOptions {
  readonly blockSamples: number
  /** Blocks in use and to spare; when all are full, `add` refuses. */
  readonly blocks: number
}

const EMPTY = new SampleBlock(0)

/** Requests that are not stored yet, one after the other as they ended, in blocks of one hour each. */
export class HitLog {
  readonly #options: HitLogOptions
  readonly #free: SampleBlock[] = []
  #made = 0
  /** Closed, the oldest first. */
  #closed: SampleBlock[] = []
  /** One without room when none is open, so that the next request asks for another. */
  #open = EMPTY
  /** Requests in blocks that are closed and not given back. */
  #waiting = 0

  constructor(options: HitLogOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting + this.#open.count
  }

  /**
   * Notes one request; `number` is that of its dimensions. False when there is no room, or the request does not belong to the
   * hour of those around it: then it is to be counted elsewhere. Other parameters as in `HitCell.add`.
   */
  add(number: number, status: number, totalMs: number, upstreamMs: number, wallMs: number): boolean {
    const open = this.#open
    if (open.add(number, status, totalMs, upstreamMs, wallMs)) return true
    // Back in time is not worth a block: requests that end around the hour come in turns.
    if (open.count < open.capacity && !open.isBefore(wallMs)) return false
    return this.#begin(wallMs) && this.#open.add(number, status, totalMs, upstreamMs, wallMs)
  }

  /** Takes the oldest closed blocks, at most so many. They must be given back. */
  take(most: number): SampleBlock[] {
    return this.#closed.splice(0, most)
  }

  /** Closes the open block, so that `take` reaches everything that is noted by now. Answers how many blocks that is. */
  close(): number {
    this.#close()
    return this.#closed.length
  }

  /** Takes blocks back whose requests are stored. */
  giveBack(blocks: readonly SampleBlock[]): void {
    for (const block of blocks) {
      this.#waiting -= block.count
      this.#free.push(block)
    }
  }

  #begin(wallMs: number): boolean {
    if (this.#free.length === 0 && this.#made >= this.#options.blocks) return false
    this.#close()
    this.#open = this.#free.pop() ?? this.#make()
    this.#open.begin(wallMs)
    return true
  }

  #make(): SampleBlock {
    this.#made++
    return new SampleBlock(this.#options.blockSamples)
  }

  #close(): void {
    if (this.#open.count === 0) {
      if (this.#open.capacity > 0) this.#free.push(this.#open)
    } else {
      this.#waiting += this.#open.count
      this.#closed.push(this.#open)
    }
    this.#open = EMPTY
  }
}

/** The form of these blocks for the store. */
export function samplesOf(blocks: readonly SampleBlock[]): HitSamples[] {
  return blocks.map((block) => block.samples)
}
