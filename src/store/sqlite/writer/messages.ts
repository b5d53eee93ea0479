import type { HitSamples } from '../../../model/analytics/hit-samples.ts'
import type { PlainFault } from '../../../model/threads/thread-rpc.ts'
import type { Millis } from '../../../model/time/clock.ts'
import type { HitPack } from '../../hits/hit-pack.ts'
import type { QuotaName } from '../../memory/quota-changes.ts'
import type { FeedEvent, HitBatch, Revision } from '../../ports/ports.ts'
import { hashBytes, latin1 } from '../../prepare/cells.ts'
import type { PreparedCommit } from '../../prepare/prepare.ts'
import type { PreparedAudit } from '../../prepare/prepare-audit.ts'
import type { PreparedDrop, PreparedRecord } from '../../prepare/prepare-records.ts'

// Not the messages of `model/threads/thread-rpc.ts`: a message each for question and answer would cost as much as a small write. Writes of
// a turn share a message, and so do the results of a group.

/** The options of a writer. */
export interface WriterData {
  readonly file: string
  readonly limitBytes: number
}

/** The start message of the writer thread. */
export interface WriterStart extends WriterData {
  /** The cell of `ThreadEndGuard`. */
  readonly uncut: Int32Array
}

/** One thing to write. Its number is given by the link and answered with the result. */
export type Write =
  | { readonly sort: 'commit'; readonly commit: PreparedCommit }
  | { readonly sort: 'hits'; readonly pack: HitPack; readonly batch?: HitBatch }
  /** Memory of the words goes over with the message. */
  | { readonly sort: 'samples'; readonly samples: readonly HitSamples[]; readonly batch?: HitBatch }
  /** Sets of dimensions as in `HitPack`, so that they have numbers; answers how many. */
  | { readonly sort: 'dimensions'; readonly dimensions: readonly string[] }
  /** Memory of the counts goes over with the message. */
  | { readonly sort: 'quotas'; readonly names: readonly QuotaName[]; readonly counts: Float64Array<ArrayBuffer> }
  | { readonly sort: 'records'; readonly rows: readonly PreparedRecord[]; readonly drops: readonly PreparedDrop[] }
  /** Forgets some of the records from before, and of the oldest beyond the newest `keep`; answers how many. */
  | { readonly sort: 'purgeRecords'; readonly before: Millis; readonly keep: number }
  /** Answered when all samples that are durable now are in the table of hits. */
  | { readonly sort: 'foldHits' }
  /** Forgets some of the sessions and tickets that were due to be forgotten by `now`; answers how many. */
  | { readonly sort: 'purge'; readonly now: Millis }
  /** Forgets some of the hits of days before this one (since the Unix epoch); answers how many rows. */
  | { readonly sort: 'purgeHits'; readonly beforeDay: number }
  /** The same of the counts of minutes before this one. */
  | { readonly sort: 'purgeMinutes'; readonly beforeMinute: number }
  /** Adds some of the hits of months that were over before this day to the sums of months; answers 0 when none is left. */
  | { readonly sort: 'rollUpHits'; readonly beforeDay: number }
  /** Writes an audit entry without a change. */
  | { readonly sort: 'note'; readonly entry: PreparedAudit }
  /** Forgets some of the audit entries from before; answers how many. */
  | { readonly sort: 'purgeAudit'; readonly before: Millis }

export interface NumberedWrite {
  readonly number: number
  readonly write: Write
}

export type ToWriter =
  | { readonly type: 'writes'; readonly writes: readonly NumberedWrite[] }
  | { readonly type: 'close' }

/**
 * `value`: revision of a commit, number of rows of anything else. `ended`: hashes (strings of bytes) of the sessions that went
 * with the families that the commit ended; absent when there were none.
 */
export type WriteResult =
  | { readonly number: number; readonly value: number; readonly ended?: readonly string[] }
  | { readonly number: number; readonly fault: PlainFault }

/** Results as they cross threads. */
export function packResults(results: readonly WriteResult[]): (number | WriteResult)[] {
  const packed: (number | WriteResult)[] = []
  for (const result of results) {
    if ('value' in result && result.ended === undefined) packed.push(result.number, result.value)
    else packed.push(result)
  }
  return packed
}

/** The results as they were packed. */
export function unpackResults(packed: readonly (number | WriteResult)[]): WriteResult[] {
  const results: WriteResult[] = []
  for (let i = 0; i < packed.length; i++) {
    const each = packed[i]!
    results.push(typeof each === 'number' ? { number: each, value: packed[++i] as number } : each)
  }
  return results
}

/** A commit that is durable: the number of its write, its revision, and `ended` as in `WriteResult`. */
export type CommittedWrite = readonly [number: number, revision: Revision, ended?: readonly string[]]

export type FromWriter =
  /** `lastGroup`: each write of the last group that was committed, for a writer that starts again. */
  | {
      readonly type: 'ready'
      readonly revision: Revision
      readonly lastGroup: readonly CommittedWrite[]
    }
  | { readonly type: 'refused'; readonly fault: PlainFault }
  /** Number and value of a write alternate where there is no more to say: numbers are copied between threads faster than objects. */
  | { readonly type: 'done'; readonly results: readonly (number | WriteResult)[] }
  | { readonly type: 'closed' }

const HASH_BYTES = 32

/** Events as they cross threads: a message of few texts and numbers costs a fraction of one with an object for each. */
export interface EventPack {
  /** Revision and number of sessions of each event, in turn. */
  readonly numbers: readonly number[]
  /** Hashes of all sessions, in the order of the events, as one string of bytes. */
  readonly hashes: string
  /** The document changes of the events, by their place; events without any are left out. */
  readonly changes: readonly (readonly [place: number, changes: FeedEvent['changes']])[]
}

/** Packs events for another thread. */
export function packEvents(events: readonly FeedEvent[]): EventPack {
  const numbers: number[] = []
  const changes: [number, FeedEvent['changes']][] = []
  let hashes = ''
  for (const [place, event] of events.entries()) {
    numbers.push(event.revision, event.sessions.length)
    if (event.changes.length > 0) changes.push([place, event.changes])
    for (const hash of event.sessions) hashes += latin1(hash)
  }
  return { numbers, hashes, changes }
}

/** The events as they were packed. */
export function unpackEvents({ numbers, hashes, changes }: EventPack): FeedEvent[] {
  const changesAt = new Map(changes)
  const events: FeedEvent[] = []
  let at = 0
  for (let i = 0; i < numbers.length; i += 2) {
    const sessions: Uint8Array[] = []
    for (let n = numbers[i + 1]!; n > 0; n--) {
      sessions.push(hashBytes(hashes.slice(at, at + HASH_BYTES)))
      at += HASH_BYTES
    }
    events.push({ revision: numbers[i]!, changes: changesAt.get(i / 2) ?? [], sessions })
  }
  return events
}
