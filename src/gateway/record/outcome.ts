import type { CutBy } from '../../wire/http1/exchange.ts'

/** The end of a request: its answer was complete, or who ended it before. */
export const OUTCOMES = ['complete', 'cut_by_client', 'cut_by_upstream', 'cut_by_gateway'] as const

export type Outcome = (typeof OUTCOMES)[number]

/** The outcome of a request that was cut so; '' = it was not. */
export function outcomeOf(cutBy: CutBy | ''): Outcome {
  if (cutBy === '') return 'complete'
  if (cutBy === 'client') return 'cut_by_client'
  return cutBy === 'upstream' ? 'cut_by_upstream' : 'cut_by_gateway'
}
