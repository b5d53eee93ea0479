import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type JsonObject } from '../../../../src/model/json/json.ts'
import { hashKey } from '../../../../src/model/secrets/secret.ts'
import { forgetEndedKeys } from '../../../../src/publish/portal/developers/key-ends.ts'
import { refusal } from '../../../worlds/dashboard/key-world.ts'
import {
  assertSound,
  DEVELOPERS,
  type DeveloperWorld,
  developerWorld,
  standing,
} from '../../../worlds/portal/developer-world.ts'

const hashOf = (key: unknown) => hashKey(String(key)).toString('hex')
const keysIn = (record: JsonObject) => Object.keys(isObject(record.keys) ? record.keys : {})

async function withAda(world: DeveloperWorld) {
  await world.keyed('orders')
  await world.keyed('stock')
  await world.policy('gold', ['orders'], { quota_max: 4, quota_renewal_rate: 3600 })
  await world.policy('silver', ['stock'])
  await world.policy('bronze', ['stock', 'orders'])
  const ada = await world.developer('ada@example.test', { fields: { Company: 'ACME' } })
  const path = `${DEVELOPERS}/${ada}/keys`
  const entries = async () => (await world.asked(200, 'GET', path, world.root)).Data as JsonObject[]
  const rotate = (hash: string, body?: unknown) => world.asked(200, 'POST', `${path}/${hash}/rotate`, world.root, body)
  return { ada, path, entries, rotate }
}

test('other policies: the key gives them, subscriptions follow, counts and expiry stay', async (t) => {
  const world = await developerWorld(t)
  const { ada, path } = await withAda(world)
  const { key, hash } = await world.add(ada, ['gold'], { expires_in: 5000 })
  const other = await world.add(ada, ['bronze'])
  assert.equal(await world.use('/orders/', key), 200)
  const put = (id: string, body: unknown) => world.call('PUT', `${path}/${id}`, { as: world.root, body })
  const done = await put(hash, { apply_policies: ['silver', 'gold'] })
  assert.equal(done.text, '{"Status":"OK","Message":"Data updated","Meta":null}')
  assert.equal(await world.use('/stock/', key), 200)
  const record = await world.record(ada)
  assert.deepEqual(record.keys, { [hash]: ['silver', 'gold'], [other.hash]: ['bronze'] })
  assert.deepEqual(record.subscriptions, { gold: hash, bronze: other.hash, silver: hash })
  const entry = await world.asked(200, 'GET', `${path}/${hash}`, world.root)
  assert.equal(entry.expires, Math.floor(world.clock.wall() / 1000) + 5000)
  assert.deepEqual((await put(hash, { policy_id: 'silver' })).status, 200)
  assert.equal(await world.use('/orders/', key), 403)
  assert.deepEqual((await world.record(ada)).subscriptions, { bronze: other.hash, silver: hash })

  const ben = await world.developer('ben@example.test')
  const before = await standing(world.store)
  const no = 'The subscription is refused: apply_policies: '
  for (const [body, message] of [
    [{ apply_policies: ['bronze'] }, `${no}there is a subscription to bronze already`],
    [{ apply_policies: ['nothing'] }, `${no}there is no policy nothing`],
    [{ apply_policies: [] }, `${no}is missing`],
    [{}, `${no}is missing`],
  ] as const)
    assert.deepEqual(refusal(await put(hash, body)), [400, message])
  const elsewhere = await world.call('PUT', `${DEVELOPERS}/${ben}/keys/${hash}`, {
    as: world.root,
    body: { apply_policies: ['gold'] },
  })
  assert.deepEqual(refusal(elsewhere), [404, 'Could not retrieve key detail.'])
  assert.equal(await standing(world.store), before)
  await assertSound(world.store)
})

test('a key is revoked for its developer alone; what is not there is 404', async (t) => {
  const world = await developerWorld(t)
  const { ada, path } = await withAda(world)
  const { key, hash } = await world.add(ada, ['gold'])
  const bens = await world.add(await world.developer('ben@example.test'), ['gold'])
  const plain = await world.key({ apply_policies: ['gold'] })
  assert.equal(await world.use('/orders/', key), 200)
  const gone = async (id: string) => {
    const answer = await world.call('DELETE', `${path}/${encodeURIComponent(id)}`, { as: world.root })
    assert.deepEqual(refusal(answer), [404, 'Could not retrieve key detail.'], id)
  }
  for (const id of [bens.hash, plain.hash, key, 'f'.repeat(64), 'x', "' OR 1=1 --", '__proto__']) await gone(id)
  assert.equal(await world.use('/orders/', bens.key), 200)
  assert.equal(await world.use('/orders/', plain.key), 200)
  const done = await world.call('DELETE', `/portal/developers/${ada}/keys/${hash}/`, { as: world.root })
  assert.equal(done.text, '{"Status":"OK","Message":"Data deleted","Meta":null}')
  assert.equal(await world.use('/orders/', key), 403)
  const { keys, subscriptions } = await world.record(ada)
  assert.deepEqual([keys, subscriptions], [{}, {}])
  await gone(hash)
  const elsewhere = await world.admin(await world.organisation())
  const foreign = await world.call('DELETE', `${path}/${hash}`, { as: elsewhere })
  assert.deepEqual(refusal(foreign), [404, 'Developer not found'])
  await assertSound(world.store)
})

test('the quota of a key is started anew', async (t) => {
  const world = await developerWorld(t)
  const { ada, path } = await withAda(world)
  const { key, hash } = await world.add(ada, ['gold'])
  const use = () => world.use('/orders/', key)
  assert.deepEqual([await use(), await use(), await use(), await use(), await use()], [200, 200, 200, 200, 429])
  const done = await world.call('POST', `${path}/${hash}/reset_quota`, { as: world.root })
  assert.equal(done.text, '{"Status":"OK","Message":"Quota reset","Meta":null}')
  assert.equal((await world.asked(200, 'GET', `${path}/${hash}`, world.root)).quota_remaining, 4)
  assert.equal(await use(), 200)
})

test('a rotation gives the new key rights and counts at once; the old one lives as chosen', async (t) => {
  const world = await developerWorld(t)
  const { ada, path, entries, rotate } = await withAda(world)
  const { key, hash } = await world.add(ada, ['gold'], { fields: { why: 'trial' }, expires_in: 50_000 })
  assert.equal(await world.use('/orders/', key), 200)
  world.clock.advance(1500)
  const before = await world.asked(200, 'GET', `${path}/${hash}`, world.root)
  const turned = await rotate(hash, { overlap_seconds: 60 })
  assert.deepEqual(Object.keys(turned), ['RawKey', 'Password', 'key_id', 'rotated_from', 'valid_until'])
  const next = hashOf(turned.RawKey)
  assert.deepEqual([turned.key_id, turned.rotated_from, turned.Password], [next, hash, ''])
  const { keys, subscriptions } = await world.record(ada)
  assert.deepEqual([keys, subscriptions], [{ [next]: ['gold'] }, { gold: next }])
  const [now, old] = await entries()
  for (const name of [
    'policies',
    'alias',
    'fields',
    'expires',
    'quota_max',
    'quota_remaining',
    'access_rights',
  ] as const)
    assert.deepEqual(now![name], before[name], name)
  assert.deepEqual([now!.status, now!.rotated_from, now!.valid_until], ['active', hash, ''])
  assert.equal(now!.date_created, new Date(world.clock.wall()).toISOString())
  assert.deepEqual([old!.key_id, old!.status, old!.rotated_to], [hash, 'rotated', next])
  assert.equal(old!.valid_until, turned.valid_until)
  const until = Date.parse(String(turned.valid_until))
  assert.ok(until >= world.clock.wall() + 60_000 && until < world.clock.wall() + 61_000)
  // They count together.
  assert.equal(await world.use('/orders/', key), 200)
  assert.equal(await world.use('/orders/', String(turned.RawKey)), 200)
  assert.deepEqual(
    (await entries()).map(({ quota_remaining }) => quota_remaining),
    [1, 1],
  )
  await assertSound(world.store)
  world.clock.advance(until - 1 - world.clock.wall())
  assert.equal(await world.use('/orders/', key), 200)
  world.clock.advance(1)
  assert.equal(await world.use('/orders/', key), 403)
  assert.deepEqual(
    (await entries()).map(({ key_id }) => key_id),
    [next],
  )
  assert.equal((await world.call('GET', `${path}/${hash}`, { as: world.root })).status, 404)
  assert.equal(await world.use('/orders/', String(turned.RawKey)), 429, 'the quota was used up by both')
  await assertSound(world.store)
})

test('without an overlap the old key is dead at once', async (t) => {
  const world = await developerWorld(t)
  const { ada, rotate } = await withAda(world)
  let { key, hash } = await world.add(ada, ['gold'])
  for (const body of [undefined, {}, { overlap_seconds: 0 }, { overlap_seconds: null }]) {
    const turned = await rotate(hash, body)
    assert.equal(turned.valid_until, '')
    assert.equal(await world.use('/orders/', key), 403)
    ;[key, hash] = [String(turned.RawKey), String(turned.key_id)]
    assert.deepEqual(keysIn(await world.record(ada)), [hash])
  }
  assert.equal(await world.use('/orders/', key), 200)
  await assertSound(world.store)
})

test('rotated again: every key before ends with the shorter time, and none rotates twice', async (t) => {
  const world = await developerWorld(t)
  const { ada, path, entries, rotate } = await withAda(world)
  const first = await world.add(ada, ['silver'])
  const second = await rotate(first.hash, { overlap_seconds: 1000 })
  const third = await rotate(String(second.key_id), { overlap_seconds: 100 })
  const keys = [third.RawKey, second.RawKey, first.key].map(String)
  assert.deepEqual(
    (await entries()).map(({ key_id }) => key_id),
    keys.map(hashOf),
  )
  assert.deepEqual(await Promise.all(keys.map((key) => world.use('/stock/', key))), [200, 200, 200])
  for (const hash of [first.hash, String(second.key_id)]) {
    const answer = await world.call('POST', `${path}/${hash}/rotate`, { as: world.root, body: {} })
    assert.deepEqual(refusal(answer), [400, 'Key is not valid: this key was replaced already'])
    const put = await world.call('PUT', `${path}/${hash}`, { as: world.root, body: { apply_policies: ['gold'] } })
    assert.deepEqual(refusal(put), [400, 'The subscription is refused: this key was replaced'])
  }
  // The earlier keys have the rights of the present one.
  await world.asked(200, 'PUT', `${path}/${third.key_id}`, world.root, { apply_policies: ['gold'] })
  assert.deepEqual(await Promise.all(keys.map((key) => world.use('/stock/', key))), [403, 403, 403])
  assert.deepEqual(await Promise.all(keys.map((key) => world.use('/orders/', key))), [200, 200, 200])
  await assertSound(world.store)
  world.clock.advance(101_000)
  assert.deepEqual(await Promise.all(keys.map((key) => world.use('/orders/', key))), [200, 403, 403])

  const fourth = await rotate(String(third.key_id), { overlap_seconds: 1000 })
  await world.asked(200, 'DELETE', `${path}/${third.key_id}`, world.root)
  assert.deepEqual(
    (await entries()).map(({ key_id }) => key_id),
    [fourth.key_id],
    'the old one was ended early',
  )
  const fifth = await rotate(String(fourth.key_id), { overlap_seconds: 1000 })
  await world.asked(200, 'DELETE', `${path}/${fifth.key_id}`, world.root)
  assert.equal(await world.use('/orders/', String(fourth.RawKey)), 403, 'it ends with its successor')
  assert.deepEqual(await entries(), [])
  await assertSound(world.store)
})

test('at most five keys in a row are good; nonsense is refused', async (t) => {
  const world = await developerWorld(t)
  const { ada, path, entries, rotate } = await withAda(world)
  let { hash } = await world.add(ada, ['silver'])
  for (let i = 0; i < 7; i++) hash = String((await rotate(hash, { overlap_seconds: 100 })).key_id)
  assert.equal((await entries()).length, 5)
  const attempt = async (body: unknown) =>
    refusal(await world.call('POST', `${path}/${hash}/rotate`, { as: world.root, body }))
  for (const overlap_seconds of [-1, 1.5, '60', 31_536_001, [], {}, true])
    assert.deepEqual(await attempt({ overlap_seconds }), [
      400,
      'Request body is not valid: overlap_seconds: must be a whole number from 0 to 31536000',
    ])
  assert.equal((await attempt('{'))[0], 403)
  await assertSound(world.store)
})

test('an expired key gives way to a new one, and rotation or a policy without expiry renews it', async (t) => {
  const world = await developerWorld(t)
  const { ada, path, entries, rotate } = await withAda(world)
  await world.policy('trial', ['orders'], { key_expires_in: 10 })
  const states = async () => (await entries()).map(({ status }) => status)
  const put = (hash: string, policy: string) =>
    world.asked(200, 'PUT', `${path}/${hash}`, world.root, { apply_policies: [policy] })

  const first = await world.add(ada, ['trial'])
  const twice = await world.call('POST', path, { as: world.root, body: { apply_policies: ['trial'] } })
  assert.deepEqual(refusal(twice), [
    400,
    'The subscription is refused: apply_policies: there is a subscription to trial already',
  ])
  world.clock.advance(11_000)
  assert.deepEqual(await states(), ['expired'])
  const second = await world.add(ada, ['trial'])
  assert.deepEqual(
    (await entries()).map(({ key_id }) => key_id),
    [second.hash],
    'the expired one has ended',
  )
  assert.deepEqual([await world.use('/orders/', first.key), await world.use('/orders/', second.key)], [403, 200])
  await assertSound(world.store)

  world.clock.advance(11_000)
  const third = await rotate(second.hash, { overlap_seconds: 100 })
  assert.deepEqual([third.valid_until, await states()], ['', ['active']], 'an expired key does not overlap')
  assert.equal(await world.use('/orders/', second.key), 403)
  assert.equal(await world.use('/orders/', String(third.RawKey)), 200)
  world.clock.advance(11_000)
  assert.deepEqual(await states(), ['expired'], 'it has the expiry of a new key')

  await put(String(third.key_id), 'trial')
  assert.deepEqual(await states(), ['expired'], 'a policy with an expiry leaves it as it is')
  await put(String(third.key_id), 'gold')
  assert.deepEqual(await states(), ['active'])
  world.clock.advance(100_000_000)
  assert.equal(await world.use('/orders/', String(third.RawKey)), 200)
  await assertSound(world.store)
})

test('a key that was deactivated gives way to no new one when it expires', async (t) => {
  const world = await developerWorld(t)
  const { ada, path } = await withAda(world)
  await world.policy('trial', ['orders'], { key_expires_in: 10 })
  const { hash } = await world.add(ada, ['trial'])
  const { hash: bytes, ...row } = (await world.store.tokens.getSession(Buffer.from(hash, 'hex')))!
  const body = { ...row.body, is_inactive: true }
  await world.store.documents.commit([{ op: 'putSession', hash: bytes, row: { ...row, body } }], undefined)
  world.clock.advance(11_000)
  const again = await world.call('POST', path, { as: world.root, body: { apply_policies: ['trial'] } })
  assert.equal(again.status, 400, again.text)
  assert.deepEqual(keysIn(await world.record(ada)), [hash])
})

test('two rotations at once: one wins, and the record names its key', async (t) => {
  const world = await developerWorld(t)
  const { ada, path } = await withAda(world)
  const { hash } = await world.add(ada, ['silver'])
  const answers = await Promise.all(
    [1, 2, 3].map(() => world.call('POST', `${path}/${hash}/rotate`, { as: world.root, body: { overlap_seconds: 9 } })),
  )
  const won = answers.filter(({ status }) => status === 200)
  assert.equal(won.length, 1)
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400])
  assert.deepEqual(keysIn(await world.record(ada)), [(won[0]!.json as JsonObject).key_id])
  await assertSound(world.store)
})

test('a key that is to be forgotten goes together with its place in the record', async (t) => {
  const world = await developerWorld(t)
  const { ada, path, rotate } = await withAda(world)
  await world.keyed('brief', { session_lifetime: 100 })
  await world.policy('brief', ['brief'])
  const kept = await world.add(ada, ['silver'])
  const brief = await world.add(ada, ['brief'])
  const turned = await rotate((await world.add(ada, ['gold'])).hash, { overlap_seconds: 5 })
  assert.equal(await world.use('/brief/', brief.key), 200)
  // A rotation takes the end along, a change of policies leaves it.
  const next = await rotate(brief.hash, { overlap_seconds: 50 })
  await world.asked(200, 'PUT', `${path}/${next.key_id}`, world.root, { apply_policies: ['brief', 'bronze'] })
  assert.equal(await forgetEndedKeys(world.parts), 0)
  world.clock.advance(99_000)
  assert.equal(await world.use('/brief/', String(next.RawKey)), 200)
  world.clock.advance(1000)
  assert.equal(await world.use('/brief/', String(next.RawKey)), 401)
  assert.equal(await forgetEndedKeys(world.parts), 1)
  assert.deepEqual(keysIn(await world.record(ada)), [kept.hash, turned.key_id])
  assert.equal(await world.use('/brief/', String(next.RawKey)), 403)
  assert.equal((await world.store.documents.list('key_end', { limit: 1 })).total, 0)
  await assertSound(world.store)
  await world.add(ada, ['brief'])
})
