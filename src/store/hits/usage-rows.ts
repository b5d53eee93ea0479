import { fault } from '../../errors/fault.ts'
import type { HitDimensions } from '../../model/analytics/dimensions.ts'
import type { Hit } from '../../model/analytics/hit.ts'
import type { UsageQuery } from '../ports/ports.ts'
import { askedDimensions, isByMinute, NOT_BY_MINUTE } from './hit-times.ts'
import { ALL_DIMENSIONS } from './sample-sums.ts'

const HOURS_PER_DAY = 24
const MONTH_DAYS = 31
/** Rows that are added up at once where all are wanted. */
export const USAGE_BATCH = 200

/** @throws Fault `internal` when times or page are no whole numbers, or for dimensions that are not counted by minute */
export function checkUsage(query: UsageQuery, page: readonly number[] = []): void {
  const { fromDay, toDay, hours = [], minutes = [] } = query
  const wrong =
    ![fromDay, toDay, ...hours, ...minutes].every(Number.isSafeInteger) ||
    !page.every((n) => Number.isSafeInteger(n) && n >= 0)
  if (wrong) throw fault('internal', 'days, hours, minutes or a page of usage that are no whole numbers')
  const missing = isByMinute(query) && askedDimensions(query).find((name) => NOT_BY_MINUTE.includes(name))
  if (missing) throw fault('internal', `requests are not counted by minute and ${missing}`)
}

/** The identity of a result row, as one text. */
export function rowName(row: Pick<Hit, 'hour' | 'minute' | 'status'> & HitDimensions): string {
  return JSON.stringify([row.hour, row.minute, ...ALL_DIMENSIONS.map((name) => row[name])])
}

/** The query narrowed down to what some of its rows are made of, and perhaps others. */
export function narrowUsageQuery(query: UsageQuery, rows: readonly Hit[]): UsageQuery {
  const where: Partial<Record<keyof HitDimensions, readonly string[]>> = { ...query.where }
  for (const name of query.by) {
    if (name === 'status' || name === 'tag') continue
    where[name] = [...new Set(rows.map((row) => row[name]))]
  }
  const status = [...new Set(rows.map((row) => row.status))]
  // Where tags are asked for already, those of a row are among them.
  const tags = query.tags ?? (query.by.includes('tag') ? [...new Set(rows.map((row) => row.tags))] : undefined)
  return {
    ...{ ...query, ...daysOf(query, rows), where },
    ...(tags && { tags }),
    ...(query.by.includes('status') && { status }),
  }
}

function daysOf({ per, fromDay, toDay }: UsageQuery, rows: readonly Hit[]): { fromDay: number; toDay: number } {
  if (per === 'all') return { fromDay, toDay }
  const days = rows.map(({ hour }) => Math.floor(hour / HOURS_PER_DAY))
  const first = days.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const last = days.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return {
    fromDay: Math.max(fromDay, first),
    toDay: Math.min(toDay, per === 'month' ? last + MONTH_DAYS : last),
  }
}
