import type { Limit } from '../../model/limits/limit.ts'
import type { RateAlgorithm, RateTable } from '../../model/limits/rate-algorithm.ts'
import { QuotaWindows } from '../../model/limits/window-quota.ts'

/** The common interface of `RateTable` and `QuotaWindows`. */
interface SlotTable {
  readonly size: number
  claim(): number
  release(slot: number): void
  generation(slot: number): number
}

/** Which count has which slot of one table. */
export interface CountNames<Table extends SlotTable> {
  readonly table: Table
  /** Counts in the table. */
  readonly count: number
  /** Slots claimed since the last sweep, which are to be swept for at once. */
  readonly fresh: number
  /** The slot of a count; -1 where there is none. */
  find(id: string): number
  /** The slot of a count, which may be new. */
  claim(id: string): number
  release(slot: number): void
  /** The count of a slot; undefined for a free one. */
  idOf(slot: number): string | undefined
  /** Looks at the next `budget` slots; `visit` sees those in use and says which ones to let go. */
  sweep(budget: number, visit: (slot: number) => boolean): void
  /** Ids that are `owner` itself or counts of that owner (`owner|...`). Looks at every id. */
  owned(owner: string): string[]
}

/** The tables of all counts, of one thread or of several. */
export interface CountTables {
  readonly rates: CountNames<RateTable>
  readonly quotas: CountNames<QuotaWindows>
  /** Finds the slots of limits, and keeps other threads from them until `leave`. */
  enter(limits: readonly Limit[]): void
  leave(): void
  /** Does `work` while no other thread is at a slot; false where one is for too long: then nothing was done. */
  atQuota(slot: number, work: () => void): boolean
  /** Slots that other threads have claimed since the last call. */
  claimedElsewhere(): number
}

/** Puts the slot and generation of its count into a limit that does not have them, or no longer. */
export function locate({ rates, quotas }: Pick<CountTables, 'rates' | 'quotas'>, limit: Limit): void {
  if (limit.kind === 'rate') {
    if (limit.slot >= 0 && rates.table.generation(limit.slot) === limit.generation) return
    limit.slot = rates.claim(limit.id)
    limit.generation = rates.table.generation(limit.slot)
    return
  }
  if (limit.slot >= 0 && quotas.table.generation(limit.slot) === limit.generation) return
  limit.slot = quotas.claim(limit.id)
  limit.generation = quotas.table.generation(limit.slot)
}

class OwnNames<Table extends SlotTable> implements CountNames<Table> {
  readonly table: Table
  fresh = 0
  readonly #slotOf = new Map<string, number>()
  readonly #idOf: (string | undefined)[] = []
  #cursor = 0

  constructor(table: Table) {
    this.table = table
  }

  get count(): number {
    return this.#slotOf.size
  }

  find(id: string): number {
    return this.#slotOf.get(id) ?? -1
  }

  idOf(slot: number): string | undefined {
    return this.#idOf[slot]
  }

  claim(id: string): number {
    const known = this.#slotOf.get(id)
    if (known !== undefined) return known
    const slot = this.table.claim()
    this.#slotOf.set(id, slot)
    this.#idOf[slot] = id
    this.fresh++
    return slot
  }

  release(slot: number): void {
    const id = this.#idOf[slot]
    if (id === undefined) return
    this.#slotOf.delete(id)
    this.#idOf[slot] = undefined
    this.table.release(slot)
  }

  sweep(budget: number, visit: (slot: number) => boolean): void {
    this.fresh = 0
    for (let left = Math.min(budget, this.table.size); left > 0; left--) {
      if (this.#cursor >= this.table.size) this.#cursor = 0
      const slot = this.#cursor++
      if (this.#idOf[slot] !== undefined && visit(slot)) this.release(slot)
    }
  }

  owned(owner: string): string[] {
    const prefix = `${owner}|`
    const ids: string[] = []
    for (const id of this.#slotOf.keys()) if (id === owner || id.startsWith(prefix)) ids.push(id)
    return ids
  }
}

/** Tables of this thread alone. */
export class OwnTables implements CountTables {
  readonly rates: CountNames<RateTable>
  readonly quotas = new OwnNames(new QuotaWindows())

  constructor(algorithm: RateAlgorithm) {
    this.rates = new OwnNames(algorithm.table())
  }

  enter(limits: readonly Limit[]): void {
    for (let i = 0; i < limits.length; i++) locate(this, limits[i]!)
  }

  leave(): void {}

  atQuota(_slot: number, work: () => void): boolean {
    work()
    return true
  }

  claimedElsewhere(): number {
    return 0
  }
}
