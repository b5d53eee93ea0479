/** A seeded generator of numbers from 0 to below 1 (mulberry32): the same seed gives the same run anywhere. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A whole number from 0 to below `bound`. */
export function below(random: () => number, bound: number): number {
  return Math.floor(random() * bound)
}

/** One of the list. */
export function pick<T>(random: () => number, list: readonly T[]): T {
  const chosen = list[below(random, list.length)]
  if (chosen === undefined) throw new Error('nothing to pick from')
  return chosen
}
