import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { removePolicy } from '../../../../src/publish/policies/policies.ts'
import { developerById } from '../../../../src/publish/portal/developers/developer-change.ts'
import { issueAccess } from '../../../../src/publish/portal/developers/developer-keys.ts'
import type { Answer } from '../../../worlds/base/client.ts'
import { rightsOn } from '../../../worlds/dashboard/key-world.ts'
import { oauthDefinition } from '../../../worlds/portal/developer-api.ts'
import {
  assertSound,
  DEVELOPERS,
  type DeveloperWorld,
  developerWorld,
  putDeveloper,
} from '../../../worlds/portal/developer-world.ts'

// By every route that changes a key, an app or a policy, the record of the developer follows in the same commit.

const CALLBACK = 'https://app.test/cb'

async function prepared(world: DeveloperWorld) {
  await world.keyed('orders')
  await world.keyed('stock')
  await world.policy('gold', ['orders'])
  await world.policy('silver', ['stock'])
  const ada = await world.developer('ada@example.test')
  const holdings = async () => {
    const { keys, subscriptions } = await world.record(ada)
    return [keys, subscriptions]
  }
  const done = (answer: Answer) => assert.equal(answer.status, 200, answer.text)
  return { ada, holdings, done }
}

test('a key that is changed, rotated or deleted by the calls of keys', async (t) => {
  const world = await developerWorld(t)
  const { ada, holdings, done } = await prepared(world)
  const { svc } = world.gateway
  const dashboard = (method: string, path: string, body?: unknown) =>
    world.call(method, path, { as: world.root, ...(body !== undefined && { body }) })
  const session = (...policies: string[]) => ({ org_id: world.orgId, apply_policies: policies, alias: 'changed' })
  for (const [call, base] of [
    [dashboard, '/api/keys'],
    [dashboard, '/api/apis/-/keys'],
    [svc, '/svc/keys'],
  ] as const) {
    const { key, hash } = await world.add(ada, ['gold'])
    for (const [path, policies] of [
      [`${base}/${key}`, ['silver', 'gold']],
      [`${base}/${hash}?hashed=true`, ['silver']],
    ] as const) {
      done(await call('PUT', path, session(...policies)))
      assert.deepEqual(await holdings(), [{ [hash]: policies }, Object.fromEntries(policies.map((id) => [id, hash]))])
      await assertSound(world.store)
    }
    assert.deepEqual([await world.use('/orders/', key), await world.use('/stock/', key)], [403, 200])
    // Own access rights, and no policy: the key stays valid, the subscription ends.
    done(await call('PUT', `${base}/${key}`, { org_id: world.orgId, access_rights: rightsOn('orders') }))
    assert.deepEqual(await holdings(), [{ [hash]: [] }, {}])
    await assertSound(world.store)
    done(await call('DELETE', `${base}/${key}`))
    assert.deepEqual(await holdings(), [{}, {}])
    await assertSound(world.store)
  }
  const { key, hash } = await world.add(ada, ['gold'])
  done(await svc('POST', `/svc/keys/policy/${hash}`, { apply_policies: ['silver'] }))
  assert.deepEqual(await holdings(), [{ [hash]: ['silver'] }, { silver: hash }])
  const turned = await svc('POST', `/svc/keys/${key}/rotate`)
  const next = String((turned.json as JsonObject).key_hash)
  assert.deepEqual(await holdings(), [{ [next]: ['silver'] }, { silver: next }])
  await assertSound(world.store)
  // By its own text, as a custom key: it stays the developer's.
  const again = String((turned.json as JsonObject).key)
  done(await dashboard('POST', `/api/keys/${again}`, session('gold')))
  assert.deepEqual(await holdings(), [{ [next]: ['gold'] }, { gold: next }])
  await assertSound(world.store)
})

test('a key of a developer stays in its organisation and cannot be claimed by name', async (t) => {
  const world = await developerWorld(t)
  const { ada, holdings } = await prepared(world)
  const { key, hash } = await world.add(ada, ['gold'])
  const other = await world.organisation()
  const moved = await world.gateway.svc('PUT', `/svc/keys/${key}`, { org_id: other, access_rights: rightsOn('orders') })
  assert.equal(moved.status, 400)
  assert.match(moved.text, /org_id: the key belongs to organisation \w+ and cannot move to/)
  const claimed = await world.key({ apply_policies: ['gold'], developer_id: ada, rotated_to: hash, rotated_from: hash })
  assert.deepEqual(await holdings(), [{ [hash]: ['gold'] }, { gold: hash }])
  const listed = (await world.asked(200, 'GET', `${DEVELOPERS}/${ada}/keys`, world.root)).Data as JsonObject[]
  assert.deepEqual(
    listed.map(({ key_id }) => key_id),
    [hash],
  )
  await world.asked(200, 'DELETE', `${DEVELOPERS}/${ada}`, world.root)
  assert.equal(await world.use('/orders/', claimed.key), 200)
  assert.equal(await world.use('/orders/', key), 403)
  await assertSound(world.store)
})

test('an old key that is ended, or changed, while its successor lives', async (t) => {
  const world = await developerWorld(t)
  const { ada, holdings, done } = await prepared(world)
  const first = await world.add(ada, ['gold'])
  const turn = async (hash: string) =>
    world.asked(200, 'POST', `${DEVELOPERS}/${ada}/keys/${hash}/rotate`, world.root, { overlap_seconds: 100 })
  const second = await turn(first.hash)
  const held = [{ [String(second.key_id)]: ['gold'] }, { gold: second.key_id }]
  const body = { org_id: world.orgId, apply_policies: ['silver'], expires: 0 }
  for (const answer of [
    await world.call('PUT', `/api/keys/${first.key}`, { as: world.root, body }),
    await world.call('POST', `/api/keys/${first.key}`, { as: world.root, body }),
    await world.gateway.svc('PUT', `/svc/keys/${first.key}`, body),
    await world.gateway.svc('POST', `/svc/keys/${first.key}/rotate`),
  ]) {
    assert.equal(answer.status, 400)
    assert.match(answer.text, /this key was replaced/)
  }
  assert.deepEqual(await holdings(), held)
  assert.equal(await world.use('/orders/', first.key), 200)
  world.clock.advance(101_000)
  assert.equal(await world.use('/orders/', first.key), 403, 'it ends when it was to')
  const third = await turn(String(second.key_id))
  done(await world.call('DELETE', `/api/keys/${second.RawKey}`, { as: world.root }))
  assert.deepEqual(await holdings(), [{ [String(third.key_id)]: ['gold'] }, { gold: third.key_id }])
  assert.equal(await world.use('/orders/', String(third.RawKey)), 200)
  await assertSound(world.store)
})

test('an app that is changed or deleted by the calls of OAuth clients', async (t) => {
  const world = await developerWorld(t)
  const { ada, done } = await prepared(world)
  await world.oauth({ id: 'shop' })
  await world.policy('oa', ['shop'])
  await world.policy('ob', ['shop'])
  const apps = async () => (await world.record(ada)).oauth_clients as { [policy: string]: JsonObject[] }
  const make = async () => {
    const body = { policy_id: 'oa', oauth_info: { redirect_uri: CALLBACK } }
    return String((await world.asked(200, 'POST', `${DEVELOPERS}/${ada}/keys`, world.root, body)).client_id)
  }
  const id = await make()
  const path = `/api/apis/oauth/shop/${id}`
  done(
    await world.call('PUT', path, { as: world.root, body: { redirect_uri: 'https://app.test/new', policy_id: 'ob' } }),
  )
  assert.deepEqual(
    Object.entries(await apps()).map(([policy, [app]]) => [policy, app!.redirect_uri]),
    [['ob', 'https://app.test/new']],
  )
  await assertSound(world.store)
  done(await world.call('PUT', path, { as: world.root, body: { developer_id: 'forged', client_name: 'New name' } }))
  assert.equal((await apps()).ob![0]!.client_name, 'New name')
  done(await world.call('DELETE', path, { as: world.root }))
  assert.deepEqual(await apps(), {})
  const other = await make()
  done(await world.gateway.svc('DELETE', `/svc/oauth/clients/shop/${other}`))
  assert.deepEqual(await apps(), {})
  // Without its API an app has no tokens, but it is there, and works again with the next API of its policy.
  const third = await make()
  done(await world.call('DELETE', '/api/apis/shop', { as: world.root }))
  assert.deepEqual(
    (await apps()).oa!.map(({ client_id }) => client_id),
    [third],
  )
  await assertSound(world.store)
})

test('a deleted policy ends its subscriptions and sole keys, and can be undone', async (t) => {
  const world = await developerWorld(t)
  const { ada, done } = await prepared(world)
  await world.oauth({ id: 'shop' })
  await world.policy('both', ['orders', 'shop'], {})
  await world.policy('oa', ['shop'])
  const plain = await world.key({ apply_policies: ['gold'] })
  const alone = await world.add(ada, ['gold'])
  const ben = await world.developer('ben@example.test')
  const two = await world.add(ben, ['gold', 'silver'])
  const app = { policy_id: 'oa', oauth_info: { redirect_uri: CALLBACK } }
  await world.asked(200, 'POST', `${DEVELOPERS}/${ben}/keys`, world.root, app)
  const turned = await world.asked(200, 'POST', `${DEVELOPERS}/${ada}/keys/${alone.hash}/rotate`, world.root, {
    overlap_seconds: 100,
  })
  const before = [await world.record(ada), await world.record(ben)]
  done(await world.call('DELETE', '/api/portal/policies/gold', { as: world.root }))
  const [a, b] = [await world.record(ada), await world.record(ben)]
  assert.deepEqual([a.keys, a.subscriptions], [{}, {}])
  assert.deepEqual([b.keys, b.subscriptions], [{ [two.hash]: ['silver'] }, { silver: two.hash }])
  for (const key of [alone.key, String(turned.RawKey), plain.key]) assert.equal(await world.use('/orders/', key), 403)
  assert.equal(await world.use('/stock/', two.key), 200)
  await assertSound(world.store)
  const [entry] = (await world.store.audit.list({ action: 'policy.delete', limit: 1 })).rows
  done(await world.call('POST', `/api/audit-logs/${entry!.id}/undo`, { as: world.root }))
  assert.deepEqual([await world.record(ada), await world.record(ben)], before)
  for (const key of [alone.key, String(turned.RawKey), plain.key]) assert.equal(await world.use('/orders/', key), 200)
  await assertSound(world.store)
  done(await world.gateway.svc('DELETE', `/svc/policies/oa`))
  assert.deepEqual((await world.record(ben)).oauth_clients, {})
  await assertSound(world.store)
})

test('a policy of more developers than fit one commit is deleted all the same', async (t) => {
  const world = await developerWorld(t)
  await prepared(world)
  const holders = await Promise.all(
    Array.from({ length: 205 }, async (_, i) => {
      const id = await putDeveloper(world.store, world.orgId, `d${i}@example.test`)
      const developer = (await developerById(world.parts, id))!
      const policies = i % 2 === 0 ? ['gold'] : ['gold', 'silver']
      return issueAccess(world.parts, { developer, policies, actor: 'test', action: 'test' })
    }),
  )
  assert.equal(holders.length, 205)
  await assertSound(world.store)
  await world.asked(200, 'DELETE', '/api/portal/policies/gold', world.root)
  await assertSound(world.store)
  assert.equal(
    (await world.store.documents.list('developer', { where: { org_policy: `${world.orgId}/gold` }, limit: 1 })).total,
    0,
  )
  assert.equal(
    (await world.store.documents.list('developer', { where: { org_policy: `${world.orgId}/silver` }, limit: 1 })).total,
    102,
  )
})

test('a policy that is deleted while somebody subscribes leaves no key behind', async (t) => {
  const world = await developerWorld(t)
  const { ada } = await prepared(world)
  for (let round = 0; round < 8; round++) {
    await world.policy('race', ['orders'])
    const [added] = await Promise.all([
      world.call('POST', `${DEVELOPERS}/${ada}/keys`, { as: world.root, body: { policy_id: 'race' } }),
      round % 2 === 0
        ? world.call('DELETE', '/api/portal/policies/race', { as: world.root })
        : world.gateway.svc('DELETE', '/svc/policies/race'),
    ])
    assert.ok([200, 400].includes(added.status), added.text)
    assert.deepEqual((await world.record(ada)).subscriptions, {})
    await assertSound(world.store)
  }
})

test('a policy that is deleted between check and commit gives nobody a key', async (t) => {
  const world = await developerWorld(t)
  const { ada, holdings } = await prepared(world)
  const developer = (await developerById(world.parts, ada))!
  const { documents } = world.parts
  let there = true
  const commit: typeof documents.commit = async (changes, audit) => {
    if (there) await removePolicy(world.parts, { id: 'gold', orgId: world.orgId }, 'test')
    there = false
    return documents.commit(changes, audit)
  }
  const late = new Proxy(documents, {
    get: (target, name) => (name === 'commit' ? commit : (Reflect.get(target, name) as () => void).bind(target)),
  })
  const draft = { developer, policies: ['gold'], actor: 'test', action: 'test' }
  await assert.rejects(issueAccess({ ...world.parts, documents: late }, draft), /there is no policy gold/)
  assert.deepEqual(await holdings(), [{}, {}])
  assert.equal(await world.store.tokens.countSessions({ orgId: world.orgId }), 0)
  await assertSound(world.store)
})

test('undo of a deletion restores a revoked key with its place in the record', async (t) => {
  const world = await developerWorld(t)
  const { ada, holdings, done } = await prepared(world)
  const { key, hash } = await world.add(ada, ['gold'])
  done(await world.call('DELETE', `${DEVELOPERS}/${ada}/keys/${hash}`, { as: world.root }))
  const [entry] = (await world.store.audit.list({ action: 'key.delete', limit: 1 })).rows
  const undo = (as = world.root) => world.call('POST', `/api/audit-logs/${entry!.id}/undo`, { as })
  const keysOnly = await world.user({ keys: 'write', audit_logs: 'read' })
  assert.equal((await undo(keysOnly)).status, 403, 'the record is written too')
  done(await undo())
  assert.deepEqual(await holdings(), [{ [hash]: ['gold'] }, { gold: hash }])
  assert.equal(await world.use('/orders/', key), 200)
  await world.add(ada, ['silver'])
  const made = (await world.store.audit.list({ action: 'developer.access', limit: 5 })).rows.at(-1)
  const late = await world.call('POST', `/api/audit-logs/${made!.id}/undo`, { as: world.root })
  assert.equal(late.status, 409, 'the record was changed since')
  await assertSound(world.store)
})

test('an organisation that is deleted takes its developers along with all that they hold', async (t) => {
  const world = await developerWorld(t)
  const orgId = await world.organisation()
  const id = await putDeveloper(world.store, orgId, 'ada@example.test')
  const as = await world.admin(orgId)
  await world.api('theirs', { orgId })
  await world.api('shop', { orgId, definition: oauthDefinition() })
  await world.policy('gold', ['theirs'], {}, as)
  await world.policy('oa', ['shop'], {}, as)
  const post = (body: JsonObject) => world.asked(200, 'POST', `${DEVELOPERS}/${id}/keys`, as, body)
  await post({ policy_id: 'gold', expires_in: 100 })
  await post({ policy_id: 'oa', oauth_info: { redirect_uri: CALLBACK } })
  assert.equal((await world.call('DELETE', `/admin/organisations/${orgId}`, { as: 'installation' })).status, 200)
  await assertSound(world.store)
  assert.equal(await world.store.tokens.countSessions({ orgId }), 0)
  assert.equal((await world.store.documents.list('oauth_client', { where: { org_id: orgId }, limit: 1 })).total, 0)
  const { rows } = await world.store.audit.list({ orgId, limit: 100 })
  const together = rows.find(({ changes }) => changes.some(({ kind, after }) => kind === 'developer' && after === null))
  assert.deepEqual(
    new Set(together?.changes.map(({ kind }) => kind)),
    new Set(['developer', 'session', 'oauth_client']),
  )
})
