interface IdleEntry {
  /** Which of all sources it was that came. */
  readonly order: number
  /** undefined = it is not served. */
  readonly compiled: unknown
}

/** The entries that are not served: looked at after each change, which must not take the longer the more APIs are served. */
export class IdleEntries<E extends IdleEntry> {
  /** Those that have been compiled since are among them until the next look. */
  readonly #entries = new Set<E>()
  #added = 0

  /** Adds an entry unless it is served. */
  add(entry: E): void {
    if (entry.compiled !== undefined || this.#entries.has(entry)) return
    this.#entries.add(entry)
    this.#added++
  }

  delete(entry: E): void {
    this.#entries.delete(entry)
  }

  /** Calls `visit` with each in the order of their sources; one that is added meanwhile is visited unless its turn was before. */
  each(visit: (entry: E) => void): void {
    for (let after = 0; ; ) {
      const added = this.#added
      for (const entry of this.#behind(after)) {
        after = entry.order
        if (entry.compiled === undefined) visit(entry)
        if (this.#added !== added) break
      }
      if (this.#added === added) return
    }
  }

  #behind(order: number): E[] {
    for (const entry of this.#entries) if (entry.compiled !== undefined) this.#entries.delete(entry)
    return [...this.#entries].filter((entry) => entry.order > order).sort((a, b) => a.order - b.order)
  }
}
