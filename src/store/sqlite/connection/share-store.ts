import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type Limit, makeLimit } from '../../../model/limits/limit.ts'
import { serveThread } from '../../../model/threads/thread-rpc.ts'
import { type Clock, monoOrigin } from '../../../model/time/clock.ts'
import type { SharedCountMemory } from '../../memory/shared-counts.ts'
import type { Counters, FeedEvent } from '../../ports/ports.ts'
import { type EventPack, packEvents, type Write } from '../writer/messages.ts'

/** The input of a thread that joins the store of its process. `port` must be in the transfer list. */
export interface SharedStore {
  readonly file: string
  /** See `StoreDamage`. */
  readonly damage: Int32Array<SharedArrayBuffer>
  readonly port: MessagePort
  /** How many messages of events were sent to every thread that has joined. */
  readonly sent: Int32Array<SharedArrayBuffer>
  /** The same number when this one joined. */
  readonly sentBefore: number
  /** Where threads count together; undefined = the owner counts for all. */
  readonly counts: SharedCountMemory | undefined
  /** Of this thread among those that count. */
  readonly countOwner: number
  /** Of the owner's monotonic clock (`monoOrigin`). */
  readonly clockOrigin: number
}

/** A limit as it crosses threads. */
export type LimitNumbers = readonly [kind: Limit['kind'], id: string, max: number, windowMs: number]

/** The requests of another thread to the owner of the store. */
export type OwnerRequest =
  | { readonly sort: 'write'; readonly write: Write }
  | { readonly sort: 'take' | 'peek'; readonly limits: readonly LimitNumbers[] }
  | { readonly sort: 'resetQuota'; readonly id: string; readonly used: number; readonly endsInMs?: number | undefined }
  | { readonly sort: 'carry'; readonly from: string; readonly to: string }

/** Answer of `take` and `peek`: which limit refuses, and `remaining` and `resetMs` of each. */
export interface Taken {
  readonly refused: number
  readonly limits: readonly (readonly [remaining: number, resetMs: number])[]
}

/** The messages of the owning thread besides its answers. */
export type FromOwner = { readonly type: 'events'; readonly events: EventPack } | { readonly type: 'closed' }

/** The data from which the owning thread serves the others. */
export interface OwnerParts {
  readonly file: string
  readonly damage: Int32Array<SharedArrayBuffer>
  readonly write: (write: Write) => Promise<number>
  readonly counters: Counters
  readonly counts: SharedCountMemory | undefined
  readonly nextOwner: () => number
  readonly clock: Clock
}

/**
 * The threads that have joined. Their writes come through the owning thread, so that they are answered only after its
 * listeners have run, the writer knows one partner alone, and a writer that starts again is nobody else's concern.
 */
export class Sharing {
  private readonly ports = new Set<MessagePort>()
  private readonly sent = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

  /** Makes the two ends of a connection and answers the one to hand over. */
  open(owner: OwnerParts): SharedStore {
    const { port1: own, port2: port } = new MessageChannel()
    this.ports.add(own)
    serveThread(own, (ask: OwnerRequest) => answer(owner, ask))
    own.on('close', () => this.ports.delete(own))
    // The other thread keeps itself alive; a connection to it must not keep this process.
    own.unref()
    const { file, damage, counts } = owner
    return {
      ...{ file, damage, counts, port, sent: this.sent, sentBefore: Atomics.load(this.sent, 0) },
      countOwner: owner.nextOwner(),
      clockOrigin: monoOrigin(),
    }
  }

  /** Passes commits on. */
  tell(events: readonly FeedEvent[]): void {
    if (this.ports.size === 0) return
    const message: FromOwner = { type: 'events', events: packEvents(events) }
    for (const port of this.ports) port.postMessage(message)
    // Behind the messages: a thread that reads it finds them waiting.
    Atomics.add(this.sent, 0, 1)
  }

  /** Tells all that the store is gone. */
  close(): void {
    for (const port of this.ports) {
      port.postMessage({ type: 'closed' } satisfies FromOwner)
      port.close()
    }
    this.ports.clear()
  }
}

async function answer({ write, counters, clock }: OwnerParts, ask: OwnerRequest): Promise<number | Taken> {
  switch (ask.sort) {
    case 'write':
      return write(ask.write)
    case 'resetQuota':
      await counters.resetQuota(ask.id, ask.used, ask.endsInMs)
      return 0
    case 'carry':
      await counters.carry(ask.from, ask.to)
      return 0
    default: {
      const limits = ask.limits.map((numbers) => makeLimit(...numbers))
      const refused = await counters[ask.sort](limits, { wall: clock.wall(), mono: clock.mono() })
      return { refused, limits: limits.map(({ remaining, resetMs }) => [remaining, resetMs] as const) }
    }
  }
}
