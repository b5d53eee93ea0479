import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

test('the schema is wrapped under an alias, and calls that are not served say what is', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const plain = (await gateway.svc('GET', '/svc/schema')).json as JsonObject
  assert.equal(typeof plain.$schema, 'string')
  const wrapped = (await gateway.svc('GET', '/inc/schema')).json as JsonObject
  assert.deepEqual(wrapped, { status: 'Success', message: '', schema: plain })
  for (const [method, path, instead] of [
    ['GET', '/health?api_id=shop', /not enabled for this node.*\/hello/],
    ['POST', '/debug', /not enabled for this node.*\/explain/],
  ] as const) {
    const body = method === 'POST' ? {} : undefined
    const refused = await gateway.svc(method, `/inc${path}`, body)
    assert.equal(refused.status, 400, path)
    assert.match(refused.text, instead)
    assert.equal((await gateway.svc(method, `/svc${path}`, body)).status, 404, path)
  }
})

test('several redirect URIs are one text where a setting says what parts them', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_DB_OAUTHREDIRECTURISEPARATOR: ';' } })
  t.after(() => gateway.close())
  const api = { api_id: 'shop', name: 'shop', active: true, use_oauth2: true }
  const more = {
    oauth_meta: { allowed_access_types: ['client_credentials'] },
    proxy: { listen_path: '/shop/', target_url: 'http://127.0.0.1:1/' },
  }
  assert.equal((await gateway.svc('POST', '/svc/apis', { ...api, ...more })).status, 200)
  const uris = ['https://a.test/cb', 'https://b.test/cb']
  const sent = { client_id: 'app', api_id: 'shop', redirect_uri: uris.join(';') }
  for (const answer of [
    await gateway.svc('POST', '/svc/oauth/clients/create', sent),
    await gateway.svc('PUT', '/svc/oauth/clients/shop/app', { redirect_uri: uris.join('; ') }),
    await gateway.svc('GET', '/svc/oauth/clients/shop/app'),
  ]) {
    assert.equal(answer.status, 200, answer.text)
    const { redirect_uri, redirect_uris } = answer.json as JsonObject
    assert.deepEqual([redirect_uri, redirect_uris], [uris.join(';'), uris])
  }
})
