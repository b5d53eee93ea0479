import type { Millis } from '../../model/time/clock.ts'

/** Numbers of one count in `QuotaChanges.counts`. */
export const QUOTA_NUMBERS = 3

/** The number of each count. */
export type QuotaName = readonly [number: number, id: string]

/** Counts that changed since the last ones were handed out. */
export interface QuotaChanges {
  /** Names that the store does not have yet. */
  readonly names: readonly QuotaName[]
  /** Number, used permits and end (Unix milliseconds, 0 = never or not known before the next call) of each; 0 permits: it is gone. */
  readonly counts: Float64Array<ArrayBuffer>
  /** The input of `keepChanges`: slots that were read, and deleted numbers. */
  readonly slots: readonly number[]
  readonly gone: readonly number[]
}

/** A count as it was saved. */
export interface SavedQuota {
  readonly number: number
  readonly id: string
  /** 0 = it is gone. */
  readonly used: number
  /** End of the running window; 0 = never, or not known before the next call. */
  readonly endsAt: Millis
}
