import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { type GatewayWorld, gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { SHOP_CLIENT, tokenByLogin, tokenOf } from '../../worlds/portal/shop-tokens.ts'

const PASSWORD = 'Correct-horse-7'
/** The rules that narrow a token: one API of two, one path, two calls, other tags. */
const RULES = {
  access_rights: {
    shop: { api_id: 'shop', versions: ['Default'], allowed_urls: [{ url: '/shop/open', methods: ['GET'] }] },
  },
  ...{ rate: 2, per: 60, quota_max: 9, quota_renewal_rate: 3600, tags: ['narrow'], alias: 'ann' },
}

/** Two APIs, and a client with a policy for both. */
async function narrowedWorld(t: TestContext): Promise<GatewayWorld> {
  const world = await gatewayWorld(t, { SVC_GW_PUBLICURL: 'https://api.example.test' })
  for (const id of ['shop', 'other']) {
    const definition = oauthApi(world.origin.url, { id })
    const { oa } = (definition.components as { securitySchemes: { oa: { flows: JsonObject } } }).securitySchemes
    oa.flows.password = { tokenUrl: '/oauth/token', scopes: {} }
    const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId: world.orgId, actor: 'test' })
    await world.gateway.gateway.live.settled(revision)
  }
  await world.policy('wide', ['shop', 'other'], {
    ...{ rate: 1000, per: 1, quota_max: 1000, quota_renewal_rate: 60, key_expires_in: 100_000 },
  })
  const client = { ...SHOP_CLIENT, policy_id: 'wide', api_ids: ['shop', 'other'], org_id: world.orgId }
  assert.equal((await world.gateway.svc('POST', '/svc/oauth/clients/create', client)).status, 200)
  return world
}

const byLogin = (world: GatewayWorld) => tokenByLogin(world, RULES)

/** A token of a user who may do less than the client. */
async function byPassword(world: GatewayWorld): Promise<string> {
  const user = { ...RULES, org_id: world.orgId, basic_auth_data: { password: PASSWORD } }
  const made = await world.gateway.svc('POST', '/svc/keys/ann', user)
  assert.equal(made.status, 200, made.text)
  return tokenOf(world, { grant_type: 'password', username: 'ann', password: PASSWORD })
}

/** How a token is read, and where it is written. */
const WAYS: Record<string, (world: GatewayWorld, token: string) => Promise<Way>> = {
  gateway: async ({ gateway }, token) => ({
    read: async () => (await gateway.svc('GET', `/svc/keys/${token}`)).json as JsonObject,
    write: (session, method = 'PUT') => gateway.svc(method, `/svc/keys/${token}`, session),
  }),
  dashboard: async (world, token) => {
    const path = `/api/apis/-/keys/${token}`
    return {
      read: async () => (await world.asked(200, 'GET', path, world.root)).data as JsonObject,
      write: (session, method = 'PUT') =>
        world.call(method, method === 'PUT' ? path : `/api/keys/${token}`, { as: world.root, body: session }),
    }
  },
}
interface Way {
  read(): Promise<JsonObject>
  write(session: JsonObject, method?: 'PUT' | 'POST'): Promise<{ readonly status: number; readonly text: string }>
}

for (const [grant, tokenBy] of Object.entries({ byLogin, byPassword })) {
  for (const [place, wayOf] of Object.entries(WAYS)) {
    test(`${grant}, ${place}: a narrowed token shows its effective rights, also after it was sent back`, async (t) => {
      const world = await narrowedWorld(t)
      const token = await tokenBy(world)
      const way = await wayOf(world, token)
      const check = async () => {
        assert.equal(await world.use('/other/', token), 403)
        assert.equal(await world.use('/shop/closed', token), 403)
        const calls = [await world.use('/shop/open', token), await world.use('/shop/open', token)]
        assert.deepEqual([...calls, await world.use('/shop/open', token)], [200, 200, 429])
        world.clock.advance(60_001)
      }
      await check()
      const shown = await way.read()
      assert.deepEqual(Object.keys(shown.access_rights as JsonObject), ['shop'])
      const { limit, allowed_urls } = (shown.access_rights as Record<string, JsonObject>).shop!
      assert.deepEqual(allowed_urls, RULES.access_rights.shop.allowed_urls)
      const { rate, per, quota_max, quota_remaining } = limit as JsonObject
      assert.deepEqual([rate, per, quota_max, quota_remaining], [2, 60, 9, 7])
      assert.deepEqual([shown.rate, shown.quota_max, shown.alias], [2, 9, 'ann'])
      assert.deepEqual([shown.apply_policies, shown.tags], [['wide'], ['narrow']])
      for (const method of ['PUT', 'POST'] as const) {
        for (const change of [{}, { alias: 'renamed' }, { tags: ['narrow', 'x'] }, { meta_data: { a: 1 } }]) {
          const written = await way.write({ ...(await way.read()), ...change }, method)
          assert.equal(written.status, 200, written.text)
          await check()
          const { quota_remaining: _left, quota_renews: _at, last_updated: _now, ...after } = await way.read()
          assert.deepEqual(Object.keys(after.access_rights as JsonObject), ['shop'])
          assert.equal(after.expires, shown.expires, `${method}: the life of a token stays`)
          for (const [name, value] of Object.entries(change)) assert.deepEqual(after[name], value)
        }
      }
      // Without what a read shows, and with more than it shows: no wider either.
      const wide = Object.fromEntries(
        ['shop', 'other'].map((id) => [id, { api_id: id, versions: ['Default'], limit: { rate: 99, per: 1 } }]),
      )
      for (const sent of [
        { access_rights: wide },
        { access_rights: wide, apply_policies: ['wide'], rate: 99, per: 1 },
      ]) {
        const written = await way.write(sent)
        assert.equal(written.status, 200, written.text)
        await check()
      }
      // One number that is made smaller is in force.
      const now = (await way.read()) as { access_rights: { shop: { limit: JsonObject } } }
      const { shop } = now.access_rights
      const slower = { ...now, access_rights: { shop: { ...shop, limit: { ...shop.limit, rate: 1 } } } }
      assert.equal((await way.write(slower)).status, 200)
      assert.deepEqual([await world.use('/shop/open', token), await world.use('/shop/open', token)], [200, 429])
      assert.equal((await way.read()).rate, 1)
    })
  }
}
