import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { RedisCounters } from '../../../src/store/redis/counters.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { startRedis } from '../../worlds/servers/redis.ts'

/** A gateway that counts in Redis, with one API for each fallback. */
async function clustered(t: TestContext) {
  const redis = await startRedis(t)
  const counters = new RedisCounters({ url: redis.url })
  await counters.check()
  const memory = openMemoryStore()
  const origin = await startOrigin()
  const gateway = await startTestGateway({ store: { ...memory, counters } })
  t.after(async () => {
    await gateway.close()
    await counters.close()
    await memory.close()
    await origin.close()
  })
  for (const onStoreFailure of ['refuse', 'allow']) {
    const upstream = { rateLimit: { enabled: true, rate: 40, per: '10m' } }
    const draft = { id: onStoreFailure, url: origin.url, upstream, global: { onStoreFailure } }
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', defined(draft))).status, 200)
  }
  return { redis, counters, gateway, origin }
}

test('without the counters’ store an API refuses or continues as set, and answers say so', async (t) => {
  const { redis, counters, gateway, origin } = await clustered(t)
  for (const path of ['/refuse/x', '/allow/x', '/allow/x', '/allow/x']) {
    const { status, headers } = await gateway.call(path)
    assert.deepEqual([status, headers['x-svc-counters']], [200, undefined])
  }
  await redis.kill()
  await eventually('the connection is gone', () => counters.trouble !== undefined)
  const seen = origin.seen.length
  const refused = await gateway.call('/refuse/x')
  assert.deepEqual([refused.status, refused.headers['x-svc-counters']], [503, 'away'])
  assert.equal(origin.seen.length, seen)
  // It used three in the last window, and may use no more.
  const over = await gateway.call('/allow/x')
  assert.deepEqual([over.status, over.headers['x-svc-counters']], [429, 'away'])
  await redis.start()
  await counters.check(10_000)
  const again = await gateway.call('/allow/x')
  assert.deepEqual([again.status, again.headers['x-svc-counters']], [200, undefined])
})

test('an API that was quiet before goes on with what a node could have leased', async (t) => {
  const { redis, counters, gateway } = await clustered(t)
  await redis.kill()
  await eventually('the connection is gone', () => counters.trouble !== undefined)
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) statuses.push((await gateway.call('/allow/x')).status)
  assert.deepEqual(statuses, [200, 200, 429])
  await redis.start()
  await counters.check(10_000)
  // Permits that were given meanwhile are counted: two, this one, and what a busy node has leased ahead.
  const { headers } = await gateway.call('/allow/x')
  const [, left] = /^"api";r=(\d+);/.exec(String(headers.ratelimit)) ?? []
  assert.ok(Number(left) <= 37 && Number(left) >= 35, String(headers.ratelimit))
})
