import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { writeNodeStatus } from '../../../src/publish/nodes/node-status.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

async function world(t: TestContext, env: Record<string, string> = {}) {
  const dashboard = await startTestDashboard({ env })
  t.after(dashboard.close)
  return { ...dashboard, admin: await dashboard.admin() }
}

test('settings are shown with where they come from, and secrets masked', async (t) => {
  const secret = 'gateway-secret-nobody-must-see'
  const { call, admin, user } = await world(t, { SVC_GW_SECRET: secret, SVC_DB_PAGESIZE: '25' })
  const answer = await call('GET', '/api/system/settings', { as: admin })
  assert.ok(!answer.text.includes(secret))
  const { settings } = answer.json as { settings: JsonObject[] }
  const at = (path: string) => settings.find((setting) => setting.path === path)
  const { value, from, source, env } = at('dashboard.page_size')!
  assert.deepEqual([value, from, source, env], ['25', 'env', 'SVC_DB_PAGESIZE', 'SVC_DB_PAGESIZE'])
  assert.deepEqual([at('gateway.secret')!.value, at('gateway.secret')!.secret], ['"********"', true])
  assert.deepEqual([at('dashboard.admin_secret')!.value, at('gateway.listen_port')!.from], ['""', 'default'])
  assert.equal((await call('GET', '/api/system/settings', { as: await user({ apis: 'write' }) })).status, 403)
})

test('the gateway address is the public one, else the caller’s host at the set port', async (t) => {
  const url = async (env: Record<string, string>, host = 'box.test:3000') => {
    const { call, user } = await world(t, env)
    const { json } = await call('GET', '/api/system/address', { as: await user({ log: 'read' }), headers: { host } })
    return (json as JsonObject).url
  }
  assert.equal(await url({ SVC_GW_PUBLICURL: 'https://api.example.org/' }), 'https://api.example.org')
  assert.equal(await url({ SVC_GW_LISTENPORT: '8181' }), 'http://box.test:8181')
  assert.equal(await url({ SVC_GW_LISTENPORT: '8181' }, '[::1]:3000'), 'http://[::1]:8181')
})

test('gateways that the settings list: an API is told at those that load it by its tags', async (t) => {
  const edge_endpoints = JSON.stringify([
    { name: 'Everything', endpoint: 'https://all.example.org/' },
    { name: 'Paris', endpoint: 'https://paris.example.org:8443/base', tags: ['eu', 'fr'] },
    { name: 'Boston', endpoint: 'http://10.0.0.1:8080', tags: ['us'] },
  ])
  const { call, admin, user } = await world(t, { SVC_DB_EDGEENDPOINTS: edge_endpoints })
  const { json } = await call('GET', '/api/system/address', { as: await user({ log: 'read' }) })
  assert.deepEqual((json as { edges: unknown }).edges, [
    { name: 'Everything', endpoint: 'https://all.example.org', tags: [] },
    { name: 'Paris', endpoint: 'https://paris.example.org:8443/base', tags: ['eu', 'fr'] },
    { name: 'Boston', endpoint: 'http://10.0.0.1:8080', tags: ['us'] },
  ])
  const urls = async (id: string, path = `/api/apis/${id}/urls`) =>
    ((await call('GET', path, { as: admin })).json as { urls: string[] }).urls
  const classic = async (id: string, more: JsonObject) => {
    const body = { api_definition: { ...classicApi(id, `/${id}/`), ...more } }
    assert.equal((await call('POST', '/api/apis', { as: admin, body })).status, 200)
    return urls(id)
  }
  const everything = (id: string) => `https://all.example.org/${id}/`
  assert.deepEqual(await classic('a', {}), [everything('a')])
  assert.deepEqual(await classic('b', { tags: ['fr', 'x'] }), [
    everything('b'),
    'https://paris.example.org:8443/base/b/',
  ])
  assert.deepEqual(await classic('c', { tags: ['us', 'eu'], tags_disabled: true }), [everything('c')])
  assert.deepEqual(await classic('d', { tags: ['us'], domain: 'api.example.org' }), [
    'https://api.example.org/d/',
    'http://api.example.org:8080/d/',
  ])
  const gatewayTags = { enabled: true, tags: ['us', 'eu'] }
  const sent = oasApi('pets', '/pets/')
  const extension = sent['x-svc-api-gateway'] as JsonObject
  const server = { ...(extension.server as JsonObject), gatewayTags }
  const body = { ...sent, 'x-svc-api-gateway': { ...extension, server } }
  assert.equal((await call('POST', '/api/apis/oas', { as: admin, body })).status, 200)
  const both = [everything('pets'), 'https://paris.example.org:8443/base/pets/', 'http://10.0.0.1:8080/pets/']
  assert.deepEqual(await urls('pets'), both)
  assert.deepEqual(await urls('pets', '/api/apis/oas/pets/urls'), both)
  assert.equal((await call('GET', '/api/apis/none/urls', { as: admin })).status, 400)
})

test('where any port will do, the address has that of a node that is up', async (t) => {
  const { call, admin, parts, clock } = await world(t, { SVC_GW_LISTENPORT: '0' })
  const seen_at = new Date(clock.wall()).toISOString()
  const node = (name: string, more: JsonObject) =>
    writeNodeStatus(parts, {
      ...{ name, hostname: 'h', version: '1', management: false, segmented: false, tags: [], up: true, behind: false },
      ...{ revision: 1, loaded: 0, troubled: 0, troubles: [], started_at: seen_at, seen_at, ...more },
    })
  await node('a', { up: false, port: 1001 })
  await node('b', { management: true, port: 1002 })
  await node('c', { port: 1003 })
  const { json } = await call('GET', '/api/system/address', { as: admin, headers: { host: 'box.test' } })
  assert.equal((json as JsonObject).url, 'http://box.test:1003')
})
