import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { authorizeClient } from '../../../src/oauth/endpoints/authorize-client.ts'
import {
  CALLBACK,
  CHALLENGE,
  type Front,
  faultOf,
  front,
  ISSUER,
  type Sent,
} from '../../worlds/oauth/front-fixtures.ts'

const GOOD = { response_type: 'code', client_id: 'shop', redirect_uri: CALLBACK }

const ask = async ({ parts, call }: Front, form: Sent['form'], more: Sent = {}) =>
  authorizeClient(parts, call('authorize_client', { form: form ?? {}, administrative: true, ...more }))

const bodyOf = (answer: { body: string }) => JSON.parse(answer.body)

test('a code comes with where to take it: members in order, iss beside code and state', async (t) => {
  const f = front(t)
  f.client()
  const answer = await ask(f, { ...GOOD, state: 'a b', scope: 'read', username: 'jo' })
  assert.equal(answer.status, 200)
  const body = bodyOf(answer)
  assert.deepEqual(Object.keys(body), ['code', 'redirect_to', 'state'])
  assert.match(body.code, /^[A-Za-z0-9_-]{43}$/)
  const iss = new URLSearchParams({ iss: ISSUER })
  assert.equal(body.redirect_to, `${CALLBACK}?code=${body.code}&state=a+b&${iss}`)
  assert.equal(body.state, 'a b')
  const bare = bodyOf(await ask(f, GOOD))
  assert.deepEqual(Object.keys(bare), ['code', 'redirect_to'])
  assert.equal(bare.redirect_to, `${CALLBACK}?code=${bare.code}&${iss}`)
})

test('a code is stored as its hash, bound to client, redirect URI, challenge, user and epoch', async (t) => {
  const f = front(t)
  f.client()
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256', dpop_jkt: CHALLENGE }
  const keyRules = { rate: 5, per: 1, alias: 'jo' }
  const form = { ...GOOD, ...pkce, scope: 'write read', username: 'jo', key_rules: JSON.stringify(keyRules) }
  const { code } = bodyOf(await ask(f, form))
  const ticket = await f.parts.tokens.getTicket(hashKey(code))
  assert.equal(ticket?.sort, 'code')
  assert.equal(ticket?.apiId, 'orders')
  assert.equal(ticket?.clientId, 'shop')
  assert.notEqual(ticket?.family, '')
  assert.equal(ticket?.expiresAt, f.clock.wall() + 60_000)
  assert.ok(ticket!.keepUntil >= ticket!.expiresAt + 3_600_000, 'a late second use is still noticed')
  assert.deepEqual(ticket?.body, {
    epoch: 'epoch-1',
    redirect_uri: CALLBACK,
    sent_to: CALLBACK,
    since: '',
    challenge: CHALLENGE,
    scope: 'write read',
    jkt: CHALLENGE,
    username: 'jo',
    key_rules: keyRules,
    stands_alone: true,
  })
  assert.ok(!JSON.stringify(ticket).includes(code))
})

test('a redirect URI that is left out binds the code to none', async (t) => {
  const f = front(t)
  f.client()
  const { code, redirect_to } = bodyOf(await ask(f, { response_type: 'code', client_id: 'shop' }))
  assert.ok(redirect_to.startsWith(`${CALLBACK}?code=`))
  assert.equal((await f.parts.tokens.getTicket(hashKey(code)))?.body.redirect_uri, '')
})

test('the API may shorten the life of codes', async (t) => {
  const f = front(t, { codeS: 10 })
  f.client()
  const { code } = bodyOf(await ask(f, GOOD))
  assert.equal((await f.parts.tokens.getTicket(hashKey(code)))?.expiresAt, f.clock.wall() + 10_000)
})

test('two codes are never the same and never of the same grant', async (t) => {
  const f = front(t)
  f.client()
  const tickets = await Promise.all(
    Array.from({ length: 50 }, async () => f.parts.tokens.getTicket(hashKey(bodyOf(await ask(f, GOOD)).code))),
  )
  assert.equal(new Set(tickets.map((ticket) => ticket?.family)).size, 50)
})

test('without the secret: 403 in the words of management calls, whatever is sent', async (t) => {
  const f = front(t)
  f.client()
  for (const form of [GOOD, {}, { user_code: 'BCDF-GHJK' }]) {
    const answer = await ask(f, form, { administrative: false })
    assert.equal(answer.status, 403)
    assert.deepEqual(bodyOf(answer), {
      status: 'error',
      message: 'Attempted administrative access with invalid or missing key!',
    })
  }
})

test('credentials, lifetimes and what is ours to say are taken out of key_rules', async (t) => {
  const f = front(t)
  f.client()
  const own = { counter_id: 'x', oauth_token: {}, oauth_client_id: 'x', expires: 1, basic_auth_data: { password: 'p' } }
  const key_rules = JSON.stringify({ ...own, tags: ['gold'], meta_data: { plan: 'a' }, unknown: 1 })
  const { code } = bodyOf(await ask(f, { ...GOOD, key_rules }))
  const ticket = await f.parts.tokens.getTicket(hashKey(code))
  assert.deepEqual(ticket?.body.key_rules, { tags: ['gold'], meta_data: { plan: 'a' }, unknown: 1 })
})

const REFUSED: readonly (readonly [what: string, change: Readonly<Record<string, string>>, error: string])[] = [
  ['no response type', { response_type: '' }, 'invalid_request'],
  ['an implicit token', { response_type: 'token' }, 'unsupported_response_type'],
  ['key_rules that are no JSON', { key_rules: '{' }, 'invalid_request'],
  ['key_rules that are a list', { key_rules: '[]' }, 'invalid_request'],
  ['key_rules that are null', { key_rules: 'null' }, 'invalid_request'],
  ['key_rules that are no session', { key_rules: '{"rate":"fast"}' }, 'invalid_request'],
  ['key_rules with malformed rights', { key_rules: '{"access_rights":[]}' }, 'invalid_request'],
  ['an unknown scope', { scope: 'admin' }, 'invalid_scope'],
  ['plain PKCE', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }, 'invalid_request'],
  ['a request object', { request: 'x' }, 'request_not_supported'],
  ['a username without end', { username: 'x'.repeat(257) }, 'invalid_request'],
  ['a report that is none', { error: 'because' }, 'invalid_request'],
  ['a report with a malformed description', { error: 'access_denied', error_description: 'a\r\nb' }, 'invalid_request'],
]

for (const [what, change, error] of REFUSED) {
  test(`refused with redirect_to: ${what}`, async (t) => {
    const f = front(t)
    f.client()
    const answer = await ask(f, { ...GOOD, state: 's', ...change })
    assert.equal(answer.status, 400)
    const body = bodyOf(answer)
    assert.deepEqual(Object.keys(body), ['error', 'error_description', 'redirect_to'])
    assert.equal(body.error, error)
    const back = new URL(body.redirect_to)
    assert.equal(back.origin + back.pathname, CALLBACK)
    assert.deepEqual([...back.searchParams.keys()], ['error', 'error_description', 'state', 'iss'])
    assert.equal(back.searchParams.get('error'), error)
    assert.equal(back.searchParams.get('iss'), ISSUER)
  })
}

test('a flaw of key_rules is named by its path, for who made it', async (t) => {
  const f = front(t)
  f.client()
  const { error_description } = bodyOf(await ask(f, { ...GOOD, key_rules: '{"rate":"fast"}' }))
  assert.match(error_description, /key_rules: .*rate/)
})

for (const [what, form, code] of [
  ['an unknown client', { ...GOOD, client_id: 'nobody' }, 'oauth_unknown_client'],
  ['no client', { response_type: 'code' }, 'oauth_invalid_request'],
  ['another redirect URI', { ...GOOD, redirect_uri: 'https://evil.example/' }, 'oauth_invalid_request'],
  [
    'an error report to another redirect URI',
    { ...GOOD, redirect_uri: 'x', error: 'access_denied' },
    'oauth_invalid_request',
  ],
  ['two redirect URIs', `${new URLSearchParams(GOOD)}&redirect_uri=x`, 'oauth_invalid_request'],
] as const) {
  test(`refused without redirect_to: ${what}`, async (t) => {
    const f = front(t)
    f.client()
    await assert.rejects(ask(f, form), faultOf(code))
  })
}

test('PKCE survives the login page: a public client without challenge gets no code', async (t) => {
  const f = front(t)
  f.client({ auth_method: 'none' })
  const answer = await ask(f, GOOD)
  assert.equal(answer.status, 400)
  assert.match(bodyOf(answer).error_description, /code_challenge/)
})

test('where requests must be pushed, a login page cannot go without', async (t) => {
  const f = front(t, { requirePushedRequests: true })
  f.client()
  assert.equal(bodyOf(await ask(f, GOOD)).error, 'invalid_request')
})

test('the login page says that the user refused, and gets where to tell the client', async (t) => {
  const f = front(t)
  f.client()
  const form = { ...GOOD, state: 's', error: 'access_denied', error_description: 'The user said no' }
  const answer = await ask(f, form)
  assert.equal(answer.status, 200)
  const body = bodyOf(answer)
  assert.deepEqual(Object.keys(body), ['error', 'redirect_to', 'state'])
  assert.equal(body.error, 'access_denied')
  assert.deepEqual(Object.fromEntries(new URL(body.redirect_to).searchParams), {
    error: 'access_denied',
    error_description: 'The user said no',
    state: 's',
    iss: ISSUER,
  })
  for (const error of ['login_required', 'interaction_required', 'consent_required', 'temporarily_unavailable']) {
    assert.equal(bodyOf(await ask(f, { ...GOOD, error })).error, error)
  }
})

test('a store that is away answers as such, and tells the client nothing', async (t) => {
  const f = front(t)
  f.client()
  await f.store.close()
  await assert.rejects(ask(f, GOOD), (error: { code?: string }) => !String(error.code).startsWith('oauth_'))
})

test('DPoP keys are not read where the API does not know DPoP', async (t) => {
  const f = front(t, { dpop: 'off' })
  f.client()
  const { code } = bodyOf(await ask(f, { ...GOOD, dpop_jkt: 'whatever' }))
  assert.equal((await f.parts.tokens.getTicket(hashKey(code)))?.body.jkt, '')
})

test('under legacy statuses the one status answers, with redirect_to', async (t) => {
  const f = front(t)
  f.client()
  const legacy = {
    ...f,
    parts: { ...f.parts, config: { ...f.parts.config, compat: { legacy_statuses: true, vendor_aliases: [] } } },
  }
  const answer = await ask(legacy, { ...GOOD, response_type: 'token' })
  assert.equal(answer.status, 403)
  assert.equal(bodyOf(answer).error, 'unsupported_response_type')
  assert.ok(bodyOf(answer).redirect_to.startsWith(CALLBACK))
})
