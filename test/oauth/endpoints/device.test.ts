import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visitorOf } from '../../../src/model/network/visitor.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { authorizeClient } from '../../../src/oauth/endpoints/authorize-client.ts'
import { authorizeDevice, readUserCode } from '../../../src/oauth/endpoints/device.ts'
import { deviceGrant } from '../../../src/oauth/grants/device.ts'
import { parseForm } from '../../../src/oauth/messages/form.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'
import {
  basic,
  CHALLENGE,
  DEVICE_GRANT,
  type Front,
  faultOf,
  front,
  LOGIN,
  type Sent,
} from '../../worlds/oauth/front-fixtures.ts'

const RIGHTS = JSON.stringify({ access_rights: { orders: { api_id: 'orders', versions: ['Default'] } } })
const UNBOUND = { jkt: '', x5t: '' }

const begin = async (f: Front, form: Sent['form'] = { scope: 'read write' }) =>
  JSON.parse(
    (await authorizeDevice(f.parts, f.call('device_authorization', { form: form ?? {}, headers: basic('shop') }))).body,
  )

const decide = async (f: Front, form: Readonly<Record<string, string>>, more: Sent = {}) =>
  JSON.parse((await authorizeClient(f.parts, f.call('authorize_client', { form, administrative: true, ...more }))).body)

const approve = (f: Front, user_code: string, more = {}) =>
  decide(f, { user_code, decision: 'approve', username: 'jo', key_rules: RIGHTS, ...more })

/** The same, but once, before the first commit, something else happens. */
function before(f: Front, happens: () => Promise<unknown>): Front {
  let first = true
  const documents: Documents = Object.create(f.parts.documents)
  documents.commit = async (changes, audit) => {
    if (first) {
      first = false
      await happens()
    }
    return f.parts.documents.commit(changes, audit)
  }
  return { ...f, parts: { ...f.parts, documents } }
}

const poll = async (f: Front, client: OAuthClient, device_code: string, binding = UNBOUND) => {
  const form = new URLSearchParams({ grant_type: DEVICE_GRANT, device_code }).toString()
  return deviceGrant(f.parts, f.call('token', { form }), client, parseForm(form), binding)
}

test('a device gets a code of 256 bits, and its user one of eight consonants', async (t) => {
  const f = front(t)
  f.client()
  const answer = await begin(f)
  assert.deepEqual(Object.keys(answer), [
    'device_code',
    'expires_in',
    'interval',
    'user_code',
    'verification_uri',
    'verification_uri_complete',
  ])
  assert.match(answer.device_code, /^[A-Za-z0-9_-]{43}$/)
  assert.match(answer.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  assert.equal(answer.expires_in, 600)
  assert.equal(answer.interval, 5)
  assert.equal(answer.verification_uri, LOGIN)
  assert.equal(answer.verification_uri_complete, `${LOGIN}&user_code=${answer.user_code}`)
})

test('the journey: pending, approved by the user, tokens once', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_authorization_pending'))

  const about = { client_id: 'shop', description: 'The shop', expires_in: 600, scope: 'read write' }
  assert.deepEqual(await decide(f, { user_code }), { ...about, status: 'pending', user_code })
  const typed = user_code.toLowerCase().replace('-', ' ')
  assert.deepEqual(await approve(f, typed, { scope: 'read' }), {
    ...about,
    scope: 'read',
    status: 'approved',
    user_code,
  })

  const answer = await poll(f, client, device_code)
  assert.equal(answer.status, 200)
  const tokens = JSON.parse(answer.body)
  assert.equal(tokens.scope, 'read')
  assert.ok(tokens.refresh_token)
  const session = await f.parts.tokens.getSession(hashKey(tokens.access_token))
  assert.equal(session?.clientId, 'shop')
  assert.equal((session!.body.oauth_token as { username: string }).username, 'jo')
  assert.deepEqual(Object.keys(session!.body.access_rights as object), ['orders'])

  await assert.rejects(poll(f, client, device_code), faultOf('oauth_invalid_grant'))
  assert.ok(await f.parts.tokens.getSession(hashKey(tokens.access_token)), 'a poll that comes late ends nothing')
})

test('a device code gives tokens once, among a hundred polls at once', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  await approve(f, user_code)
  const polls = await Promise.allSettled(Array.from({ length: 100 }, () => poll(f, client, device_code)))
  assert.equal(polls.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const polled of polls) if (polled.status === 'rejected') faultOf('oauth_invalid_grant')(polled.reason)
  assert.equal(await f.parts.tokens.countSessions({ clientId: 'shop' }), 1)
})

test('refused by the user: access_denied, and no later consent', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  assert.equal((await decide(f, { user_code, decision: 'deny' })).status, 'denied')
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_access_denied'))
  await assert.rejects(approve(f, user_code), faultOf('oauth_user_code_unknown'))
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_access_denied'))
})

test('the first decision stands, also among many at once', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  const decisions = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0 ? approve(f, user_code) : decide(f, { user_code, decision: 'deny' }),
  )
  const settled = await Promise.allSettled(decisions)
  const won = settled.filter((each) => each.status === 'fulfilled')
  assert.equal(won.length, 1)
  const polled = await poll(f, client, device_code).then(
    () => 'approved',
    () => 'denied',
  )
  assert.equal(won[0]!.value.status, polled)
})

test('a poll at the moment of the decision does not undo it', async (t) => {
  const f = front(t)
  const client = f.client()
  for (let round = 0; round < 20; round++) {
    const { device_code, user_code } = await begin(f)
    const [, approved] = await Promise.allSettled([
      poll(f, client, device_code),
      approve(f, user_code),
      poll(f, client, device_code),
    ])
    assert.equal(approved.status, 'fulfilled')
    f.clock.advance(5_000)
    // one of the polls above may have come after the decision, and had the tokens
    const late = await poll(f, client, device_code).catch((error) => error.code)
    assert.ok(late === 'oauth_invalid_grant' || late.status === 200, String(late))
  }
})

test('a poll that was read before the decision and is written after it undoes nothing', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  const late = before(f, () => approve(f, user_code))
  await assert.rejects(poll(late, client, device_code), faultOf('oauth_authorization_pending'))
  assert.equal((await poll(f, client, device_code)).status, 200)
})

test('a decision that a poll overtakes is written all the same', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  const late = before(f, () =>
    poll(f, client, device_code).catch(({ code }) => assert.equal(code, 'oauth_authorization_pending')),
  )
  assert.equal((await approve(late, user_code)).status, 'approved')
  assert.equal((await poll(f, client, device_code)).status, 200)
})

test('polls that come too early are told to slow down, more with each', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code } = await begin(f)
  const after = async (ms: number, code: string) => {
    f.clock.advance(ms)
    await assert.rejects(poll(f, client, device_code), faultOf(code))
  }
  await after(0, 'oauth_authorization_pending')
  await after(5_000, 'oauth_authorization_pending')
  await after(4_999, 'oauth_slow_down')
  await after(9_999, 'oauth_slow_down')
  await after(15_000, 'oauth_authorization_pending')
  await after(14_999, 'oauth_slow_down')
})

test('an approved device is answered however soon it polls', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_authorization_pending'))
  await approve(f, user_code)
  assert.equal((await poll(f, client, device_code)).status, 200)
})

test('after ten minutes a device code has expired, and the user code is unknown', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  f.clock.advance(600_000)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_expired_token'))
  await assert.rejects(approve(f, user_code), faultOf('oauth_user_code_unknown'))
  f.clock.advance(600_000)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_invalid_grant'))
})

test('an approval that nobody fetched lapses as well', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  await approve(f, user_code)
  f.clock.advance(600_000)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_expired_token'))
})

test('a device code that was used has not lapsed, it was used', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f)
  await approve(f, user_code)
  await poll(f, client, device_code)
  f.clock.advance(600_000)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_invalid_grant'))
})

test('a device code is for its client, its API and its epoch, and is nothing else', async (t) => {
  const f = front(t)
  const client = f.client()
  const other = f.client({ client_id: 'other', redirect_uris: ['https://app.example/cb'] })
  const { device_code, user_code } = await begin(f)
  await approve(f, user_code)
  await assert.rejects(poll(f, other, device_code), faultOf('oauth_invalid_grant'))
  await assert.rejects(poll(f, { ...client, epoch: 'epoch-2' }, device_code), faultOf('oauth_invalid_grant'))
  const elsewhere = { ...f.api, apiId: 'invoices' }
  const call = f.call('token', { form: '', api: elsewhere })
  const form = parseForm(new URLSearchParams({ device_code }).toString())
  await assert.rejects(deviceGrant(f.parts, call, client, form, UNBOUND), faultOf('oauth_invalid_grant'))
  await assert.rejects(poll(f, client, user_code), faultOf('oauth_invalid_grant'))
  await assert.rejects(poll(f, client, 'unknown'), faultOf('oauth_invalid_grant'))
  await assert.rejects(poll(f, client, ''), faultOf('oauth_grant_incomplete'))
  assert.equal((await poll(f, client, device_code)).status, 200)
})

test('a user code of a client that is gone, or whose tokens were ended, is unknown', async (t) => {
  const f = front(t)
  f.client()
  const { user_code } = await begin(f)
  f.client({ epoch: 'epoch-2' })
  await assert.rejects(approve(f, user_code), faultOf('oauth_user_code_unknown'))
  f.client({ api_ids: ['invoices'] })
  await assert.rejects(decide(f, { user_code }), faultOf('oauth_user_code_unknown'))
})

test('a key that the device named must be proved when it fetches its tokens', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f, { dpop_jkt: CHALLENGE })
  await approve(f, user_code)
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_invalid_grant'))
  assert.equal((await poll(f, client, device_code, { jkt: CHALLENGE, x5t: '' })).status, 200)
})

for (const [what, rules, changes, code] of [
  [
    'the API does not have the grant',
    { grants: new Set(['authorization_code'] as const) },
    {},
    'oauth_unsupported_grant',
  ],
  ['the API has no login page', { loginRedirect: '' }, {}, 'oauth_unsupported_grant'],
  ['the client may not', {}, { grant_types: ['authorization_code'] }, 'oauth_unauthorized_client'],
] as const) {
  test(`no device codes where ${what}`, async (t) => {
    const f = front(t, rules)
    f.client(changes)
    await assert.rejects(begin(f), faultOf(code))
  })
}

test('a device request with a wrong secret, an unknown scope or a malformed key is refused', async (t) => {
  const f = front(t)
  f.client()
  const call = f.call('device_authorization', { form: { scope: 'read' }, headers: basic('shop', 'wrong') })
  await assert.rejects(authorizeDevice(f.parts, call), faultOf('oauth_invalid_client'))
  await assert.rejects(begin(f, { scope: 'admin' }), faultOf('oauth_invalid_scope'))
  await assert.rejects(begin(f, { dpop_jkt: 'x' }), faultOf('oauth_invalid_request'))
  await assert.rejects(begin(f, 'scope=read&scope=write'), faultOf('oauth_invalid_request'))
})

test('decisions that are none, wider scopes and malformed rules are refused, and change nothing', async (t) => {
  const f = front(t)
  const client = f.client()
  const { device_code, user_code } = await begin(f, { scope: 'read' })
  await assert.rejects(decide(f, { user_code, decision: 'yes' }), faultOf('oauth_invalid_request'))
  await assert.rejects(approve(f, user_code, { scope: 'read write' }), faultOf('oauth_invalid_scope'))
  await assert.rejects(approve(f, user_code, { key_rules: '[]' }), faultOf('oauth_invalid_request'))
  await assert.rejects(approve(f, user_code, { username: 'x'.repeat(300) }), faultOf('oauth_invalid_request'))
  await assert.rejects(approve(f, user_code, { user_address: 'here' }), faultOf('oauth_invalid_request'))
  await assert.rejects(poll(f, client, device_code), faultOf('oauth_authorization_pending'))
  assert.equal((await decide(f, { user_code })).status, 'pending')
})

test('ten wrong codes of a user in ten minutes end the guessing', async (t) => {
  const f = front(t)
  f.client()
  const { user_code } = await begin(f)
  const guess = (user_address: string) => decide(f, { user_code: 'BBBB-BBBB', user_address })
  for (let i = 0; i < 10; i++) await assert.rejects(guess('198.51.100.7'), faultOf('oauth_user_code_unknown'))
  await assert.rejects(guess('198.51.100.7'), faultOf('oauth_too_many_tries'))
  await assert.rejects(decide(f, { user_code, user_address: '198.51.100.7' }), faultOf('oauth_too_many_tries'))
  assert.equal((await decide(f, { user_code, user_address: '198.51.100.8' })).status, 'pending')
  assert.equal((await decide(f, { user_code })).status, 'pending')
  f.clock.advance(600_000)
  await assert.rejects(guess('198.51.100.7'), faultOf('oauth_user_code_unknown'))
})

test('wrong codes at once count like wrong codes one after the other; right ones do not count', async (t) => {
  const f = front(t)
  f.client()
  const { user_code } = await begin(f)
  const user_address = '2001:db8::1'
  for (let i = 0; i < 30; i++) await decide(f, { user_code, user_address })
  const guesses = Array.from({ length: 50 }, (_, i) =>
    decide(f, { user_code: 'CCCC-CCCC', user_address: `2001:db8::${i.toString(16)}` }),
  )
  const settled = await Promise.allSettled(guesses)
  const tried = settled.filter((each) => each.status === 'rejected' && each.reason.code === 'oauth_user_code_unknown')
  assert.equal(tried.length, 10, 'addresses of one network are one visitor')
})

test('a login page that tells no address of its user may err a hundred times', async (t) => {
  const f = front(t)
  f.client()
  for (let i = 0; i < 100; i++) await assert.rejects(decide(f, { user_code: 'x' }), faultOf('oauth_user_code_unknown'))
  await assert.rejects(decide(f, { user_code: 'x' }), faultOf('oauth_too_many_tries'))
  const elsewhere = decide(f, { user_code: 'x' }, { clientAddress: '192.0.2.2' })
  await assert.rejects(elsewhere, faultOf('oauth_user_code_unknown'))
})

test('a user code is read as people type it', () => {
  for (const typed of ['BCDF-GHJK', 'bcdfghjk', ' bcdf ghjk ', 'b-c-d-f-g-h-j-k', 'bcdf\u2013ghjk'])
    assert.equal(readUserCode(typed), 'BCDF-GHJK')
  for (const typed of [
    '',
    'BCDF-GHJ',
    'BCDF-GHJKL',
    'BCDF-GHJA',
    'BCDF-GH1K',
    'BCDF_GHJK',
    'x'.repeat(10_000),
    'ÄCDF-GHJK',
  ])
    assert.equal(readUserCode(typed), undefined)
})

test('of an IPv6 address, the network counts', () => {
  assert.equal(visitorOf('192.0.2.1'), '192.0.2.1')
  assert.equal(visitorOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  assert.equal(visitorOf('2001:0db8:1:2::'), '2001:db8:1:2')
  assert.equal(visitorOf('2001:db8::5:6'), '2001:db8:0:0')
  assert.equal(visitorOf('::1'), '0:0:0:0')
  assert.equal(visitorOf('fe80::1%eth0'), 'fe80:0:0:0')
  assert.equal(visitorOf('::ffff:192.0.2.1'), '192.0.2.1')
})
