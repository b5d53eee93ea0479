import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { HOUR_MS } from '../../../src/model/analytics/hit.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type KeyWorld, keyWorld } from '../../worlds/dashboard/key-world.ts'

const YEAR = '1/1/2024/31/12/2024'
const KEY = hashKey('a key').toString('hex')
const once = { sumMs: 1, minMs: 1, maxMs: 1, buckets: [1, ...new Array<number>(13).fill(0)] }

/** Counts one request in the store itself. */
async function count({ store, orgId }: KeyWorld, at: number, more: { country?: string; keyHash?: string } = {}) {
  const set = { ...NO_DIMENSIONS, orgId, apiId: 'one', keyHash: KEY }
  const numbers = { status: 200, count: 1, success: 1, error: 0, lastAt: at, total: once, upstream: once }
  await store.hits.add([{ ...set, ...more, ...numbers, hour: Math.floor(at / HOUR_MS) }])
}

async function opened(t: TestContext, store?: Store, clock = new FakeClock(Date.UTC(2024, 6, 3))) {
  const world = await keyWorld(t, { clock, ...(store && { store }) })
  await world.api('one')
  const rows = async (path: string) => {
    const { data } = await world.asked(200, 'GET', `/api/${path}`, world.root)
    return (data as JsonObject[]).map(({ id, hits }) => ({ id: id as JsonObject, hits }))
  }
  return { world, rows }
}

test('requests are told apart by country, and found by it in either case', async (t) => {
  const { world, rows } = await opened(t)
  for (const country of ['DE', 'FR', '', 'DE', 'DE']) await count(world, Date.UTC(2024, 5, 1), { country })
  const shown = async (path: string) => (await rows(path)).map(({ id, hits }) => [id.iso_country, hits])
  assert.deepEqual(await shown(`activity/geo/${YEAR}`), [
    ['DE', 3],
    ['', 1],
    ['FR', 1],
  ])
  for (const country of ['de', 'DE'])
    assert.deepEqual(await shown(`activity/geo/${YEAR}?country=${country}`), [['DE', 3]])
  assert.deepEqual(
    (await rows(`activity/keys/aggregate/${KEY},/${YEAR}?res=month&country=fr`)).map(({ hits }) => hits),
    [1],
  )
  const { text } = await world.call('GET', `/api/activity/geo/${YEAR}?type=csv`, { as: world.root })
  assert.match(text, /,DE,[^\r]*\r\n/)
})

test('a year of months that were added up when they were over is what its days say', async (t) => {
  const clock = new FakeClock(Date.UTC(2024, 6, 3))
  const store = await openStore({ path: temporaryFolder(t), clock })
  t.after(() => store.close())
  const { world, rows } = await opened(t, store, clock)
  for (let month = 0; month < 7; month++)
    for (let day = 1; day <= month + 1 && (month < 6 || day < 3); day++) await count(world, Date.UTC(2024, month, day))
  const asked = async () => ({
    months: (await rows(`activity/keys/${KEY}/${YEAR}?res=month&p=-1`)).map(({ id, hits }) => [id.month, hits]),
    keys: (await rows(`activity/keys/${YEAR}`)).map(({ id, hits }) => [id.key, hits]),
    cut: (await rows(`activity/keys/2/2/2024/1/6/2024`)).map(({ hits }) => hits),
    days: (await rows(`activity/keys/aggregate/${KEY},/1/3/2024/31/3/2024?res=day&p=-1`)).length,
  })
  const before = await asked()
  assert.deepEqual(before, {
    months: [...[1, 2, 3, 4, 5, 6].map((month) => [month, month]), [7, 2]],
    keys: [[KEY, 23]],
    cut: [14],
    days: 3,
  })
  assert.ok((await store.rollUpHits()) > 0)
  assert.deepEqual(await asked(), before)
  // Late, for a month that is added up already.
  await count(world, Date.UTC(2024, 2, 9))
  assert.deepEqual((await asked()).months[2], [3, 4])
})
