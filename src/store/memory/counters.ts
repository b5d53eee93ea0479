import { type Clock, type Millis, type MonoMillis, systemClock } from '../../model/clock.ts'
import type { Instant, Limit } from '../../model/limit.ts'
import { Windows } from '../../model/window.ts'
import { QuotaWindows } from '../../model/window-quota.ts'
import type { Counters } from '../ports.ts'

/** A quota count as it is saved. */
export interface QuotaRow {
  readonly id: string
  /** 0 = there is no count any more: the stored row can go. */
  readonly used: number
  /** End of the running window; 0 = never, or not known before the next call. */
  readonly endsAt: Millis
}

/** What `Windows` and `QuotaWindows` have in common. */
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
  sweep(budget: number, visit: (slot: number, id: string) => boolean): void {
    this.fresh = 0
    for (let left = Math.min(budget, this.table.size); left > 0; left--) {
      if (this.cursor >= this.table.size) this.cursor = 0
      const slot = this.cursor++
      const id = this.idOf[slot]
      if (id !== undefined && visit(slot, id)) this.release(slot)
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

// Two for each new one keep up with any rate of new counts; the rest is for the caller's own sweep.
const SWEPT_PER_CLAIM = 2

/**
 * Counters in the memory of this process. Every answer is immediate. Counts that say nothing any more are swept a few at a
 * time while new ones come, and by `sweep`. Quota counts are handed out for saving by `dirtyQuotas` and come back through `loadQuotas`.
 */
export class MemoryCounters implements Counters {
  private readonly rates = new Names(new Windows())
  private readonly quotas = new Names(new QuotaWindows())
  private readonly clock: Clock
  /** Slots of quotas that were handed out for saving: only these leave a row behind that must go. */
  private readonly saved = new Set<number>()
  private removed = new Set<string>()

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
      limit.remaining = this.room(limit, now.mono)
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
      limit.remaining = this.room(limit, now.mono)
      if (refused < 0 && limit.remaining <= 0) refused = i
      this.finish(limit, now.mono)
    }
    return refused
  }

  /** See `Counters.resetQuota`. The new window starts with the next call. */
  resetQuota(id: string, used = 0): void {
    if (used <= 0) {
      const slot = this.quotas.slotOf.get(id)
      if (slot !== undefined) this.forgetQuota(slot, id)
      return
    }
    const slot = this.quotas.claim(id)
    this.quotas.table.set(slot, Math.floor(used), Number.POSITIVE_INFINITY, this.clock.mono())
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

  /** Quota counts that changed since the last call, each once, to be saved in this order. Ends are by the wall clock as it is now. */
  dirtyQuotas(): QuotaRow[] {
    const rows: QuotaRow[] = []
    for (const id of this.removed) if (!this.quotas.slotOf.has(id)) rows.push({ id, used: 0, endsAt: 0 })
    this.removed = new Set()
    const seen = new Set<string>()
    for (const slot of this.quotas.table.takeChanged()) {
      const id = this.quotas.idOf[slot]
      if (id === undefined || seen.has(id)) continue
      seen.add(id)
      this.saved.add(slot)
      rows.push(this.row(id, slot))
    }
    return rows
  }

  /** Puts rows that could not be saved back among the changed ones; newer counts win. */
  keepDirty(rows: readonly QuotaRow[]): void {
    for (const { id } of rows) {
      const slot = this.quotas.slotOf.get(id)
      if (slot === undefined) this.removed.add(id)
      else this.quotas.table.mark(slot)
    }
  }

  /** Takes up saved counts at start. Those whose window has ended are swept, and then come back from `dirtyQuotas` as gone. */
  loadQuotas(rows: Iterable<QuotaRow>): void {
    const wall = this.clock.wall()
    const mono = this.clock.mono()
    for (const { id, used, endsAt } of rows) {
      const slot = this.quotas.claim(id)
      this.quotas.table.set(slot, used, endsAt === 0 ? Number.POSITIVE_INFINITY : endsAt - wall, mono)
      this.saved.add(slot)
    }
  }

  /** Looks at the next `budget` counts of each kind and lets go of those that say nothing any more. For a timer of the owner. */
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
      limit.resetMs = this.rates.table.nextMs(limit.slot, limit.max, limit.windowMs)
      return
    }
    const endsInMs = this.quotas.table.endsInMs(limit.slot, now)
    limit.resetMs = endsInMs === Number.POSITIVE_INFINITY ? 0 : endsInMs
  }

  private row(id: string, slot: number): QuotaRow {
    const mono = this.clock.mono()
    const used = this.quotas.table.used(slot, mono)
    if (used === 0) return { id, used: 0, endsAt: 0 }
    const endsInMs = this.quotas.table.endsInMs(slot, mono)
    return { id, used, endsAt: endsInMs === Number.POSITIVE_INFINITY ? 0 : this.clock.wall() + endsInMs }
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
    this.quotas.sweep(budget, (slot, id) => {
      if (this.quotas.table.idle(slot, now)) this.forgetQuota(slot, id)
      return false
    })
  }

  private forgetQuota(slot: number, id: string): void {
    if (this.saved.delete(slot)) this.removed.add(id)
    this.quotas.release(slot)
  }
}

/** True when an earlier limit of the list has the same count. */
function namedBefore(limits: readonly Limit[], index: number): boolean {
  const { kind, slot } = limits[index]!
  for (let i = 0; i < index; i++) if (limits[i]!.slot === slot && limits[i]!.kind === kind) return true
  return false
}
