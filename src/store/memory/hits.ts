import type { HitDimensions } from '../../model/analytics/dimensions.ts'
import { type Hit, MINUTES_PER_HOUR } from '../../model/analytics/hit.ts'
import type { HitSamples } from '../../model/analytics/hit-samples.ts'
import { monthOf } from '../../model/time/calendar.ts'
import { dimensionTexts, packHits } from '../hits/hit-pack.ts'
import { ALL_DIMENSIONS, addHit, checkSamples, SampleSums } from '../hits/sample-sums.ts'
import { checkUsage, rowName, USAGE_BATCH } from '../hits/usage-rows.ts'
import type { HitBatch, HitQuery, Hits, UsageQuery, UsageSort } from '../ports/ports.ts'
import { wholeNumber } from '../prepare/cells.ts'
import { byBytes } from './order.ts'

const SORT: Readonly<Record<UsageSort, (row: Hit) => number>> = {
  time: (row) => minuteOf(row),
  count: ({ count }) => count,
  success: ({ success }) => success,
  error: ({ error }) => error,
  lastAt: ({ lastAt }) => lastAt,
  totalMs: ({ total, count }) => total.sumMs / count,
  maxTotalMs: ({ total }) => total.maxMs,
  minTotalMs: ({ total }) => total.minMs,
  upstreamMs: ({ upstream }) => {
    const handedOn = upstream.buckets.reduce((a, b) => a + b, 0)
    return handedOn === 0 ? -1 : upstream.sumMs / handedOn
  },
  maxUpstreamMs: ({ upstream }) => upstream.maxMs,
  minUpstreamMs: ({ upstream }) => upstream.minMs,
}

const HOURS_PER_DAY = 24

/** Sums of hits, one row for each hour and set of dimensions. */
export class MemoryHits implements Hits {
  private readonly rows = new Map<string, Hit>()
  private readonly batches = new Map<string, number>()
  /** The set of dimensions with the number 1, and so on. Nothing of them is forgotten: they go with the process. */
  private readonly sets: HitDimensions[] = []
  private readonly numbers = new Map<string, number>()
  private minutesSince = 0

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
      if (set !== undefined) mergeByMinute(this.rows, sums.hit(row, set))
    }
  }

  async add(rows: readonly Hit[], batch?: HitBatch): Promise<void> {
    // Packed only to be checked by the same rules as everywhere.
    packHits(rows)
    if (this.isNew(batch)) for (const row of rows) mergeByMinute(this.rows, row)
  }

  sum(query: HitQuery): Hit[] {
    const where = Object.entries(query.where ?? {}) as [keyof Hit, string][]
    const merged = ALL_DIMENSIONS.filter((name) => query.by !== undefined && !query.by.includes(name))
    const blank = Object.fromEntries(merged.map((name) => [name, name === 'status' ? 0 : '']))
    const sums = new Map<string, Hit>()
    for (const row of this.rows.values()) {
      if (row.hour < query.fromHour || row.hour > query.toHour) continue
      if (where.every(([name, value]) => row[name] === value)) merge(sums, { ...withoutMinute(row), ...blank })
    }
    const sorted = [...sums].sort(([a, x], [b, y]) => y.hour - x.hour || y.count - x.count || byBytes(a, b))
    return sorted.slice(0, Math.max(0, Math.floor(query.limit))).map(([, row]) => row)
  }

  async usage({ offset, limit, ...query }: UsageQuery & { offset: number; limit: number }) {
    checkUsage(query, [offset, limit])
    const rows = usageOf(this.rows.values(), query)
    return { rows: rows.slice(offset, offset + limit), total: rows.length }
  }

  async *eachUsage(query: UsageQuery): AsyncGenerator<Hit[]> {
    checkUsage(query)
    const rows = usageOf(this.rows.values(), query)
    for (let at = 0; at < rows.length; at += USAGE_BATCH) yield rows.slice(at, at + USAGE_BATCH)
  }

  knows(orgId: string, name: 'keyHash' | 'clientId', value: string): boolean {
    for (const row of this.rows.values()) if (row[name] === value && (orgId === '' || row.orgId === orgId)) return true
    return false
  }

  async purgeHits(beforeDay: number): Promise<number> {
    const beforeHour = wholeNumber(beforeDay) * HOURS_PER_DAY
    const due = [...this.rows].filter(([, { hour }]) => hour < beforeHour)
    for (const [name] of due) this.rows.delete(name)
    return due.length
  }

  async purgeMinutes(beforeMinute: number): Promise<number> {
    const before = wholeNumber(beforeMinute)
    this.minutesSince = Math.max(this.minutesSince, before)
    const due = [...this.rows].filter(([, row]) => row.minute !== undefined && minuteOf(row) < before)
    for (const [name, row] of due) {
      this.rows.delete(name)
      mergeByMinute(this.rows, withoutMinute(row))
    }
    return due.length
  }

  minutesFrom(): number {
    return this.minutesSince
  }

  private isNew(batch: HitBatch | undefined): boolean {
    if (batch === undefined) return true
    if (batch.number <= (this.batches.get(batch.source) ?? 0)) return false
    this.batches.set(batch.source, batch.number)
    return true
  }
}

/** Minutes since the Unix epoch. */
const minuteOf = ({ hour, minute = 0 }: Hit): number => hour * MINUTES_PER_HOUR + minute

function withoutMinute({ minute: _minute, ...row }: Hit): Hit {
  return row
}

function merge(sums: Map<string, Hit>, row: Hit): void {
  add(sums, JSON.stringify([row.hour, ...ALL_DIMENSIONS.map((dimension) => row[dimension])]), row)
}

function mergeByMinute(sums: Map<string, Hit>, row: Hit): void {
  add(sums, rowName(row), row)
}

function add(sums: Map<string, Hit>, name: string, row: Hit): void {
  const sum = sums.get(name)
  if (sum === undefined) sums.set(name, structuredClone(row))
  else addHit(sum, row)
}

/** All rows of an answer, in order. */
function usageOf(rows: Iterable<Hit>, query: UsageQuery): Hit[] {
  const merged = ALL_DIMENSIONS.filter((name) => {
    return !(query.by.includes(name) || (name === 'tags' && query.by.includes('tag')))
  })
  const blank = Object.fromEntries(merged.map((name) => [name, name === 'status' ? 0 : '']))
  const sums = new Map<string, Hit>()
  for (const row of rows) {
    if (!matches(row, query)) continue
    for (const tags of tagsOf(row, query)) {
      const own = { ...withoutMinute(row), tags, ...blank, hour: bucketOf(row.hour, query) }
      mergeByMinute(sums, query.per === 'minute' ? { ...own, minute: row.minute! } : own)
    }
  }
  const down = query.descending ? -1 : 1
  const value = SORT[query.sort]
  return [...sums.values()].sort((a, b) => down * (value(a) - value(b)) || minuteOf(a) - minuteOf(b) || byNames(a, b))
}

function matches(row: Hit, query: UsageQuery): boolean {
  const { fromDay, toDay, hours, where = {}, tags, status, errorsOnly, has } = query
  if (row.hour < fromDay * HOURS_PER_DAY || row.hour >= (toDay + 1) * HOURS_PER_DAY) return false
  if (hours !== undefined && (row.hour < hours[0] || row.hour > hours[1])) return false
  if (!isWithinMinutes(row, query)) return false
  if (errorsOnly === true && row.status < 400) return false
  if (status !== undefined && !status.includes(row.status)) return false
  if (has !== undefined && row[has] === '') return false
  if (tags !== undefined && !row.tags.split(',').some((tag) => tag !== '' && tags.includes(tag))) return false
  return Object.entries(where).every(([name, some]) => some.includes(row[name as keyof typeof where]))
}

/** Of whole hours all rows are meant, as in the stores that have these in another table than minutes. */
function isWithinMinutes(row: Hit, { per, minutes }: UsageQuery): boolean {
  if (minutes === undefined) return per !== 'minute' || row.minute !== undefined
  const [from, to] = minutes
  if (row.minute !== undefined) return minuteOf(row) >= from && minuteOf(row) <= to
  const first = row.hour * MINUTES_PER_HOUR
  return per !== 'minute' && first >= from && first + MINUTES_PER_HOUR - 1 <= to
}

function tagsOf({ tags }: Hit, { by, tagPrefix = '' }: UsageQuery): string[] {
  if (!by.includes('tag')) return [tags]
  return tags === '' ? [] : tags.split(',').filter((tag) => tag.startsWith(tagPrefix))
}

function bucketOf(hour: number, { per }: UsageQuery): number {
  if (per === 'all') return 0
  if (per === 'hour' || per === 'minute') return hour
  const day = Math.floor(hour / HOURS_PER_DAY)
  return (per === 'day' ? day : monthOf(day)) * HOURS_PER_DAY
}

function byNames(a: Hit, b: Hit): number {
  for (const name of ALL_DIMENSIONS) {
    const order = name === 'status' ? a.status - b.status : byBytes(a[name], b[name])
    if (order !== 0) return order
  }
  return 0
}
