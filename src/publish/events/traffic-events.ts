import { toFault } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import type { Log } from '../../model/logs/log.ts'
import { redactUrl } from '../../model/secrets/redact-traffic.ts'
import type { SealKey } from '../../model/secrets/secret.ts'
import type { Clock } from '../../model/time/clock.ts'
import { type ApiEventName, apiEventOf, apiEventRow } from '../../model/webhooks/api-events.ts'
import { type EventHandler, type EventReference, handlerName } from '../../model/webhooks/event-handlers.ts'
import type { Change, Documents } from '../../store/ports/ports.ts'
import { type EventReceiver, eventDelivery, referencedHook } from './events.ts'

/** The facts of an event, in words and numbers. No secret. */
export type EventDetail = Readonly<Record<string, string | number>>

export interface TrafficEventParts {
  readonly documents: Documents
  readonly clock: Clock
  readonly log: Log
  readonly sealKey: SealKey
  readonly findApi: (apiId: string) => Api | undefined
  /** Called when messages were put into the outbox. */
  readonly wakeDeliveries: () => void
}

/** Numbers that tests set otherwise. */
export interface TrafficEventBounds {
  /** Events that wait for the store; further ones are dropped. */
  readonly waiting?: number
}

/** One event for one receiver. */
interface Waiting {
  readonly event: ApiEventName
  readonly api: Api
  readonly listener: EventHandler | EventReference
  readonly detail: EventDetail
  readonly at: number
}

const MOST_WAITING = 1000
/** Events come in bursts: what comes within this is written together. */
const GATHER_MS = 20
const AGAIN_MS = 1000
const MOST_PER_COMMIT = 100
/** End of the cooldown of one receiver and subject. */
const MOST_COOLING = 10_000
/** Limit of one receiver without a cooldown: a burst, and then a rate per second. */
const BURST = 20
const PER_SECOND = 1
/** The store may come back; all else would fail again. What was stored without a confirmation is delivered twice rather than never. */
const STORE_AWAY: ReadonlySet<string> = new Set([
  ...['store_away', 'store_full', 'store_frozen', 'store_read_only', 'write_unconfirmed'],
])

/**
 * Events of traffic on their way into the outbox. A request only leaves them in a bounded list in memory; they are written together a
 * moment later, and delivered from the outbox. A flood of requests causes no flood of messages: a receiver that was
 * notified gets nothing about the same before its cooldown is over, and no more than a few messages per second in total.
 */
export class TrafficEvents {
  readonly #parts: TrafficEventParts
  readonly #mostWaiting: number
  readonly #cooling = new Map<string, number>()
  readonly #allowances = new Map<string, { left: number; at: number }>()
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #closed = false

  /** Messages that were put into the outbox, and lines that were logged. */
  reported = 0
  /** Events that were suppressed by a cooldown or by the limit. */
  held = 0
  /** Lost events: too many waited, or the store refused them. */
  dropped = 0

  constructor(parts: TrafficEventParts, { waiting = MOST_WAITING }: TrafficEventBounds = {}) {
    this.#parts = parts
    this.#mostWaiting = waiting
  }

  /** Takes note of something that happened at an API. Cheap where nobody wants to know; never waits and never throws. */
  readonly tell = (kind: string, apiId: string, detail: EventDetail): void => {
    const api = this.#parts.findApi(apiId)
    const event = apiEventOf(kind)
    if (api?.events === undefined || event === undefined || this.#closed) return
    const at = this.#parts.clock.wall()
    const listeners = [...api.events.handlers, ...api.events.references].filter((each) => each.event === event)
    for (const listener of listeners) {
      if (!this.#isDue(api, listener, detail, at)) this.held++
      else if (this.#waiting.length >= this.#mostWaiting) this.dropped++
      else this.#waiting.push({ event, api, listener, detail, at })
    }
    if (this.#waiting.length > 0) this.#arm(GATHER_MS)
  }

  /** Writes what waits, for the last time. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#flushing
    await this.#flush()
  }

  #isDue(api: Api, listener: EventHandler | EventReference, detail: EventDetail, now: number): boolean {
    const name = `${api.apiId} ${nameOf(listener)}`
    const subject = (apiEventRow(listener.event).subject ?? []).map((member) => detail[member] ?? '').join(' ')
    const place = `${name} ${subject}`
    const until = this.#cooling.get(place)
    if (until !== undefined && now < until) return false
    if (!this.#allowed(name, now)) return false
    if (listener.cooldownMs === 0) return true
    this.#cooling.delete(place)
    this.#cooling.set(place, now + listener.cooldownMs)
    if (this.#cooling.size > MOST_COOLING) this.#cooling.delete(this.#cooling.keys().next().value!)
    return true
  }

  #allowed(name: string, now: number): boolean {
    const known = this.#allowances.get(name) ?? { left: BURST, at: now }
    const regained = (Math.max(0, now - known.at) / 1000) * PER_SECOND
    const left = Math.min(BURST, known.left + regained)
    this.#allowances.delete(name)
    this.#allowances.set(name, { left: left < 1 ? left : left - 1, at: now })
    if (this.#allowances.size > MOST_COOLING) this.#allowances.delete(this.#allowances.keys().next().value!)
    return left >= 1
  }

  #arm(waitMs: number): void {
    if (this.#timer !== undefined || this.#flushing !== undefined || this.#closed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined
        if (this.#waiting.length > 0) this.#arm(AGAIN_MS)
      })
    }, waitMs).unref()
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_PER_COMMIT)
      try {
        const changes = (await Promise.all(batch.map((each) => this.#changeOf(each)))).filter(
          (each) => each !== undefined,
        )
        if (changes.length > 0) await this.#parts.documents.commit(changes, undefined)
        for (const each of batch) this.#logged(each)
        this.reported += batch.length
        if (changes.length > 0) this.#parts.wakeDeliveries()
      } catch (error) {
        if (!this.#failed(batch, error)) return
      }
    }
  }

  /** True when the rest can be tried now. What the store may take later waits. */
  #failed(batch: readonly Waiting[], error: unknown): boolean {
    const { code, message } = toFault(error)
    const fields = { code, cause: error, events: batch.length }
    if (!STORE_AWAY.has(code) || this.#closed) {
      this.dropped += batch.length
      this.#parts.log.error(fields, `events lost: ${message}`)
      return !this.#closed
    }
    this.#parts.log.warn(fields, 'events are waiting for the store')
    this.#waiting = [...batch, ...this.#waiting]
    this.dropped += Math.max(0, this.#waiting.length - this.#mostWaiting)
    this.#waiting.length = Math.min(this.#waiting.length, this.#mostWaiting)
    return false
  }

  async #changeOf({ event, api, listener, detail, at }: Waiting): Promise<Change | undefined> {
    if ('type' in listener && listener.type === 'log') return undefined
    const to = await this.#receiverOf(api, listener)
    if (to === undefined) return undefined
    return eventDelivery(this.#parts.sealKey, { to, body: eventBody(event, api, detail, at) }, at)
  }

  async #receiverOf(
    { apiId, orgId }: Api,
    listener: EventHandler | EventReference,
  ): Promise<EventReceiver | undefined> {
    if ('type' in listener) return { handler: handlerName(listener), apiId, orgId }
    const hook = await referencedHook(this.#parts, orgId, listener.reference)
    return hook && { hook, orgId }
  }

  #logged({ event, api, listener, detail }: Waiting): void {
    if (!('type' in listener) || listener.type !== 'log') return
    const { message = event, ...rest } = detail
    this.#parts.log.warn({ ...rest, event, api_id: api.apiId, org_id: api.orgId }, `${listener.prefix}${message}`)
  }
}

/** The message about an event, as receivers of the product know it, and by what else is known of it. */
export function eventBody(event: string, api: Pick<Api, 'apiId' | 'orgId'>, detail: EventDetail, at: number): string {
  const facts: Record<string, string | number> = { message: '', path: '', origin: '', key: '', ...detail }
  if (typeof facts.target === 'string') facts.target = redactUrl(facts.target, NO_NAMES)
  return JSON.stringify({ event, ...facts, api_id: api.apiId, org_id: api.orgId, timestamp: Math.floor(at / 1000) })
}

const NO_NAMES: ReadonlySet<string> = new Set()

function nameOf(listener: EventHandler | EventReference): string {
  return 'type' in listener
    ? `${listener.type} ${handlerName(listener)}`
    : `hook ${listener.event} ${JSON.stringify(listener.reference.hook)}`
}
