/** The share of every size that a scenario is run with: BENCH_SHARE, from above 0 to 1. */
export const share = Number(process.env.BENCH_SHARE ?? 1)
if (!(share > 0 && share <= 1)) throw new Error('BENCH_SHARE must be above 0 and at most 1')

/** How many there shall be where `full` are wanted; not fewer than `least`. */
export function sized(full: number, least = 1): number {
  return Math.max(Math.min(least, full), Math.round(full * share))
}
