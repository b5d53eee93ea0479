import type { Limit } from '../../model/limits/limit.ts'
import type { Millis, MonoMillis } from '../../model/time/clock.ts'

/**
 * A node leases what it will use at its own recent rate within this time, and two fifths of what the lease lasts longer than the
 * least; of one that lasts for seconds, as of a limit that is hardly used, four fifths of what is beyond.
 */
const AHEAD_MS = 20
const AHEAD_PART = 0.4
const LONG_AHEAD_MS = 500
const LONG_AHEAD_PART = 0.8
/** More is fetched when less than such a part of what is leased at once is left: of a long lease that lasts for a while yet. */
const REFILL_PART = 2
const LONG_REFILL_PART = 8
/** A long lease is followed by the next in its last fourth. */
const SOON_PART = 4
/** The part of a limit, or of what is left of a quota, that a node may hold at most: at its end calls are asked for one by one. */
const LARGEST_PART = 20
/**
 * Rates are looked at in pieces of at least this length, of which one so long says as much as all before; what is longer than the
 * last was a pause.
 */
const RATE_PIECE_MS = 100
const RATE_HALF_MS = 200
const RATE_PAUSE_MS = 2_000
/** Windows within which the most is looked for that was used: who is refused in turns uses little from time to time. */
const LOOKED_BACK = 2
/** A refusal is remembered for so long. */
const REFUSED_MS = 2
/** Before all times of the clock, and the smallest number that is not boxed. */
const NEVER: MonoMillis = -(2 ** 30)
/** Rates are whole numbers of calls in so many seconds, for the same reason. */
const RATE_SECONDS = 1_000

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

/**
 * The knowledge of one node about a count that is stored in Redis, and the permits that it has of it. Fields that each request reads come
 * first and are small whole numbers: with thousands of keys, every other place in memory is waited for.
 */
export class Count {
  readonly generation: number = 0
  lastMs: MonoMillis = 0
  /** Permits in leases. */
  held = 0
  /** The lease that ends first, where any is held. */
  private firstPermits = 0
  private firstUntilMs: MonoMillis = 0
  /** Of the limit that was met last. */
  windowMs = 0
  /** How much longer than the least a lease of it lasts: see `leaseAheadOf`. */
  aheadMs: Millis = 0
  /** Permits used by all nodes, when Redis was last asked. */
  used = 0
  /** The most of them that was heard of within the last windows. */
  mostUsed = 0
  /** Until a permit comes back or the window ends, when Redis was last asked, by the node's clock; 0 = nothing is known. */
  freeAtMs: MonoMillis = 0
  private refusedUntilMs: MonoMillis = NEVER
  private sinceMs: MonoMillis = 0
  private calls = 0
  private localCalls = 0
  /** Calls in `RATE_SECONDS`; `localRate`: only those of which all limits are busy. */
  private rate = 0
  private localRate = 0
  /** True while permits were asked for ahead. */
  fetching = false
  /** Where the node counts its own uses of a rate; -1 for quotas. */
  readonly window: number
  readonly kind: Limit['kind']
  readonly id: string
  readonly key: string
  /** Where it is found, see `Limit.slot`. */
  readonly slot: number
  /** Its state is kept so long after its last use. */
  readonly keptMs: number
  /** As `freeAtMs`, from the moment when Redis was asked. */
  freeInMs = 0
  /** Permits of a quota to be given back. Negative: used while Redis was away. */
  back = 0
  /** Permits of a rate to be given back, by the time from which they are counted (by Redis's clock). */
  unused = new Map<Millis, number>()
  readonly known: KnownQuota = { generation: 0, version: 0, used: 0, ends: 0 }
  /** The Redis instance that knows the node's own uses, by its mark. */
  toldTo = ''
  /** Uses of a rate while Redis was away, of which it knows nothing yet. */
  aloneUses = 0
  /** While Redis is away: how many permits of a rate the node allows itself in a window, and since which absence. */
  share = 0
  absence = 0
  private mostUsedMs: MonoMillis = NEVER
  private refusedMax = 0
  private firstGivenAt: Millis = 0
  /** Leases behind the first: the one that ends first comes first. */
  private readonly later: Lease[] = []

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

  /** How often it is used here, recently. */
  get callsPerSecond(): number {
    return this.rate / RATE_SECONDS
  }

  /** True while permits are to be reported or returned. */
  get busy(): boolean {
    return this.held > 0 || this.owes
  }

  /** True while Redis needs a report. */
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
  arrive(now: MonoMillis, max: number): boolean {
    this.lastMs = now
    this.calls++
    const elapsedMs = now - this.sinceMs
    if (elapsedMs >= RATE_PIECE_MS) this.estimate(now, elapsedMs)
    return this.batch(this.rate, max) > 1
  }

  /** Notes that a call needs no other limit that must be asked for one by one. */
  arriveLocally(): void {
    this.localCalls++
  }

  /** How many permits to fetch ahead; 0 = there are enough, or they are on their way. */
  wanted(max: number, now: MonoMillis): number {
    if (this.fetching) return 0
    const batch = Math.max(1, this.batch(this.localRate, max))
    if (this.aheadMs <= LONG_AHEAD_MS) return this.held * REFILL_PART < batch ? batch : 0
    // The rest of a long lease ends with it: the next must be there by then.
    const endsSoon = this.firstUntilMs - now < this.aheadMs / SOON_PART
    const lasting = endsSoon ? this.held - this.firstPermits : this.held
    return lasting * LONG_REFILL_PART < batch + LONG_REFILL_PART ? batch : 0
  }

  /** Drops leases that have ended. Their unused permits are to be returned. */
  expire(now: MonoMillis): void {
    while (this.held > 0 && this.firstUntilMs <= now) {
      this.held -= this.firstPermits
      this.giveBack(this.firstPermits, this.firstGivenAt)
      this.next()
    }
  }

  /** Takes in permits that Redis has just given. */
  lease(permits: number, untilMs: MonoMillis, givenAt: Millis): void {
    const lease = { permits, untilMs, givenAt }
    if (this.held === 0) this.putFirst(lease)
    else if (untilMs < this.firstUntilMs) {
      this.later.unshift({ permits: this.firstPermits, untilMs: this.firstUntilMs, givenAt: this.firstGivenAt })
      this.putFirst(lease)
    } else {
      let at = this.later.length
      while (at > 0 && this.later[at - 1]!.untilMs > untilMs) at--
      this.later.splice(at, 0, lease)
    }
    this.held += permits
    this.refusedUntilMs = NEVER
  }

  /** Notes permits that Redis has given and that were not used. */
  giveBack(permits: number, givenAt: Millis): void {
    if (permits === 0) return
    if (this.kind === 'quota') this.back += permits
    else this.unused.set(givenAt, permits + (this.unused.get(givenAt) ?? 0))
  }

  /** Uses one of the permits held; `expire` must have been called for the same moment, and `held` be above 0. */
  useHeld(): void {
    this.held--
    this.firstPermits--
    if (this.firstPermits === 0) this.next()
  }

  /** Ends leases by then at the latest. */
  shorten(untilMs: MonoMillis): void {
    this.firstUntilMs = Math.min(this.firstUntilMs, untilMs)
    for (const lease of this.later) lease.untilMs = Math.min(lease.untilMs, untilMs)
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

  /** Leased permits, and those to be returned, mean nothing to Redis any more. */
  forget(): void {
    this.later.length = 0
    this.held = 0
    this.back = 0
    this.unused.clear()
    this.refusedUntilMs = NEVER
  }

  private estimate(now: MonoMillis, elapsedMs: number): void {
    const mean = (old: number, calls: number) => {
      const lately = (calls * 1000 * RATE_SECONDS) / elapsedMs
      // Traffic that resumes after a pause is likely to have its earlier rate.
      if (elapsedMs > RATE_PAUSE_MS) return Math.round(Math.max(lately, old / 2))
      return Math.round(old + ((lately - old) * elapsedMs) / (elapsedMs + RATE_HALF_MS))
    }
    this.rate = mean(this.rate, this.calls)
    this.localRate = mean(this.localRate, this.localCalls)
    this.sinceMs = now
    this.calls = 0
    this.localCalls = 0
  }

  private putFirst({ permits, untilMs, givenAt }: Lease): void {
    this.firstPermits = permits
    this.firstUntilMs = untilMs
    this.firstGivenAt = givenAt
  }

  /** The first lease has ended, or is used up. */
  private next(): void {
    const lease = this.later.shift()
    if (lease !== undefined) this.putFirst(lease)
  }

  private batch(rate: number, max: number): number {
    const room = this.kind === 'quota' ? max - this.used : max
    const most = Math.floor(room / LARGEST_PART)
    const ahead = this.aheadMs
    const withinMs =
      AHEAD_MS + Math.min(ahead, LONG_AHEAD_MS) * AHEAD_PART + Math.max(0, ahead - LONG_AHEAD_MS) * LONG_AHEAD_PART
    return Math.min(Math.floor((rate * withinMs) / (1000 * RATE_SECONDS)), most)
  }
}
