import assert from 'node:assert/strict'

/** Input this many times as long may cost this many times as much: far above linear, far below the 256 times of a square. */
const TIMES = 16
const MOST = 100
/** Work that costs less than this at full size is beyond measuring, and irrelevant. */
const LEAST_MS = 4
const ROUNDS = 5

export type Work = (input: string) => unknown

/** Milliseconds of processor time of the cheapest of several runs: other programs on the machine add nothing to it. */
async function best(work: Work, input: string, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS && least > enough; round++) {
    const before = process.cpuUsage()
    await attempt(work, input)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** Text that a parser refuses has been parsed all the same. */
async function attempt(work: Work, input: string): Promise<void> {
  try {
    await work(input)
  } catch (error) {
    assert.ok(error instanceof Error)
  }
}

/**
 * How many times as much 16 times the input costs; 0 where it costs next to nothing. Only ratios count, of the cheapest runs, so that
 * a busy machine makes no difference.
 */
export async function growth(work: Work, make: (length: number) => string, length: number): Promise<number> {
  const large = await best(work, make(length), LEAST_MS)
  if (large <= LEAST_MS) return 0
  return large / Math.max(await best(work, make(Math.floor(length / TIMES)), 0), 0.01)
}

/** Fails for work whose cost grows faster than its input, each time that it is looked at. */
export async function assertLinear(
  name: string,
  work: Work,
  make: (length: number) => string,
  length: number,
): Promise<void> {
  const seen: number[] = []
  for (let round = 0; round < 3; round++) {
    const ratio = await growth(work, make, length)
    if (ratio < MOST) return
    seen.push(Math.round(ratio))
  }
  assert.fail(`${name}: ${TIMES} times the input costs ${seen.join(', ')} times as much`)
}
