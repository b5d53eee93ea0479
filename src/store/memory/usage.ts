import type { Hit } from '../../model/analytics/hit.ts'
import { monthOf } from '../../model/time/calendar.ts'
import { ALL_DIMENSIONS, addHit } from '../hits/hit-sums.ts'
import { rowName } from '../hits/usage-rows.ts'
import type { UsageQuery, UsageSort } from '../ports/ports.ts'
import { byBytes } from './order.ts'

const HOURS_PER_DAY = 24

/** All rows of an answer, in order. */
export function usageOf(rows: Iterable<Hit>, query: UsageQuery): Hit[] {
  const merged = ALL_DIMENSIONS.filter((name) => {
    return !(query.by.includes(name) || (name === 'tags' && query.by.includes('tag')))
  })
  const blank = Object.fromEntries(merged.map((name) => [name, name === 'status' ? 0 : '']))
  const sums = new Map<string, Hit>()
  for (const row of rows) {
    if (!matches(row, query)) continue
    for (const tags of tagsOf(row, query)) {
      const own = { ...row, tags, ...blank, hour: bucketOf(row.hour, query) }
      const name = rowName(own)
      const sum = sums.get(name)
      if (sum === undefined) sums.set(name, structuredClone(own))
      else addHit(sum, own)
    }
  }
  const down = query.descending ? -1 : 1
  const value = SORT[query.sort]
  return [...sums.values()].sort((a, b) => down * (value(a) - value(b)) || a.hour - b.hour || byNames(a, b))
}

function matches(row: Hit, query: UsageQuery): boolean {
  const { fromDay, toDay, hours, where = {}, tags, status, errorsOnly, has } = query
  if (row.hour < fromDay * HOURS_PER_DAY || row.hour >= (toDay + 1) * HOURS_PER_DAY) return false
  if (hours !== undefined && (row.hour < hours[0] || row.hour > hours[1])) return false
  if (errorsOnly === true && row.status < 400) return false
  if (status !== undefined && !status.includes(row.status)) return false
  if (has !== undefined && row[has] === '') return false
  if (tags !== undefined && !row.tags.split(',').some((tag) => tag !== '' && tags.includes(tag))) return false
  return Object.entries(where).every(([name, some]) => some.includes(row[name as keyof typeof where]))
}

function tagsOf({ tags }: Hit, { by, tagPrefix = '' }: UsageQuery): string[] {
  if (!by.includes('tag')) return [tags]
  return tags === '' ? [] : tags.split(',').filter((tag) => tag.startsWith(tagPrefix))
}

function bucketOf(hour: number, { per }: UsageQuery): number {
  if (per === 'all') return 0
  if (per === 'hour') return hour
  const day = Math.floor(hour / HOURS_PER_DAY)
  return (per === 'day' ? day : monthOf(day)) * HOURS_PER_DAY
}

const SORT: Readonly<Record<UsageSort, (row: Hit) => number>> = {
  time: ({ hour }) => hour,
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

function byNames(a: Hit, b: Hit): number {
  for (const name of ALL_DIMENSIONS) {
    const order = name === 'status' ? a.status - b.status : byBytes(a[name], b[name])
    if (order !== 0) return order
  }
  return 0
}
