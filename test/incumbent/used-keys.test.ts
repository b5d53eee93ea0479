import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { startTestGateway } from '../worlds/base/harness.ts'
import { oasApi } from '../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

const KEY = 'key-of-many-letters'
const RIGHTS = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }

test('a key is judged by its policies and counts of today, as the differences say', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gate.close())
  const api = oasApi('orders', '/orders/', { id: 'orders', guarded: true, upstream: origin.url })
  const save = async (method: string, path: string, body: JsonObject) => {
    const { status, text } = await gate.svc(method, `/inc/${path}`, body)
    assert.equal(status, 200, text)
  }
  const used = async (times: number) => {
    const statuses: number[] = []
    for (let at = 0; at < times; at++)
      statuses.push((await gate.call('/orders/', { headers: { authorization: KEY } })).status)
    return statuses
  }
  await save('POST', 'apis/oas', api)

  // Requests that were refused have not been counted.
  const quota = { access_rights: RIGHTS, quota_max: 2, quota_renewal_rate: 3600 }
  await save('POST', `keys/${KEY}`, quota)
  assert.deepEqual(await used(5), [200, 200, 429, 429, 429])
  await save('PUT', `keys/${KEY}?suppress_reset=1`, { ...quota, quota_max: 4 })
  assert.deepEqual(await used(3), [200, 200, 429])

  const policy = { id: 'p', name: 'p', active: true, rate: 100, per: 1, quota_max: -1, access_rights: RIGHTS }
  await save('POST', 'policies', { ...policy, is_inactive: true })
  await save('POST', `keys/${KEY}`, { apply_policies: ['p'] })
  assert.deepEqual(await used(1), [403])
  await save('PUT', 'policies/p', policy)
  assert.deepEqual(await used(1), [200])
})
