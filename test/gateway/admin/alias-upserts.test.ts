import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'

// Under the path of a vendor alias POST replaces what is there and PUT creates what is not; under our own they are strict.

const REDIRECT = 'https://app.test/cb'
const api = (name: string): JsonObject => ({
  ...{ api_id: 'shop', name, active: true, use_oauth2: true },
  oauth_meta: { allowed_access_types: ['client_credentials'] },
  proxy: { listen_path: '/shop/', target_url: 'http://127.0.0.1:1/' },
})
const policy = (name: string): JsonObject => ({ id: 'gold', name, access_rights: rightsOn('shop'), rate: 0, per: 0 })
const client = (description: string): JsonObject => ({
  ...{
    client_id: 'app',
    secret: 'first-secret',
    api_id: 'shop',
    redirect_uri: REDIRECT,
    policy_id: 'gold',
    description,
  },
})

const POSTED = [
  ['API', '/apis', api, '/apis/shop', 'name'],
  ['policy', '/policies', policy, '/policies/gold', 'name'],
  ['OAuth client', '/oauth/clients/create', client, '/oauth/clients/shop/app', 'description'],
] as const

test('POST of an object that is there replaces it under an alias, and is refused under our word', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  for (const [what, path, body, one, member] of POSTED) {
    const made = await gateway.svc('POST', `/inc${path}`, body('one'))
    assert.equal(made.status, 200, `${what}: ${made.text}`)
    const refused = await gateway.svc('POST', `/svc${path}`, body('two'))
    assert.equal(refused.status, 409, `${what}: ${refused.text}`)
    const replaced = await gateway.svc('POST', `/inc${path}`, body('three'))
    assert.equal(replaced.status, 200, `${what}: ${replaced.text}`)
    assert.equal(((await gateway.svc('GET', `/svc${one}`)).json as JsonObject)[member], 'three', what)
  }
  const list = (await gateway.svc('GET', '/svc/policies')).json as unknown[]
  assert.equal(list.length, 1)
  const { secret } = (await gateway.svc('GET', '/svc/oauth/clients/shop/app')).json as JsonObject
  assert.equal(secret, 'first-secret')
})

test('PUT of an object that is not there creates it under an alias, and is 404 under our word', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const cases: readonly (readonly [string, JsonObject])[] = [
    ['/policies/gold', policy('one')],
    ['/policies/silver', { ...policy('two'), id: '' }],
    ['/org/keys/acme', { rate: 5, per: 1, quota_max: -1 }],
  ]
  for (const [path, body] of cases) {
    assert.equal((await gateway.svc('PUT', `/svc${path}`, body)).status, 404, path)
    const made = await gateway.svc('PUT', `/inc${path}`, body)
    assert.equal(made.status, 200, `${path}: ${made.text}`)
    assert.equal((await gateway.svc('PUT', `/svc${path}`, body)).status, 200, path)
  }
  assert.equal(((await gateway.svc('GET', '/svc/policies/silver')).json as JsonObject).name, 'two')
  assert.equal((await gateway.svc('PUT', '/inc/policies/bronze', policy('other id'))).status, 400)
  // APIs and clients are refused there as well.
  assert.equal((await gateway.svc('PUT', '/inc/apis/none', { ...api('none'), api_id: 'none' })).status, 404)
  assert.equal((await gateway.svc('PUT', '/inc/oauth/clients/shop/none', client('none'))).status, 404)
})
