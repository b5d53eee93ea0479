import type { Instant, Limit } from '../../model/limits/limit.ts'
import { Windows } from '../../model/limits/window.ts'
import { QuotaWindows } from '../../model/limits/window-quota.ts'
import { type Clock, type MonoMillis, systemClock } from '../../model/time/clock.ts'
import type { Counters } from '../ports/ports.ts'
import { QUOTA_NUMBERS, type QuotaChanges, type QuotaName, type SavedQuota } from './quota-changes.ts'

/** The common interface of `Windows` and `QuotaWindows`. */
interface Slots {
  readonly size: number
  claim(): number
  release(slot: number): void
  generation(slot: number): number
  idle(slot: number, now: MonoMillis): boolean
}

/** Which count has which slot of one table. */
class Names<Table extends Slots> {
  readonly table: Table
  readonly slotOf = new Map<string, number>()
  readonly idOf: (string | undefined)[] = []
  /** Slots claimed since the last sweep. */
  fresh = 0
  private cursor = 0

  constructor(table: Table) {
    this.table = table
  }

  claim(id: string): number {
    const known = this.slotOf.get(id)
    if (known !== undefined) return known
    const slot = this.table.claim()
    this.slotOf.set(id, slot)
    this.idOf[slot] = id
    this.fresh++
    return slot
  }

  release(slot: number): void {
    const id = this.idOf[slot]
    if (id === undefined) return
    this.slotOf.delete(id)
    this.idOf[slot] = undefined
    this.table.release(slot)
  }

  /** Looks at the next `budget` slots; `visit` sees those in use and says which ones to let go. */
  sweep(budget: number, visit: (slot: number) => boolean): void {
    this.fresh = 0
    for (let left = Math.min(budget, this.table.size); left > 0; left--) {
      if (this.cursor >= this.table.size) this.cursor = 0
      const slot = this.cursor++
      if (this.idOf[slot] !== undefined && visit(slot)) this.release(slot)
    }
  }

  /** Ids that are `owner` itself or counts of that owner (`owner|...`). Looks at every id. */
  owned(owner: string): string[] {
    const prefix = `${owner}|`
    const ids: string[] = []
    for (const id of this.slotOf.keys()) if (id === owner || id.startsWith(prefix)) ids.push(id)
    return ids
  }
}

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
  private readonly rates = new Names(new Windows())
  private readonly quotas = new Names(new QuotaWindows())
  private readonly clock: Clock
  /** By slot: under which number its count was handed out for saving, 0 = it was not. */
  private readonly numbers: number[] = []
  private lastNumber = 0
  /** Numbers that were handed out and whose counts are gone. */
  private gone: number[] = []
  /** Names that were handed out and could not be saved. */
  private unsavedNames: readonly QuotaName[] = []

  /** `clock` is read where no `Instant` comes with the call. */
  constructor(clock: Clock = systemClock) {
    this.clock = clock
  }

  /** See `Counters.take`. A count that is named twice in one call is taken from once, and must have room under both. */
  take(limits: readonly Limit[], now: Instant): number {
    let refused = -1
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i]!
      this.locate(limit)
      limit.remaining = compact(this.room(limit, now.mono))
      if (refused < 0 && limit.remaining <= 0) refused = i
    }
    if (refused < 0) this.useAll(limits)
    for (let i = 0; i < limits.length; i++) this.finish(limits[i]!, now.mono)
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
      limit.remaining = compact(this.room(limit, now.mono))
      if (refused < 0 && limit.remaining <= 0) refused = i
      this.finish(limit, now.mono)
    }
    return refused
  }

  /** See `Counters.resetQuota`. A new window starts with the next call. */
  resetQuota(id: string, used = 0, endsInMs = Number.POSITIVE_INFINITY): void {
    if (used <= 0) {
      const slot = this.quotas.slotOf.get(id)
      if (slot !== undefined) this.forgetQuota(slot)
      return
    }
    const slot = this.quotas.claim(id)
    this.quotas.table.set(slot, Math.floor(used), endsInMs, this.clock.mono())
    this.quotas.table.mark(slot)
  }

  /**
   * Adds the counts of `from` to those of `to`; `from` keeps its own. Both are either whole ids of limits, or the part before
   * the first `|`: then every count of that owner is carried, which looks at every id held (about 40 ms for a million).
   */
  carry(from: string, to: string): void {
    if (from === to) return
    for (const id of this.rates.owned(from)) this.carryRate(id, to + id.slice(from.length))
    for (const id of this.quotas.owned(from)) this.carryQuota(id, to + id.slice(from.length))
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
    for (const slot of slots) if (this.quotas.idOf[slot] !== undefined) this.quotas.table.mark(slot)
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
    this.sweepBoth(budget, this.clock.mono())
  }

  /** Counts held now. */
  get size(): { readonly rates: number; readonly quotas: number } {
    return { rates: this.rates.slotOf.size, quotas: this.quotas.slotOf.size }
  }

  private locate(limit: Limit): void {
    if (limit.kind === 'rate') {
      if (limit.slot >= 0 && this.rates.table.generation(limit.slot) === limit.generation) return
      limit.slot = this.rates.claim(limit.id)
      limit.generation = this.rates.table.generation(limit.slot)
      return
    }
    if (limit.slot >= 0 && this.quotas.table.generation(limit.slot) === limit.generation) return
    limit.slot = this.quotas.claim(limit.id)
    limit.generation = this.quotas.table.generation(limit.slot)
  }

  /** True when there is a count for the limit, which then knows its slot. */
  private known(limit: Limit): boolean {
    const names = limit.kind === 'rate' ? this.rates : this.quotas
    if (!names.slotOf.has(limit.id)) return false
    this.locate(limit)
    return true
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
    const mono = this.clock.mono()
    const wall = this.clock.wall()
    const table = this.quotas.table
    let at = 0
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!
      const id = this.quotas.idOf[slot]
      if (id === undefined) continue
      const used = table.used(slot, mono)
      if (used === 0) this.forgetNumber(slot)
      else {
        const endsInMs = table.endsInMs(slot, mono)
        counts[at] = this.numbers[slot] || this.giveNumber(slot, id, names)
        counts[at + 1] = used
        counts[at + 2] = endsInMs === Number.POSITIVE_INFINITY ? 0 : Math.ceil(wall + endsInMs)
        at += QUOTA_NUMBERS
      }
    }
    return { counts, length: at }
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
    const source = this.rates.claim(from)
    this.rates.table.add(source, this.rates.claim(to))
  }

  private carryQuota(from: string, to: string): void {
    const mono = this.clock.mono()
    const table = this.quotas.table
    const source = this.quotas.claim(from)
    const used = table.used(source, mono)
    if (used === 0) return
    const target = this.quotas.claim(to)
    const endsInMs = Math.max(table.endsInMs(source, mono), table.endsInMs(target, mono))
    table.set(target, used + table.used(target, mono), endsInMs, mono)
    table.mark(target)
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
    this.forgetNumber(slot)
    this.quotas.release(slot)
  }
}

/** True when an earlier limit of the list has the same count. */
function namedBefore(limits: readonly Limit[], index: number): boolean {
  const { kind, slot } = limits[index]!
  for (let i = 0; i < index; i++) if (limits[i]!.slot === slot && limits[i]!.kind === kind) return true
  return false
}
