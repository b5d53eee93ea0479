import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { writeNodeStatus } from '../../src/publish/node-status.ts'
import { startTestDashboard } from './harness.ts'

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

test('the address of the gateway: the public one, else the host of the caller at the port of the settings', async (t) => {
  const url = async (env: Record<string, string>, host = 'box.test:3000') => {
    const { call, user } = await world(t, env)
    const { json } = await call('GET', '/api/system/address', { as: await user({ log: 'read' }), headers: { host } })
    return (json as JsonObject).url
  }
  assert.equal(await url({ SVC_GW_PUBLICURL: 'https://api.example.org/' }), 'https://api.example.org')
  assert.equal(await url({ SVC_GW_LISTENPORT: '8181' }), 'http://box.test:8181')
  assert.equal(await url({ SVC_GW_LISTENPORT: '8181' }, '[::1]:3000'), 'http://[::1]:8181')
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
