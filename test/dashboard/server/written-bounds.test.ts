import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, oasApi, plainOas } from '../../worlds/dashboard/api-samples.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { policyOf } from '../../worlds/dashboard/key-world.ts'

const REDIRECT = 'https://app.test/cb'
const ORIGINS = Array.from({ length: 501 }, (_, index) => `https://a${index}.test`)
const urls = (count: number) => Array.from({ length: count }, (_, index) => ({ url: `/(${index}x)`, methods: ['GET'] }))
const rightOn = (apiId: string, count: number): JsonObject => ({
  [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'], allowed_urls: urls(count), limit: null },
})

/** A definition of either format, with so many CORS origins. */
const classicWith = (count: number) =>
  classicApi('old', '/old/', { CORS: { enable: true, allowed_origins: ORIGINS.slice(0, count) } })
function oasWith(count: number): JsonObject {
  const document = oasApi('new', '/new/')
  const cors = { enabled: true, allowedOrigins: ORIGINS.slice(0, count) }
  Object.assign(document['x-svc-api-gateway'] as JsonObject, { middleware: { global: { cors } } })
  return document
}

test('a definition above a bound is refused on every way in, and one at the bound is taken', async (t) => {
  const { call, root, gateway } = await gatewayWorld(t)
  const dashboard = async (method: string, path: string, body: JsonObject) => call(method, path, { as: root, body })
  const svc = (method: string, path: string, body: JsonObject) => gateway.svc(method, path, body)
  const wrapped = (count: number) => ({ api_definition: classicWith(count) })
  const paths = (count: number) => ({
    ...plainOas('plain'),
    paths: Object.fromEntries(Array.from({ length: count }, (_, index) => [`/p${index}`, {}])),
  })
  const ways = [
    [dashboard, 'POST', '/api/apis', wrapped, 500],
    [dashboard, 'PUT', '/api/apis/old', wrapped, 500],
    [dashboard, 'POST', '/api/apis/oas', oasWith, 500],
    [dashboard, 'PUT', '/api/apis/oas/new', oasWith, 500],
    [dashboard, 'PATCH', '/api/apis/oas/new', paths, 10_000],
    [dashboard, 'POST', '/api/apis/oas/import?listenPath=/plain/', paths, 10_000],
    [dashboard, 'DELETE', '/api/apis/old', undefined, 0],
    [dashboard, 'DELETE', '/api/apis/new', undefined, 0],
    [svc, 'POST', '/svc/apis', classicWith, 500],
    [svc, 'PUT', '/svc/apis/old', classicWith, 500],
    [svc, 'POST', '/svc/apis/oas', oasWith, 500],
    [svc, 'PUT', '/svc/apis/oas/new', oasWith, 500],
    [svc, 'POST', '/svc/apis/oas/import?listenPath=/plain2/', paths, 10_000],
  ] as const
  for (const [by, method, path, bodyOf, most] of ways) {
    if (bodyOf !== undefined) {
      const over = await by(method, path, bodyOf(most + 1))
      assert.equal(over.status, 400, `${method} ${path}: ${over.text.slice(0, 300)}`)
      assert.match(over.text, new RegExp(`more than ${most} entries \\(${most + 1}\\)`), `${method} ${path}`)
    }
    const taken = await by(method, path, bodyOf === undefined ? {} : bodyOf(most))
    assert.equal(taken.status, 200, `${method} ${path}: ${taken.text.slice(0, 300)}`)
  }
})

test('a file with a definition above a bound is not served', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bounds-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'old.json'), JSON.stringify(classicWith(501)))
  writeFileSync(join(folder, 'new.json'), JSON.stringify(oasWith(501)))
  const gateway = await startTestGateway({ env: { SVC_GW_APPPATH: folder } })
  t.after(() => gateway.close())
  await eventually(
    'the log names the bound of both',
    () => gateway.log.filter(({ message }) => message.includes('more than 500 entries (501)')).length === 2,
  )
})

test('rules of a login page, of users and of clients are held to the bounds of keys', async (t) => {
  const { oauth, policy, asked, root, call, gateway } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  await asked(200, 'POST', '/api/apis/oauth/shop', root, {
    ...{ client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'gold' },
  })
  const form = (count: number) =>
    new URLSearchParams({
      ...{ response_type: 'code', client_id: 'c1', redirect_uri: REDIRECT },
      key_rules: JSON.stringify({ access_rights: rightOn('shop', count) }),
    }).toString()
  const fields = { 'content-type': 'application/x-www-form-urlencoded' }
  const ways = [
    (count: number) => call('POST', '/api/apis/oauth/shop/authorize-client', { as: root, body: form(count) }),
    (count: number) => gateway.svc('POST', '/shop/svc/oauth/authorize-client', form(count), fields),
  ]
  for (const conclude of ways) {
    const over = await conclude(501)
    assert.equal(over.status, 400, over.text)
    assert.match(over.text, /key_rules.*allowed_urls: must have at most 500 entries, not 501/)
    const taken = await conclude(500)
    assert.equal(taken.status, 200, taken.text)
  }
  const user = (count: number) => ({
    ...{ access_rights: rightOn('shop', count), basic_auth_data: { password: 'a long password' } },
  })
  for (const [count, status] of [
    [501, 400],
    [500, 200],
  ] as const) {
    const answer = await gateway.svc('POST', '/svc/keys/ann', user(count))
    assert.equal(answer.status, status, answer.text)
  }
})

test('a key whose policies hold more patterns than the budget is refused, counted, and told once', async (t) => {
  const { api, asked, root, key, gateway, origin } = await gatewayWorld(t)
  await api('pay', { definition: { proxy: { listen_path: '/pay/', target_url: origin.url, strip_listen_path: true } } })
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const id of ids)
    await asked(200, 'POST', '/api/portal/policies', root, {
      ...policyOf(id, []),
      access_rights: {
        pay: {
          ...{ api_id: 'pay', api_name: 'pay', versions: ['Default'], limit: null },
          allowed_urls: urls(500).map(({ methods, url }) => ({ methods, url: `${url}(${id})` })),
        },
      },
    })
  const many = await key({ apply_policies: ids, alias: 'crowd' })
  const few = await key({ apply_policies: ['a'] })
  const statusOf = async (path: string, credential: string) =>
    (await gateway.call(path, { headers: { authorization: credential } })).status
  for (let turn = 0; turn < 3; turn++) assert.equal(await statusOf('/pay/items', many.key), 503)
  assert.equal(await statusOf('/pay/items', few.key), 403)
  assert.equal(await statusOf('/pay/7xa', few.key), 200)
  // Paths that fit before the budget is spent are served.
  assert.equal(await statusOf('/pay/7xa', many.key), 200)
  const told = gateway.log.filter(({ fields }) => fields.code === 'patterns_over_budget')
  assert.equal(told.length, 1)
  assert.equal(told[0]!.fields.api_id, 'pay')
  assert.equal(told[0]!.fields.key_alias, 'crowd')
  assert.equal(told[0]!.fields.key_hash, many.hash)
  assert.match((await gateway.svc('GET', '/metrics')).text, /^svc_patterns_over_budget(?:_total)? 3$/m)
})
