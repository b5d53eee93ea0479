import type { RateAlgorithm } from './rate-algorithm.ts'
import { SLIDING_WINDOW } from './window.ts'

const ALL = [SLIDING_WINDOW] as const

/** An algorithm by which rates are counted. */
export type RateAlgorithmName = (typeof ALL)[number]['name']

/** The algorithms that stores can count by. */
export const RATE_ALGORITHMS: readonly RateAlgorithm<RateAlgorithmName>[] = ALL

const BY_NAME = new Map(RATE_ALGORITHMS.map((algorithm) => [algorithm.name, algorithm]))

/** The algorithm of this name. */
export function rateAlgorithm(name: RateAlgorithmName): RateAlgorithm<RateAlgorithmName> {
  const algorithm = BY_NAME.get(name)
  if (algorithm === undefined) throw new Error(`there is no rate limit algorithm ${name}`)
  return algorithm
}
