import type { Replayed } from './replay.ts'

/** One thing in which the gateway differs from the incumbent: the rows of docs/generated/differences.md. */
export interface Difference {
  readonly name: string
  readonly there: string
  readonly here: string
  /** Why it stays, or what is to come. */
  readonly why: string
  /** True = to be served as there. */
  readonly open?: true
  /** True = some requests are served here that are refused there. */
  readonly serves?: true
  /** True for a recorded request that differs for this reason. */
  readonly met: (replayed: Replayed) => boolean
  /** The test of what no recording has; it is the case of the row. */
  readonly test?: string
}

/** A row without recordings: credentials of those have run out since. */
export const unrecorded = (test: string): Pick<Difference, 'met' | 'test'> => ({ met: () => false, test })
