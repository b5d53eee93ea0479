/** Of the bytes of a budget for one address. */
const ADDRESS_SHARE = 0.5
/** Of the bytes of a budget for addresses that are not known. */
const STRANGERS_SHARE = 0.75

/** Bytes that may be in memory at once, of all and of each address. */
export class ByteBudget {
  readonly #most: number
  readonly #held = new Map<string, number>()
  #total = 0

  /** `most`: bytes of all bodies together. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Holds further bytes of a body that has `own` already; false where that would be too many: a share of all is kept for addresses that
   * are `known`. One body alone always fits.
   */
  take(address: string, bytes: number, own: number, known: boolean): boolean {
    const held = this.#held.get(address) ?? 0
    const most = this.#most * (known ? 1 : STRANGERS_SHARE)
    if (this.#total > own && this.#total + bytes > most) return false
    if (held > own && held + bytes > this.#most * ADDRESS_SHARE) return false
    this.#total += bytes
    this.#held.set(address, held + bytes)
    return true
  }

  /** The bytes are no longer in memory. */
  giveBack(address: string, bytes: number): void {
    this.#total -= bytes
    const held = this.#held.get(address)! - bytes
    if (held > 0) this.#held.set(address, held)
    else this.#held.delete(address)
  }
}
