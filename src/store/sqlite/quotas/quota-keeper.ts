import type { MemoryCounters } from '../../memory/counters.ts'
import type { Write } from '../writer/messages.ts'

/** Leaves 300 ms for timers that come late and for the commit, so that a count is durable within a second. */
const SAVE_EVERY_MS = 700

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
