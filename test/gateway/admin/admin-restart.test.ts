import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

test('objects of the administration API survive a restart on the embedded store', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-admin-'))
  t.after(() => rmSync(path, { recursive: true }))
  const origin = await startOrigin()
  t.after(() => origin.close())
  const open = async () => {
    const store = await openStore({ path, log: silentLog })
    const gate = await startTestGateway({ store })
    const close = async () => {
      await gate.close()
      await store.close()
    }
    return { ...gate, close }
  }

  const first = await open()
  const use = (gate: typeof first, key: string) => gate.call('/orders/x', { headers: { authorization: key } })
  let key: string
  try {
    const document = oasApi('Orders', '/orders/', { id: 'orders', guarded: true, upstream: origin.url })
    assert.equal((await first.svc('POST', '/svc/apis/oas', document)).status, 200)
    const policy = { id: 'gold', quota_max: 4, quota_renewal_rate: 3600, access_rights: rightsOn('orders') }
    assert.equal((await first.svc('POST', '/svc/policies', policy)).status, 200)
    key = String(((await first.svc('POST', '/svc/keys', { apply_policies: ['gold'] })).json as JsonObject).key)
    assert.equal((await use(first, key)).status, 200)
    assert.equal((await first.svc('POST', '/svc/apis/oas', oasApi('Rival', '/orders/'))).status, 409)
  } finally {
    await first.close()
  }

  const second = await open()
  try {
    assert.equal((await use(second, key)).status, 200)
    assert.equal(((await second.svc('GET', `/svc/keys/${key}`)).json as JsonObject).quota_remaining, 2)
    assert.equal((await second.svc('POST', '/svc/apis/oas', oasApi('Rival', '/orders/'))).status, 409)
    assert.equal((await second.svc('DELETE', `/svc/keys/${key}`)).status, 200)
    assert.equal((await use(second, key)).status, 403)
  } finally {
    await second.close()
  }
})
