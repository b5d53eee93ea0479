import type { Hit, HitDimensions } from '../../model/hit.ts'
import type { HitSamples } from '../../model/hit-samples.ts'
import { dimensionTexts, packHits } from '../hit-pack.ts'
import { ALL_DIMENSIONS, addHit } from '../hit-sums.ts'
import type { HitBatch, HitQuery, Hits } from '../ports.ts'
import { checkSamples, SampleSums } from '../sample-sums.ts'
import { byBytes } from './order.ts'

/** Sums of hits, one row for each hour and set of dimensions. */
export class MemoryHits implements Hits {
  private readonly rows = new Map<string, Hit>()
  private readonly batches = new Map<string, number>()
  /** The set of dimensions with the number 1, and so on. */
  private readonly sets: HitDimensions[] = []
  private readonly numbers = new Map<string, number>()

  async number(dimensions: readonly HitDimensions[]): Promise<number[]> {
    return dimensions.map((set) => {
      const name = JSON.stringify(dimensionTexts(set))
      const number = this.numbers.get(name) ?? this.sets.push(set)
      this.numbers.set(name, number)
      return number
    })
  }

  async append(samples: readonly HitSamples[], batch?: HitBatch): Promise<void> {
    checkSamples(samples)
    if (!this.isNew(batch)) return
    const sums = new SampleSums()
    for (const some of samples) sums.add(some)
    for (let row = 0; row < sums.size; row++) {
      const set = this.sets[sums.dimension(row) - 1]
      if (set !== undefined) merge(this.rows, sums.hit(row, set))
    }
  }

  async add(rows: readonly Hit[], batch?: HitBatch): Promise<void> {
    // Packed only to be checked by the same rules as everywhere.
    packHits(rows)
    if (this.isNew(batch)) for (const row of rows) merge(this.rows, row)
  }

  sum(query: HitQuery): Hit[] {
    const where = Object.entries(query.where ?? {}) as [keyof Hit, string][]
    const merged = ALL_DIMENSIONS.filter((name) => query.by !== undefined && !query.by.includes(name))
    const blank = Object.fromEntries(merged.map((name) => [name, name === 'status' ? 0 : '']))
    const sums = new Map<string, Hit>()
    for (const row of this.rows.values()) {
      if (row.hour < query.fromHour || row.hour > query.toHour) continue
      if (where.every(([name, value]) => row[name] === value)) merge(sums, { ...row, ...blank })
    }
    const sorted = [...sums].sort(([a, x], [b, y]) => y.hour - x.hour || y.count - x.count || byBytes(a, b))
    return sorted.slice(0, Math.max(0, Math.floor(query.limit))).map(([, row]) => row)
  }

  private isNew(batch: HitBatch | undefined): boolean {
    if (batch === undefined) return true
    if (batch.number <= (this.batches.get(batch.source) ?? 0)) return false
    this.batches.set(batch.source, batch.number)
    return true
  }
}

function merge(sums: Map<string, Hit>, row: Hit): void {
  const name = JSON.stringify([row.hour, ...ALL_DIMENSIONS.map((dimension) => row[dimension])])
  const sum = sums.get(name)
  if (sum === undefined) sums.set(name, structuredClone(row))
  else addHit(sum, row)
}
