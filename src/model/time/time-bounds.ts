/** Longest period that a key, policy or API may name, in seconds: a hundred years of 365.25 days. Times in milliseconds stay exact with it. */
export const MOST_SECONDS = 3_155_760_000
/** Latest time that they may name, in Unix seconds: the end of the year 9999, beyond which dates have no text (RFC 3339). */
export const LATEST_SECONDS = 253_402_300_799
