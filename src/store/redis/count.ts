import type { Millis, MonoMillis } from '../../model/clock.ts'
import type { Limit } from '../../model/limit.ts'

/** A node leases what it will use at its own recent rate within this time, and two fifths of what the lease lasts longer than the least. */
const AHEAD_MS = 20
const AHEAD_PART = 0.4
/** The part of a limit, or of what is left of a quota, that a node may hold at most: at its end calls are asked for one by one. */
const LARGEST_PART = 20
/** Rates are looked at in pieces of at least this length; what is longer than the other was a pause. */
const RATE_PIECE_MS = 100
const RATE_PAUSE_MS = 2_000
/** Windows within which the most is looked for that was used: who is refused in turns uses little from time to time. */
const LOOKED_BACK = 2
/** A refusal is remembered for so long. */
const REFUSED_MS = 2

/** Permits that this node may use without asking again. */
interface Lease {
  permits: number
  /** By the node's clock, exclusive. */
  untilMs: MonoMillis
  /** From when Redis counts them, by its clock. */
  readonly givenAt: Millis
}

/** The state of a quota in Redis as this node saw it last: the newest of all nodes is the true one. */
export interface KnownQuota {
  /** Tells one window from the next; 0 = nothing is known. */
  generation: number
  /** Grows with every change of the window. */
  version: number
  used: number
  /** By Redis's clock; 0 = never, -1 = not begun. */
  ends: Millis
}

/** What one node knows of a count that is kept in Redis, and what it holds of it. */
export class Count {
  readonly kind: Limit['kind']
  readonly id: string
  readonly key: string
  /** Where it is found, see `Limit.slot`. */
  readonly slot: number
  readonly generation: number
  /** Where the node counts its own uses of a rate; -1 for quotas. */
  readonly window: number
  /** What is known of it is kept so long after its last use. */
  readonly keptMs: number
  /** Permits in leases. */
  held = 0
  /** Permits used by all nodes, when Redis was last asked. */
  used = 0
  /** The most of them that was heard of within the last windows. */
  mostUsed = 0
  /** Until a permit comes back or the window ends, when Redis was last asked; 0 = nothing is known. */
  freeInMs = 0
  /** The same by the node's clock. */
  freeAtMs: MonoMillis = 0
  lastMs: MonoMillis
  /** True while permits were asked for ahead. */
  fetching = false
  /** Permits of a quota to be given back. Negative: used while Redis was away. */
  back = 0
  /** Permits of a rate to be given back, by the time from which they are counted (by Redis's clock). */
  unused = new Map<Millis, number>()
  /** Of the limit that was met last. */
  windowMs = 0
  readonly known: KnownQuota = { generation: 0, version: 0, used: 0, ends: 0 }
  /** The memory of Redis that has been told of the node's own uses, by its mark. */
  toldTo = ''
  /** Uses of a rate while Redis was away, of which it knows nothing yet. */
  aloneUses = 0
  /** While Redis is away: how many permits of a rate the node allows itself in a window, and since which absence. */
  share = 0
  absence = 0
  /** The one that ends first comes first. */
  private readonly leases: Lease[] = []
  private mostUsedMs: MonoMillis = Number.NEGATIVE_INFINITY
  private refusedUntilMs: MonoMillis = Number.NEGATIVE_INFINITY
  private refusedMax = 0
  private sinceMs: MonoMillis
  private calls = 0
  private localCalls = 0
  /** Calls a second; `localRate`: only those of which all limits are busy. */
  private rate = 0
  private localRate = 0

  constructor(
    { kind, id }: Pick<Limit, 'kind' | 'id'>,
    { key, slot, generation, window, keptMs }: Pick<Count, 'key' | 'slot' | 'generation' | 'window' | 'keptMs'>,
    now: MonoMillis,
  ) {
    this.kind = kind
    this.id = id
    this.key = key
    this.slot = slot
    this.generation = generation
    this.window = window
    this.keptMs = keptMs
    this.sinceMs = now
    this.lastMs = now
  }

  /** How often it is met here, of late. */
  get callsPerSecond(): number {
    return this.rate
  }

  /** True while something is owed to it or by it. */
  get busy(): boolean {
    return this.held > 0 || this.owes
  }

  /** True while Redis must be told of something. */
  get owes(): boolean {
    return this.back !== 0 || this.unused.size > 0
  }

  /** Notes how many permits are used. */
  hear(used: number, now: MonoMillis): void {
    this.used = used
    if (used < this.mostUsed && now - this.mostUsedMs <= LOOKED_BACK * this.windowMs) return
    this.mostUsed = used
    this.mostUsedMs = now
  }

  /** Notes a call. True when there are so many that permits are fetched ahead. */
  arrive(now: MonoMillis, max: number, aheadMs: Millis): boolean {
    this.lastMs = now
    this.calls++
    const elapsedMs = now - this.sinceMs
    if (elapsedMs >= RATE_PIECE_MS) this.estimate(now, elapsedMs)
    return this.batch(this.rate, max, aheadMs) > 1
  }

  /** Notes that a call needs no other limit that must be asked for one by one. */
  arriveLocally(): void {
    this.localCalls++
  }

  /** How many permits to fetch ahead; 0 = there are enough, or they are on their way. */
  wanted(max: number, aheadMs: Millis): number {
    if (this.fetching) return 0
    const batch = Math.max(1, this.batch(this.localRate, max, aheadMs))
    return this.held * 2 < batch ? batch : 0
  }

  /** Lets go of leases that have ended. What is left of them is to be given back. */
  expire(now: MonoMillis): void {
    while (this.leases.length > 0 && this.leases[0]!.untilMs <= now) {
      const { permits, givenAt } = this.leases.shift()!
      this.held -= permits
      this.giveBack(permits, givenAt)
    }
  }

  /** Takes in permits that Redis has just given. */
  lease(permits: number, untilMs: MonoMillis, givenAt: Millis): void {
    let at = this.leases.length
    while (at > 0 && this.leases[at - 1]!.untilMs > untilMs) at--
    this.leases.splice(at, 0, { permits, untilMs, givenAt })
    this.held += permits
    this.refusedUntilMs = Number.NEGATIVE_INFINITY
  }

  /** Notes permits that Redis has given and that were not used. */
  giveBack(permits: number, givenAt: Millis): void {
    if (permits === 0) return
    if (this.kind === 'quota') this.back += permits
    else this.unused.set(givenAt, permits + (this.unused.get(givenAt) ?? 0))
  }

  /** Uses one of the permits held; `expire` must have been called for the same moment, and `held` be above 0. */
  useHeld(): void {
    const lease = this.leases[0]!
    lease.permits--
    this.held--
    if (lease.permits === 0) this.leases.shift()
  }

  /** Ends leases by then at the latest. */
  shorten(untilMs: MonoMillis): void {
    for (const lease of this.leases) lease.untilMs = Math.min(lease.untilMs, untilMs)
  }

  /** Gives back everything that is held. */
  release(): void {
    this.expire(Number.POSITIVE_INFINITY)
  }

  /** Remembers that a limit of `max` was refused. */
  refuse(max: number, now: MonoMillis): void {
    this.refusedUntilMs = now + REFUSED_MS
    this.refusedMax = max
  }

  isRefused(max: number, now: MonoMillis): boolean {
    return now < this.refusedUntilMs && max <= this.refusedMax
  }

  /** Notes the state of a quota, unless a newer one is known. What was held of another window is forgotten. */
  learn({ generation, version, used, ends }: KnownQuota): void {
    const { known } = this
    if (generation < known.generation || (generation === known.generation && version < known.version)) return
    if (generation !== known.generation) this.forget()
    known.generation = generation
    known.version = version
    known.used = used
    known.ends = ends
  }

  /** What was held, or was to be given back, means nothing to Redis any more. */
  forget(): void {
    this.leases.length = 0
    this.held = 0
    this.back = 0
    this.unused.clear()
    this.refusedUntilMs = Number.NEGATIVE_INFINITY
  }

  private estimate(now: MonoMillis, elapsedMs: number): void {
    const mean = (old: number, calls: number) => {
      const lately = (calls * 1000) / elapsedMs
      // What comes again after a pause is likely to come as it did before.
      return elapsedMs > RATE_PAUSE_MS ? Math.max(lately, old / 2) : (old + lately) / 2
    }
    this.rate = mean(this.rate, this.calls)
    this.localRate = mean(this.localRate, this.localCalls)
    this.sinceMs = now
    this.calls = 0
    this.localCalls = 0
  }

  private batch(rate: number, max: number, aheadMs: Millis): number {
    const room = this.kind === 'quota' ? max - this.used : max
    return Math.min(Math.floor((rate * (AHEAD_MS + aheadMs * AHEAD_PART)) / 1000), Math.floor(room / LARGEST_PART))
  }
}
