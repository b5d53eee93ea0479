const SECOND_MS = 1000

/**
 * Decides which requests are recorded: at most so many of a second, half of them as they come and the others as the second goes
 * on, so that a sample of a busy second speaks of all of it. A refusal costs two comparisons.
 */
export class RecordSampler {
  readonly #perSecond: number
  /** When the second began that is counted, and when it ends. */
  #from = 0
  #to = 0
  #taken = 0
  /** Before this nothing is admitted. */
  #nextAt = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** True when a request that ends now may be recorded. `now` is monotonic, in milliseconds. */
  admit(now: number): boolean {
    if (now < this.#nextAt) return false
    if (now >= this.#to) this.#begin(now)
    const allowed = this.#allowedAt(now)
    if (this.#taken < allowed) {
      this.#taken++
      return true
    }
    this.#nextAt = this.#whenAllowed()
    return false
  }

  #begin(now: number): void {
    this.#from = now
    this.#to = now + SECOND_MS
    this.#taken = 0
  }

  #allowedAt(now: number): number {
    const half = this.#perSecond / 2
    return Math.min(this.#perSecond, Math.ceil(half + ((now - this.#from) / SECOND_MS) * half))
  }

  /** When one more than now will be allowed; the end of the second when none will be. */
  #whenAllowed(): number {
    const half = this.#perSecond / 2
    const share = (this.#taken - half) / half
    return share >= 1 ? this.#to : Math.min(this.#to, this.#from + share * SECOND_MS)
  }
}
