const turns = new WeakMap<object, Promise<unknown>>()

/**
 * Runs `work` when everything that was handed in before for the same `owner` has ended, so that a check and the write that
 * relies on it are not parted by another write of this process.
 */
export function withLock<T>(owner: object, work: () => Promise<T>): Promise<T> {
  const before = turns.get(owner) ?? Promise.resolve()
  const turn = before.then(work)
  turns.set(
    owner,
    turn.catch(() => {}),
  )
  return turn
}
