import { fault } from '../../../src/errors/fault.ts'
import { type HitDimensions, NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import type { Hit } from '../../../src/model/analytics/hit.ts'
import { type HitSamples, SAMPLE_WORDS } from '../../../src/model/analytics/hit-samples.ts'
import { SampleSums } from '../../../src/store/hits/sample-sums.ts'

export const HOUR_MS = 3_600_000
export const NOON: number = 472_222 * HOUR_MS

/** A store that adds up its input, and fails on request: before keeping anything, as the port promises. */
export class ScriptedHits {
  readonly rows = new Map<string, Hit>()
  readonly batches: number[] = []
  /** Dimensions with the number 1, and so on. */
  readonly sets: HitDimensions[] = []
  /** Requests that came one by one. */
  samples = 0
  failing = false
  /** True while it gives no numbers. */
  numberless = false
  onAdd: (() => void) | undefined
  /** Key hash whose rows it refuses. */
  refused: string | undefined

  async number(sets: readonly HitDimensions[]): Promise<number[]> {
    await this.#reach()
    if (this.numberless) throw fault('store_full')
    return sets.map((set) => this.sets.push(set))
  }

  async append(samples: readonly HitSamples[]): Promise<void> {
    // As a real store: what is handed in may change as soon as the call has returned.
    const copies = samples.map(({ hour, words }) => ({ hour, words: words.slice() }))
    await this.#reach()
    const sums = new SampleSums()
    for (const some of copies) sums.add(some)
    this.samples += copies.reduce((sum, { words }) => sum + words.length / SAMPLE_WORDS, 0)
    for (let row = 0; row < sums.size; row++) {
      const set = this.sets[sums.dimension(row) - 1]!
      if (set.keyHash === this.refused) throw fault('internal', 'samples that cannot be stored')
      this.#merge(sums.hit(row, set))
    }
  }

  async add(rows: readonly Hit[]): Promise<void> {
    await this.#reach()
    if (rows.some((row) => row.keyHash === this.refused)) throw fault('internal', 'a row that cannot be stored')
    this.batches.push(rows.length)
    for (const row of rows) this.#merge(structuredClone(row))
  }

  get sum(): number {
    return [...this.rows.values()].reduce((sum, row) => sum + row.count, 0)
  }

  async #reach(): Promise<void> {
    await Promise.resolve()
    this.onAdd?.()
    if (this.failing) throw fault('store_away')
  }

  #merge(row: Hit): void {
    const id = rowId(row, row.hour * 60 + row.minute!, row.status)
    const old = this.rows.get(id)
    this.rows.set(id, old === undefined ? row : merged(old, row))
  }
}

/** Tells rows apart. `minute`: since the Unix epoch. */
export function rowId(d: HitDimensions, minute: number, status: number): string {
  return JSON.stringify([
    d.orgId,
    d.apiId,
    d.version,
    d.keyHash,
    d.alias,
    d.clientId,
    d.tags,
    d.endpoint,
    minute,
    status,
  ])
}

/** The sum of two rows. */
export function merged(a: Hit, b: Hit): Hit {
  const latency = (x: Hit['total'], y: Hit['total']) => ({
    sumMs: x.sumMs + y.sumMs,
    minMs: Math.min(x.minMs, y.minMs),
    maxMs: Math.max(x.maxMs, y.maxMs),
    buckets: x.buckets.map((count, i) => count + y.buckets[i]!),
  })
  return {
    ...a,
    count: a.count + b.count,
    success: a.success + b.success,
    error: a.error + b.error,
    lastAt: Math.max(a.lastAt, b.lastAt),
    total: latency(a.total, b.total),
    upstream: latency(a.upstream, b.upstream),
  }
}

/** Dimensions that differ by key. */
export const dimensions = (keyHash: string, more: Partial<HitDimensions> = {}): HitDimensions => ({
  ...NO_DIMENSIONS,
  orgId: 'o',
  apiId: 'a',
  version: 'Non Versioned',
  keyHash,
  ...more,
})
