import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getAt } from '../../../src/model/apis/definition/tree.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { base64, claims, hsToken, jwtApi, jwtWorld, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import type { Origin } from '../../worlds/servers/origin.ts'

/** The same as `jwtApi` in the OpenAPI format; the settings are those of its scheme. */
const oasApi = (origin: Origin, settings: JsonObject): JsonObject => ({
  ...{ openapi: '3.0.3', info: { title: 'J', version: '1' }, paths: {} },
  components: { securitySchemes: { jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
  security: [{ jwt: [] }],
  'x-svc-api-gateway': {
    info: { id: 'j', name: 'J', state: { active: true } },
    upstream: { url: origin.url },
    server: {
      listenPath: { value: '/j/', strip: true },
      authentication: {
        enabled: true,
        securitySchemes: {
          jwt: {
            ...{ enabled: true, header: { enabled: true, name: 'Authorization' } },
            ...{ source: base64(SECRET), signingMethod: 'hmac', ...settings },
          },
        },
      },
    },
  },
})

const classic = (more: JsonObject) => (origin: Origin) => jwtApi(origin, { jwt_default_policies: [], ...more })
const scopes = { scope_claim_name: 'scope', scope_to_policy: { read: 'ID' } }

/** Every place in which a definition names policies, with a token that leads to it. */
const PLACES: Readonly<Record<string, readonly [define: (origin: Origin) => JsonObject, token: JsonObject]>> = {
  'default policies, classic': [classic({ jwt_default_policies: ['ID'] }), {}],
  'scopes, classic': [classic({ scopes: { jwt: scopes } }), { scope: 'read' }],
  'scopes in their older member, classic': [
    classic({ jwt_scope_claim_name: 'scope', jwt_scope_to_policy_mapping: { read: 'ID' } }),
    { scope: 'read' },
  ],
  'default policies, OpenAPI': [(origin) => oasApi(origin, { defaultPolicies: ['ID'] }), {}],
  'scopes, OpenAPI': [
    (origin) =>
      oasApi(origin, { scopes: { claimName: 'scope', scopeToPolicyMapping: [{ scope: 'read', policyId: 'ID' }] } }),
    { scope: 'read' },
  ],
}

for (const [title, [define, more]] of Object.entries(PLACES))
  test(`a definition names a policy by either id, and its id is stored: ${title}`, async (t) => {
    const { gate, get, origin } = await jwtWorld(t)
    const [policy] = (await gate.store.documents.list('policy', { where: { id: 'slow' }, limit: 1 })).rows
    assert.notEqual(policy!.id, 'slow')
    for (const id of ['slow', policy!.id]) {
      await gate.svc('DELETE', '/svc/apis/j')
      const definition = JSON.parse(JSON.stringify(define(origin)).replaceAll('"ID"', JSON.stringify(id)))
      const made = await gate.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
      assert.equal(made.status, 200, made.text)
      const [stored] = (await gate.store.documents.list('api', { limit: 10 })).rows.filter(
        ({ body }) => body.api_id === 'j',
      )
      const text = JSON.stringify(stored!.body)
      assert.ok(text.includes('"slow"') && !text.includes(policy!.id), text)
      // Two calls a minute: the policy's rights and limits hold.
      const token = hsToken(claims({ ...more, sub: id }))
      const statuses = [await get(token), await get(token), await get(token)].map(({ status }) => status)
      assert.deepEqual(statuses, [200, 200, 429])
    }
  })

test('a claim names a policy by either id, and both mean one', async (t) => {
  const { gate, get } = await jwtWorld(t, (origin) => jwtApi(origin, { jwt_policy_field_name: 'pol' }))
  const [policy] = (await gate.store.documents.list('policy', { where: { id: 'slow' }, limit: 1 })).rows
  const ask = async (pol: unknown) => (await get(hsToken(claims({ sub: 'ann', pol: pol as string })))).status
  assert.equal(await ask(policy!.id), 200)
  assert.equal(await ask(['slow', policy!.id]), 200)
  // One limit, however it is named.
  assert.deepEqual([await ask('slow'), await ask(policy!.id)], [429, 429])
  assert.equal((await gate.svc('DELETE', '/svc/policies/slow')).status, 200)
  assert.notEqual(await ask(policy!.id), 200)
})

test('registrationPolicies are stored by id, and texts of the document that look like them stay', async (t) => {
  const { gate, origin } = await jwtWorld(t)
  const [policy] = (await gate.store.documents.list('policy', { where: { id: 'p' }, limit: 1 })).rows
  const sent = oauthApi(origin.url, { id: 'o', settings: { registrationPolicies: [policy!.id] } })
  const example = { policyId: policy!.id, defaultPolicies: [policy!.id] }
  const components = { ...(sent.components as JsonObject), examples: { one: { value: example } } }
  assert.equal((await gate.svc('POST', '/svc/apis/oas', { ...sent, components })).status, 200)
  const stored = (await gate.svc('GET', '/svc/apis/oas/o')).json as JsonObject
  const at = ['x-svc-api-gateway', 'server', 'authentication', 'securitySchemes', 'oa', 'registrationPolicies']
  assert.deepEqual(getAt(stored, at), ['p'])
  assert.deepEqual(getAt(stored, ['components', 'examples', 'one', 'value']), example)
})
