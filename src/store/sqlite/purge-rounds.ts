import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../model/clock.ts'
import type { Write } from './messages.ts'

const EVERY_MS = 1_000
/** A round that takes longer was held up by something else than its own work. */
const LONGEST_REST_MS = 100
/** How much longer than a round the writer is left alone after it. */
const REST = 3

/**
 * Has the writer forget sessions and tickets that are due, in short rounds, until none is left; nobody finds them before
 * either.
 */
export class PurgeRounds {
  private readonly clock: Clock
  private readonly write: (write: Write) => Promise<number>
  private readonly timer: NodeJS.Timeout
  private running: Promise<number> | undefined
  private closed = false

  constructor(clock: Clock, write: (write: Write) => Promise<number>) {
    this.clock = clock
    this.write = write
    // The disk is full or the writer is away: the next time tries again, and writes that matter tell their callers.
    this.timer = setInterval(() => void this.run().catch(() => {}), EVERY_MS)
    this.timer.unref()
  }

  /** Forgets all that is due by now; answers how many rows. @throws Fault `store_full`, `store_away` */
  async run(): Promise<number> {
    // One that is under way may have asked for an earlier time.
    await this.running?.catch(() => {})
    this.running ??= this.runOnce().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  close(): void {
    this.closed = true
    clearInterval(this.timer)
  }

  private runOnce(): Promise<number> {
    const now = this.clock.wall()
    return inRounds(async () => (this.closed ? 0 : this.write({ sort: 'purge', now })))
  }
}

/**
 * Asks for rounds until one finds nothing more; answers the sum of them. After each the writer is left alone for three times as
 * long as it took, so that at least three quarters of it serve others.
 */
export async function inRounds(round: () => Promise<number>): Promise<number> {
  let deleted = 0
  while (true) {
    const startedAt = performance.now()
    const rows = await round()
    if (rows === 0) return deleted
    deleted += rows
    await wait(Math.min(LONGEST_REST_MS, REST * (performance.now() - startedAt)))
  }
}
