interface Entry<V> {
  readonly value: V
  readonly weight: number
}

/**
 * Remembers what was used lately, at most twice `half` entries, or twice that weight where entries have weights. Two generations of a map instead
 * of a list of uses: what was used since the last turn survives it.
 */
export class RecentCache<V> {
  readonly #half: number
  #young = new Map<string, Entry<V>>()
  #old = new Map<string, Entry<V>>()
  #weight = 0

  constructor(half: number) {
    this.#half = half
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young.value
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.keep(key, old.value, old.weight)
    return old.value
  }

  keep(key: string, value: V, weight = 1): void {
    const replaced = this.#young.get(key)?.weight ?? 0
    this.#weight += weight - replaced
    if (this.#weight > this.#half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = weight
    }
    this.#young.set(key, { value, weight })
    this.#old.delete(key)
  }

  drop(key: string): void {
    this.#weight -= this.#young.get(key)?.weight ?? 0
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
