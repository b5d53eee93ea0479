import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { refusal } from '../../../worlds/dashboard/key-world.ts'
import {
  assertSound,
  DEVELOPERS,
  type DeveloperWorld,
  developerWorld,
  standing,
} from '../../../worlds/portal/developer-world.ts'

const CALLBACK = 'https://app.test/cb'
const APPS = `${DEVELOPERS}/oauth`

async function withShop(world: DeveloperWorld) {
  await world.oauth({ id: 'shop' })
  await world.policy('oa', ['shop'])
  const ada = await world.developer('ada@example.test', { fields: { Company: 'ACME' } })
  const draft = { apply_policies: ['oa'], oauth_info: { redirect_uri: CALLBACK } }
  const post = (body: unknown = draft) => world.call('POST', `${DEVELOPERS}/${ada}/keys`, { as: world.root, body })
  const make = async (more: object = {}) => (await post({ ...draft, ...more })).json as JsonObject
  const apps = async () => (await world.record(ada)).oauth_clients as { [policy: string]: JsonObject[] }
  const tokenOf = ({ client_id, secret }: JsonObject) => world.token('shop', String(client_id), String(secret))
  return { ada, draft, post, make, apps, tokenOf }
}

test('an OAuth policy creates an app that gets tokens and is in the record', async (t) => {
  const world = await developerWorld(t)
  const { ada, make, apps, tokenOf } = await withShop(world)
  await world.configure({ signup_fields: ['Company'] })
  const fields = { oauth_app_description: 'a shop', oauth_use_case: 'buying', team: '3' }
  const app = await make({ fields, client_name: 'Shop' })
  assert.deepEqual(Object.keys(app), ['client_id', 'secret', 'policy_id', 'redirect_uri'])
  assert.deepEqual([app.policy_id, app.redirect_uri], ['oa', CALLBACK])
  assert.equal(await world.use('/shop/', await tokenOf(app)), 200)
  const said = { redirect_uri: CALLBACK, app_description: 'a shop', use_case: 'buying', client_name: 'Shop' }
  const [listed] = (await apps()).oa!
  assert.deepEqual(listed, {
    ...{ client_id: app.client_id, ...said, secret: '' },
    date_created: new Date(world.clock.wall()).toISOString(),
  })
  const read = await world.asked(200, 'GET', `${APPS}/${app.client_id}`, world.root)
  assert.deepEqual([read.secret, read.developer_id, read.policy_id, read.use_case], ['', ada, 'oa', 'buying'])
  const client = await world.asked(200, 'GET', `/api/apis/oauth/shop/${app.client_id}`, world.root)
  assert.deepEqual(client.meta_data, { team: '3', Company: 'ACME', svc_developer_id: ada })
  assert.equal('developer_id' in client, false)
  const { subscriptions, keys } = await world.record(ada)
  assert.deepEqual([subscriptions, keys], [{}, {}])
  await assertSound(world.store)
})

test('an app without redirect URI, by two policies, or over the limit is refused', async (t) => {
  const world = await developerWorld(t)
  const { draft, post, make, apps } = await withShop(world)
  await world.policy('ob', ['shop'])
  const no = 'The subscription is refused: '
  const before = await standing(world.store)
  for (const [more, message] of [
    [{ oauth_info: {} }, `${no}oauth_info.redirect_uri: is missing`],
    [{ oauth_info: null }, `${no}oauth_info.redirect_uri: is missing`],
    [{ apply_policies: ['oa', 'ob'] }, `${no}apply_policies: an OAuth app has one policy`],
    [{ expires_in: 60 }, `${no}expires: an OAuth app does not expire`],
  ] as const)
    assert.deepEqual(refusal(await post({ ...draft, ...more })), [400, message])
  for (const redirect_uri of ['not a url', '/cb', 'https://user:pw@app.test/', 'javascript:alert(1)'])
    assert.equal((await post({ ...draft, oauth_info: { redirect_uri } })).status, 400, redirect_uri)
  assert.equal(await standing(world.store), before)
  await world.configure({ oauth_usage_limit: 0 })
  assert.deepEqual(refusal(await post()), [400, `${no}oauth_usage_limit: a developer may have 0 OAuth apps`])
  await world.configure({ oauth_usage_limit: 2 })
  const answers = await Promise.all(Array.from({ length: 5 }, () => post()))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 400, 400, 400])
  assert.equal((await apps()).oa!.length, 2)
  await world.configure({ oauth_usage_limit: -1 })
  await make()
  assert.equal((await apps()).oa!.length, 3)
  await assertSound(world.store)
})

test('an app is changed, its secret rotated with an overlap, and deleted with its tokens', async (t) => {
  const world = await developerWorld(t)
  const { make, apps, tokenOf } = await withShop(world)
  const app = await make({ app_description: 'a shop' })
  const path = `${APPS}/${app.client_id}`
  const next = 'https://app.test/other'
  const put = { redirect_uri: next, use_case: 'selling', developer_id: 'forged', policies: [], secret: 'forged' }
  const sent = { as: world.root, body: put, isRandom: true } as const
  const done = await world.call('PUT', `/portal/developers/oauth/${app.client_id}/`, sent)
  assert.equal(done.text, '{"Status":"OK","Message":"Data updated","Meta":null}')
  const [listed] = (await apps()).oa!
  assert.deepEqual([listed!.redirect_uri, listed!.use_case, listed!.app_description], [next, 'selling', 'a shop'])
  await assertSound(world.store)
  const bad = await world.call('PUT', path, { as: world.root, body: { redirect_uri: 'x' } })
  assert.equal(bad.status, 400)

  const turned = await world.asked(200, 'POST', `${path}/rotate`, world.root, { overlap_seconds: 60 })
  assert.deepEqual(Object.keys(turned), ['client_id', 'secret', 'policy_id', 'redirect_uri', 'valid_until'])
  assert.equal(Date.parse(String(turned.valid_until)), world.clock.wall() + 60_000)
  assert.equal(await world.use('/shop/', await tokenOf(app)), 200)
  const token = await tokenOf(turned)
  assert.equal(await world.use('/shop/', token), 200)
  world.clock.advance(60_001)
  assert.equal(await tokenOf(app), 'undefined', 'the old secret is no good')
  assert.equal((await world.asked(200, 'POST', `${path}/rotate`, world.root)).valid_until, '')

  assert.equal(await world.use('/shop/', token), 200)
  const gone = await world.call('DELETE', path, { as: world.root })
  assert.equal(gone.text, '{"Status":"OK","Message":"Data deleted","Meta":null}')
  assert.equal(await world.use('/shop/', token), 401)
  assert.deepEqual(await apps(), {})
  for (const [method, suffix] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ])
    assert.deepEqual(refusal(await world.call(method!, path + suffix, { as: world.root, body: {} })), [
      404,
      'Could not retrieve app detail',
    ])
  await assertSound(world.store)
})

test('a client that is no app of the developer is not found', async (t) => {
  const world = await developerWorld(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const { make } = await withShop(world)
  const plain = await world.asked(200, 'POST', '/api/apis/oauth/shop', world.root, {
    redirect_uri: CALLBACK,
    policy_id: 'oa',
  })
  const app = await make()
  const elsewhere = await world.admin(await world.organisation())
  for (const [id, as] of [
    [plain.client_id, world.root],
    [app.client_id, elsewhere],
    ["' OR 1=1 --", world.root],
    ['__proto__', world.root],
  ] as const)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await world.call(method, `${APPS}/${encodeURIComponent(String(id))}`, { as, body: {} })
      assert.deepEqual(refusal(answer), [404, 'Could not retrieve app detail'])
    }
  // An app of APIs that others own is theirs.
  const owner = await world.user({ portal: 'write' })
  const other = await world.user({ portal: 'write' })
  await world.asked(200, 'PUT', '/api/apis/shop/access', world.root, { userIds: [owner.id], userGroupIds: [] })
  for (const method of ['GET', 'PUT', 'DELETE'])
    assert.deepEqual(refusal(await world.call(method, `${APPS}/${app.client_id}`, { as: other, body: {} })), [
      401,
      'Not authorised',
    ])
  await world.asked(200, 'GET', `${APPS}/${app.client_id}`, owner)
})

test('several redirect URIs in one text, where the setting says how they are parted', async (t) => {
  const world = await developerWorld(t, { SVC_DB_OAUTHREDIRECTURISEPARATOR: ';' })
  const { make, apps } = await withShop(world)
  const app = await make({ oauth_info: { redirect_uri: `${CALLBACK}; https://app.test/two` } })
  const { redirect_uris } = await world.asked(200, 'GET', `${APPS}/${app.client_id}`, world.root)
  assert.deepEqual(redirect_uris, [CALLBACK, 'https://app.test/two'])
  assert.equal((await apps()).oa![0]!.redirect_uri, CALLBACK)
})
