import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

test('the schema is wrapped under an alias', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const plain = (await gateway.svc('GET', '/svc/schema')).json as JsonObject
  assert.equal(typeof plain.$schema, 'string')
  const wrapped = (await gateway.svc('GET', '/inc/schema')).json as JsonObject
  assert.deepEqual(wrapped, { status: 'Success', message: '', schema: plain })
})

test('the counters of an API are told per second under an alias', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const limited = { global_rate_limit: { rate: 3, per: 100 } }
  for (const [id, more] of [
    ['open', { use_keyless: true, ...limited }],
    ['closed', { use_standard_auth: true, use_keyless: false }],
    ['quiet', {}],
  ] as const)
    assert.equal((await gateway.svc('POST', '/inc/apis', classic(id, `/${id}/`, origin.url, more))).status, 200)
  const health = async (id: string) => {
    const { status, text, json } = await gateway.svc('GET', `/inc/health?api_id=${id}`)
    assert.equal(status, 200, text)
    const { average_upstream_latency, ...rates } = json as Record<string, number>
    assert.ok(average_upstream_latency! >= 0)
    return Object.values(rates)
  }
  gateway.clock.advance(10_000)
  for (let i = 0; i < 5; i++) for (const id of ['open', 'closed']) await gateway.call(`/${id}/`)
  // Throttled, over quota, failed by their key, and all.
  assert.deepEqual(await health('open'), [0.2, 0, 0, 0.5])
  assert.deepEqual(await health('closed'), [0, 0, 0.5, 0.5])
  assert.deepEqual(await health('quiet'), [0, 0, 0, 0])
  gateway.clock.advance(20_000)
  for (let i = 0; i < 5; i++) await gateway.call('/closed/')
  assert.deepEqual(await health('closed'), [0, 0, 0.25, 0.25])
  for (const [query, status, text] of [
    ['', 400, /missing api_id parameter/],
    ['?api_id=none', 404, /API ID not found/],
  ] as const) {
    const answer = await gateway.svc('GET', `/inc/health${query}`)
    assert.equal(answer.status, status)
    assert.match(answer.text, text)
  }
  assert.equal((await gateway.svc('GET', '/svc/health?api_id=open')).status, 404)
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
