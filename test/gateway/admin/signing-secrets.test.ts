import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'

test('a key that signs gets a secret where none is sent, by its own switch or by a policy', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const plan = { id: 'signing', name: 'signing', hmac_enabled: true, access_rights: rightsOn('shop'), rate: 0, per: 0 }
  assert.equal((await gateway.svc('POST', '/svc/policies', plan)).status, 200)
  const secretOf = async (key: unknown) =>
    ((await gateway.svc('GET', `/svc/keys/${key}`)).json as JsonObject).hmac_string as string | undefined
  const made = async (session: JsonObject) => {
    const answer = await gateway.svc('POST', '/svc/keys', session)
    assert.equal(answer.status, 200, answer.text)
    return String((answer.json as JsonObject).key)
  }
  const access_rights = rightsOn('shop')
  const [own, other, byPolicy, given, plain] = [
    await made({ access_rights, hmac_enabled: true }),
    await made({ access_rights, hmac_enabled: true, hmac_string: '' }),
    await made({ apply_policies: ['signing'] }),
    await made({ access_rights, hmac_enabled: true, hmac_string: 'of my choice' }),
    await made({ access_rights }),
  ]
  const secrets = [await secretOf(own), await secretOf(other), await secretOf(byPolicy)]
  for (const secret of secrets) assert.ok((secret ?? '').length >= 32)
  assert.equal(new Set(secrets).size, secrets.length)
  assert.deepEqual([await secretOf(given), (await secretOf(plain)) ?? ''], ['of my choice', ''])
  const switched = await gateway.svc('PUT', `/svc/keys/${plain}`, { access_rights, hmac_enabled: true })
  assert.equal(switched.status, 200, switched.text)
  assert.ok(((await secretOf(plain)) ?? '').length >= 32)
})
