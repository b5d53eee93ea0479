import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { type GatewayWorld, gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { POLICIES, policyOf, rightsOn } from '../../worlds/dashboard/key-world.ts'

const REDIRECT = 'https://app.test/cb'
/** The effect of each policy: a quota that the answer shows, the APIs, and a tag. */
const PLANS: Readonly<Record<string, { readonly quota: number; readonly apis: readonly string[] }>> = {
  silver: { quota: 100, apis: ['orders'] },
  gold: { quota: 500, apis: ['orders', 'stock'] },
}

async function start(t: TestContext): Promise<GatewayWorld> {
  const world = await gatewayWorld(t, { SVC_GW_PUBLICURL: 'https://api.example.test' })
  await world.oauth({ id: 'orders' })
  const { json } = await world.call('GET', '/api/apis/oas/orders', { as: world.root })
  const definition = json as JsonObject
  const { oa } = (definition.components as { securitySchemes: { oa: { flows: { authorizationCode: JsonObject } } } })
    .securitySchemes
  oa.flows.authorizationCode.refreshUrl = '/oauth/token'
  await publishApi(world.parts, { format: 'oas', definition, apiId: 'orders', orgId: world.orgId, actor: 'test' })
  await world.api('stock', { definition: { proxy: { listen_path: '/stock/', target_url: world.origin.url } } })
  await world.gateway.gateway.live.settled(await world.store.documents.revision())
  for (const [id, { quota, apis }] of Object.entries(PLANS)) await world.policy(id, apis, planBody(quota, id))
  return world
}

const planBody = (quota: number, tag: string): JsonObject => ({ ...quotaOf(quota), tags: [tag] })
const quotaOf = (quota: number): JsonObject => ({ quota_max: quota, quota_renewal_rate: 3600 })

/** Every way in that writes a client's list of policies. */
const WAYS: Readonly<
  Record<string, (world: GatewayWorld, client: string, policies: readonly string[]) => Promise<unknown>>
> = {
  'dashboard, policies': ({ asked, root }, id, policies) =>
    asked(200, 'PUT', `/api/apis/oauth/orders/${id}`, root, { policies }),
  'dashboard, policy_id': ({ asked, root }, id, policies) =>
    asked(200, 'PUT', `/api/apis/oauth/orders/${id}`, root, single(policies)),
  'gateway, policies': (world, id, policies) => svc(world, id, { redirect_uri: REDIRECT, policies: [...policies] }),
  'gateway, policy_id': (world, id, policies) => svc(world, id, { redirect_uri: REDIRECT, ...single(policies) }),
  moves: ({ asked, root }, client_id, policies) =>
    asked(200, 'POST', '/api/moves/clients', root, {
      ...{ client_id, api_ids: ['orders'], redirect_uris: [REDIRECT], policies },
    }),
}

/** One policy in the older member, several in the list. */
function single(policies: readonly string[]): JsonObject {
  return policies.length > 1 ? { policies: [...policies] } : { policy_id: policies[0] ?? '' }
}

async function svc(world: GatewayWorld, client: string, body: JsonObject): Promise<void> {
  const answer = await world.gateway.svc('PUT', `/svc/oauth/clients/orders/${client}`, body)
  assert.equal(answer.status, 200, answer.text)
}

async function grant(world: GatewayWorld, client: string, form: Record<string, string>) {
  const answer = await world.gateway.call('/orders/oauth/token', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  })
  return { status: answer.status, body: answer.json as Record<string, string> }
}

async function isActive(world: GatewayWorld, client: string, token: string): Promise<boolean> {
  const { text } = await world.gateway.call('/orders/oauth/introspect', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client}:secret`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ token }).toString(),
  })
  return (JSON.parse(text) as { active: boolean }).active
}

/** A code of a login that names both APIs: it may narrow what the policies give, and opens nothing by itself. */
async function codeOf(world: GatewayWorld, client_id: string): Promise<Record<string, string>> {
  const key_rules = JSON.stringify({ access_rights: rightsOn('orders', 'stock') })
  const form = { response_type: 'code', client_id, redirect_uri: REDIRECT, key_rules }
  const made = await world.call('POST', '/api/apis/orders/authorize-client', {
    as: world.root,
    body: new URLSearchParams(form).toString(),
  })
  assert.equal(made.status, 200, made.text)
  const { code } = made.json as { code: string }
  return { grant_type: 'authorization_code', redirect_uri: REDIRECT, code }
}

/** Status and quota at each API, and the tags that a read shows. */
async function seen(world: GatewayWorld, token: string): Promise<JsonObject> {
  const at = async (api: string) => {
    const answer = await world.gateway.call(`/${api}/x`, { headers: { authorization: `Bearer ${token}` } })
    return answer.status === 200 ? `200 of ${answer.headers['x-ratelimit-limit']}` : 'refused'
  }
  const [orders, stock] = [await at('orders'), await at('stock')]
  return { orders, stock }
}

async function tagsOf(world: GatewayWorld, token: string): Promise<unknown> {
  return ((await world.gateway.svc('GET', `/svc/keys/${token}`)).json as JsonObject).tags
}

/** The expected rights of a token of a client with these policies: the union, and nothing without any. */
function expected(policies: readonly string[], plans = PLANS): JsonObject {
  const at = (api: string) => {
    const quotas = policies.filter((id) => plans[id]!.apis.includes(api)).map((id) => plans[id]!.quota)
    return quotas.length === 0 ? 'refused' : `200 of ${Math.max(...quotas)}`
  }
  return { orders: at('orders'), stock: at('stock') }
}

async function edit(world: GatewayWorld, token: string, change: (shown: JsonObject) => JsonObject): Promise<void> {
  const shown = (await world.gateway.svc('GET', `/svc/keys/${token}`)).json as JsonObject
  const { status, text } = await world.gateway.svc('PUT', `/svc/keys/${token}`, { ...shown, ...change(shown) })
  assert.equal(status, 200, text)
}

/** Adds, replaces, removes, and gives again. */
const STEPS: readonly (readonly string[])[] = [['silver', 'gold'], ['gold'], [], ['silver']]

test('an edited list of policies reaches live tokens at once and ends none of them', async (t) => {
  const world = await start(t)
  for (const [index, [way, put]] of Object.entries(WAYS).entries()) {
    const client = `app-${index}`
    await world.asked(200, 'POST', '/api/apis/oauth/orders', world.root, {
      ...{ client_id: client, secret: 'secret', redirect_uri: REDIRECT, policy_id: 'silver' },
    })
    const own = (await grant(world, client, { grant_type: 'client_credentials' })).body.access_token!
    const login = (await grant(world, client, await codeOf(world, client))).body
    const unused = await codeOf(world, client)
    // Two that an administrator has edited: one by its name, one by a path of the API that it reaches.
    const renamed = (await grant(world, client, await codeOf(world, client))).body.access_token!
    await edit(world, renamed, () => ({ alias: 'ann' }))
    const limited = (await grant(world, client, { grant_type: 'client_credentials' })).body.access_token!
    await edit(world, limited, ({ access_rights }) => {
      const { orders } = access_rights as { orders: JsonObject }
      return { access_rights: { orders: { ...orders, limit: null, allowed_urls: [{ url: '/x', methods: ['GET'] }] } } }
    })
    const tokens = { own, login: login.access_token!, renamed, limited }
    const check = async (policies: readonly string[], when: string) => {
      for (const [name, token] of Object.entries(tokens)) {
        const reach = { ...expected(policies), ...(name === 'limited' && { stock: 'refused' }) }
        assert.deepEqual(await seen(world, token), reach, `${way}: ${name} ${when}`)
        assert.equal(await isActive(world, client, token), policies.length > 0, `${way}: ${name} ${when}, introspected`)
      }
    }
    await check(['silver'], 'before')
    for (const policies of STEPS) {
      await put(world, client, policies)
      await check(policies, `with [${policies}]`)
      if (policies.length > 0) assert.deepEqual(await tagsOf(world, own), policies, `${way}: tags with [${policies}]`)
      if (policies.length > 0) continue
      // Neither a code nor a refresh token of before opens what the login named, and neither is used up by the refusal.
      const refresh = { grant_type: 'refresh_token', refresh_token: login.refresh_token! }
      assert.equal(await isActive(world, client, login.refresh_token!), false, `${way}: refresh token, introspected`)
      for (const form of [unused, refresh]) assert.equal((await grant(world, client, form)).status, 400, way)
    }
    for (const form of [unused, { grant_type: 'refresh_token', refresh_token: login.refresh_token! }]) {
      const { status, body } = await grant(world, client, form)
      assert.equal(status, 200, `${way}: ${form.grant_type} ${JSON.stringify(body)}`)
      assert.deepEqual(await seen(world, body.access_token!), expected(['silver']), `${way}: ${form.grant_type}`)
    }
  }
})

test('a client that is registered by a policy keeps its tokens when its list is edited', async (t) => {
  const world = await start(t)
  await world.oauth({ id: 'shop' })
  await world.policy('shopping', ['shop', 'stock'], planBody(700, 'shopping'))
  const plans = { ...PLANS, shopping: { quota: 700, apis: ['stock'] } }
  for (const [way, put] of Object.entries({
    dashboard: WAYS['dashboard, policies']!,
    gateway: WAYS['gateway, policies']!,
  })) {
    const body = { client_id: way, secret: 'secret', redirect_uri: REDIRECT, policy_id: 'silver' }
    await createClient(world.parts, { body, orgId: world.orgId, actor: 'test' })
    const own = (await grant(world, way, { grant_type: 'client_credentials' })).body.access_token!
    const login = (await grant(world, way, await codeOf(world, way))).body.access_token!
    for (const policies of [
      ['silver', 'shopping'],
      ['shopping', 'silver'],
      ['shopping', 'gold', 'silver'],
      ['silver'],
    ]) {
      if (way === 'dashboard')
        await world.asked(200, 'PUT', `/api/apis/oauth/orders/${way}`, world.root, { redirect_uri: REDIRECT, policies })
      else await put(world, way, policies)
      for (const token of [own, login]) {
        assert.deepEqual(await seen(world, token), expected(policies, plans), `${way}: [${policies}]`)
        assert.equal(await isActive(world, way, token), true, `${way}: [${policies}]`)
      }
    }
  }
})

test('an edited policy reaches live tokens at once and ends none of them, by every way in', async (t) => {
  const world = await start(t)
  await world.asked(200, 'POST', '/api/apis/oauth/orders', world.root, {
    ...{ client_id: 'app', secret: 'secret', redirect_uri: REDIRECT, policy_id: 'silver' },
  })
  const own = (await grant(world, 'app', { grant_type: 'client_credentials' })).body.access_token!
  const login = (await grant(world, 'app', await codeOf(world, 'app'))).body.access_token!
  const ways: Readonly<Record<string, (body: JsonObject) => Promise<unknown>>> = {
    dashboard: (body) => world.asked(200, 'PUT', `${POLICIES}/silver`, world.root, body),
    gateway: async (body) => {
      const { status, text } = await world.gateway.svc('PUT', '/svc/policies/silver', { ...body, org_id: world.orgId })
      assert.equal(status, 200, text)
    },
  }
  for (const [way, put] of Object.entries(ways))
    for (const plan of [
      { quota: 700, apis: ['orders', 'stock'] },
      { quota: 50, apis: ['orders'] },
      { quota: 60, apis: ['stock'] },
    ]) {
      await put(policyOf('silver', plan.apis, planBody(plan.quota, way)))
      for (const token of [own, login])
        assert.deepEqual(await seen(world, token), expected(['silver'], { silver: plan }), `${way} ${plan.quota}`)
      assert.deepEqual(await tagsOf(world, own), [way])
    }
})
