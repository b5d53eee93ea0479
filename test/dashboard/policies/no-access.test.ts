import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { type GatewayWorld, gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { POLICIES, policyOf } from '../../worlds/dashboard/key-world.ts'

const REDIRECT = 'https://app.test/cb'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const BASIC = `Basic ${Buffer.from('app:secret').toString('base64')}`
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'

async function start(t: TestContext, byPolicy: boolean) {
  const world = await gatewayWorld(t)
  await world.oauth({ id: 'orders', settings: { deviceAuthorization: true } })
  await world.policy('gold', ['orders'])
  const client = { client_id: 'app', secret: 'secret', redirect_uri: REDIRECT, policy_id: 'gold' }
  if (byPolicy) await createClient(world.parts, { body: client, orgId: world.orgId, actor: 'test' })
  else await world.asked(200, 'POST', '/api/apis/oauth/orders', world.root, client)
  return world
}

const post = async (world: GatewayWorld, path: string, form: Record<string, string>) => {
  const body = new URLSearchParams(form).toString()
  const answer = await world.gateway.call(`/orders/oauth/${path}`, {
    method: 'POST',
    headers: { ...FORM, authorization: BASIC },
    body,
  })
  return { status: answer.status, body: answer.json as Record<string, string> }
}

const conclude = async (world: GatewayWorld, form: Record<string, string>) => {
  const answer = await world.call('POST', '/api/apis/orders/authorize-client', {
    ...{ as: world.root, body: new URLSearchParams(form).toString() },
  })
  return answer.json as Record<string, string>
}

/** The forms that a client can bring to the token endpoint, made while it had access. */
const GRANTS: Readonly<Record<string, (world: GatewayWorld) => Promise<Record<string, string>>>> = {
  client_credentials: async () => ({ grant_type: 'client_credentials' }),
  async authorization_code(world) {
    const { code } = await conclude(world, { response_type: 'code', client_id: 'app', redirect_uri: REDIRECT })
    return { grant_type: 'authorization_code', redirect_uri: REDIRECT, code: code! }
  },
  async refresh_token(world) {
    const { body } = await post(world, 'token', await GRANTS.authorization_code!(world))
    return { grant_type: 'refresh_token', refresh_token: body.refresh_token! }
  },
  async device_code(world) {
    const { body } = await post(world, 'device_authorization', {})
    await conclude(world, { user_code: body.user_code!, decision: 'approve' })
    return { grant_type: DEVICE, device_code: body.device_code! }
  },
}

const putPolicy = (world: GatewayWorld, more: JsonObject) =>
  world.asked(200, 'PUT', `${POLICIES}/gold`, world.root, { ...policyOf('gold', ['orders']), ...more })

/** Every way in which the policies of a client come to give no access, and back. */
const WAYS: Readonly<Record<string, (world: GatewayWorld, gives: boolean) => Promise<unknown>>> = {
  'the policy has no rights': (world, gives) => putPolicy(world, gives ? {} : { access_rights: {} }),
  'the policy controls no rights': (world, gives) =>
    putPolicy(world, gives ? {} : { partitions: { acl: false, quota: true, rate_limit: true, complexity: false } }),
  'the policy is inactive': (world, gives) => putPolicy(world, { active: gives, is_inactive: !gives }),
  'the client has no policies': (world, gives) =>
    world.asked(200, 'PUT', '/api/apis/oauth/orders/app', world.root, {
      ...{ redirect_uri: REDIRECT, policies: gives ? ['gold'] : [] },
    }),
}

for (const byPolicy of [false, true])
  test(`no token without access, and 403 for those from before; a client ${byPolicy ? 'by a policy' : 'of one API'}`, async (t) => {
    const world = await start(t, byPolicy)
    for (const [way, set] of Object.entries(WAYS)) {
      if (byPolicy && way === 'the client has no policies') continue
      const live = await world.token('orders', 'app', 'secret')
      assert.equal(await world.use('/orders/x', live), 200, way)
      const brought: Record<string, Record<string, string>> = {}
      for (const [name, make] of Object.entries(GRANTS)) brought[name] = await make(world)
      await set(world, false)
      for (const [name, form] of Object.entries(brought)) {
        const { status, body } = await post(world, 'token', form)
        assert.deepEqual([status, body.error], [400, 'unauthorized_client'], `${way}: ${name}`)
        assert.equal(body.access_token, undefined)
      }
      const used = await world.gateway.call('/orders/x', { headers: { authorization: `Bearer ${live}` } })
      assert.equal(used.status, 403, `${way}: ${used.text}`)
      assert.doesNotMatch(String(used.headers['www-authenticate'] ?? ''), /invalid_token/, way)
      await set(world, true)
      assert.equal(await world.use('/orders/x', live), 200, `${way}: given back`)
      for (const [name, form] of Object.entries(brought))
        assert.equal((await post(world, 'token', form)).status, 200, `${way}: ${name}, given back`)
    }
  })
