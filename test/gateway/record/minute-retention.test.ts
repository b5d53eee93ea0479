import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { type Hit, HOUR_MS, MINUTE_MS } from '../../../src/model/analytics/hit.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { UsageQuery } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

const latency = { sumMs: 1, minMs: 1, maxMs: 1, buckets: [1, ...new Array<number>(13).fill(0)] }

function hitAt(wallMs: number): Hit {
  return {
    ...{ ...NO_DIMENSIONS, orgId: 'o', apiId: 'a', status: 200, count: 1, success: 1, error: 0, lastAt: wallMs },
    ...{ hour: Math.floor(wallMs / HOUR_MS), minute: Math.floor(wallMs / MINUTE_MS) % 60 },
    ...{ total: latency, upstream: latency },
  }
}

test('a gateway without a dashboard forgets minutes of more than 48 hours ago, and no hour', async (t) => {
  const clock = new FakeClock()
  const store = await openStore({ path: temporaryFolder(t), clock })
  t.after(() => store.close())
  const now = clock.wall()
  const ages = [72 * HOUR_MS, 48 * HOUR_MS + MINUTE_MS, 48 * HOUR_MS, MINUTE_MS]
  await store.hits.add(ages.map((age) => hitAt(now - age)))
  const gateway = await startTestGateway({ store, clock })
  t.after(() => gateway.close())
  const oldest = Math.floor((now - 48 * HOUR_MS) / MINUTE_MS)
  const query: UsageQuery = { fromDay: 0, toDay: 100_000, per: 'minute', by: ['apiId'], sort: 'time', descending: true }
  const page = { offset: 0, limit: 100 }
  await eventually('the old minutes are gone', async () => {
    const { total } = await store.hits.usage({ ...query, ...page })
    return total === 2 && (await store.hits.minutesFrom()) === oldest
  })
  const { rows } = await store.hits.usage({ ...query, per: 'all', ...page })
  assert.deepEqual(
    rows.map(({ count }) => count),
    [ages.length],
  )
})
