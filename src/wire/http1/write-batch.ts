/** An object with writes that wait for the end of a turn. */
export interface DeferredWrite {
  /** Writes them. */
  flush(): void
}

/** So many at most wait for each other. */
const MAX_WAITING = 32
/** Turns that are looked at to see whether waiting pays, and the writes in each, on average, from which on it does. */
const TURNS_SEEN = 64
const WRITES_WORTH = 4
/** Writes that do not wait before it is tried again. */
const WRITES_UNSEEN = 4096

/**
 * Writes of one turn of the event loop, gathered until every socket that had something to say was read. A peer that sleeps is woken by
 * the first, and finds the others when it looks again; written one by one, each wakes it again: 1.1 µs of 20 per proxied request with 64
 * connections. With few there is little to gather, and the end of the turn itself costs 2 µs a write (Linux 6.18, Node 26.10, loopback).
 */
export class TurnEnd {
  private waiting: DeferredWrite[] = []
  private scheduled = false
  /** True while waiting is tried, or has paid. */
  private gathering = true
  private turns = 0
  private writes = 0

  /** Whether a write that could leave by itself had better wait. To be asked once for each. */
  pays(): boolean {
    if (!this.gathering && ++this.writes >= WRITES_UNSEEN) this.tryAgain()
    return this.gathering
  }

  /** Takes waiting to pay until some turns have shown whether it does. */
  tryAgain(): void {
    this.gathering = true
    this.turns = 0
    this.writes = 0
  }

  /** Has `one` flushed at the end of this turn, at the latest. */
  flush(one: DeferredWrite): void {
    if (this.waiting.length === MAX_WAITING) this.flushWaiting()
    this.waiting.push(one)
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(this.end)
  }

  private readonly end = (): void => {
    this.scheduled = false
    this.flushWaiting()
    if (!this.gathering || ++this.turns < TURNS_SEEN) return
    const paid = this.writes >= TURNS_SEEN * WRITES_WORTH
    this.tryAgain()
    this.gathering = paid
  }

  private flushWaiting(): void {
    const some = this.waiting
    this.waiting = []
    this.writes += some.length
    for (let i = 0; i < some.length; i++) some[i]!.flush()
  }
}

/** Module state: the turns of the thread's event loop. */
export const turnEnd: TurnEnd = new TurnEnd()
