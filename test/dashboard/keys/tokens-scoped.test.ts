import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { SHOP_CLIENT, tokenByLogin } from '../../worlds/portal/shop-tokens.ts'

/** Two APIs, and a client of both with these policies. */
async function worldWith(t: TestContext, policies: Readonly<Record<string, JsonObject>>, client: JsonObject) {
  const world = await gatewayWorld(t, { SVC_GW_PUBLICURL: 'https://api.example.test' })
  for (const id of ['shop', 'other']) {
    const definition = oauthApi(world.origin.url, { id })
    const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId: world.orgId, actor: 'test' })
    await world.gateway.gateway.live.settled(revision)
  }
  for (const [id, rights] of Object.entries(policies))
    await world.policy(id, Object.keys(rights), { access_rights: rights })
  const body = { ...SHOP_CLIENT, ...client, api_ids: ['shop', 'other'], org_id: world.orgId }
  assert.equal((await world.gateway.svc('POST', '/svc/oauth/clients/create', body)).status, 200)
  return world
}

/** A right at one API, to these paths only. */
const right = (api_id: string, ...paths: string[]): JsonObject => ({
  ...{ api_id, versions: ['Default'] },
  ...(paths.length > 0 && { allowed_urls: paths.map((path) => ({ url: `/shop/${path}`, methods: ['GET'] })) }),
})

test('a read of two differing path lists shows the narrower, and sending it back widens nothing', async (t) => {
  const world = await worldWith(
    t,
    { wide: { shop: right('shop', 'open', 'mine'), other: right('other') } },
    { policy_id: 'wide' },
  )
  const token = await tokenByLogin(world, { access_rights: { shop: right('shop', 'open', 'else') } })
  const uses = async () => {
    const paths = ['/shop/open', '/shop/mine', '/shop/else', '/other/']
    return Promise.all(paths.map((path) => world.use(path, token)))
  }
  const inForce = [200, 403, 403, 403]
  assert.deepEqual(await uses(), inForce)
  const places = {
    gateway: {
      read: async () => (await world.gateway.svc('GET', `/svc/keys/${token}`)).json as JsonObject,
      write: (body: JsonObject) => world.gateway.svc('PUT', `/svc/keys/${token}`, body),
    },
    dashboard: {
      read: async () => (await world.asked(200, 'GET', `/api/apis/-/keys/${token}`, world.root)).data as JsonObject,
      write: (body: JsonObject) => world.call('PUT', `/api/apis/-/keys/${token}`, { as: world.root, body }),
    },
  }
  for (const { read, write } of Object.values(places)) {
    const shown = await read()
    const { shop } = shown.access_rights as { shop: JsonObject }
    assert.deepEqual(shop.allowed_urls, right('shop', 'open', 'else').allowed_urls)
    assert.deepEqual((shown.narrowed_by as JsonObject).access_rights, { shop: right('shop', 'open', 'else') })
    const { narrowed_by: _narrowed, ...without } = shown
    const every = { shop: right('shop'), other: right('other') }
    for (const sent of [
      shown,
      { ...shown, alias: 'renamed' },
      without,
      { ...shown, access_rights: { shop: { ...shop, limit: { rate: 50, per: 1 } } } },
      { ...shown, narrowed_by: { access_rights: every } },
      { ...shown, narrowed_by: {} },
      { ...shown, access_rights: every },
      { ...without, access_rights: every, apply_policies: [] },
    ]) {
      const { status, text } = await write(sent as JsonObject)
      assert.ok(status === 200 || status === 400, text)
      assert.deepEqual(await uses(), inForce, JSON.stringify(sent))
    }
  }
})

test('policies that a client gets later never take the place of those that a login chose', async (t) => {
  for (const way of ['gateway', 'dashboard'] as const) {
    const world = await worldWith(
      t,
      { chosen: { shop: right('shop', 'open') }, wide: { shop: right('shop'), other: right('other') } },
      {},
    )
    const token = await tokenByLogin(world, { apply_policies: ['chosen'] })
    const uses = () => Promise.all(['/shop/open', '/shop/mine', '/other/'].map((path) => world.use(path, token)))
    assert.deepEqual(await uses(), [200, 403, 403])
    const body = { redirect_uri: SHOP_CLIENT.redirect_uri, policy_id: 'wide' }
    if (way === 'gateway') {
      const { status, text } = await world.gateway.svc('PUT', '/svc/oauth/clients/shop/c1', body)
      assert.equal(status, 200, text)
    } else await world.asked(200, 'PUT', '/api/apis/oauth/shop/c1', world.root, body)
    assert.deepEqual(await uses(), [200, 403, 403])
  }
})
