/** Work that pauses between its parts, so that a caller may let others go first. */
export type PausedWork<T> = Generator<void, T>

/** Does all of it in one go. */
export function atOnce<T>(work: PausedWork<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** The results of some functions, one part of the work each. */
export function* partByPart<T>(parts: readonly (() => T)[]): PausedWork<T[]> {
  const made: T[] = []
  for (const part of parts) {
    made.push(part())
    yield
  }
  return made
}
