import { prebuilt } from '../../errors/fault.ts'

export const NO_DESCRIPTORS = prebuilt('no_descriptors')

/** Bounds the connections to all upstreams together: what they take of the file descriptors, others cannot have. */
export class SocketBudget {
  readonly #most: number
  readonly #refused: () => void
  #open = 0

  constructor(most: number, refused: () => void) {
    this.#most = most
    this.#refused = refused
  }

  get open(): number {
    return this.#open
  }

  /** True while so many are open that unused ones are better closed. */
  get crowded(): boolean {
    return this.#open > this.#most / 2
  }

  /** Counts a connection until `giveBack`. False, and reported, when it is one too many: it must not be opened. */
  take(): boolean {
    if (++this.#open <= this.#most) return true
    this.#refused()
    return false
  }

  giveBack(): void {
    this.#open--
  }
}
