import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { refusal, rightsOn } from '../../worlds/dashboard/key-world.ts'

const OVERLAP_S = 3600

async function start(t: TestContext) {
  const world = await gatewayWorld(t)
  const { api, asked, gateway, key, origin, root } = world
  const proxy = { listen_path: '/a/', target_url: origin.url, strip_listen_path: true }
  await api('a', { definition: { proxy } })
  await api('b', { definition: { proxy: { ...proxy, listen_path: '/b/' } } })
  const statuses = async (...keys: string[]) => {
    const answers: number[] = []
    for (const authorization of keys) answers.push((await gateway.call('/a/x', { headers: { authorization } })).status)
    return answers
  }
  return {
    ...world,
    statuses,
    made: (session: JsonObject = {}) => key({ access_rights: rightsOn('a'), ...session }),
    rotated: async (hash: string, overlapS = OVERLAP_S) => {
      const answer = await asked(200, 'POST', `/api/keys/${hash}/rotate?hashed=1`, root, { overlap_seconds: overlapS })
      return { key: String(answer.key_id), hash: String(answer.key_hash), until: String(answer.valid_until) }
    },
    change: (hash: string, session: JsonObject) =>
      asked(200, 'PUT', `/api/keys/${hash}?hashed=1&suppress_reset=1`, root, session),
    facts: async (hash: string) =>
      (await asked(200, 'GET', `/api/keys/${hash}?hashed=1&facts=1`, root)).facts as JsonObject,
  }
}

test('a key without a developer overlaps with its successor until the time that was said', async (t) => {
  const { clock, facts, made, rotated, statuses } = await start(t)
  const old = await made()
  const next = await rotated(old.hash)
  assert.equal(Date.parse(next.until), Math.ceil(clock.wall() / 1000 + OVERLAP_S) * 1000)
  assert.deepEqual(await statuses(old.key, next.key), [200, 200])
  const [before, after] = [await facts(old.hash), await facts(next.hash)]
  assert.deepEqual([before.status, before.rotated_to, before.valid_until], ['rotated', next.hash, next.until])
  assert.deepEqual([after.status, after.rotated_from, after.valid_until], ['active', old.hash, ''])
  clock.advance(OVERLAP_S * 1000 + 1000)
  assert.deepEqual(await statuses(old.key, next.key), [403, 200])
})

test('both keys of an overlap count against one quota', async (t) => {
  const { made, rotated, statuses } = await start(t)
  const old = await made({ quota_max: 3, quota_renewal_rate: 3600 })
  assert.deepEqual(await statuses(old.key), [200])
  const next = await rotated(old.hash)
  assert.deepEqual(await statuses(next.key, old.key, next.key, old.key), [200, 200, 429, 429])
})

test('what the new key of an overlap may do, the old one may, and nobody changes it by itself', async (t) => {
  const { call, change, made, root, rotated, statuses } = await start(t)
  const old = await made()
  const next = await rotated(old.hash)
  await change(next.hash, { access_rights: rightsOn('b') })
  assert.deepEqual(await statuses(old.key, next.key), [403, 403])
  await change(next.hash, { access_rights: rightsOn('a') })
  assert.deepEqual(await statuses(old.key, next.key), [200, 200])
  await change(next.hash, { access_rights: rightsOn('a'), is_inactive: true })
  assert.deepEqual(await statuses(old.key, next.key), [403, 403])
  const body = { access_rights: rightsOn('a'), is_inactive: false }
  const refused = await call('PUT', `/api/keys/${old.hash}?hashed=1`, { as: root, body })
  assert.equal(refused.status, 400, refused.text)
  assert.match(String(refusal(refused)[1]), /replaced/)
  assert.equal((await call('POST', `/api/keys/${old.hash}/rotate?hashed=1`, { as: root })).status, 400)
  assert.deepEqual(await statuses(old.key), [403])
})

test('replaced keys end in their own time, with their successor, or by a rotation at once', async (t) => {
  const { asked, call, clock, facts, made, root, rotated, statuses } = await start(t)
  const first = await made()
  const second = await rotated(first.hash)
  const third = await rotated(second.hash, 2 * OVERLAP_S)
  assert.deepEqual(await statuses(first.key, second.key, third.key), [200, 200, 200])
  assert.equal((await facts(first.hash)).valid_until, second.until)
  clock.advance(OVERLAP_S * 1000 + 1000)
  assert.deepEqual(await statuses(first.key, second.key, third.key), [403, 200, 200])
  await asked(200, 'DELETE', `/api/keys/${third.hash}?hashed=1`, root)
  assert.deepEqual(await statuses(first.key, second.key, third.key), [403, 403, 403])
  for (const { hash } of [first, second])
    assert.equal((await call('GET', `/api/keys/${hash}?hashed=1`, { as: root })).status, 404)
  const again = await made()
  const kept = await rotated(again.hash)
  await asked(200, 'DELETE', `/api/keys/${again.hash}?hashed=1`, root)
  assert.deepEqual(await statuses(again.key, kept.key), [403, 200], 'an overlap ends early')
  const last = await rotated(kept.hash)
  const now = await rotated(last.hash, 0)
  assert.equal(now.until, '')
  assert.deepEqual(await statuses(kept.key, last.key, now.key), [403, 403, 200])
})

test('what a rotation says of both keys holds, whenever the old one would have ended anyway', async (t) => {
  const { clock, facts, made, rotated, statuses } = await start(t)
  const endS = Math.ceil(clock.wall() / 1000) + OVERLAP_S / 2
  const old = await made({ expires: endS })
  const next = await rotated(old.hash)
  const until = new Date(endS * 1000).toISOString()
  assert.deepEqual([next.until, (await facts(old.hash)).valid_until], [until, until])
  const last = await rotated(next.hash, 0)
  assert.equal((await facts(last.hash)).rotated_from, next.hash)
  assert.deepEqual(await statuses(old.key, next.key, last.key), [403, 403, 200])
})
