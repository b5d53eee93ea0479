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

/** Longest period that a key, policy or API may name, in seconds: a hundred years of 365.25 days. Times in milliseconds stay exact with it. */
export const MOST_SECONDS = 3_155_760_000
/** Latest time that they may name, in Unix seconds: the end of the year 9999, beyond which dates have no text (RFC 3339). */
export const LATEST_SECONDS = 253_402_300_799
