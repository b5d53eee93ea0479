import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize } from '../../../src/oauth/endpoints/authorize.ts'
import { queryNames, withQuery } from '../../../src/oauth/messages/with-query.ts'
import {
  CALLBACK,
  CHALLENGE,
  faultOf,
  field,
  front,
  ISSUER,
  LOGIN,
  locationOf,
  type Sent,
} from '../../worlds/oauth/front-fixtures.ts'

const GOOD = { response_type: 'code', client_id: 'shop', redirect_uri: CALLBACK, state: 'a b&c=d', scope: 'read' }

test('GET redirects to the login page with its own query and the parameters', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const query = { ...GOOD, prompt: 'login', ui_locales: 'de', nonce: 'n-1', anything: 'ü' }
  const answer = await authorize(parts, call('authorize', { query }))
  assert.equal(answer.status, 307)
  assert.ok(field(answer, 'location')!.startsWith(`${LOGIN}&response_type=code&client_id=shop&`))
  assert.deepEqual(Object.fromEntries(locationOf(answer).searchParams), { tenant: 'a', ...query })
})

test('POST reads its query too; parameters that are in both are refused', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const form = { ...GOOD, code_challenge: CHALLENGE, code_challenge_method: 'S256' }
  for (const redirect_uri of ['https://evil.example/', form.redirect_uri, ''])
    await assert.rejects(
      async () => authorize(parts, call('authorize', { form, query: { redirect_uri } })),
      /redirect_uri is given more than once/,
    )
  const answer = await authorize(parts, call('authorize', { form, query: { ui_locales: 'de' } }))
  assert.equal(answer.status, 307)
  assert.deepEqual(Object.fromEntries(locationOf(answer).searchParams), { tenant: 'a', ui_locales: 'de', ...form })
})

test('without a login page, Location is the validated redirect URI', async (t) => {
  const { parts, call, client } = front(t, { loginRedirect: '' })
  client()
  const answer = await authorize(parts, call('authorize', { query: GOOD }))
  assert.equal(answer.status, 307)
  assert.equal(field(answer, 'location'), CALLBACK)
})

test('a redirect URI that is left out is the only registered one', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const { redirect_uri: _none, ...query } = GOOD
  const good = await authorize(parts, call('authorize', { query }))
  assert.equal(good.status, 307)
  assert.equal(locationOf(good).searchParams.get('redirect_uri'), null)
  const bad = await authorize(parts, call('authorize', { query: { ...query, response_type: 'token' } }))
  assert.ok(field(bad, 'location')!.startsWith(`${CALLBACK}?error=`))
})

test('a request cannot set what only the login page or its address may', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const forged = {
    tenant: 'b',
    username: 'root',
    key_rules: '{}',
    error: 'access_denied',
    user_code: 'X',
    decision: 'approve',
  }
  const secrets = { client_secret: 's', secret: 's', client_assertion: 's', client_assertion_type: 's' }
  const answer = await authorize(parts, call('authorize', { query: { ...GOOD, ...forged, ...secrets } }))
  assert.equal(answer.status, 307)
  assert.deepEqual(Object.fromEntries(locationOf(answer).searchParams), { tenant: 'a', ...GOOD })
})

const NEVER: readonly (readonly [what: string, sent: Sent, code: string])[] = [
  ['no client', { query: { response_type: 'code', redirect_uri: CALLBACK } }, 'oauth_invalid_request'],
  ['an empty client', { query: { ...GOOD, client_id: '' } }, 'oauth_invalid_request'],
  ['an unknown client', { query: { ...GOOD, client_id: 'nobody' } }, 'oauth_unknown_client'],
  ['a client that looks like a path', { query: { ...GOOD, client_id: '../../shop' } }, 'oauth_unknown_client'],
  ['a client of another API', { query: { ...GOOD, client_id: 'foreign' } }, 'oauth_unknown_client'],
  ['two clients', { query: 'client_id=shop&client_id=other&response_type=code' }, 'oauth_invalid_request'],
  ['another redirect URI', { query: { ...GOOD, redirect_uri: `${CALLBACK}/more` } }, 'oauth_invalid_request'],
  ['a script for a redirect URI', { query: { ...GOOD, redirect_uri: 'javascript:alert(1)' } }, 'oauth_invalid_request'],
  [
    'two redirect URIs',
    { query: `client_id=shop&response_type=code&redirect_uri=${CALLBACK}&redirect_uri=https://evil.example/` },
    'oauth_invalid_request',
  ],
  [
    'no redirect URI where several are registered',
    { query: { ...GOOD, client_id: 'two', redirect_uri: '' } },
    'oauth_invalid_request',
  ],
  ['a client without redirect URI', { query: { ...GOOD, client_id: 'bare' } }, 'oauth_invalid_request'],
  ['a broken escape', { query: 'client_id=shop&state=%zz' }, 'oauth_invalid_request'],
  [
    'a body of another type',
    { form: 'client_id=shop', headers: { 'content-type': 'text/plain' } },
    'oauth_invalid_request',
  ],
  [
    'a request_uri that was never given out',
    { query: { client_id: 'shop', request_uri: 'urn:ietf:params:oauth:request_uri:x', redirect_uri: CALLBACK } },
    'oauth_request_uri_unusable',
  ],
]

for (const [what, sent, code] of NEVER) {
  test(`never redirects: ${what}`, async (t) => {
    const { parts, call, client } = front(t)
    client()
    client({ client_id: 'foreign', api_ids: ['invoices'] })
    client({ client_id: 'two', redirect_uris: [CALLBACK, `${CALLBACK}2`] })
    client({ client_id: 'bare', redirect_uris: [] })
    await assert.rejects(async () => authorize(parts, call('authorize', sent)), faultOf(code))
  })
}

const BACK: readonly (readonly [what: string, change: Readonly<Record<string, string>>, error: string])[] = [
  ['no response type', { response_type: '' }, 'invalid_request'],
  ['an implicit token', { response_type: 'token' }, 'unsupported_response_type'],
  ['a hybrid response', { response_type: 'code token' }, 'unsupported_response_type'],
  ['an id token', { response_type: 'id_token' }, 'unsupported_response_type'],
  ['an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
  ['an answer by form', { response_mode: 'form_post' }, 'invalid_request'],
  ['an unknown scope', { scope: 'read admin' }, 'invalid_scope'],
  ['plain PKCE', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }, 'invalid_request'],
  ['a malformed challenge', { code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request'],
  ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
  ['a request object by address', { request_uri: 'https://evil.example/r' }, 'request_uri_not_supported'],
  ['a malformed DPoP thumbprint', { dpop_jkt: 'x' }, 'invalid_request'],
  ['much more than a login page can be sent', { extra: 'x'.repeat(9000) }, 'invalid_request'],
]

for (const [what, change, error] of BACK) {
  test(`goes back to the client with ${error}: ${what}`, async (t) => {
    const { parts, call, client } = front(t)
    client()
    for (const sent of [{ query: { ...GOOD, ...change } }, { form: { ...GOOD, ...change } }]) {
      const answer = await authorize(parts, call('authorize', sent))
      assert.equal(answer.status, 303, 'a posted form is not sent on')
      const { origin, pathname, searchParams } = locationOf(answer)
      assert.equal(origin + pathname, CALLBACK)
      assert.equal(searchParams.get('error'), error)
      assert.ok(searchParams.get('error_description'))
      assert.equal(searchParams.get('state'), GOOD.state)
      assert.equal(searchParams.get('iss'), ISSUER)
      assert.deepEqual([...searchParams.keys()], ['error', 'error_description', 'state', 'iss'])
    }
  })
}

test('an implicit token is refused even where the definition lists it', async (t) => {
  const { parts, call, client } = front(t, { responseTypes: new Set(['code', 'token']) })
  client()
  const answer = await authorize(parts, call('authorize', { query: { ...GOOD, response_type: 'token' } }))
  assert.equal(locationOf(answer).searchParams.get('error'), 'unsupported_response_type')
})

for (const [what, rules] of [
  ['does not list code', { responseTypes: new Set<string>() }],
  ['does not have the grant', { grants: new Set(['client_credentials'] as const) }],
] as const) {
  test(`no codes where the API ${what}`, async (t) => {
    const { parts, call, client } = front(t, rules)
    client()
    const answer = await authorize(parts, call('authorize', { query: GOOD }))
    assert.equal(locationOf(answer).searchParams.get('error'), 'unsupported_response_type')
  })
}

test('a client that is registered for other grants gets no code', async (t) => {
  const { parts, call, client } = front(t)
  client({ grant_types: ['client_credentials'] })
  const answer = await authorize(parts, call('authorize', { query: GOOD }))
  assert.equal(locationOf(answer).searchParams.get('error'), 'unauthorized_client')
})

test('public clients must use PKCE, and every client where the API says so', async (t) => {
  const strict = front(t, { requirePkce: true })
  strict.client()
  const lax = front(t)
  lax.client({ auth_method: 'none' })
  for (const { parts, call } of [strict, lax]) {
    const without = await authorize(parts, call('authorize', { query: GOOD }))
    assert.equal(locationOf(without).searchParams.get('error'), 'invalid_request')
    const query = { ...GOOD, code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const answer = await authorize(parts, call('authorize', { query }))
    assert.equal(answer.status, 307)
    assert.equal(locationOf(answer).searchParams.get('code_challenge'), CHALLENGE)
  }
})

test('where requests must be pushed, others go back', async (t) => {
  const { parts, call, client } = front(t, { requirePushedRequests: true })
  client()
  const answer = await authorize(parts, call('authorize', { query: GOOD }))
  assert.equal(answer.status, 303)
  assert.equal(locationOf(answer).searchParams.get('error'), 'invalid_request')
})

test('a repeated state goes back without one, since nobody can say which', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const query = `response_type=code&client_id=shop&redirect_uri=${CALLBACK}&state=1&state=2`
  const { searchParams } = locationOf(await authorize(parts, call('authorize', { query })))
  assert.equal(searchParams.get('error'), 'invalid_request')
  assert.equal(searchParams.has('state'), false)
})

test('any other repeated parameter goes back with the state', async (t) => {
  const { parts, call, client } = front(t)
  client()
  for (const name of ['scope', 'response_type', 'code_challenge', 'unknown']) {
    const query = `${new URLSearchParams(GOOD)}&${name}=x&${name}=y`
    const { searchParams } = locationOf(await authorize(parts, call('authorize', { query })))
    assert.equal(searchParams.get('error'), 'invalid_request', name)
    assert.equal(searchParams.get('state'), GOOD.state)
  }
})

test('a state is carried whole up to its bound, and refused above it without being repeated', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const fits = 'x'.repeat(4096)
  const good = await authorize(parts, call('authorize', { query: { ...GOOD, state: fits } }))
  assert.equal(good.status, 307)
  assert.equal(locationOf(good).searchParams.get('state'), fits)
  for (const state of [`${fits}x`, 'ü'.repeat(700), 'x'.repeat(50_000)]) {
    const answer = await authorize(parts, call('authorize', { form: { ...GOOD, state } }))
    assert.equal(answer.status, 303)
    assert.equal(locationOf(answer).searchParams.get('error'), 'invalid_request')
    assert.ok(answer.fields.length < 2000)
  }
})

test('what a state holds stays a value: no field and no parameter begins in it', async (t) => {
  const { parts, call, client } = front(t)
  client()
  const state = 'a\r\nSet-Cookie: x=1\r\n\r\n<script>&error=none#f \u0000ü'
  for (const scope of ['read', 'unknown']) {
    const answer = await authorize(parts, call('authorize', { query: { ...GOOD, scope, state } }))
    assert.equal(locationOf(answer).searchParams.get('state'), state)
    assert.equal(field(answer, 'set-cookie'), undefined)
    assert.equal(locationOf(answer).hash, '')
  }
})

test('the query of a redirect URI stays in front of what is added', async (t) => {
  const { parts, call, client } = front(t)
  client({ redirect_uris: [`${CALLBACK}?shop=1`] })
  const query = { ...GOOD, redirect_uri: `${CALLBACK}?shop=1`, scope: 'unknown' }
  const answer = await authorize(parts, call('authorize', { query }))
  assert.ok(field(answer, 'location')!.startsWith(`${CALLBACK}?shop=1&error=invalid_scope&`))
})

test('the port of a loopback redirect URI is free', async (t) => {
  const { parts, call, client } = front(t)
  client({ auth_method: 'none', redirect_uris: ['http://127.0.0.1/cb'] })
  const query = { ...GOOD, redirect_uri: 'http://127.0.0.1:49152/cb', scope: 'unknown' }
  const answer = await authorize(parts, call('authorize', { query }))
  assert.equal(locationOf(answer).host, '127.0.0.1:49152')
})

test('no answer may be framed, kept, or named to the next site', async (t) => {
  const { parts, call, client } = front(t)
  client()
  for (const scope of ['read', 'unknown']) {
    const answer = await authorize(parts, call('authorize', { query: { ...GOOD, scope } }))
    assert.equal(field(answer, 'x-frame-options'), 'DENY')
    assert.match(field(answer, 'content-security-policy') ?? '', /frame-ancestors 'none'/)
    assert.match(field(answer, 'cache-control') ?? '', /no-store/)
    assert.equal(field(answer, 'referrer-policy'), 'no-referrer')
  }
})

test('adding to an address keeps its query and fragment', () => {
  assert.equal(withQuery('https://a.example', [['x', '1 &']]), 'https://a.example?x=1+%26')
  assert.equal(withQuery('https://a.example/?', [['x', '1']]), 'https://a.example/?x=1')
  assert.equal(withQuery('https://a.example/?y=%20&', [['x', '1']]), 'https://a.example/?y=%20&x=1')
  assert.equal(withQuery('https://a.example/?y#/route?z', [['x', '1']]), 'https://a.example/?y&x=1#/route?z')
  assert.equal(withQuery('https://a.example/#/route?z', [['x', '1']]), 'https://a.example/?x=1#/route?z')
  assert.equal(withQuery('https://a.example/?y', [['x', undefined]]), 'https://a.example/?y')
  assert.deepEqual([...queryNames('https://a.example/?a=1&b#?c=2')], ['a', 'b'])
  assert.deepEqual([...queryNames('https://a.example/#?c=2')], [])
})
