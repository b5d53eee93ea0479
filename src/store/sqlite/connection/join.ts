import type { EventEmitter } from 'node:events'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { fault } from '../../../errors/fault.ts'
import type { Limit } from '../../../model/limits/limit.ts'
import { type Log, silentLog } from '../../../model/logs/log.ts'
import { type NumberedAnswer, ThreadClient } from '../../../model/threads/thread-rpc.ts'
import { type Clock, systemClock } from '../../../model/time/clock.ts'
import { joinSharedCounters } from '../../memory/shared-counters.ts'
import type { Counters, FeedEvent, Store } from '../../ports/ports.ts'
import { ThreadFeed } from '../../prepare/feed.ts'
import { UsageLink } from '../hits/usage-link.ts'
import { unpackEvents, type Write } from '../writer/messages.ts'
import { makeParts } from '../writer/parts.ts'
import { StoreDamage, storeHealth } from './damage.ts'
import { openReadable } from './database.ts'
import type { FromOwner, LimitNumbers, OwnerRequest, SharedStore, Taken } from './share-store.ts'

export interface JoinOptions {
  readonly clock?: Clock
  readonly log?: Log
  /** Longest wait for the owning thread by what answers a caller: commits, notes of the audit log and counters. Absent = for ever. */
  readonly answerWithinMs?: number
}

/**
 * Opens the store of this process on another thread: reads on a separate connection, writes through the one writer,
 * counters of the owning thread. `close` leaves the store open for the others.
 * @throws Fault `store_away`, `store_damaged` when the file cannot be read
 */
export function joinStore(
  shared: SharedStore,
  { clock = systemClock, log = silentLog, answerWithinMs }: JoinOptions = {},
): JoinedStore {
  const { file, damage: cell, counts, countOwner } = shared
  const db = openReadable(file)
  const feed = new ThreadFeed()
  const owner = new OwnerLink(shared, answerWithinMs, (events) => {
    for (const event of events) feed.publish(event)
  })
  const usage = new UsageLink(file)
  const damage = new StoreDamage(log, cell)
  const write = (what: Write) => damage.guard(async () => (await owner.ask({ sort: 'write', write: what })) as number)
  const remote = remoteCounters(owner)
  const counting = counts && joinSharedCounters(counts, countOwner, clock)
  return {
    ...damage.watch(makeParts(db, clock, write, usage)),
    damaged: () => damage.found,
    health: storeHealth(db, clock),
    counters: counting === undefined ? remote : { ...remote, take: counting.take, peek: counting.peek },
    catchUp: () => owner.catchUp(),
    feed,
    async close() {
      owner.close()
      await usage.close()
      if (db.isOpen) db.close()
    },
  }
}

/** The store as a thread that has joined it has it. */
export interface JoinedStore extends Store {
  /** Hands the feed's listeners what was committed by now, on whatever thread. Costs a read of memory where that was done. */
  readonly catchUp: () => void
}

/** This thread's end of the connection to the thread that owns the store. */
class OwnerLink {
  private readonly port: MessagePort
  private readonly client: ThreadClient<OwnerRequest, number | Taken>
  private readonly withinMs: number | undefined
  private readonly sent: Int32Array
  /** Messages of events that have come. */
  private received: number
  private closed = false
  /** True from an answer that did not come in time until anything comes. */
  private stuck = false

  constructor(
    { port, sent, sentBefore }: SharedStore,
    withinMs: number | undefined,
    onEvents: (events: readonly FeedEvent[]) => void,
  ) {
    this.port = port
    this.withinMs = withinMs
    this.sent = sent
    this.received = sentBefore
    port.on('message', (message: FromOwner | NumberedAnswer<unknown>) => {
      this.stuck = false
      if ('number' in message) return
      if (message.type === 'events') {
        this.received = (this.received + 1) | 0
        onEvents(unpackEvents(message.events))
      } else this.close()
    })
    port.on('close', () => this.close())
    this.client = new ThreadClient(port)
  }

  /**
   * @throws Fault of what was asked, `store_away` when the owner has closed the store, `write_unconfirmed` when a commit is not answered
   * in time: it may be made yet; `gateway_behind` when anything else is not, or is not asked because the owner answers nothing
   */
  async ask(what: OwnerRequest): Promise<number | Taken> {
    const { withinMs } = this
    if (withinMs === undefined || !answersCaller(what)) return this.client.ask(what)
    if (this.stuck && !this.closed) throw fault('gateway_behind')
    const late = () => {
      this.stuck = true
      return fault(what.sort === 'write' ? 'write_unconfirmed' : 'gateway_behind')
    }
    return this.client.ask(what, { withinMs, late })
  }

  /** Takes in the messages that wait, up to the last events that the owner has sent. */
  catchUp(): void {
    while (Atomics.load(this.sent, 0) !== this.received && !this.closed) {
      const waiting = receiveMessageOnPort(this.port)
      if (waiting === undefined) return // As if its turn had come: all listeners of the port get it.
      ;(this.port as unknown as EventEmitter).emit('message', waiting.message)
    }
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.port.close()
    this.client.end(fault('store_away', 'the store is closed'))
  }
}

function remoteCounters(owner: OwnerLink): Counters {
  const count = async (sort: 'take' | 'peek', limits: readonly Limit[]): Promise<number> => {
    const numbers = limits.map(({ kind, id, max, windowMs }): LimitNumbers => [kind, id, max, windowMs])
    const taken = (await owner.ask({ sort, limits: numbers })) as Taken
    for (const [i, [remaining, resetMs]] of taken.limits.entries()) Object.assign(limits[i]!, { remaining, resetMs })
    return taken.refused
  }
  return {
    take: (limits) => count('take', limits),
    peek: (limits) => count('peek', limits),
    resetQuota: async (id, used = 0, endsInMs) => void (await owner.ask({ sort: 'resetQuota', id, used, endsInMs })),
    carry: async (from, to) => void (await owner.ask({ sort: 'carry', from, to })),
  }
}

/** True for what a call waits for; the rest is upkeep, which may take its time. */
function answersCaller(ask: OwnerRequest): boolean {
  return ask.sort !== 'write' || ask.write.sort === 'commit' || ask.write.sort === 'note'
}
