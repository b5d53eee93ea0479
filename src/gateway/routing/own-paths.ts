const BATCH = '/svc/batch'
const RATE_LIMITS = '/svc/rate-limits'

/** True when the part of a path from the slash at `at` on is the endpoint of batches, below a listen path. */
export function isBatch(path: string, at: number): boolean {
  return isAt(path, at, BATCH)
}

/** True when the part of a path from the slash at `at` on is where callers read their rate limits, below a listen path. */
export function isRateLimits(path: string, at: number): boolean {
  return isAt(path, at, RATE_LIMITS)
}

/** With or without a slash at the end. */
function isAt(path: string, at: number, own: string): boolean {
  const end = at + own.length
  return path.startsWith(own, at) && (path.length === end || (path.length === end + 1 && path.endsWith('/')))
}
