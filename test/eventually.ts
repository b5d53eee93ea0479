import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

/** Longest wait for one thing. Nothing is proved by it: a machine that does much besides is slow. */
const LONGEST_MS = 120_000
const PAUSE_MS = 2

/** Waits until a condition holds, asking again and again. @throws AssertionError naming `what` after two minutes */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + LONGEST_MS
  while (!(await holds())) {
    assert.ok(performance.now() < endsAt, `waited in vain: ${what}`)
    await pause()
  }
}

/** Waits until what is read is `expected`, as pages need it, which may still be drawn. @throws AssertionError with the last reading after two minutes */
export async function becomes<T>(read: () => T | Promise<T>, expected: T, what = 'read'): Promise<void> {
  const endsAt = performance.now() + LONGEST_MS
  for (let found = await read(); !isDeepStrictEqual(found, expected); found = await read()) {
    if (performance.now() >= endsAt) assert.deepEqual({ [what]: found }, { [what]: expected })
    await pause()
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
