import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tokenFactsOf } from '../../../src/model/oauth-clients/oauth-token.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openWorld, planOf, STORES } from '../../worlds/oauth/core-world.ts'
import { basic, ISSUER } from '../../worlds/oauth/front-fixtures.ts'

const CREDENTIALS = { grant_type: 'client_credentials' }

for (const store of STORES) {
  test(`${store.name}: client credentials give an opaque token and nothing else`, async (t) => {
    const world = await openWorld(t, store)
    await world.putClient({ metadata: { plan: 'gold' } })
    const { status, body, fields } = await world.token(CREDENTIALS)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['access_token', 'expires_in', 'token_type'])
    assert.match(String(body.access_token), /^[A-Za-z0-9_-]{43}$/)
    assert.equal(body.expires_in, 3600)
    assert.equal(body.token_type, 'bearer')
    for (const line of [
      'Content-Type: application/json',
      'Cache-Control: no-cache, no-store, must-revalidate',
      'Pragma: no-cache',
      'Expires: 0',
      'X-Content-Type-Options: nosniff',
      'X-XSS-Protection: 1; mode=block',
      'X-Frame-Options: DENY',
      'Strict-Transport-Security: max-age=63072000; includeSubDomains',
    ])
      assert.ok(fields.includes(`${line}\r\n`), line)
    const row = await world.store.tokens.getSession(hashKey(String(body.access_token)))
    const expires = world.clock.wallMs / 1000 + 3600
    assert.deepEqual(row?.body, {
      apply_policies: ['plan'],
      meta_data: { plan: 'gold' },
      org_id: 'org',
      oauth_client_id: 'shop',
      expires,
      counter_id: 'shop',
      oauth_token: {
        api_id: 'orders',
        epoch: 'epoch-1',
        policies: ['plan'],
        scope: '',
        family: '',
        issued_at: expires - 3600,
        username: '',
      },
    })
    assert.equal(row?.clientId, 'shop')
    assert.equal(row?.evictAt, (expires + 60) * 1000)
  })

  test(`${store.name}: an introspected token says what it is good for, until it lapses`, async (t) => {
    const world = await openWorld(t, store)
    await world.putClient()
    const { body } = await world.token({ ...CREDENTIALS, scope: 'read' })
    assert.equal(body.scope, 'read')
    const now = world.clock.wallMs / 1000
    assert.deepEqual(await world.look(body.access_token), {
      active: true,
      scope: 'read',
      client_id: 'shop',
      token_type: 'bearer',
      exp: now + 3600,
      iat: now,
      sub: 'shop',
      iss: ISSUER,
    })
    world.clock.advance(3_599_999)
    assert.equal((await world.look(body.access_token)).active, true)
    world.clock.advance(1)
    assert.deepEqual(await world.look(body.access_token), { active: false })
  })
}

const [memory] = STORES

test('lifetimes: client, then policy, then API, then gateway', async (t) => {
  const world = await openWorld(t, memory!, { rules: { accessTokenS: 300 } })
  const lifeOf = async () => (await world.token(CREDENTIALS)).body.expires_in
  await world.putClient()
  assert.equal(await lifeOf(), 300)
  world.policies.set('plan', planOf(['orders'], { key_expires_in: 200 }))
  assert.equal(await lifeOf(), 200)
  await world.putClient({ token_lifetime: 100 })
  assert.equal(await lifeOf(), 100)
})

test('a JWT access token is a session like any other', async (t) => {
  const world = await openWorld(t, memory!, { rules: { accessTokenFormat: 'jwt' } })
  await world.putClient()
  const { body } = await world.token({ ...CREDENTIALS, scope: 'read write' })
  const [head, claims] = String(body.access_token).split('.').slice(0, 2)
  const read = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
  assert.equal(read(head).typ, 'at+jwt')
  assert.equal(read(claims).client_id, 'shop')
  assert.equal(read(claims).scope, 'read write')
  assert.equal((await world.look(body.access_token)).active, true)
  const row = await world.store.tokens.getSession(hashKey(String(body.access_token)))
  assert.equal(tokenFactsOf(row!.body)?.scope, 'read write')
})

test('grants: missing, unknown, not of the API, not of the client', async (t) => {
  const world = await openWorld(t, memory!, { rules: { grants: new Set(['client_credentials', 'refresh_token']) } })
  await world.putClient({ grant_types: ['authorization_code', 'password'] })
  const errorOf = async (form: Record<string, string>) => {
    const { status, body } = await world.token(form)
    return [status, body.error]
  }
  assert.deepEqual(await errorOf({}), [400, 'invalid_request'])
  assert.deepEqual(await errorOf({ grant_type: 'implicit' }), [400, 'unsupported_grant_type'])
  assert.deepEqual(await errorOf({ grant_type: '__proto__' }), [400, 'unsupported_grant_type'])
  assert.deepEqual(await errorOf({ grant_type: 'password' }), [400, 'unsupported_grant_type'])
  assert.deepEqual(await errorOf(CREDENTIALS), [400, 'unauthorized_client'])
})

test('a public client cannot ask for itself', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ auth_method: 'none' })
  const { status, body } = await world.token({ ...CREDENTIALS, client_id: 'shop' }, { headers: {} })
  assert.deepEqual([status, body.error], [400, 'unauthorized_client'])
})

test('scopes: unknown, malformed and not of the client are refused', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ scope: 'read' })
  for (const scope of ['delete', 'read  write', 'write', 'read "x"', 'réad']) {
    const { status, body } = await world.token({ ...CREDENTIALS, scope })
    assert.deepEqual([scope, status, body.error], [scope, 400, 'invalid_scope'])
  }
  assert.equal((await world.token({ ...CREDENTIALS, scope: 'read read' })).body.scope, 'read')
})

test('a client without policies, or with unknown ones, gets no token', async (t) => {
  const world = await openWorld(t, memory!)
  for (const policies of [[], ['gone']]) {
    await world.putClient({ policies })
    const { status, body } = await world.token(CREDENTIALS)
    assert.deepEqual([status, body.error], [400, 'unauthorized_client'])
  }
})

test('of two tokens of one second, the second goes by what was changed between them', async (t) => {
  const world = await openWorld(t, memory!)
  const bodyOf = async (text: unknown) => (await world.store.tokens.getSession(hashKey(String(text))))?.body
  await world.putClient({ metadata: { plan: 'gold' } })
  const first = await world.token(CREDENTIALS)
  const alike = await world.token(CREDENTIALS)
  assert.notEqual(first.body.access_token, alike.body.access_token)
  assert.deepEqual(await bodyOf(alike.body.access_token), await bodyOf(first.body.access_token))
  const scoped = await world.token({ ...CREDENTIALS, scope: 'read' })
  assert.equal(tokenFactsOf((await bodyOf(scoped.body.access_token))!)?.scope, 'read')
  assert.equal(tokenFactsOf((await bodyOf((await world.token(CREDENTIALS)).body.access_token))!)?.scope, '')

  await world.putClient({ metadata: { plan: 'lead' }, epoch: 'epoch-2' })
  const later = (await bodyOf((await world.token(CREDENTIALS)).body.access_token))!
  assert.deepEqual([later.meta_data, tokenFactsOf(later)?.epoch], [{ plan: 'lead' }, 'epoch-2'])
  world.policies.set('plan', planOf(['orders'], { key_expires_in: 60 }))
  const short = await world.token(CREDENTIALS)
  assert.equal(short.body.expires_in, 60)
  assert.equal((await bodyOf(short.body.access_token))?.expires, world.clock.wallMs / 1000 + 60)
  const api = { ...world.api, apiId: 'returns' }
  await world.putClient({ api_ids: ['orders', 'returns'] })
  await world.token(CREDENTIALS)
  const other = await world.token(CREDENTIALS, { api })
  assert.equal(tokenFactsOf((await bodyOf(other.body.access_token))!)?.api_id, 'returns')
  world.policies.set('plan', planOf(['orders']))
  assert.equal((await world.token(CREDENTIALS)).status, 200)
  world.policies.delete('plan')
  assert.equal((await world.token(CREDENTIALS)).body.error, 'unauthorized_client')
})

test('another method than POST: 405 with Allow', async (t) => {
  const world = await openWorld(t, memory!)
  for (const endpoint of ['token', 'revoke', 'revoke_all', 'introspect'] as const) {
    const { status, body, fields } = await world.ask(endpoint, { method: 'GET' })
    assert.equal(status, 405)
    assert.equal(typeof body.error, 'string')
    assert.ok(fields.includes('Allow: POST\r\n'))
    assert.ok(fields.includes('no-store'))
  }
})

test('bodies that are no form: 400 invalid_request, never kept', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  const cases = {
    repeated: { form: 'grant_type=client_credentials&grant_type=client_credentials' },
    'repeated and unknown': { form: 'grant_type=client_credentials&x=1&x=2' },
    'broken escape': { form: 'grant_type=client_credentials&scope=%zz' },
    'half an escape': { form: 'grant_type=client_credentials&scope=%' },
    'escaped bytes that are not UTF-8': { form: 'grant_type=client_credentials&scope=%ff' },
    'bytes that are not UTF-8': { bytes: Buffer.from([0x61, 0x3d, 0xff]) },
    'another type': { form: CREDENTIALS, headers: { ...basic('shop'), 'content-type': 'text/plain' } },
    'no type': { form: CREDENTIALS, headers: { ...basic('shop'), 'content-type': '' } },
    'another character set': {
      form: CREDENTIALS,
      headers: { ...basic('shop'), 'content-type': 'application/x-www-form-urlencoded; charset=latin1' },
    },
    'a JSON list': { json: ['grant_type'] },
    'JSON with numbers': { json: { grant_type: 5 } },
    'a nested object': { json: { grant_type: { a: 1 } } },
  }
  for (const [name, sending] of Object.entries(cases)) {
    const { status, body, fields } = await world.ask('token', { headers: basic('shop'), ...sending })
    assert.deepEqual([name, status, body.error], [name, 400, 'invalid_request'])
    assert.ok(fields.includes('no-store'))
  }
})

test('a JSON object of strings is taken, with a character set too', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  for (const type of ['application/json', 'application/json; charset=UTF-8']) {
    const headers = { ...basic('shop'), 'content-type': type }
    assert.equal((await world.ask('token', { headers, json: CREDENTIALS })).status, 200)
  }
})

test('parameters without a value count as absent', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  assert.equal((await world.token({ ...CREDENTIALS, scope: '', client_secret: '' })).status, 200)
  assert.equal((await world.token({ grant_type: '' })).body.error, 'invalid_request')
})

test('legacy statuses: 403 for all, with the words of the incumbent', async (t) => {
  const world = await openWorld(t, memory!, { legacy: true })
  await world.putClient()
  const cases: [Parameters<typeof world.ask>[1], string][] = [
    [{ form: CREDENTIALS }, 'invalid_request'],
    [{ form: CREDENTIALS, headers: basic('nobody') }, 'server_error'],
    [{ form: CREDENTIALS, headers: basic('shop', 'wrong') }, 'unauthorized_client'],
    [{ form: {}, headers: basic('shop') }, 'unsupported_grant_type'],
    [{ form: { grant_type: 'authorization_code', code: 'x' }, headers: basic('shop') }, 'invalid_grant'],
  ]
  for (const [sending, error] of cases) {
    const { status, body, fields } = await world.ask('token', sending)
    assert.deepEqual([status, body.error], [403, error])
    assert.ok(!fields.includes('WWW-Authenticate'))
  }
})
