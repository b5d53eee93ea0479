interface Waiting<T> {
  /** By caller, who is next first. */
  readonly byCaller: Map<string, T[]>
  size: number
}

/** Of the room for one caller that is known, before it loses its precedence. */
const KNOWN_SHARE = 0.2

/**
 * Work that waits for its turn, a bounded amount: callers take turns, so that nobody waits for all the work of another, and when too much
 * waits, the newest of the caller with most of it is refused. Callers that are known (they proved who they are before) take every second
 * turn, and are refused only where nothing of others waits, or where one of them has more than a fifth of the room.
 */
export class FairQueue<T> {
  readonly #most: number
  readonly #known: Waiting<T> = { byCaller: new Map(), size: 0 }
  readonly #others: Waiting<T> = { byCaller: new Map(), size: 0 }
  #isTurnOfKnown = true

  /** `most`: what may wait, of all callers together. */
  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#known.size + this.#others.size
  }

  /** Adds work of a caller. Answers what is refused for it: this or another's; undefined where there is room. */
  add(caller: string, item: T, isKnown = false): T | undefined {
    const line = isKnown ? this.#known : this.#others
    const items = line.byCaller.get(caller) ?? []
    items.push(item)
    line.byCaller.set(caller, items)
    line.size++
    if (this.size <= this.#most) return undefined
    const isGreedy = mostOf(this.#known) > this.#most * KNOWN_SHARE
    return refusedOf(this.#others.size > 0 && !isGreedy ? this.#others : this.#known)
  }

  /** The oldest work of the caller whose turn it is; undefined when none waits. */
  take(): T | undefined {
    const [first, second] = this.#isTurnOfKnown ? [this.#known, this.#others] : [this.#others, this.#known]
    const line = first.size > 0 ? first : second
    this.#isTurnOfKnown = line !== this.#known
    const next = line.byCaller.entries().next().value
    if (next === undefined) return undefined
    const [caller, items] = next
    const item = items.shift()
    line.byCaller.delete(caller)
    if (items.length > 0) line.byCaller.set(caller, items)
    line.size--
    return item
  }
}

function mostOf<T>({ byCaller }: Waiting<T>): number {
  let most = 0
  for (const items of byCaller.values()) most = Math.max(most, items.length)
  return most
}

function refusedOf<T>(line: Waiting<T>): T {
  const [caller, items] = [...line.byCaller].reduce((most, each) => (each[1].length >= most[1].length ? each : most))
  const refused = items.pop()!
  if (items.length === 0) line.byCaller.delete(caller)
  line.size--
  return refused
}
