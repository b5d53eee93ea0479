import type { DatabaseSync } from 'node:sqlite'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import type { MemoryCounters } from '../../memory/counters.ts'
import { QUOTA_NUMBERS, type QuotaName, type SavedQuota } from '../../memory/quota-changes.ts'
import { blobNumbers, type Journal } from '../hits/folding.ts'
import { inTransaction } from '../migrations/schema.ts'
import type { Write } from '../writer/messages.ts'

/** Counts in one entry: what a fold reads in one piece. */
const ENTRY_COUNTS = 16_384
/** One fold takes entries until it has so many counts. */
const FOLD_COUNTS = 100_000
/** Rows that a fold writes, and entries that it deletes, in one transaction. */
const PIECE_ROWS = 2_000
const PIECE_ENTRIES = 8

export interface QuotaJournal extends Journal {
  /** Saves counts inside an open transaction, and the names of those that are new. May be repeated. */
  save(names: readonly QuotaName[], counts: Float64Array): void
}

/** Used permits and end of a window. */
type Count = readonly [used: number, endsAt: number]

/** The journal of quota counts: of each count the last entry holds. `pieceRows`: what a fold writes in one transaction. */
export function quotaJournal(db: DatabaseSync, pieceRows = PIECE_ROWS): QuotaJournal {
  const name = db.prepare(`INSERT INTO quota(number, id, used, ends_at) VALUES (?, ?, 0, 0)
    ON CONFLICT (number) DO UPDATE SET id = excluded.id`)
  const insert = db.prepare('INSERT INTO quota_journal(counts) VALUES (?)')
  const last = db.prepare('SELECT coalesce(max(row), 0) AS row FROM quota_journal')
  const next = db.prepare('SELECT row, counts FROM quota_journal WHERE row > ? ORDER BY row LIMIT 1')
  const update = db.prepare('UPDATE quota SET used = ?, ends_at = ? WHERE number = ?')
  const remove = db.prepare('DELETE FROM quota WHERE number = ?')
  const forget = db.prepare(
    'DELETE FROM quota_journal WHERE row IN (SELECT row FROM quota_journal WHERE row <= ? ORDER BY row LIMIT ?)',
  )

  const write = (numbers: Float64Array, counts: ReadonlyMap<number, Count>) => {
    for (const number of numbers) {
      const [used, endsAt] = counts.get(number)!
      if (used > 0) update.run(used, endsAt, number)
      else remove.run(number)
    }
  }
  return {
    save(names, counts) {
      for (const [number, id] of names) name.run(number, id)
      const length = ENTRY_COUNTS * QUOTA_NUMBERS
      for (let at = 0; at < counts.length; at += length) insert.run(counts.subarray(at, at + length))
    },
    last: () => last.get()!.row as number,
    *fold() {
      const counts = new Map<number, Count>()
      let upTo = 0
      while (counts.size < FOLD_COUNTS) {
        const entry = next.get(upTo)
        if (entry === undefined) break
        readEntry(entry.counts, counts)
        upTo = entry.row as number
        yield
      }
      // By number, which is the order of the table.
      const numbers = Float64Array.from(counts.keys()).sort()
      for (let at = 0; at < numbers.length; at += pieceRows) {
        inTransaction(db, () => write(numbers.subarray(at, at + pieceRows), counts))
        yield
      }
      while (inTransaction(db, () => forget.run(upTo, PIECE_ENTRIES)).changes > 0) yield
      return upTo
    },
  }
}

function readEntry(blob: unknown, counts: Map<number, Count>): void {
  const numbers = blobNumbers(blob, 8, (...at) => new Float64Array(...at))
  for (let at = 0; at + QUOTA_NUMBERS <= numbers.length; at += QUOTA_NUMBERS) {
    counts.set(numbers[at]!, [numbers[at + 1]!, numbers[at + 2]!])
  }
}

/** The saved counts, one snapshot of table and journal; those of 0 permits only tell that their number was in use. */
export function* savedQuotas(db: DatabaseSync): Generator<SavedQuota> {
  db.exec('BEGIN')
  try {
    yield* readSavedQuotas(db)
  } finally {
    db.exec('COMMIT')
  }
}

/** Older versions stored ends that JavaScript has no number for. */
const ALL_COUNTS = `SELECT number, id, used, min(ends_at, ${Number.MAX_SAFE_INTEGER}) AS ends_at FROM quota`

/** The same inside an open transaction. */
export function* readSavedQuotas(db: DatabaseSync): Generator<SavedQuota> {
  const changed = new Map<number, Count>()
  for (const row of db.prepare('SELECT counts FROM quota_journal ORDER BY row').all()) readEntry(row.counts, changed)
  for (const row of db.prepare(ALL_COUNTS).iterate()) {
    const number = row.number as number
    const [used, endsAt] = changed.get(number) ?? [row.used as number, row.ends_at as number]
    changed.delete(number)
    yield { number, id: row.id as string, used, endsAt }
  }
  for (const number of changed.keys()) yield { number, id: '', used: 0, endsAt: 0 }
}

/** Leaves 300 ms for timers that come late and for the commit, so that a count is durable within a second. */
const SAVE_EVERY_MS = 700

/**
 * Keeps the quota counts of this process in the store: loads them at start, saves what changed on a timer and at the end.
 * What could not be saved is tried again with the next round.
 */
export class QuotaKeeper {
  private readonly counters: MemoryCounters
  private readonly write: (write: Write) => Promise<number>
  private readonly job: PeriodicJob
  private saving: Promise<void> | undefined

  constructor(counters: MemoryCounters, write: (write: Write) => Promise<number>) {
    this.counters = counters
    this.write = write
    // A writer that is slower than that gets the next round when it is done.
    this.job = new PeriodicJob({ everyMs: SAVE_EVERY_MS, run: () => this.sweepAndSave(), onError() {} })
  }

  /** Saves everything that changed so far. @throws Fault `store_full`, `store_away`; the counts then wait for the next call */
  async save(): Promise<void> {
    await this.saving?.catch(() => {})
    this.saving = this.saveOnce()
    try {
      await this.saving
    } finally {
      this.saving = undefined
    }
  }

  /** Saves for the last time. */
  async close(): Promise<void> {
    await this.job.close()
    await this.save()
  }

  private async sweepAndSave(): Promise<void> {
    this.counters.sweep()
    if (this.saving === undefined) await this.save()
  }

  private async saveOnce(): Promise<void> {
    const changes = this.counters.takeChanges()
    if (changes === undefined) return
    try {
      await this.write({ sort: 'quotas', names: changes.names, counts: changes.counts })
    } catch (error) {
      this.counters.keepChanges(changes)
      throw error
    }
  }
}
