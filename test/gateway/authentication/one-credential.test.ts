import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { type Pairs, sendExactly, VERSIONS } from '../../worlds/gateway/exact-fields.ts'
import { base64, claims, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const METHODS = {
  token: { use_standard_auth: true },
  basic: { use_basic_auth: true },
  jwt: { enable_jwt: true, jwt_signing_method: 'hmac', jwt_source: base64(SECRET), jwt_default_policies: ['p'] },
} as const
type Method = keyof typeof METHODS
const CONFIGS: Readonly<Record<Method, string>> = { token: 'authToken', basic: 'basic', jwt: 'jwt' }
/** Where the credential is read: the usual field, fields of a definition's own, one with an underscore. */
const HEADERS = ['Authorization', 'X-Api-Key', 'api_key'] as const

async function world(t: TestContext) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'acme' } })
  t.after(() => gate.close())
  const rows = Object.entries(METHODS).flatMap(([method, on]) =>
    HEADERS.map((header) => ({ method: method as Method, on, header, id: `${method}${HEADERS.indexOf(header)}` })),
  )
  for (const { id, method, on, header } of rows) {
    const more: JsonObject = {
      use_keyless: false,
      ...on,
      auth_configs: { [CONFIGS[method]]: { auth_header_name: header } },
    } as unknown as JsonObject
    const made = await gate.svc('POST', '/svc/apis', classic(id, `/${id}/`, origin.url, more))
    assert.equal(made.status, 200, made.text)
  }
  // Either a key in X-Api-Key or a name and a password in Authorization.
  const several = classic('several', '/several/', origin.url, {
    ...{ use_keyless: false, use_standard_auth: true, use_basic_auth: true },
    auth_configs: { authToken: { auth_header_name: 'X-Api-Key' }, basic: {} },
    base_identity_provided_by: 'auth_token',
  })
  assert.equal((await gate.svc('POST', '/svc/apis', several)).status, 200)
  const access_rights = rightsOn(...rows.map(({ id }) => id), 'several')
  const key = String((await gate.svc('POST', '/svc/keys/create', { access_rights })).json!['key' as never])
  const user = { access_rights, basic_auth_data: { password: hashSync('correct horse', 4) } }
  assert.equal((await gate.svc('POST', '/svc/keys/ann', user)).status, 200)
  assert.equal((await gate.svc('POST', '/svc/policies', { id: 'p', active: true, access_rights })).status, 200)
  const good: Readonly<Record<Method, string>> = {
    token: key,
    basic: `Basic ${base64('ann:correct horse')}`,
    jwt: `Bearer ${hsToken(claims({ sub: 'ann' }))}`,
  }
  return { origin, gate, rows, good }
}

test('one credential of a kind in a request, by every method, field and HTTP version', async (t) => {
  const { gate, origin, rows, good } = await world(t)
  for (const version of VERSIONS) {
    for (const { id, method, header } of rows) {
      const status = async (...fields: Pairs) =>
        (await sendExactly(gate.port, version, { path: `/${id}/x`, fields })).status
      const right = good[method]
      const name = `${id} HTTP/${version}`
      const wrong = `${right}x`
      assert.equal(await status([header, right]), 200, name)
      const before = origin.seen.length
      assert.equal(await status([header, right], [header, wrong]), 400, `${name}: right, wrong`)
      assert.equal(await status([header, wrong], [header, right]), 400, `${name}: wrong, right`)
      assert.equal(await status([header, right], [header, right]), 400, `${name}: the same`)
      assert.equal(
        await status([header, right], ['x-between', '1'], [header.toUpperCase(), '']),
        400,
        `${name}: an empty one`,
      )
      assert.ok([400, 401, 403].includes(await status([header, `${right}, ${right}`])), `${name}: joined`)
      // The definition names `api_key`, so that `api-key` is the same variable to the upstream; the other way round `_` hides a field.
      if (header.includes('_')) {
        assert.equal(await status([header, right], ['API-Key', wrong]), 400, `${name}: the other spelling behind`)
        assert.equal(await status(['API-Key', right], [header, right]), 400, `${name}: the other spelling before`)
        assert.notEqual(await status(['api-key', right]), 200, `${name}: only the other spelling`)
      }
      assert.equal(origin.seen.length, before)
    }
    const both: Pairs = [
      ['X-Api-Key', good.token],
      ['Authorization', good.basic],
    ]
    const send = async (fields: Pairs) => (await sendExactly(gate.port, version, { path: '/several/x', fields })).status
    assert.equal(await send(both), 200)
    assert.equal(await send([...both, ['x-api-key', 'other']]), 400)
    assert.equal(await send([...both, ['authorization', 'other']]), 400)
  }
})

test('the gateway secret is given once', async (t) => {
  const { gate } = await world(t)
  for (const version of VERSIONS) {
    const status = async (...values: readonly string[]) => {
      const fields = values.map((value) => ['X-Svc-Authorization', value] as const)
      return (await sendExactly(gate.port, version, { path: '/svc/apis', fields })).status
    }
    assert.equal(await status(TEST_SECRET), 200)
    for (const values of [
      [TEST_SECRET, 'x'],
      ['x', TEST_SECRET],
      [TEST_SECRET, TEST_SECRET],
    ])
      assert.equal(await status(...values), 400)
    const fields: Pairs = [
      ['X-Svc-Authorization', TEST_SECRET],
      ['X-Acme-Authorization', 'x'],
    ]
    assert.equal((await sendExactly(gate.port, version, { path: '/svc/apis', fields })).status, 400)
  }
})
