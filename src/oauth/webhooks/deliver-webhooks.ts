import type { FaultCode } from '../../errors/catalog.ts'
import { toFault } from '../../errors/fault.ts'
import { type NetworkRule, webhookNetwork } from '../../model/webhooks/hook.ts'
import { type EventMessage, eventTarget, openEvent, orgOfQueue } from '../../publish/events/events.ts'
import type { DeliveryOutcome, DeliveryRow } from '../../store/ports/ports.ts'
import type { OAuthParts } from '../endpoints/parts.ts'
import type { Lease } from '../tokens/lease.ts'
import { type PostOptions, WebhookClient } from './webhook-client.ts'
import { eventMessage, openDelivery, webhookMessage } from './webhook-messages.ts'

export type DeliveryParts = Pick<OAuthParts, 'documents' | 'outbox' | 'clock' | 'log' | 'sealKey' | 'findApi'> & {
  /** `webhooks.allow_private` */
  readonly allowPrivate: boolean
  /** The vendor's word under which receivers find the secret, too. */
  readonly alias?: string | undefined
  /** Held by the one process of several that sends from this outbox; undefined = this one is alone. */
  readonly turn?: Lease
}

/** Bounds that tests set lower. */
export interface DeliveryBounds extends Partial<Omit<PostOptions, keyof NetworkRule>> {
  /** Messages under way at once, each of another queue. */
  readonly parallel?: number
}

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000
const PARALLEL = 64
/** Of those, how many may be tries after a failed one: receivers that hang take no slot from those that answer. */
const RETRY_SHARE = 0.75
/** Of all, how many may be messages of one organisation: its receivers that hang hold up nobody else's. */
const ORGANISATION_SHARE = 0.5
/** Due messages that a look reads, for each that may be under way: behind those of one organisation others may wait. */
const LOOKED_AT = 16
const FIRST_WAIT_MS = 10_000
const LONGEST_WAIT_MS = 900_000
const GIVE_UP_MS = 86_400_000
/** How often the outbox is looked at unasked: for messages that another process put there. */
const POLL_MS = 1_000
/** A look at an outbox with very many queues is not cheap: then looks rest four times as long as they take. */
const CHEAP_LOOK_MS = 1
const REST_PER_LOOK = 4
/** How long a stop waits for answers that are under way. */
const GRACE_MS = 1_000
/** Between tries of writing down what became of a message. */
const SETTLE_AGAIN_MS = 1_000

/** A message that is being sent. */
interface UnderWay {
  readonly orgId: string
  readonly retry: boolean
  readonly done: Promise<void>
}

/**
 * Sends the messages of the outbox: each at least once, those of one API one after the other in the order of their
 * commits, those of different APIs side by side. Due times follow the clock of the parts: code that moves that clock calls `wake`.
 */
export class Deliveries {
  readonly #parts: DeliveryParts
  readonly #client: WebhookClient
  readonly #parallel: number
  /** Queues with a message under way. */
  readonly #busy = new Map<string, UnderWay>()
  readonly #waits = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #state: 'new' | 'running' | 'closed' = 'new'
  #looking = false
  #again = false
  /** Why the last look failed; undefined = it did not. */
  #failing: FaultCode | undefined

  constructor(parts: DeliveryParts, { parallel = PARALLEL, ...post }: DeliveryBounds = {}) {
    this.#parts = parts
    this.#parallel = parallel
    this.#client = new WebhookClient({
      connectMs: CONNECT_MS,
      totalMs: TOTAL_MS,
      ...post,
      ...webhookNetwork(parts.allowPrivate),
    })
  }

  /** Begins. To be called when `findApi` knows the APIs. */
  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'running'
    this.wake()
  }

  /** Looks at the outbox now. Cheap to call often: calls during a look make one more look. */
  wake(): void {
    if (this.#state !== 'running') return
    this.#again = true
    if (this.#looking) return
    this.#looking = true
    clearTimeout(this.#timer)
    void this.#look()
  }

  /** Takes up nothing more, gives what is under way a second to end, and breaks off the rest: it is sent at the next start. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    clearTimeout(this.#timer)
    for (const end of this.#waits) end()
    const grace = setTimeout(() => this.#client.close(), GRACE_MS)
    await Promise.all([...this.#busy.values()].map(({ done }) => done))
    clearTimeout(grace)
    this.#client.close()
    // A lease that cannot be released expires by itself.
    await this.#parts.turn?.release().catch(() => {})
  }

  async #look(): Promise<void> {
    let pauseMs = POLL_MS
    while (this.#again && this.#state === 'running') {
      this.#again = false
      const startedAt = performance.now()
      try {
        pauseMs = await this.#takeDue()
        this.#failing = undefined
      } catch (error) {
        this.#report(error)
      }
      const tookMs = performance.now() - startedAt
      if (tookMs > CHEAP_LOOK_MS) await this.#pause(tookMs * REST_PER_LOOK)
    }
    this.#looking = false
    if (this.#state === 'running') this.#timer = setTimeout(() => this.wake(), pauseMs).unref()
  }

  /** Once for each cause: a store that is moved or away stays so for many looks. */
  #report(error: unknown): void {
    const { code } = toFault(error)
    if (code === this.#failing) return
    this.#failing = code
    const { log } = this.#parts
    if (code === 'store_frozen') log.warn({}, 'the store is frozen by migrate-store: no notifications are sent')
    else log.error({ cause: error }, 'cannot read the notification outbox')
  }

  /** Takes up what is due and finds room. Answers how long to wait for the next look. */
  async #takeDue(): Promise<number> {
    const { outbox, clock, turn } = this.#parts
    if (turn !== undefined && !(await turn.acquire())) return POLL_MS
    const now = clock.wall()
    // A queue that is busy now may be free when the answer is there, which then names the message that was just sent.
    const busyBefore = new Set(this.#busy.keys())
    for (const row of await outbox.due(now, LOOKED_AT * this.#parallel)) {
      if (!busyBefore.has(row.queue) && this.#hasRoom(row)) this.#take(row)
    }
    const nextAt = (await outbox.nextAt()) ?? now
    return nextAt <= now ? POLL_MS : Math.min(nextAt - now, POLL_MS)
  }

  #hasRoom(row: DeliveryRow): boolean {
    if (this.#state !== 'running' || this.#busy.has(row.queue) || this.#busy.size >= this.#parallel) return false
    const orgId = this.#orgOf(row)
    if (!this.#isWithin(ORGANISATION_SHARE, (each) => each.orgId === orgId)) return false
    if (row.attempts === 0) return true
    const isOwn = (each: UnderWay) => each.retry && each.orgId === orgId
    return this.#isWithin(RETRY_SHARE, ({ retry }) => retry) && this.#isWithin(RETRY_SHARE * ORGANISATION_SHARE, isOwn)
  }

  /** True when fewer than a share of all places are taken by such messages. */
  #isWithin(share: number, such: (each: UnderWay) => boolean): boolean {
    let taken = 0
    for (const each of this.#busy.values()) if (such(each)) taken++
    return taken < Math.max(1, Math.floor(this.#parallel * share))
  }

  #orgOf({ queue }: DeliveryRow): string {
    return this.#parts.findApi(queue)?.orgId ?? orgOfQueue(queue) ?? ''
  }

  #take(row: DeliveryRow): void {
    const done = this.#deliver(row).finally(() => {
      this.#busy.delete(row.queue)
      this.wake()
    })
    this.#busy.set(row.queue, { orgId: this.#orgOf(row), retry: row.attempts > 0, done })
  }

  async #deliver(row: DeliveryRow): Promise<void> {
    const error = await this.#send(row)
    // broken off by our own end: that is no try
    if (error !== '' && this.#state === 'closed') return
    await this.#settle(row, this.#outcome(row, error))
  }

  /** Answers '' when the receiver took it, else why not. */
  async #send(row: DeliveryRow): Promise<string> {
    const { clock, findApi, sealKey } = this.#parts
    try {
      const event = openEvent(sealKey, row)
      if (event !== undefined) return await this.#sendEvent(event)
      const api = findApi(row.queue)
      const rules = api?.oauth
      if (api === undefined || rules === undefined || rules.notifyUrl === '')
        return 'the API names no address for notifications'
      const { body, orgId = api.orgId } = openDelivery(sealKey, row)
      if (orgId !== api.orgId) return 'another organisation has an API of this id now'
      const message = webhookMessage(rules.notifySecret, body, Math.floor(clock.wall() / 1000), this.#parts.alias)
      return await this.#client.post(rules.notifyUrl, message)
    } catch (error) {
      return toFault(error).entry.text
    }
  }

  /** An event that nobody wants any more counts as delivered. */
  async #sendEvent(event: EventMessage): Promise<string> {
    const to = await eventTarget(this.#parts, event)
    if (to === undefined) return ''
    return this.#client.post(to.target, eventMessage(to, event.body, Math.floor(this.#parts.clock.wall() / 1000)))
  }

  #outcome(row: DeliveryRow, error: string): DeliveryOutcome {
    const { log, clock } = this.#parts
    if (error === '') return { is: 'delivered' }
    const now = clock.wall()
    const endsAt = row.createdAt + GIVE_UP_MS
    const fields = { api_id: row.queue, delivery: row.id, attempts: row.attempts + 1, reason: error }
    if (now >= endsAt) {
      log.error(fields, 'notification failed, no more retries')
      return { is: 'dead', error }
    }
    log[row.attempts === 0 ? 'warn' : 'debug'](fields, 'a notification could not be delivered')
    // the last try is made when the time is over, not somewhat before
    return { is: 'failed', nextAt: Math.min(now + waitMs(row.attempts), endsAt), error }
  }

  /** Stores the result of a delivery. The queue waits until that is done: otherwise the message would be sent again and again. */
  async #settle(row: DeliveryRow, outcome: DeliveryOutcome): Promise<void> {
    for (;;) {
      try {
        await this.#parts.documents.commit([{ op: 'settleDelivery', id: row.id, outcome }], undefined)
        return
      } catch (error) {
        const fields = { api_id: row.queue, delivery: row.id, cause: error }
        this.#parts.log.error(fields, 'cannot store the outcome of a notification')
      }
      if (this.#state === 'closed') return
      await this.#pause(SETTLE_AGAIN_MS)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waits.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      this.#waits.add(end)
    })
  }
}

/** The wait after a failed try: 10 s after the first, twice as long after each further one, at most 15 min. */
function waitMs(failedBefore: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(failedBefore, 20), LONGEST_WAIT_MS)
}
