/**
 * Runs work under the same key one after the other, in the order in which it was handed in; work under different keys side by side. Work that
 * hands in more under its own key, and waits for it, waits for ever.
 */
export class KeyedMutex {
  /** The end of the last work under each key, whatever it came to. */
  readonly #ends = new Map<string, Promise<unknown>>()
  readonly #shared = new Map<string, Promise<unknown>>()

  /** Keys under which work runs or waits. */
  get size(): number {
    return this.#ends.size
  }

  /** Resolves, or rejects, as `work` does, which begins when all that was handed in before under the key has ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = (this.#ends.get(key) ?? Promise.resolve()).then(work)
    const end = running.catch(() => {})
    this.#ends.set(key, end)
    try {
      return await running
    } finally {
      if (this.#ends.get(key) === end) this.#ends.delete(key)
    }
  }

  /**
   * Runs `work` unless work of this key is under way: then resolves, or rejects, as that does. One key has one kind of work, and is
   * another than those of `run`.
   */
  async share<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#shared.get(key)
    if (running !== undefined) return running as Promise<T>
    const begun = work().finally(() => this.#shared.delete(key))
    this.#shared.set(key, begun)
    return begun
  }
}
