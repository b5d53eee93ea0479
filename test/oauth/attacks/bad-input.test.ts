import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Answer, call } from '../../worlds/base/client.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { type OAuthWorld, REDIRECT, SECRET, startOAuthWorld } from '../../worlds/flows/oauth-world.ts'
import { as, basicOf } from '../../worlds/oauth/negative-requests.ts'
import { Client, fieldOf, statusOf } from '../../worlds/wire/raw.ts'

// Any input to an endpoint gets a response of the RFC that may not be stored: no internal error, no stack, no secret.

const FORM = 'application/x-www-form-urlencoded'
const INITIAL = 'the-initial-token-of-registration-0123456789'
const LONE_SURROGATE = String.fromCharCode(0xd800)
const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 150

let world: OAuthWorld
before(async () => {
  const env = { SVC_GW_OAUTHREGISTRATIONTOKEN: INITIAL, SVC_GW_TRUSTEDPROXIES: '127.0.0.1' }
  world = await startOAuthWorld({ deviceAuthorization: true, dpop: 'allowed' }, { env, accessLog: true })
  await world.client({ client_id: 'shop' })
})
after(async () => {
  await world.close()
  // closing has written what the access log still held
  const { log, accessLines } = world.gateway
  assert.ok(accessLines.length >= 100)
  const text = accessLines.join('') + JSON.stringify(log)
  for (const secret of [SECRET, TEST_SECRET, INITIAL]) assert.ok(!text.includes(secret), 'a secret is in a log')
  assert.deepEqual(
    log.filter(({ level }) => level === 'error'),
    [],
  )
})

interface Target {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

const SHOP = { authorization: as('shop') }
const TARGETS: Readonly<Record<string, Target>> = {
  authorize: { path: '/orders/oauth/authorize', headers: {} },
  'authorize-client': { path: '/orders/svc/oauth/authorize-client', headers: { 'x-svc-authorization': TEST_SECRET } },
  token: { path: '/orders/oauth/token', headers: SHOP },
  revoke: { path: '/orders/oauth/revoke', headers: SHOP },
  revoke_all: { path: '/orders/oauth/revoke_all', headers: SHOP },
  introspect: { path: '/orders/oauth/introspect', headers: SHOP },
  par: { path: '/orders/oauth/par', headers: SHOP },
  device_authorization: { path: '/orders/oauth/device_authorization', headers: SHOP },
}

/** Bodies that are no form, with their types. */
const BODIES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'a type that is no form': ['text/plain', 'grant_type=client_credentials'],
  'no type': ['', 'grant_type=client_credentials'],
  multipart: ['multipart/form-data; boundary=x', '--x\r\n\r\n--x--'],
  'another character set': [`${FORM}; charset=iso-8859-1`, 'grant_type=client_credentials'],
  'an escape that is none': [FORM, 'grant_type=%zz'],
  'an escape that is cut': [FORM, 'grant_type=%4'],
  'an escape of half a character': [FORM, 'scope=%e2%82'],
  'an overlong escape': [FORM, 'scope=%c0%af'],
  'a surrogate': [FORM, 'scope=%ed%a0%80'],
  'client_id twice': [FORM, 'client_id=shop&client_id=shop'],
  'more than 64 kB': [FORM, `state=${'x'.repeat(70_000)}`],
  'JSON that is cut': ['application/json', '{"grant_type":'],
  'a JSON list': ['application/json', '[]'],
  'a JSON number': ['application/json', '{"client_id":1}'],
  'nested JSON': ['application/json', '{"client_id":{"a":["b"]}}'],
  'JSON of 20,000 levels': ['application/json', '['.repeat(20_000)],
}

function send(target: Target, type: string, body: string, method = 'POST'): Promise<Answer> {
  const headers = { ...target.headers, ...(type !== '' && { 'content-type': type }) }
  return call(world.gateway.port, target.path, { method, headers, ...(body !== '' && { body }) })
}

/** Checks that hold for every refusal. */
function checkRefusal(answer: Answer, status: number, error: string): void {
  checkGuarded(answer)
  assert.equal(answer.status, status, answer.text)
  const body = answer.json as Record<string, unknown>
  assert.equal(body.error, error, answer.text)
  assert.equal(typeof body.error_description, 'string')
}

/** Checks that hold for every answer. */
function checkGuarded({ status, headers, text }: Answer): void {
  assert.ok(status >= 200 && status < 500, `${status} ${text}`)
  assert.match(headers['cache-control'] ?? '', /no-store/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.doesNotMatch(text, /node_modules|node:internal|\.ts:\d+|\n\s+at /)
  for (const secret of [SECRET, TEST_SECRET, INITIAL]) assert.ok(!text.includes(secret))
}

for (const [endpoint, target] of Object.entries(TARGETS))
  describe(endpoint, () => {
    for (const [what, [type, body]] of Object.entries(BODIES))
      test(`refuses ${what}`, async () => {
        const status = what === 'more than 64 kB' ? 413 : 400
        checkRefusal(await send(target, type, body), status, 'invalid_request')
      })

    test('knows its methods', async () => {
      for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        const answer = await send(target, '', '', method)
        checkGuarded(answer)
        assert.equal(answer.status, 405, method)
        assert.equal(answer.headers.allow, endpoint === 'authorize' ? 'GET, POST' : 'POST')
      }
    })

    test('answers any bytes as if they were a form or JSON', async () => {
      await fc.assert(
        fc.asyncProperty(anyBody(), async ([type, body]) => {
          checkGuarded(await send(target, type, body))
        }),
        { numRuns: Math.ceil(RUNS / Object.keys(TARGETS).length) },
      )
    })
  })

/** Forms and JSON that are nearly right, and some that are not. */
function anyBody() {
  const name = fc.constantFrom(
    ...['grant_type', 'client_id', 'client_secret', 'code', 'token', 'scope', 'redirect_uri', 'key_rules', 'user_code'],
    ...['request_uri', 'response_type', 'username', 'decision', '__proto__', 'constructor', 'client_assertion'],
  )
  const value = fc.oneof(
    fc.constantFrom(
      'shop',
      'code',
      'authorization_code',
      'client_credentials',
      'refresh_token',
      REDIRECT,
      '{}',
      'null',
    ),
    fc.string({ unit: fc.constantFrom(...'a%&=+{}[]":\\,\u0000\u00e9\u{1f600}', LONE_SURROGATE), maxLength: 20 }),
  )
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 8 })
  const form = pairs.map((list): [string, string] => [FORM, new URLSearchParams(list).toString()])
  const json = pairs.map((list): [string, string] => ['application/json', JSON.stringify(Object.fromEntries(list))])
  const noise = fc.string({ unit: fc.constantFrom(...'%&=+;{}[]":,\\ab0\u0000\u00ff'), maxLength: 40 })
  return fc.oneof(
    form,
    json,
    noise.map((text): [string, string] => [FORM, text]),
  )
}

describe('registration', () => {
  const target = { path: '/orders/oauth/register', headers: { authorization: `Bearer ${INITIAL}` } }
  for (const [what, body] of Object.entries({
    'cut JSON': '{"redirect_uris":[',
    'a list': '[]',
    'a member twice': '{"scope":"read","scope":"write"}',
    'levels without end': '{"a":'.repeat(5000),
    'more than 64 kB': JSON.stringify({ client_name: 'x'.repeat(70_000) }),
  }))
    test(`refuses ${what}`, async () => {
      const answer = await send(target, 'application/json', body)
      checkGuarded(answer)
      assert.equal(answer.status, what === 'more than 64 kB' ? 413 : 400, answer.text)
    })

  test('has one answer for every path that is no client of it', async () => {
    const read = (id: string) =>
      call(world.gateway.port, `/orders/oauth/register/${id}`, { headers: { authorization: 'Bearer x' } })
    for (const id of ['nobody', '__proto__', 'a/b/c', 'shop']) checkRefusal(await read(id), 401, 'invalid_token')
    for (const id of ['%00', 'a%2fb', '..%2f..%2fsvc']) assert.equal((await read(id)).status, 400, id)
  })
})

describe('state', () => {
  const params = { client_id: 'shop', response_type: 'code', redirect_uri: REDIRECT }
  const authorize = (state: string) =>
    send(TARGETS.authorize!, FORM, new URLSearchParams({ ...params, state }).toString())

  test('of 4096 characters is carried', async () => {
    const answer = await authorize('s'.repeat(4096))
    assert.equal(answer.status, 307)
    assert.equal(new URL(answer.headers.location!).searchParams.get('state')?.length, 4096)
  })

  for (const length of [4097, 60_000])
    test(`of ${length} is refused at the client, and not repeated`, async () => {
      const answer = await authorize('s'.repeat(length))
      checkGuarded(answer)
      assert.equal(answer.status, 303)
      const back = new URL(answer.headers.location!)
      assert.equal(`${back.origin}${back.pathname}`, REDIRECT)
      assert.equal(back.searchParams.get('error'), 'invalid_request')
      assert.equal(back.searchParams.has('state'), false)
    })

  test('longer than a head may be ends at the wire', async () => {
    const answer = await call(world.gateway.port, `/orders/oauth/authorize?client_id=shop&state=${'s'.repeat(60_000)}`)
    assert.ok([400, 414, 431].includes(answer.status), String(answer.status))
  })

  test('comes back as it was, whatever it says', async () => {
    const state = '\r\nSet-Cookie: a=b\r\n\r\n<script>"&iss=https://evil.example#\u{1f600}'
    const answer = await authorize(state)
    assert.equal(answer.status, 307)
    assert.equal(answer.headers['set-cookie'], undefined)
    assert.equal(new URL(answer.headers.location!).searchParams.get('state'), state)
  })
})

describe('credentials', () => {
  const ask = (headers: Record<string, string>, form: Record<string, string> = {}) =>
    send(
      { path: '/orders/oauth/token', headers },
      FORM,
      new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
    )

  for (const [what, authorization] of Object.entries({
    'UTF-8': as('shop', 'pässwörd-日本'),
    'ISO 8859-1': basicOf('shop:pässwörd', 'latin1'),
    'a NUL': as('shop', 'a\0b'),
    'a broken escape': as('shop', '%'),
    '10 kB': as('shop', 'x'.repeat(10_000)),
    nothing: as('shop', ''),
    'a colon': as('shop', ':'),
  }))
    test(`with ${what} for a secret are wrong credentials`, async () => {
      // From elsewhere: the many wrong ones of this file slow their address down.
      checkRefusal(await ask({ authorization, 'x-forwarded-for': '203.0.113.9' }), 401, 'invalid_client')
    })

  for (const authorization of ['Basic', 'Basic ', 'Basic %%%', 'Basic YQ', 'Basic YTpi YTpi', 'Basic \u00e9'])
    test(`that are malformed are said to be: ${JSON.stringify(authorization)}`, async () => {
      const answer = await ask({ authorization })
      checkGuarded(answer)
      assert.ok(['invalid_request', 'invalid_client'].includes((answer.json as { error: string }).error))
    })

  test('that come twice are refused', async (t) => {
    const client = await Client.connect(world.gateway.port)
    t.after(() => client.socket.destroy())
    const line = `Authorization: ${as('shop')}\r\n`
    client.write(`POST /orders/oauth/token HTTP/1.1\r\nHost: x\r\n${line}${line}Content-Length: 0\r\n\r\n`)
    const answer = (await client.answer('POST'))!
    assert.equal(statusOf(answer), 400)
    assert.match(fieldOf(answer, 'cache-control')!, /no-store/)
  })

  for (const id of ['a/.b/c', '/orders/oauth/token', '..b%2f.c', 'a?b=c&d#e', '__proto__', 'a b:c'])
    test(`of the client ${JSON.stringify(id)} are its own and lead to no path`, async () => {
      const unknown = as(encodeURIComponent(id))
      checkRefusal(await ask({ authorization: unknown }), 401, 'invalid_client')
      if (id.includes(' ')) return
      await world.client({ client_id: id })
      const answer = await ask({ authorization: unknown })
      assert.equal(answer.status, 200, answer.text)
      const { access_token: token } = answer.json as { access_token: string }
      const told = await send(TARGETS.introspect!, FORM, new URLSearchParams({ token }).toString())
      assert.equal((told.json as { client_id: string }).client_id, id)
    })
})

describe('the query', () => {
  test('gives no token to a protected API that reads a header', async () => {
    const made = await send(TARGETS.token!, FORM, 'grant_type=client_credentials')
    const { access_token: token } = made.json as { access_token: string }
    const seen = world.origin.seen.length
    const answer = await world.gateway.call(`/orders/things?access_token=${token}`)
    assert.equal(answer.status, 401)
    assert.match(String(answer.headers['www-authenticate']), /^Bearer /)
    const inBody = await world.gateway.call('/orders/things', {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: `access_token=${token}`,
    })
    assert.equal(inBody.status, 401)
    assert.equal(world.origin.seen.length, seen)
  })

  test('gives no credentials, grant or token to an endpoint', async () => {
    const query = `?client_id=shop&client_secret=${SECRET}&grant_type=client_credentials&token=x`
    const bare = { path: `/orders/oauth/token${query}`, headers: {} }
    checkRefusal(await send(bare, FORM, ''), 401, 'invalid_client')
    for (const endpoint of ['token', 'introspect', 'revoke'])
      checkRefusal(
        await send({ path: `/orders/oauth/${endpoint}${query}`, headers: SHOP }, FORM, ''),
        400,
        'invalid_request',
      )
  })

  for (const query of ['?client_id=shop&client_id=shop', '?client_id=%ff', '?&&&', '?=x', ''])
    test(`${JSON.stringify(query)} sends a browser nowhere`, async () => {
      const answer = await call(world.gateway.port, `/orders/oauth/authorize${query}`)
      assert.equal(answer.headers.location, undefined)
      checkRefusal(answer, 400, 'invalid_request')
    })
})

test('a target that is no URI is refused before any endpoint is found', async () => {
  for (const query of ['?%', '?client_id=%zz', '?state=%4']) {
    const answer = await call(world.gateway.port, `/orders/oauth/authorize${query}`)
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.location, undefined)
    assert.equal(answer.headers.connection, 'close')
  }
})

test('a client that leaves in the middle of a form harms nobody', async () => {
  for (const body of ['', 'grant_type=client_', 'x'.repeat(50_000)]) {
    const client = await Client.connect(world.gateway.port)
    const head = `POST /orders/oauth/token HTTP/1.1\r\nHost: x\r\nAuthorization: ${as('shop')}\r\n`
    client.write(`${head}Content-Type: ${FORM}\r\nContent-Length: 60000\r\n\r\n${body}`)
    client.socket.destroy()
  }
  assert.equal((await send(TARGETS.token!, FORM, 'grant_type=client_credentials')).status, 200)
})

test('a form in chunks is read, and one that never ends is not', async (t) => {
  const client = await Client.connect(world.gateway.port)
  t.after(() => client.socket.destroy())
  const head = `POST /orders/oauth/token HTTP/1.1\r\nHost: x\r\nAuthorization: ${as('shop')}\r\nContent-Type: ${FORM}\r\n`
  client.write(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\ngrant\r\n18\r\n_type=client_credentials\r\n0\r\n\r\n`)
  assert.equal(statusOf((await client.answer('POST'))!), 200)
  client.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
  const chunk = `1000\r\n${'a'.repeat(4096)}\r\n`
  for (let sent = 0; sent < 40; sent++) client.write(chunk)
  const refused = (await client.answer('POST'))!
  assert.equal(statusOf(refused), 413)
  assert.match(refused.body.toString(), /invalid_request/)
})
