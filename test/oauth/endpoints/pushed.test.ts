import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { authorize } from '../../../src/oauth/endpoints/authorize.ts'
import { authorizeClient } from '../../../src/oauth/endpoints/authorize-client.ts'
import { pushRequest } from '../../../src/oauth/endpoints/pushed.ts'
import {
  basic,
  CALLBACK,
  CHALLENGE,
  type Front,
  faultOf,
  field,
  front,
  ISSUER,
  locationOf,
  type Sent,
} from '../../worlds/oauth/front-fixtures.ts'

const GOOD = { response_type: 'code', redirect_uri: CALLBACK, state: 's', scope: 'read write' }

const push = async (f: Front, form: Sent['form'] = GOOD, headers: Sent['headers'] = basic('shop')) =>
  pushRequest(f.parts, f.call('par', { form: form ?? {}, headers: headers ?? {} }))

const pushed = async (f: Front, form?: Sent['form']): Promise<string> =>
  JSON.parse((await push(f, form)).body).request_uri

const go = async (f: Front, request_uri: string, more = {}) =>
  authorize(f.parts, f.call('authorize', { query: { client_id: 'shop', request_uri, ...more } }))

const conclude = async (f: Front, form: Readonly<Record<string, string>>) =>
  authorizeClient(f.parts, f.call('authorize_client', { form, administrative: true }))

test('a pushed request gets 201 and a request_uri of 256 bits for a minute', async (t) => {
  const f = front(t)
  f.client()
  const answer = await push(f, { ...GOOD, code_challenge: CHALLENGE, code_challenge_method: 'S256', nonce: 'n' })
  assert.equal(answer.status, 201)
  const { expires_in, request_uri } = JSON.parse(answer.body)
  assert.equal(expires_in, 60)
  assert.match(request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/)
  assert.match(field(answer, 'cache-control') ?? '', /no-store/)
})

test('the login page gets the pushed parameters and a request_uri for one code', async (t) => {
  const f = front(t)
  f.client()
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
  const uri = await pushed(f, { ...GOOD, ...pkce, prompt: 'consent' })
  const answer = await go(f, uri)
  assert.equal(answer.status, 307)
  const { request_uri: own, ...shown } = Object.fromEntries(locationOf(answer).searchParams)
  assert.deepEqual(shown, { tenant: 'a', client_id: 'shop', ...GOOD, ...pkce, prompt: 'consent' })
  assert.ok(own?.startsWith('urn:ietf:params:oauth:request_uri:'))
  assert.notEqual(own, uri)

  const done = await conclude(f, { client_id: 'shop', request_uri: own!, username: 'jo', key_rules: '{"alias":"jo"}' })
  assert.equal(done.status, 200)
  const { code, redirect_to, state } = JSON.parse(done.body)
  assert.equal(redirect_to, `${CALLBACK}?code=${code}&state=s&${new URLSearchParams({ iss: ISSUER })}`)
  assert.equal(state, 's')
  const { body } = (await f.parts.tokens.getTicket(hashKey(code)))!
  assert.deepEqual(body, {
    epoch: 'epoch-1',
    redirect_uri: CALLBACK,
    sent_to: CALLBACK,
    since: '',
    challenge: CHALLENGE,
    scope: 'read write',
    jkt: '',
    username: 'jo',
    key_rules: { alias: 'jo' },
    stands_alone: true,
  })
  await assert.rejects(conclude(f, { client_id: 'shop', request_uri: own! }), faultOf('oauth_request_uri_unusable'))
})

test('a login page with changed parameters still uses the pushed ones', async (t) => {
  const f = front(t)
  f.client({ redirect_uris: [CALLBACK, `${CALLBACK}2`] })
  const uri = await pushed(f, { ...GOOD, code_challenge: CHALLENGE, code_challenge_method: 'S256' })
  const all = Object.fromEntries(locationOf(await go(f, uri)).searchParams)
  const changed = {
    ...all,
    redirect_uri: `${CALLBACK}2`,
    state: 'other',
    code_challenge: '',
    code_challenge_method: '',
  }
  const { code, redirect_to, state } = JSON.parse((await conclude(f, changed)).body)
  assert.ok(redirect_to.startsWith(`${CALLBACK}?`))
  assert.equal(state, 's')
  assert.equal((await f.parts.tokens.getTicket(hashKey(code)))?.body.challenge, CHALLENGE)
})

test('a user may allow less than was pushed, never more', async (t) => {
  const f = front(t)
  f.client()
  const login = async (scope: string) => {
    const answer = await go(f, await pushed(f, { ...GOOD, scope: 'read' }))
    const request_uri = locationOf(answer).searchParams.get('request_uri')!
    return conclude(f, { client_id: 'shop', request_uri, scope })
  }
  assert.equal((await login('read')).status, 200)
  const wider = await login('read write')
  assert.equal(wider.status, 400)
  assert.equal(JSON.parse(wider.body).error, 'invalid_scope')
})

test('a request_uri is good once, also among a hundred tries at once', async (t) => {
  const f = front(t)
  f.client()
  const uri = await pushed(f)
  const tries = await Promise.allSettled(Array.from({ length: 100 }, () => go(f, uri)))
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const tried of tries) if (tried.status === 'rejected') faultOf('oauth_request_uri_unusable')(tried.reason)
  const first = tries.find((tried) => tried.status === 'fulfilled')!
  const request_uri = locationOf(first.value).searchParams.get('request_uri')!
  const codes = await Promise.allSettled(
    Array.from({ length: 100 }, () => conclude(f, { client_id: 'shop', request_uri })),
  )
  assert.equal(codes.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('a request that was used tells nobody anything more, however it is brought again', async (t) => {
  const f = front(t)
  f.client()
  const request_uri = locationOf(await go(f, await pushed(f))).searchParams.get('request_uri')!
  assert.equal((await conclude(f, { client_id: 'shop', request_uri })).status, 200)
  const again = conclude(f, { client_id: 'shop', request_uri, key_rules: 'malformed' })
  await assert.rejects(again, faultOf('oauth_request_uri_unusable'))
})

test('without a login page a request_uri is good once as well', async (t) => {
  const f = front(t, { loginRedirect: '' })
  f.client()
  const uri = await pushed(f)
  assert.equal(field(await go(f, uri), 'location'), CALLBACK)
  await assert.rejects(go(f, uri), faultOf('oauth_request_uri_unusable'))
})

test('a refusal uses the request up', async (t) => {
  const f = front(t)
  f.client()
  const request_uri = locationOf(await go(f, await pushed(f))).searchParams.get('request_uri')!
  const told = JSON.parse((await conclude(f, { client_id: 'shop', request_uri, error: 'access_denied' })).body)
  assert.equal(new URL(told.redirect_to).searchParams.get('error'), 'access_denied')
  await assert.rejects(conclude(f, { client_id: 'shop', request_uri }), faultOf('oauth_request_uri_unusable'))
})

test('the request_uri of the login page and that of the browser are not interchangeable', async (t) => {
  const f = front(t)
  f.client()
  const uri = await pushed(f)
  await assert.rejects(conclude(f, { client_id: 'shop', request_uri: uri }), faultOf('oauth_request_uri_unusable'))
  const own = locationOf(await go(f, uri)).searchParams.get('request_uri')!
  await assert.rejects(go(f, own), faultOf('oauth_request_uri_unusable'))
})

test('a request_uri is for its client, its API, its minute and its epoch', async (t) => {
  const f = front(t)
  f.client()
  f.client({ client_id: 'other' })
  const uri = await pushed(f)
  await assert.rejects(go(f, uri, { client_id: 'other' }), faultOf('oauth_request_uri_unusable'))
  const elsewhere = { ...f.api, apiId: 'invoices' }
  f.client({ client_id: 'shop', api_ids: ['orders', 'invoices'] })
  const call = f.call('authorize', { query: { client_id: 'shop', request_uri: uri }, api: elsewhere })
  await assert.rejects(authorize(f.parts, call), faultOf('oauth_request_uri_unusable'))
  f.client({ epoch: 'epoch-2' })
  await assert.rejects(go(f, uri), faultOf('oauth_request_uri_unusable'))
  f.client()
  f.clock.advance(60_000)
  await assert.rejects(go(f, uri), faultOf('oauth_request_uri_unusable'))
})

test('a code is no request_uri, whatever stands in front of it', async (t) => {
  const f = front(t)
  f.client()
  const urn = 'urn:ietf:params:oauth:request_uri:'
  for (const uri of [urn, `${urn}x`, `${urn}${'A'.repeat(43)}`, `${await pushed(f)}x`])
    await assert.rejects(go(f, uri), faultOf('oauth_request_uri_unusable'))
})

test('what stands beside a request_uri is not read', async (t) => {
  const f = front(t)
  f.client()
  const beside = { redirect_uri: 'https://evil.example/', response_type: 'token', scope: 'admin', state: 'forged' }
  const { searchParams } = locationOf(await go(f, await pushed(f), beside))
  assert.equal(searchParams.get('redirect_uri'), CALLBACK)
  assert.equal(searchParams.get('scope'), GOOD.scope)
  assert.equal(searchParams.get('state'), 's')
})

test('repeats beside a request_uri are refused without using it up', async (t) => {
  const f = front(t)
  f.client()
  const uri = await pushed(f)
  for (const name of ['unknown', 'state', 'redirect_uri', 'scope'])
    for (const [first, second] of [
      [`${name}=1`, `${name}=2`],
      [name, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=`],
    ]) {
      const text = `${new URLSearchParams({ client_id: 'shop', request_uri: uri })}&${first}&${second}`
      for (const sent of [{ query: text }, { form: text }]) {
        const answer = await authorize(f.parts, f.call('authorize', sent))
        assert.equal(answer.status, 303, text)
        assert.match(locationOf(answer).searchParams.get('error_description') ?? '', /more than once/, text)
        assert.equal(locationOf(answer).searchParams.get('state'), GOOD.state)
      }
    }
  assert.equal((await go(f, uri)).status, 307)
})

test('where requests must be pushed, pushed ones are taken', async (t) => {
  const f = front(t, { requirePushedRequests: true })
  f.client()
  const request_uri = locationOf(await go(f, await pushed(f))).searchParams.get('request_uri')!
  assert.equal((await conclude(f, { client_id: 'shop', request_uri })).status, 200)
})

test('secrets and what only the login page says are not kept', async (t) => {
  const f = front(t)
  f.client()
  const form = {
    ...GOOD,
    client_id: 'shop',
    client_secret: 'the secret of the shop client',
    key_rules: '{}',
    username: 'root',
  }
  const { request_uri } = JSON.parse((await push(f, form, {})).body)
  const ticket = await f.parts.tokens.getTicket(hashKey(request_uri))
  assert.deepEqual(ticket?.body.params, { ...GOOD, client_id: 'shop' })
})

const REFUSED: readonly (readonly [what: string, change: Readonly<Record<string, string>>, code: string])[] = [
  ['a request_uri', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'oauth_invalid_request'],
  ['a request object', { request: 'x' }, 'oauth_request_unsupported'],
  ['another redirect URI', { redirect_uri: 'https://evil.example/' }, 'oauth_invalid_request'],
  ['an implicit token', { response_type: 'token' }, 'oauth_unsupported_response'],
  ['an unknown scope', { scope: 'admin' }, 'oauth_invalid_scope'],
  ['plain PKCE', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }, 'oauth_invalid_request'],
  ['a huge state', { state: 'x'.repeat(5000) }, 'oauth_invalid_request'],
  ['more than a login page can be sent', { extra: 'x'.repeat(9000) }, 'oauth_invalid_request'],
  ['the id of another client', { client_id: 'other' }, 'oauth_unknown_caller'],
]

for (const [what, change, code] of REFUSED) {
  test(`refused, without a redirect: ${what}`, async (t) => {
    const f = front(t)
    f.client()
    f.client({ client_id: 'other' })
    await assert.rejects(push(f, { ...GOOD, ...change }), faultOf(code))
  })
}

test('only the client itself may push: a wrong secret, or none, is refused', async (t) => {
  const f = front(t)
  f.client()
  await assert.rejects(push(f, GOOD, basic('shop', 'wrong')), faultOf('oauth_invalid_client'))
  await assert.rejects(push(f, { ...GOOD, client_id: 'shop' }, {}), faultOf('oauth_invalid_client'))
  await assert.rejects(push(f, GOOD, {}), faultOf('oauth_invalid_client'))
})

test('public clients push with their id and a challenge', async (t) => {
  const f = front(t)
  f.client({ auth_method: 'none' })
  const form = { ...GOOD, client_id: 'shop' }
  await assert.rejects(push(f, form, {}), faultOf('oauth_invalid_request', 'PKCE'))
  const answer = await push(f, { ...form, code_challenge: CHALLENGE, code_challenge_method: 'S256' }, {})
  assert.equal(answer.status, 201)
})

test('a DPoP proof binds the code to its key, and must be of the key that dpop_jkt names', async (t) => {
  const f = front(t)
  f.client()
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const jkt = createHash('sha256')
    .update(JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y }))
    .digest('base64url')
  const proof = (jti: string) =>
    jwtOf(
      privateKey,
      { typ: 'dpop+jwt', alg: 'ES256', jwk },
      { jti, htm: 'POST', htu: `${ISSUER}/oauth/par`, iat: f.clock.wall() / 1000 },
    )
  const { request_uri } = JSON.parse((await push(f, GOOD, { ...basic('shop'), dpop: proof('1') })).body)
  const own = locationOf(await go(f, request_uri)).searchParams.get('request_uri')!
  const { code } = JSON.parse((await conclude(f, { client_id: 'shop', request_uri: own })).body)
  assert.equal((await f.parts.tokens.getTicket(hashKey(code)))?.body.jkt, jkt)
  assert.equal((await push(f, { ...GOOD, dpop_jkt: jkt }, { ...basic('shop'), dpop: proof('2') })).status, 201)
  const other = push(f, { ...GOOD, dpop_jkt: CHALLENGE }, { ...basic('shop'), dpop: proof('3') })
  await assert.rejects(other, faultOf('oauth_invalid_proof'))
  await assert.rejects(push(f, GOOD, { ...basic('shop'), dpop: proof('1') }), faultOf('oauth_invalid_proof'))
})

function jwtOf(key: KeyObject, header: object, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part(header)}.${part(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}
