const MOST_SUBJECTS = 1000

/** Lets one message through per subject and interval. */
export class OncePerInterval {
  readonly #intervalMs: number
  readonly #last = new Map<string, number>()

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** True when nothing was logged about the subject for the interval. `now` in milliseconds. */
  isDue(subject: string, now: number): boolean {
    const last = this.#last.get(subject)
    if (last !== undefined && now - last < this.#intervalMs) return false
    this.#last.delete(subject)
    this.#last.set(subject, now)
    if (this.#last.size > MOST_SUBJECTS) for (const oldest of this.#last.keys()) if (this.#last.delete(oldest)) break
    return true
  }
}
