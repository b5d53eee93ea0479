import type { FaultCode } from '../../errors/catalog.ts'
import type { Millis } from '../../model/clock.ts'
import type { HitPack } from '../hit-pack.ts'
import type { QuotaRow } from '../memory/counters.ts'
import type { HitBatch, Revision } from '../ports.ts'
import type { PreparedCommit } from '../prepare.ts'

/** What the writer thread is started with. */
export interface WriterData {
  readonly file: string
  readonly limitBytes: number
}

/** One thing to write. Its number is given by the link and answered with the result. */
export type Write =
  | { readonly sort: 'commit'; readonly commit: PreparedCommit }
  | { readonly sort: 'hits'; readonly pack: HitPack; readonly batch?: HitBatch }
  | { readonly sort: 'quotas'; readonly rows: readonly QuotaRow[] }
  /** Forgets a bounded number of sessions that were due to be forgotten by `now`; answers how many. */
  | { readonly sort: 'purge'; readonly now: Millis }

export interface NumberedWrite {
  readonly number: number
  readonly write: Write
}

export type ToWriter =
  | { readonly type: 'writes'; readonly writes: readonly NumberedWrite[] }
  | { readonly type: 'close' }

/** A fault as it crosses threads. */
export interface PlainFault {
  readonly code: FaultCode
  readonly detail: string
}

/** `value`: revision of a commit, number of rows of anything else. */
export type WriteResult =
  | { readonly number: number; readonly value: number }
  | { readonly number: number; readonly fault: PlainFault }

export type FromWriter =
  /** `lastGroup`: number and revision of each write of the last group that was committed, for a writer that starts again. */
  | {
      readonly type: 'ready'
      readonly revision: Revision
      readonly lastGroup: readonly (readonly [number, Revision])[]
    }
  | { readonly type: 'refused'; readonly fault: PlainFault }
  | { readonly type: 'done'; readonly results: readonly WriteResult[] }
  | { readonly type: 'closed' }
