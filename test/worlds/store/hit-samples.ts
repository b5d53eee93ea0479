import assert from 'node:assert/strict'
import { type HitDimensions, NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { type HitSamples, SampleBlock } from '../../../src/model/analytics/hit-samples.ts'
import { DAY_MS } from '../../../src/model/time/calendar.ts'
import type { Store, UsageQuery } from '../../../src/store/ports/ports.ts'

/** 15 November 2023. */
export const DAY = 19_676
/** All requests of all time. */
export const ALL_USAGE: UsageQuery = { fromDay: 0, toDay: 30_000, per: 'all', by: [], sort: 'count', descending: true }

/** The dimensions of requests of a key at one API. */
export function setOf(keyHash: string): HitDimensions {
  return { ...NO_DIMENSIONS, orgId: 'o', apiId: 'a', keyHash }
}

/** One request of each number, on a day. */
export function samplesOn(day: number, numbers: readonly number[]): HitSamples {
  const block = new SampleBlock(numbers.length)
  block.begin(day * DAY_MS)
  for (const number of numbers) assert.ok(block.add(number, 200, 1, 1, day * DAY_MS))
  return block.samples
}

/** How many requests the first row of a query counts; by default all. */
export async function countOf({ hits }: Store, more: Partial<UsageQuery> = {}): Promise<number> {
  return (await hits.usage({ ...ALL_USAGE, ...more, offset: 0, limit: 1 })).rows[0]?.count ?? 0
}
