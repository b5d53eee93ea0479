import assert from 'node:assert/strict'
import {
  type ConformanceRow,
  claimsOf,
  DEVICE_GRANT_TYPE,
  good,
  membersOf,
  OTHER_RESOURCE,
  PKCE,
  refused,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

const audOf = (token: string) => claimsOf(token).claims.aud

async function audFor(served: Served, form = {}) {
  return audOf(good(await served.credentials(await served.client(), form)).access_token)
}

/** RFC 8707: resource indicators. */
export const RESOURCE_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST',
    says: 'resource is an absolute URI',
    async check({ audience }) {
      for (const resource of ['/relative', 'reports', '//host/path', 'not a uri'])
        refused(await audience.credentials(await audience.client(), { resource }), 'invalid_target')
    },
  },
  {
    section: '2',
    level: 'MUST NOT',
    says: 'resource has a fragment',
    async check({ audience }) {
      const resource = `${OTHER_RESOURCE}#part`
      refused(await audience.credentials(await audience.client(), { resource }), 'invalid_target')
    },
  },
  {
    section: '2',
    level: 'SHOULD NOT',
    says: 'resource has a query; where it does it must be one that is known',
    async check({ audience }) {
      const resource = `${OTHER_RESOURCE}?a=b`
      refused(await audience.credentials(await audience.client(), { resource }), 'invalid_target')
    },
  },
  {
    section: '2',
    level: 'MAY',
    says: 'Several resources are named by several parameters',
    async check({ audience }) {
      const resource = [audience.issuer, OTHER_RESOURCE]
      assert.deepEqual(await audFor(audience, { resource }), resource)
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'A resource that is unknown or malformed is invalid_target',
    async check({ main, audience }) {
      for (const served of [main, audience])
        refused(
          await served.credentials(await served.client(), { resource: 'https://unknown.example/' }),
          'invalid_target',
        )
    },
  },
  {
    section: '2',
    level: 'SHOULD',
    says: 'The token is restricted to the resource that was named',
    async check({ audience }) {
      assert.equal(await audFor(audience, { resource: OTHER_RESOURCE }), OTHER_RESOURCE)
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'Without resource a default is taken: the API itself',
    async check({ audience }) {
      assert.equal(await audFor(audience), audience.issuer)
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'The resource server refuses a token that is for others',
    async check({ audience }) {
      const form = { resource: OTHER_RESOURCE }
      const { access_token } = good(await audience.credentials(await audience.client(), form))
      assert.equal((await audience.use(access_token)).status, 401)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'An authorization request names resources, which its tokens have',
    async check({ audience }) {
      const tokens = await audience.tokens(await audience.client(), { resource: OTHER_RESOURCE })
      assert.equal(audOf(tokens.access_token), OTHER_RESOURCE)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'A bad resource of an authorization request goes back as invalid_target',
    async check({ audience }) {
      const client_id = await audience.client()
      for (const resource of ['relative', 'https://unknown.example/', `${OTHER_RESOURCE}#a`])
        assert.equal((await audience.refusal({ client_id, resource })).get('error'), 'invalid_target', resource)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'A pushed request and a device authorization name resources too',
    async check({ audience, main }) {
      const as = await audience.client()
      const form = { response_type: 'code', ...PKCE, resource: OTHER_RESOURCE }
      const { request_uri } = membersOf(await audience.post('par', form, { as }))
      const code = await audience.code(as, { request_uri })
      assert.equal(audOf(good(await audience.exchange(as, { code })).access_token), OTHER_RESOURCE)
      const device = { resource: 'https://unknown.example/' }
      refused(await main.post('device_authorization', device, { as: await main.client() }), 'invalid_target')
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A token request names some of the resources that were granted',
    async check({ audience }) {
      const fields = { resource: [audience.issuer, OTHER_RESOURCE] }
      const tokens = await audience.tokens(await audience.client(), fields, { resource: OTHER_RESOURCE })
      assert.equal(audOf(tokens.access_token), OTHER_RESOURCE)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A resource that was not granted is invalid_target',
    async check({ audience }) {
      const client = await audience.client()
      const code = await audience.code(client, { resource: OTHER_RESOURCE })
      refused(await audience.exchange(client, { code, resource: audience.issuer }), 'invalid_target')
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A refresh names another of the granted resources',
    async check({ audience }) {
      const client = await audience.client()
      const fields = { resource: [audience.issuer, OTHER_RESOURCE] }
      const { refresh_token } = await audience.tokens(client, fields, { resource: OTHER_RESOURCE })
      const next = good(await audience.refresh(client, refresh_token, { resource: audience.issuer }))
      assert.equal(audOf(next.access_token), audience.issuer)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A device code keeps the resources of its request',
    async check({ main }) {
      const client = await main.client()
      const { device_code, user_code } = await main.device(client, { resource: main.issuer })
      await main.login({ user_code, decision: 'approve', username: 'ada' })
      const form = { grant_type: DEVICE_GRANT_TYPE, device_code }
      const { access_token } = good(await main.post('token', form, { as: client }))
      assert.equal((await main.introspect(access_token)).aud, main.issuer)
    },
  },
  {
    section: '3',
    level: 'states',
    says: 'A token for one resource is no use at another one',
    async check({ audience, jwt }) {
      const { access_token } = good(await audience.credentials(await audience.client(), { resource: audience.issuer }))
      assert.equal((await audience.use(access_token)).status, 200)
      assert.equal((await jwt.use(access_token)).status, 401)
    },
  },
]
