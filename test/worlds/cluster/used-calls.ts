// The calls' statements about a limit, on a machine of any speed: times are bounds, and slow calls make them wider.

/** One call that was used, or refused, somewhere between two times of one clock, in milliseconds. */
export interface Way {
  readonly from: number
  readonly to: number
}

const ascending = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)

/**
 * The most calls that were surely used within any window: those whose whole way lies in it. What the machine does to the way of a
 * call makes it too few, never too many.
 */
export function mostWithin(used: readonly Way[], windowMs: number): number {
  const arrivals = ascending(used.map(({ to }) => to))
  const sent = ascending(used.map(({ from }) => from))
  const long = used.filter(({ from, to }) => to - from > windowMs)
  let most = 0
  let arrived = 0
  for (const [i, from] of sent.entries()) {
    while (arrived < arrivals.length && arrivals[arrived]! <= from + windowMs) arrived++
    // Those that were sent before have arrived before the end, but for the very long ones.
    const late = long.filter((one) => one.from < from && one.to > from + windowMs).length
    most = Math.max(most, arrived - (i - late))
  }
  return most
}

/**
 * How many calls may have been used within the window before a refusal: nine of ten refusals had at least so many. What the machine
 * does to the way of a call makes it too many, never too few. 0 when none was refused.
 */
export function usedBeforeRefusal(used: readonly Way[], refused: readonly Way[], windowMs: number): number {
  const arrivals = ascending(used.map(({ to }) => to))
  const sent = ascending(used.map(({ from }) => from))
  const counts = refused.map(({ from, to }) => below(sent, to) - below(arrivals, from - windowMs))
  return ascending(counts)[Math.floor(counts.length / 10)] ?? 0
}

/** How many of the numbers, which ascend, are smaller. */
function below(numbers: readonly number[], bound: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}

const MOST_STEP_MS = 20

/** Says whether a count has not changed for so long, each time that it is asked; time in which the machine was stalled counts little. */
export function standsStill(forMs: number): (count: number) => boolean {
  let [last, askedAt, stillMs] = [0, performance.now(), 0]
  return (count) => {
    const now = performance.now()
    stillMs = count === last ? stillMs + Math.min(now - askedAt, MOST_STEP_MS) : 0
    last = count
    askedAt = now
    return stillMs >= forMs
  }
}
