import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { importPKCS8, SignJWT } from 'jose'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import {
  base64,
  claims,
  hsToken,
  jwtApi,
  jwtWorld,
  keyedApi,
  NOW_S,
  SECRET,
  signer,
} from '../../worlds/gateway/jwt-fixtures.ts'
import { challengesOf } from '../../worlds/gateway/oauth-fixtures.ts'

const seen = (answer: { json: unknown }) => answer.json as JsonObject

test('a signed, valid and known token is accepted every time; without one 401', async (t) => {
  const { gate, get } = await jwtWorld(t)
  const token = hsToken()
  for (const credential of [`Bearer ${token}`, token, `bearer ${token}`, `Bearer ${token}`])
    assert.equal((await get(credential)).status, 200, credential.slice(0, 8))
  const without = await get('')
  assert.equal(without.status, 401)
  assert.equal(challengesOf(without), 'Bearer realm="oauth"')
  const wrong = await get(`Bearer ${token.slice(0, -2)}AA`)
  assert.equal(wrong.status, 401)
  assert.deepEqual(seen(wrong), { error: 'Key not authorised' })
  assert.match(String(wrong.headers['www-authenticate']), /^Bearer realm="oauth", error="invalid_token"/)
  assert.equal(gate.log.filter(({ fields }) => JSON.stringify(fields).includes(token)).length, 0)
})

test('Bearer may be followed by several spaces, at keys and tokens alike', async (t) => {
  const { gate, publish, origin } = await jwtWorld(t)
  const proxy = (id: string) => ({ listen_path: `/${id}/`, target_url: origin.url })
  await publish(classicApi('K', '/k/', { api_id: 'k', use_keyless: false, proxy: proxy('k') }))
  const external_oauth = { enabled: true, providers: [{ jwt: { enabled: true, source: base64(SECRET) } }] }
  await publish(classicApi('X', '/x/', { api_id: 'x', use_keyless: false, external_oauth, proxy: proxy('x') }))
  const { key } = seen(await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('k') })) as { key: string }
  for (const [path, credential] of [
    ['/k/a', key],
    ['/j/a', hsToken()],
    ['/x/a', hsToken()],
  ] as const)
    for (const word of ['Bearer ', 'bearer  ', 'BEARER     '])
      assert.equal((await gate.call(path, { headers: { authorization: word + credential } })).status, 200, path + word)
})

describe('every algorithm, as another library signs it', () => {
  for (const alg of ['RS256', 'RS512', 'PS256', 'PS384', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    test(alg, async (t) => {
      const own = signer(alg, 'k1')
      const method = alg.startsWith('E') ? (alg === 'EdDSA' ? 'eddsa' : 'ecdsa') : 'rsa'
      const { get } = await jwtWorld(t, (origin) => keyedApi(origin, base64(own.pem), method))
      const key = await importPKCS8(own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), alg)
      const sign = (payload: JsonObject) => new SignJWT(payload).setProtectedHeader({ alg, typ: 'JWT' }).sign(key)
      assert.equal((await get(`Bearer ${await sign(claims())}`)).status, 200)
      const token = await sign(claims({ sub: 'bob' }))
      const [head, , signature] = token.split('.')
      const forged = `${head}.${Buffer.from(JSON.stringify(claims({ sub: 'eve' }))).toString('base64url')}.${signature}`
      assert.equal((await get(`Bearer ${forged}`)).status, 401)
    })
  }
  for (const [alg, bits] of [
    ['HS256', 256],
    ['HS384', 384],
    ['HS512', 512],
  ] as const) {
    test(alg, async (t) => {
      const secret = SECRET.subarray(0, bits / 8)
      const { get } = await jwtWorld(t, (origin) => jwtApi(origin, { jwt_source: base64(secret) }))
      const sign = (name: string) => new SignJWT(claims()).setProtectedHeader({ alg: name }).sign(secret)
      assert.equal((await get(`Bearer ${await sign(alg)}`)).status, 200)
      assert.equal((await get(`Bearer ${await sign('HS512')}`)).status, 200)
    })
  }
})

test('times are checked with the allowed clock skew; a session ends with its token', async (t) => {
  const { gate, get, change, origin } = await jwtWorld(t)
  const status = async (more: JsonObject) => (await get(`Bearer ${hsToken(claims(more))}`)).status
  assert.equal(await status({ exp: NOW_S + 1 }), 200)
  assert.equal(await status({ exp: NOW_S }), 401)
  assert.equal(await status({ nbf: NOW_S }), 200)
  assert.equal(await status({ nbf: NOW_S + 1 }), 401)
  assert.equal(await status({ iat: NOW_S + 1 }), 401)
  const expired = await get(`Bearer ${hsToken(claims({ exp: NOW_S - 1 }))}`)
  assert.deepEqual(seen(expired), { error: 'Key has expired, please renew' })
  const skews = {
    jwt_issued_at_validation_skew: 5,
    jwt_expires_at_validation_skew: 6,
    jwt_not_before_validation_skew: 7,
  }
  await change(jwtApi(origin, skews))
  assert.equal(await status({ exp: NOW_S - 5 }), 200)
  assert.equal(await status({ exp: NOW_S - 6 }), 401)
  assert.equal(await status({ iat: NOW_S + 5 }), 200)
  assert.equal(await status({ iat: NOW_S + 6 }), 401)
  assert.equal(await status({ nbf: NOW_S + 7 }), 200)
  assert.equal(await status({ nbf: NOW_S + 8 }), 401)
  const token = `Bearer ${hsToken(claims({ exp: NOW_S + 60 }))}`
  assert.equal((await get(token)).status, 200)
  gate.clock.advance(65_999)
  assert.equal((await get(token)).status, 200)
  gate.clock.advance(1)
  assert.equal((await get(token)).status, 401)
})

test('issuer, audience and subject must be among those of the definition', async (t) => {
  const { get } = await jwtWorld(t, (origin) =>
    jwtApi(origin, {
      jwt_allowed_issuers: ['https://a.example', 'https://b.example'],
      jwt_allowed_audiences: ['api'],
      jwt_allowed_subjects: ['ann', 'bob'],
    }),
  )
  const status = async (more: JsonObject) =>
    (await get(`Bearer ${hsToken(claims({ iss: 'https://b.example', aud: 'api', ...more }))}`)).status
  assert.equal(await status({}), 200)
  assert.equal(await status({ aud: ['x', 'api'] }), 200)
  for (const more of [
    ...[{ iss: 'https://c.example' }, { iss: null }, { iss: ['https://a.example'] }, { iss: 'https://a.example/' }],
    ...[{ aud: 'apis' }, { aud: [] }, { aud: null }, { aud: { api: 1 } }, { sub: 'eve' }, { sub: 7 }],
  ])
    assert.equal(await status(more as JsonObject), 401, JSON.stringify(more))
})

test('the definition names the identity claim, and counters belong to it', async (t) => {
  const { get } = await jwtWorld(t, (origin) =>
    jwtApi(origin, { jwt_identity_base_field: 'user.id', jwt_default_policies: ['slow'] }),
  )
  const token = (id: unknown, more: JsonObject = {}) =>
    `Bearer ${hsToken({ ...claims(more), user: { id } } as JsonObject)}`
  // Two calls a minute, by all tokens of one subject together.
  assert.equal((await get(token('ann'))).status, 200)
  assert.equal((await get(token('ann', { jti: '2' }))).status, 200)
  assert.equal((await get(token('ann', { jti: '3' }))).status, 429)
  assert.equal((await get(token('bob'))).status, 200)
  assert.equal((await get(token(7))).status, 200)
  // Another issuer's ann is a different subject.
  assert.equal((await get(token('ann', { iss: 'other' }))).status, 200)
  for (const id of ['', null, ['ann'], { a: 1 }, 1.5, 'a'.repeat(1025), 'a\nb'])
    assert.equal((await get(token(id))).status, 401, JSON.stringify(id))
})

test('policies come from a claim, from scopes, else from the definition', async (t) => {
  const { get, gate, publish, change, origin } = await jwtWorld(t, (origin) =>
    jwtApi(origin, {
      jwt_policy_field_name: 'pol',
      jwt_default_policies: ['other'],
      scopes: { jwt: { scope_claim_name: 'scp', scope_to_policy: { read: 'p', wide: 'other', gone: 'nope' } } },
    }),
  )
  let user = 0
  const status = async (more: JsonObject) =>
    (await get(`Bearer ${hsToken(claims({ sub: `u${user++}`, ...more }))}`)).status
  assert.equal(await status({}), 403) // `other` gives no right here
  assert.equal(await status({ pol: 'p' }), 200)
  assert.equal(await status({ pol: ['p', 'other'] }), 200)
  assert.equal(await status({ pol: 'nope' }), 403)
  assert.equal(await status({ pol: 'constructor' }), 403)
  assert.equal(await status({ scp: 'x read y' }), 200)
  assert.equal(await status({ scp: ['wide', 'read'] }), 200)
  assert.equal(await status({ scp: 'wide' }), 403)
  assert.equal(await status({ scp: 'gone' }), 403)
  assert.equal(await status({ scp: '__proto__ constructor' }), 403)
  assert.equal(await status({ pol: 'other', scp: 'read' }), 200)
  await change(jwtApi(origin))
  const token = `Bearer ${hsToken()}`
  assert.equal((await get(token)).status, 200)
  assert.equal((await gate.svc('PUT', '/svc/policies/p', { ...policy('p'), is_inactive: true })).status, 200)
  assert.equal((await get(token)).status, 403)
  assert.equal((await gate.svc('DELETE', '/svc/policies/p')).status, 200)
  assert.equal((await get(token)).status, 403)
  // A policy of another organisation than the API's is none.
  const elsewhere = jwtApi(origin, { api_id: 'k', org_id: 'elsewhere', jwt_default_policies: ['k', 'k2'] })
  elsewhere.proxy = { listen_path: '/k/', target_url: origin.url, strip_listen_path: true }
  assert.equal((await publish(elsewhere)).status, 200)
  const foreign = { ...policy('k'), org_id: 'third' }
  assert.equal((await gate.svc('POST', '/svc/policies', foreign)).status, 400)
  assert.equal((await get(token, '/k/x')).status, 403)
  assert.equal((await gate.svc('POST', '/svc/policies', { ...policy('k'), id: 'k2', org_id: 'elsewhere' })).status, 200)
  assert.equal((await get(token, '/k/x')).status, 200)
})

function policy(id: string): JsonObject {
  return { id, active: true, access_rights: rightsOn(id === 'k' ? 'k' : 'j') }
}

test('explain tells why a token is refused, and who it is when it is not, without showing it', async (t) => {
  const { gate } = await jwtWorld(t, (origin) => jwtApi(origin, { jwt_client_base_field: 'azp' }))
  const explain = async (token: string) => {
    const asked = { method: 'GET', url: '/j/x', headers: { authorization: `Bearer ${token}` } }
    const answer = await gate.svc('POST', '/svc/explain', asked)
    assert.equal(answer.status, 200, answer.text)
    assert.ok(!answer.text.includes(token))
    return seen(answer)
  }
  const good = await explain(hsToken(claims({ azp: 'app-1' })))
  assert.equal((good.result as JsonObject).outcome, 'forwarded')
  assert.equal((good.key as JsonObject).alias, 'ann')
  assert.deepEqual(good.policies, ['p'])
  const steps = (await explain(hsToken(claims({ nbf: NOW_S + 9 })))).steps as JsonObject[]
  assert.deepEqual(steps.at(-1), {
    step: 'authenticateJwt',
    outcome: 'refused',
    reason: 'the nbf of the token lies in the future',
    code: 'token_unknown',
  })
})

test('requests are counted under the token’s identity and client, and the token can be stripped', async (t) => {
  const { gate, get, origin } = await jwtWorld(t, (origin) =>
    jwtApi(origin, { jwt_client_base_field: 'azp', strip_auth_data: true }),
  )
  assert.equal((await get(`Bearer ${hsToken(claims({ azp: 'app-1' }))}`)).status, 200)
  assert.equal(origin.seen.at(-1)!.headers.authorization, undefined)
  await gate.close()
  const rows = await gate.store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 10 })
  assert.deepEqual(
    rows.map(({ alias, clientId }) => ({ alias, clientId })),
    [{ alias: 'ann', clientId: 'app-1' }],
  )
})
