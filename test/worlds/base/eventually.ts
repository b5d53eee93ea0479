import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

/** Longest wait for one thing. Nothing is proved by it: a machine that does much besides is slow. */
const LONGEST_MS = 120_000
/** Between two looks goes an eighth of the time waited so far, within these bounds: a wait of seconds must not take a core to itself. */
const SHORTEST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 50

/** Waits until a condition holds, asking again and again. @throws AssertionError naming `what` after two minutes */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const since = performance.now()
  while (!(await holds())) {
    assert.ok(performance.now() < since + LONGEST_MS, `waited in vain: ${what}`)
    await pause(since)
  }
}

/** Waits until what is read is `expected`, as pages need it, which may still be drawn. @throws AssertionError with the last reading after two minutes */
export async function becomes<T>(read: () => T | Promise<T>, expected: T, what = 'read'): Promise<void> {
  const since = performance.now()
  for (let found = await read(); !isDeepStrictEqual(found, expected); found = await read()) {
    if (performance.now() >= since + LONGEST_MS) assert.deepEqual({ [what]: found }, { [what]: expected })
    await pause(since)
  }
}

/** The value of a promise that has no bound, such as scripts in a page. @throws AssertionError naming `what` after two minutes */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `waited in vain: ${what}` })), LONGEST_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function pause(since: number): Promise<void> {
  const share = (performance.now() - since) / 8
  return new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(share, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)))
}
