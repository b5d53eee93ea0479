import type { DatabaseSync } from 'node:sqlite'
import type { MemoryCounters, QuotaRow } from '../memory/counters.ts'
import type { Write } from './messages.ts'

/** Leaves 300 ms for timers that come late and for the commit, so that a count is durable within a second. */
export const SAVE_EVERY_MS = 700

/**
 * Keeps the quota counts of this process in the store: loads them at start, saves what changed on a timer and at the end.
 * What could not be saved is tried again with the next round.
 */
export class QuotaKeeper {
  private readonly counters: MemoryCounters
  private readonly write: (write: Write) => Promise<number>
  private readonly timer: NodeJS.Timeout
  private saving: Promise<void> | undefined

  constructor(counters: MemoryCounters, write: (write: Write) => Promise<number>) {
    this.counters = counters
    this.write = write
    this.timer = setInterval(() => {
      this.counters.sweep()
      // A writer that is slower than the timer gets the next round when it is done.
      if (this.saving === undefined) void this.save().catch(() => {})
    }, SAVE_EVERY_MS)
    this.timer.unref()
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
    clearInterval(this.timer)
    await this.save()
  }

  private async saveOnce(): Promise<void> {
    const rows = this.counters.dirtyQuotas()
    if (rows.length === 0) return
    try {
      await this.write({ sort: 'quotas', rows })
    } catch (error) {
      this.counters.keepDirty(rows)
      throw error
    }
  }
}

/** The saved counts. */
export function* savedQuotas(db: DatabaseSync): Generator<QuotaRow> {
  for (const row of db.prepare('SELECT id, used, ends_at FROM quota').iterate()) {
    yield { id: row.id as string, used: row.used as number, endsAt: row.ends_at as number }
  }
}
