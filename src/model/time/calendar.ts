export const DAY_MS = 86_400_000

/** The first day of the month of a day; both in days since the Unix epoch, UTC. */
export function monthOf(day: number): number {
  const date = new Date(day * DAY_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS
}

/** The first day of the month after that of a day. */
export function nextMonthOf(day: number): number {
  const date = new Date(day * DAY_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS
}
