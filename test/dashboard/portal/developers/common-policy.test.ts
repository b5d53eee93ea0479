import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { DEVELOPERS, type DeveloperWorld, developerWorld } from '../../../worlds/portal/developer-world.ts'

const REDIRECT = 'https://app.test/cb'
const REQUESTS = '/api/portal/requests'

/** Every way in which a developer gets access by policies. */
const WAYS: Readonly<
  Record<string, (world: DeveloperWorld, id: string, policies: string[], info: JsonObject) => Promise<JsonObject>>
> = {
  keys: ({ asked, root }, id, apply_policies, info) =>
    asked(200, 'POST', `${DEVELOPERS}/${id}/keys`, root, { apply_policies, ...info }),
  subscriptions: ({ asked, root }, id, [policy_id], info) =>
    asked(200, 'POST', `/portal/developers/${id}/subscriptions`, root, { policy_id, ...info }),
  async request({ asked, root }, by_user, apply_policies, info) {
    const { Meta } = await asked(200, 'POST', REQUESTS, root, {
      by_user,
      apply_policies,
      fields: {},
      version: '',
      ...info,
    })
    return Meta as JsonObject
  },
  async approval({ asked, root, configure }, by_user, apply_policies, info) {
    await configure({ require_key_approval: true })
    const { Message } = await asked(200, 'POST', REQUESTS, root, {
      by_user,
      apply_policies,
      fields: {},
      version: '',
      ...info,
    })
    const made = await asked(200, 'PUT', `${REQUESTS}/approve/${Message}`, root)
    await configure({ require_key_approval: false })
    return made
  },
}

test('a policy over OAuth and other APIs gives an app with a redirect URI, and a key without', async (t) => {
  const world = await developerWorld(t)
  await world.oauth({ id: 'shop' })
  for (const id of ['orders', 'stock']) await world.keyed(id)
  await world.policy('common', ['shop', 'orders', 'stock'])
  await world.policy('client', ['shop'])
  await world.policy('plain', ['orders'])
  const status = async (path: string, authorization: string) =>
    (await world.gateway.call(path, { headers: { authorization } })).status
  for (const [way, ask] of Object.entries(WAYS)) {
    const ada = await world.developer(`${way}@example.test`)
    const app = await ask(world, ada, ['common'], { oauth_info: { redirect_uri: REDIRECT } })
    assert.deepEqual([app.redirect_uri, app.RawKey], [REDIRECT, undefined], way)
    const token = await world.token('shop', String(app.client_id), String(app.secret))
    for (const api of ['shop', 'orders', 'stock'])
      assert.equal(await world.use(`/${api}/x`, token), 200, `${way}: token at ${api}`)

    const key = await ask(world, ada, ['common'], {})
    assert.equal(key.client_id, undefined, way)
    assert.match(String((key.warnings as string[])[0]), /does not open shop: .*oauth_info\.redirect_uri/, way)
    for (const api of ['orders', 'stock'])
      assert.equal(await status(`/${api}/x`, String(key.RawKey)), 200, `${way}: key at ${api}`)
    assert.equal(await status('/shop/x', `Bearer ${key.RawKey}`), 401, way)

    // Policies of one kind give what they gave.
    const plain = await ask(world, ada, ['plain'], { oauth_info: { redirect_uri: REDIRECT } })
    assert.deepEqual([typeof plain.RawKey, plain.warnings], ['string', undefined], way)
    const client = await ask(world, ada, ['client'], { oauth_info: { redirect_uri: REDIRECT } })
    assert.equal(typeof client.client_id, 'string', way)
  }
  const eve = await world.developer('eve@example.test')
  const refused = async (policies: string[], info: JsonObject) => {
    const body = { apply_policies: policies, ...info }
    const answer = await world.call('POST', `${DEVELOPERS}/${eve}/keys`, { as: world.root, body })
    return [answer.status, String((answer.json as JsonObject).Message)] as const
  }
  assert.deepEqual(await refused(['client'], {}), [
    400,
    'The subscription is refused: oauth_info.redirect_uri: is missing',
  ])
  assert.match((await refused(['plain', 'client'], {}))[1], /some ask for a key, others for an OAuth client/)
  // Of several policies a key has those that it can use.
  const both = await WAYS.keys!(world, eve, ['common', 'plain'], {})
  assert.equal(await status('/stock/x', String(both.RawKey)), 200)
})
