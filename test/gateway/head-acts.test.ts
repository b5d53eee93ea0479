import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../harness.ts'

test('HEAD reloads nothing, and is refused where GET acts', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const { live } = gateway.gateway
  const before = live.reloads
  for (const path of ['/svc/reload', '/svc/reload/', '/svc/reload/group', '/svc/reload?block=true']) {
    const { status, headers } = await gateway.svc('HEAD', path)
    assert.deepEqual([status, headers.allow], [405, 'GET'], path)
  }
  assert.equal(live.reloads, before)
  assert.equal((await gateway.svc('GET', '/svc/reload?block=true')).status, 200)
  assert.ok(live.reloads > before)
})
