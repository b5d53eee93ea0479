/** Longest that a call waits until a gateway serves what the call has stored. */
export const SERVED_WITHIN_MS = 5000

/**
 * Waits for `work`, and no longer than `withinMs`. Answers whether it has ended; it continues where it has not. @throws what `work` rejects with
 * in time
 */
export async function endsWithin(work: Promise<unknown>, withinMs: number): Promise<boolean> {
  const late = Symbol('late')
  let timer: NodeJS.Timeout | undefined
  const bound = new Promise<symbol>((resolve) => {
    timer = setTimeout(() => resolve(late), withinMs)
  })
  try {
    return (await Promise.race([work, bound])) !== late
  } finally {
    clearTimeout(timer)
  }
}
