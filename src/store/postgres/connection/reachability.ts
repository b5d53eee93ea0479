import { setTimeout as wait } from 'node:timers/promises'
import type { Fault } from '../../../errors/fault.ts'
import { isLost } from './faults.ts'

/** How long queries wait for a server that has just gone: a restart takes about that long. */
const PATIENCE_MS = 4_500
const FIRST_REST_MS = 25
const LONGEST_REST_MS = 400

/**
 * Whether the server can be reached, as all connections of this process see it. While it is away for a short time callers
 * wait; after that they fail at once, until a connection has reached it again.
 */
export class Reachability {
  private readonly patienceMs: number
  private readonly wider: Reachability | undefined
  /** By the clock of the process; undefined while the server answers. */
  private awaySince: number | undefined
  /** The trouble that a watch found, which will find out when the server answers again: until then nobody has to try. */
  private found: Fault | undefined
  /** True where it took what was asked and did not answer: that has used the patience up. */
  private hangs = false
  private readonly onHang = new Set<() => void>()
  private closed = false

  /** `wider`: where the server is reached whenever it is reached here. */
  constructor(patienceMs = PATIENCE_MS, wider?: Reachability) {
    this.patienceMs = patienceMs
    this.wider = wider
  }

  /** True when the last that was heard of the server is that it cannot be reached. */
  get away(): boolean {
    return this.awaySince !== undefined
  }

  /** The server answered. */
  reached(): void {
    this.awaySince = undefined
    this.found = undefined
    this.hangs = false
    this.wider?.reached()
  }

  /** A watch found that the server does not answer; it will call `reached` when it does. `hangs`: it let the watch wait. */
  lost(trouble: Fault, hangs: boolean): void {
    this.awaySince ??= performance.now()
    this.found = trouble
    this.hangs = hangs
    if (hangs) for (const giveUp of this.onHang) giveUp()
  }

  /** A watch found that others may reach the server although it cannot: each call tries by itself. */
  unknown(): void {
    this.found = undefined
    this.hangs = false
  }

  /** Calls `giveUp` when a watch finds that the server hangs, until `work` has ended. */
  async unlessItHangs<T>(work: Promise<T>, giveUp: () => void): Promise<T> {
    this.onHang.add(giveUp)
    try {
      return await work
    } finally {
      this.onHang.delete(giveUp)
    }
  }

  /** Nobody waits any more. */
  close(): void {
    this.closed = true
  }

  /**
   * Does what may be done again, until it succeeds, the server has been away for too long, `untilMs` (of `performance.now`, asked after each
   * failure) has passed, or the reason is another. Its success says nothing of the server, which may not have been asked: call `reached` where it was.
   */
  async patiently<T>(work: () => Promise<T>, untilMs = () => Number.POSITIVE_INFINITY): Promise<T> {
    for (let restMs = FIRST_REST_MS; ; restMs = Math.min(LONGEST_REST_MS, restMs * 2)) {
      const hopeless = this.hopeless ?? this.wider?.hopeless
      if (hopeless !== undefined) throw hopeless
      try {
        return await work()
      } catch (error) {
        if (!isLost(error)) throw error
        this.awaySince ??= performance.now()
        if (this.closed || this.isTooLong() || performance.now() > untilMs()) throw error
        // Not all at the same moment.
        await wait(restMs * (0.5 + Math.random()))
      }
    }
  }

  /** Why nobody has to try. */
  private get hopeless(): Fault | undefined {
    return this.hangs || this.isTooLong() ? this.found : undefined
  }

  private isTooLong(): boolean {
    return this.awaySince !== undefined && performance.now() - this.awaySince > this.patienceMs
  }
}
