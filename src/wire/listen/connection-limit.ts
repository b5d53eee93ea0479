import { prebuilt } from '../../errors/fault.ts'

export const NO_DESCRIPTORS = prebuilt('no_descriptors')

/** Why a connection was refused or not opened. */
export type RefusalReason = 'max_connections' | 'descriptors' | 'handshakes' | 'upstream'

export interface ConnectionLimitOptions {
  /** Open connections of all its listeners together; 0 = no bound. */
  readonly most: number
  /** The reason for refusing a connection beyond that. */
  readonly reason: RefusalReason
  readonly refused: (reason: RefusalReason) => void
}

/** Bounds the connections of several listeners together, and reports those that were refused. */
export class ConnectionLimit {
  readonly #options: ConnectionLimitOptions
  readonly #listeners: { readonly size: number }[] = []

  constructor(options: ConnectionLimitOptions) {
    this.#options = options
  }

  /** Counts the connections of a listener from now on. */
  join(listener: { readonly size: number }): void {
    this.#listeners.push(listener)
  }

  /** False, and reported, when another connection is one too many. */
  admits(): boolean {
    const { most, reason } = this.#options
    if (most === 0 || this.#listeners.reduce((sum, { size }) => sum + size, 0) < most) return true
    this.refuse(reason)
    return false
  }

  refuse(reason: RefusalReason): void {
    this.#options.refused(reason)
  }
}

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
