const DEEP = process.env.GATEHOUSE_DEEP === '1'

/**
 * All items in long runs; in the others one of `step`, beginning at another one in each turn, so that in `step` turns each item has
 * its turn. For walks over a cross product: the outer loop counts the turns.
 */
export function spread<Item>(items: readonly Item[], turn: number, step: number): readonly Item[] {
  return DEEP ? items : items.filter((_, at) => (at + turn) % step === 0)
}
