import type { Clock } from '../../model/clock.ts'
import type { Write } from './messages.ts'

const EVERY_MS = 5_000

/** Has the writer forget sessions that are due, a bounded number a round, until none is left; nobody finds them before either. */
export class SessionPurge {
  private readonly timer: NodeJS.Timeout
  private running = false

  constructor(clock: Clock, write: (write: Write) => Promise<number>) {
    this.timer = setInterval(() => void this.run(clock, write), EVERY_MS)
    this.timer.unref()
  }

  close(): void {
    clearInterval(this.timer)
  }

  private async run(clock: Clock, write: (write: Write) => Promise<number>): Promise<void> {
    if (this.running) return
    this.running = true
    try {
      while ((await write({ sort: 'purge', now: clock.wall() })) > 0);
    } catch {
      // The disk is full or the writer is away: the next round tries again, and writes that matter tell their callers.
    } finally {
      this.running = false
    }
  }
}
