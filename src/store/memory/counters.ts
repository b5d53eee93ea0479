import { type Instant, type Limit, makeLimit } from '../../model/limits/limit.ts'
import { SLIDING_WINDOW } from '../../model/limits/window.ts'
import { BUSY } from '../../model/threads/shared-lock.ts'
import { type Clock, type MonoMillis, systemClock } from '../../model/time/clock.ts'
import type { Counters } from '../ports/ports.ts'
import { type CountTables, OwnTables } from './count-tables.ts'
import { QUOTA_NUMBERS, type QuotaChanges, type QuotaName, type SavedQuota } from './quota-changes.ts'

/**
 * The same number as the object itself can hold it, where it is a whole one of 32 bits. What comes out of an array of doubles would
 * be kept in a boxed object, and with thousands of keys each of those costs a cache miss in each request.
 */
function compact(value: number): number {
  const whole = value | 0
  return whole === value ? whole : value
}

// Two for each new one keep up with any rate of new counts; the rest is for the caller's own sweep.
const SWEPT_PER_CLAIM = 2

/**
 * Counters in the memory of this process. Every answer is immediate. Counts that say nothing any more are swept a few at a
 * time while new ones come, and by `sweep`. Quota counts are handed out for saving by `takeChanges` and come back through `loadQuotas`.
 */
export class MemoryCounters implements Counters {
  private readonly tables: CountTables
  private readonly rates: CountTables['rates']
  private readonly quotas: CountTables['quotas']
  private readonly clock: Clock
  private readonly single: Limit[] = []
  /** By slot: under which number its count was handed out for saving, 0 = it was not. */
  private readonly numbers: number[] = []
  private lastNumber = 0
  /** Numbers that were handed out and whose counts are gone. */
  private gone: number[] = []
  /** Names that were handed out and could not be saved. */
  private unsavedNames: readonly QuotaName[] = []

  /** `clock` is read where no `Instant` comes with the call. `tables`: those that other threads count in as well; absent = none do. */
  constructor(clock: Clock = systemClock, tables: CountTables = new OwnTables(SLIDING_WINDOW)) {
    this.clock = clock
    this.tables = tables
    this.rates = tables.rates
    this.quotas = tables.quotas
  }

  /** See `Counters.take`. A count that is named twice in one call is taken from once, and must have room under both. */
  take(limits: readonly Limit[], now: Instant): number {
    let refused = -1
    this.tables.enter(limits)
    try {
      for (let i = 0; i < limits.length; i++) {
        const limit = limits[i]!
        limit.remaining = compact(this.room(limit, now.mono))
        if (refused < 0 && limit.remaining <= 0) refused = i
      }
      if (refused < 0) this.useAll(limits)
      for (let i = 0; i < limits.length; i++) this.finish(limits[i]!, now.mono)
    } finally {
      this.tables.leave()
    }
    if (this.rates.fresh + this.quotas.fresh > 0) this.sweepFresh(now.mono)
    return refused
  }

  peek(limits: readonly Limit[], now: Instant): number {
    let refused = -1
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      if (!this.known(limit)) {
        limit.remaining = limit.max
        limit.resetMs = 0
        continue
      }
      this.look(limit, now.mono)
      if (refused < 0 && limit.remaining <= 0) refused = i
    }
    return refused
  }

  /** See `Counters.resetQuota`. A new window starts with the next call. */
  resetQuota(id: string, used = 0, endsInMs = Number.POSITIVE_INFINITY): void {
    if (used <= 0) {
      const slot = this.quotas.find(id)
      if (slot >= 0 && !this.tables.atQuota(slot, () => this.forgetQuota(slot))) throw BUSY
      return
    }
    this.change('quota', [id], ([slot = -1]) => {
      this.quotas.table.set(slot, Math.floor(used), endsInMs, this.clock.mono())
      this.quotas.table.mark(slot)
    })
  }

  /**
   * Adds the counts of `from` to those of `to`; `from` keeps its own. Both are either whole ids of limits, or the part before
   * the first `|`: then every count of that owner is carried, which looks at every id held (about 40 ms for a million).
   */
  carry(from: string, to: string): void {
    for (const step of this.carrySteps(from, to)) step()
  }

  /** The steps of `carry`, each to be done once. */
  carrySteps(from: string, to: string): (() => void)[] {
    if (from === to) return []
    return [
      ...this.rates.owned(from).map((id) => () => this.carryRate(id, to + id.slice(from.length))),
      ...this.quotas.owned(from).map((id) => () => this.carryQuota(id, to + id.slice(from.length))),
    ]
  }

  /**
   * Quota counts that changed since the last call, each once, to be saved in this order; undefined when none did. Ends are by
   * the wall clock as it is now.
   */
  takeChanges(): QuotaChanges | undefined {
    const slots = this.quotas.table.takeChanged()
    if (slots.length + this.gone.length === 0) return undefined
    const names = [...this.unsavedNames]
    this.unsavedNames = []
    const { counts, length } = this.readChanged(slots, names)
    const gone = this.gone
    this.gone = []
    for (const [i, number] of gone.entries()) counts[length + i * QUOTA_NUMBERS] = number
    return { names, counts: counts.subarray(0, length + gone.length * QUOTA_NUMBERS), slots, gone }
  }

  /** Puts counts that could not be saved back among the changed ones; newer counts win. */
  keepChanges({ names, slots, gone }: QuotaChanges): void {
    this.unsavedNames = [...names, ...this.unsavedNames]
    this.gone.push(...gone)
    for (const slot of slots) if (this.quotas.idOf(slot) !== undefined) this.quotas.table.mark(slot)
  }

  /** Takes up saved counts at start. Those whose window has ended are swept, and then come back from `takeChanges` as gone. */
  loadQuotas(saved: Iterable<SavedQuota>): void {
    const wall = this.clock.wall()
    const mono = this.clock.mono()
    for (const { number, id, used, endsAt } of saved) {
      this.lastNumber = Math.max(this.lastNumber, number)
      if (used === 0) continue
      const slot = this.quotas.claim(id)
      this.quotas.table.set(slot, used, endsAt === 0 ? Number.POSITIVE_INFINITY : endsAt - wall, mono)
      this.forgetNumber(slot)
      this.numbers[slot] = number
    }
  }

  /** Checks the next `budget` counts of each kind and drops expired ones. For a timer of the owner. */
  sweep(budget = 1000): void {
    this.sweepBoth(budget + this.tables.claimedElsewhere() * SWEPT_PER_CLAIM, this.clock.mono())
  }

  /** Counts held now. */
  get size(): { readonly rates: number; readonly quotas: number } {
    return { rates: this.rates.count, quotas: this.quotas.count }
  }

  /** True when there is a count for the limit. */
  private known({ kind, id }: Limit): boolean {
    return (kind === 'rate' ? this.rates : this.quotas).find(id) >= 0
  }

  private look(limit: Limit, now: MonoMillis): void {
    this.single[0] = limit
    this.tables.enter(this.single)
    try {
      limit.remaining = compact(this.room(limit, now))
      this.finish(limit, now)
    } finally {
      this.tables.leave()
    }
  }

  /** Does `work` at the slots of these counts, which may be new. */
  private change(kind: Limit['kind'], ids: readonly string[], work: (slots: readonly number[]) => void): void {
    const limits = ids.map((id) => makeLimit(kind, id, 1, 0))
    this.tables.enter(limits)
    try {
      work(limits.map(({ slot }) => slot))
    } finally {
      this.tables.leave()
    }
  }

  private room(limit: Limit, now: MonoMillis): number {
    if (limit.kind === 'rate') return this.rates.table.room(limit.slot, limit.max, limit.windowMs, now)
    return this.quotas.table.room(limit.slot, limit.max, limit.windowMs, now)
  }

  private useAll(limits: readonly Limit[]): void {
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      limit.remaining--
      if (i > 0 && namedBefore(limits, i)) continue
      if (limit.kind === 'rate') this.rates.table.use(limit.slot, limit.max, limit.windowMs)
      else this.quotas.table.use(limit.slot, limit.windowMs)
    }
  }

  private finish(limit: Limit, now: MonoMillis): void {
    if (limit.remaining < 0) limit.remaining = 0
    if (limit.kind === 'rate') {
      limit.resetMs = compact(this.rates.table.nextMs(limit.slot, limit.max, limit.windowMs))
      return
    }
    const endsInMs = this.quotas.table.endsInMs(limit.slot, now)
    limit.resetMs = endsInMs === Number.POSITIVE_INFINITY ? 0 : compact(endsInMs)
  }

  /** Reads the counts of slots, with room for those that are gone; new ones get a number, and a name among `names`. */
  private readChanged(
    slots: readonly number[],
    names: QuotaName[],
  ): { counts: Float64Array<ArrayBuffer>; length: number } {
    const counts = new Float64Array((slots.length + this.gone.length) * QUOTA_NUMBERS)
    const { table } = this.quotas
    let at = 0
    for (const slot of slots) {
      const read = this.tables.atQuota(slot, () => {
        table.unmark(slot)
        at = this.readCount(slot, counts, at, names)
      })
      if (!read) table.markAgain(slot)
    }
    return { counts, length: at }
  }

  /** Reads the count of a slot, where it says something; answers where the next one goes. */
  private readCount(slot: number, into: Float64Array, at: number, names: QuotaName[]): number {
    const { table } = this.quotas
    const mono = this.clock.mono()
    const id = this.quotas.idOf(slot)
    if (id === undefined) return at
    const used = table.used(slot, mono)
    if (used === 0) {
      this.forgetNumber(slot)
      return at
    }
    const endsInMs = table.endsInMs(slot, mono)
    into[at] = this.numbers[slot] || this.giveNumber(slot, id, names)
    into[at + 1] = used
    into[at + 2] = endsInMs === Number.POSITIVE_INFINITY ? 0 : Math.ceil(this.clock.wall() + endsInMs)
    return at + QUOTA_NUMBERS
  }

  private giveNumber(slot: number, id: string, names: QuotaName[]): number {
    const number = ++this.lastNumber
    this.numbers[slot] = number
    names.push([number, id])
    return number
  }

  /** A count that says nothing any more leaves nothing behind in the store. */
  private forgetNumber(slot: number): void {
    const number = this.numbers[slot] ?? 0
    if (number !== 0) this.gone.push(number)
    this.numbers[slot] = 0
  }

  private carryRate(from: string, to: string): void {
    this.change('rate', [from, to], ([source = -1, target = -1]) => this.rates.table.add(source, target))
  }

  private carryQuota(from: string, to: string): void {
    const mono = this.clock.mono()
    const table = this.quotas.table
    this.change('quota', [from, to], ([source = -1, target = -1]) => {
      const used = table.used(source, mono)
      if (used === 0) return
      const endsInMs = Math.max(table.endsInMs(source, mono), table.endsInMs(target, mono))
      table.set(target, used + table.used(target, mono), endsInMs, mono)
      table.mark(target)
    })
  }

  private sweepFresh(now: MonoMillis): void {
    this.sweepBoth((this.rates.fresh + this.quotas.fresh) * SWEPT_PER_CLAIM, now)
  }

  private sweepBoth(budget: number, now: MonoMillis): void {
    this.rates.sweep(budget, (slot) => {
      if (this.rates.table.idle(slot, now)) return true
      this.rates.table.trim(slot)
      return false
    })
    this.quotas.sweep(budget, (slot) => {
      if (this.quotas.table.idle(slot, now)) this.forgetQuota(slot)
      return false
    })
  }

  private forgetQuota(slot: number): void {
    this.quotas.release(slot)
    this.forgetNumber(slot)
  }
}

/** True when an earlier limit of the list has the same count. */
function namedBefore(limits: readonly Limit[], index: number): boolean {
  const { kind, slot } = limits[index]!
  for (let i = 0; i < index; i++) if (limits[i]!.slot === slot && limits[i]!.kind === kind) return true
  return false
}
