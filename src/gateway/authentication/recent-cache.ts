/**
 * Remembers what was used lately, at most twice `half` entries. Two generations of a map instead of a list of uses: what was used
 * since the last turn survives it.
 */
export class RecentCache<V> {
  readonly #half: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  constructor(half: number) {
    this.#half = half
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.keep(key, old)
    return old
  }

  keep(key: string, value: V): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
    this.#old.delete(key)
  }

  drop(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
