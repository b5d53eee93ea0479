import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { claims, compact, es, hs, jwtApi, jwtWorld, NOW_S, signer } from '../../worlds/gateway/jwt-fixtures.ts'

const SECRET_OF_KEY = 'a secret of one caller that nobody else has'
const NAMED = { jwt_source: '', jwt_default_policies: [] }

/** A gateway whose API `j` verifies tokens with the keys that they name, and what makes keys there. */
async function callersWorld(t: TestContext, format: 'classic' | 'oas' = 'classic', more: JsonObject = {}) {
  const written = (definition: JsonObject) => (format === 'classic' ? definition : toOas(definition).document)
  const world = await jwtWorld(t, (origin) => written(jwtApi(origin, { ...NAMED, ...more })))
  const keyWith = async (session: JsonObject = {}, rights = 'j'): Promise<string> => {
    const body = { access_rights: rightsOn(rights), jwt_data: { secret: SECRET_OF_KEY }, ...session }
    const made = await world.gate.svc('POST', '/svc/keys/create', body)
    assert.equal(made.status, 200, made.text)
    return String((made.json as JsonObject).key)
  }
  return { ...world, keyWith }
}

const signed = (payload: JsonObject, header: JsonObject = {}, secret = SECRET_OF_KEY) =>
  compact({ alg: 'HS256', typ: 'JWT', ...header }, payload, hs(Buffer.from(secret)))

for (const format of ['classic', 'oas'] as const)
  test(`${format}: a token is verified with the secret of the key that it names, and has its rights`, async (t) => {
    const { get, keyWith } = await callersWorld(t, format)
    const key = await keyWith()
    const elsewhere = await keyWith({}, 'e')
    const without = await keyWith({ jwt_data: { secret: '' } })
    const inactive = await keyWith({ is_inactive: true })
    const cases: [string, string, number][] = [
      ['named by kid', signed(claims({ sub: 'anybody' }), { kid: key }), 200],
      ['named by kid, without any other name', signed({ exp: NOW_S + 60 }, { kid: key }), 200],
      ['named by sub', signed(claims({ sub: key })), 200],
      ['kid counts before sub', signed(claims({ sub: key }), { kid: 'nobody' }), 401],
      ['another secret', signed(claims({ sub: key }), {}, `${SECRET_OF_KEY}!`), 401],
      ['no such key', signed(claims({ sub: 'nobody' })), 401],
      ['no name', signed({ exp: NOW_S + 60 }), 401],
      ['a key without a secret', signed(claims({ sub: without }), {}, ''), 401],
      ['a key of another API', signed(claims({ sub: elsewhere })), 403],
      ['a key that is off', signed(claims({ sub: inactive })), 403],
      ['a token that has ended', signed(claims({ sub: key, exp: NOW_S - 60 })), 401],
      ['a token that never ends', signed({ sub: key }), 401],
      ['the key itself', key, 401],
      ['no signature', compact({ alg: 'none' }, claims({ sub: key }), () => new Uint8Array()), 401],
    ]
    for (const [name, token, status] of cases) assert.equal((await get(`Bearer ${token}`)).status, status, name)
  })

test('where kid is not to count, the identity claim names the key', async (t) => {
  const { get, keyWith } = await callersWorld(t, 'classic', { jwt_skip_kid: true, jwt_identity_base_field: 'who' })
  const key = await keyWith()
  assert.equal((await get(`Bearer ${signed(claims({ who: key }), { kid: 'nobody' })}`)).status, 200)
  assert.equal((await get(`Bearer ${signed(claims({ sub: key }), { kid: 'nobody' })}`)).status, 200)
  assert.equal((await get(`Bearer ${signed(claims({ sub: 'ann' }), { kid: key })}`)).status, 401)
})

test('a public key of a caller verifies tokens, and is never a secret', async (t) => {
  const { get, keyWith, change, origin } = await callersWorld(t, 'classic', { jwt_signing_method: 'ecdsa' })
  const own = signer('ES256', 'own')
  const key = await keyWith({ jwt_data: { secret: own.pem } })
  const token = (sub: string, by = own) => compact({ alg: 'ES256' }, claims({ sub }), es(by.privateKey))
  assert.equal((await get(`Bearer ${token(key)}`)).status, 200)
  assert.equal((await get(`Bearer ${token(key, signer('ES256', 'other'))}`)).status, 401)
  const forged = compact({ alg: 'HS256' }, claims({ sub: key }), hs(Buffer.from(own.pem)))
  assert.equal((await get(`Bearer ${forged}`)).status, 401)
  for (const method of ['hmac', '']) {
    await change(jwtApi(origin, { ...NAMED, jwt_signing_method: method }))
    assert.equal((await get(`Bearer ${forged}`)).status, 401, method)
  }
})

test('an edited secret of a key counts at once, and its limits hold for its tokens', async (t) => {
  const { get, keyWith, gate } = await callersWorld(t)
  const key = await keyWith({ rate: 2, per: 60 })
  const other = 'another secret of the caller, as long as the first'
  assert.equal((await get(`Bearer ${signed(claims({ sub: key }))}`)).status, 200)
  const body = { access_rights: rightsOn('j'), rate: 2, per: 60, jwt_data: { secret: other } }
  assert.equal((await gate.svc('PUT', `/svc/keys/${key}`, body)).status, 200)
  assert.equal((await get(`Bearer ${signed(claims({ sub: key }))}`)).status, 401)
  const renewed = signed(claims({ sub: key, jti: '2' }), {}, other)
  assert.equal((await get(`Bearer ${renewed}`)).status, 200)
  assert.equal((await get(`Bearer ${renewed}`)).status, 429)
})

test('short secrets of keys, and members about policies, are choices that the save reports', async (t) => {
  const { get, keyWith, gate, origin } = await callersWorld(t)
  const key = await keyWith({ jwt_data: { secret: 'short' } })
  const token = signed(claims({ sub: key }), {}, 'short')
  assert.equal((await get(`Bearer ${token}`)).status, 401)
  const saved = await gate.svc(
    'PUT',
    '/svc/apis/j',
    jwtApi(origin, { jwt_source: '', jwt_policy_field_name: 'pol', jwt_allow_short_secrets: true }),
  )
  assert.equal(saved.status, 200, saved.text)
  const warnings = (saved.json as { warnings: { path: string }[] }).warnings.map(({ path }) => path)
  assert.deepEqual(warnings.sort(), ['jwt_default_policies', 'jwt_policy_field_name', 'jwt_source'])
  assert.equal((await get(`Bearer ${token}`)).status, 200)
})

test('variables have the claims of a token, but not the key that it names', async (t) => {
  const named = ['sub', 'kid', 'team', 'alg'].map((name) => [`X-${name}`, `$svc_context.jwt_claims_${name}`])
  const version = { name: 'Default', global_headers: Object.fromEntries(named) }
  const { get, keyWith, origin } = await callersWorld(t, 'classic', {
    enable_context_vars: true,
    version_data: { not_versioned: true, versions: { Default: version } },
  })
  const key = await keyWith()
  for (const token of [
    signed(claims({ sub: key, team: 'books' })),
    signed(claims({ sub: 'ann', team: 'books' }), { kid: key }),
  ]) {
    assert.equal((await get(`Bearer ${token}`)).status, 200)
    const { headers } = origin.seen.at(-1)!
    assert.deepEqual([headers['x-team'], headers['x-alg']], ['books', 'HS256'])
    assert.ok(![headers['x-sub'], headers['x-kid']].includes(key))
  }
})
