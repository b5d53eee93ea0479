import assert from 'node:assert/strict'
import { SECRET } from '../../worlds/flows/oauth-world.ts'
import {
  bitsOf,
  type ConformanceRow,
  type ConformanceWorld,
  challengesOf,
  good,
  membersOf,
  NOBODY,
  refused,
} from '../../worlds/oauth/conformance-world.ts'

const ALLOWED = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** One answer of each kind of the token endpoint: tokens, and refusals. */
async function answersOf({ main }: ConformanceWorld) {
  const as = await main.client()
  return [
    await main.credentials(as),
    await main.exchange(as),
    await main.credentials(as, { grant_type: 'x' }),
    await main.credentials(as, {}, { as, secret: 'wrong' }),
    await main.send('/oauth/token'),
  ]
}

/** RFC 6749 sections 5 to 10 and appendix A: tokens and refusals. */
export const TOKEN_ROWS: readonly ConformanceRow[] = [
  {
    section: '5.1',
    level: 'REQUIRED',
    says: 'The answer has access_token and token_type, with status 200',
    async check({ main }) {
      const tokens = good(await main.credentials(await main.client()))
      assert.deepEqual([typeof tokens.access_token, tokens.token_type.toLowerCase()], ['string', 'bearer'])
    },
  },
  {
    section: '5.1',
    level: 'RECOMMENDED',
    says: 'expires_in is the lifetime in seconds',
    async check({ main, clock }) {
      const { access_token, expires_in } = good(await main.credentials(await main.client()))
      assert.ok(Number.isInteger(expires_in))
      await clock.advance((expires_in - 1) * 1000)
      assert.equal((await main.use(access_token)).status, 200)
      await clock.advance(2000)
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '5.1',
    level: 'REQUIRED',
    says: 'scope is there where it differs from the requested one',
    async check({ main }) {
      const tokens = await main.tokens(await main.client(), { scope: 'read write', allow: 'write' })
      assert.equal(tokens.scope, 'write')
    },
  },
  {
    section: '5.1',
    level: 'states',
    says: 'The members are a JSON object of strings and numbers in application/json',
    async check({ main }) {
      const answer = await main.exchange(await main.client())
      assert.match(answer.headers['content-type']!, /^application\/json(?:;|$)/)
      for (const [name, value] of Object.entries(good(answer)))
        assert.equal(typeof value, name === 'expires_in' ? 'number' : 'string', name)
    },
  },
  {
    section: '5.1',
    level: 'MUST',
    says: 'Every answer of the token endpoint has Cache-Control: no-store',
    async check(world) {
      for (const { headers } of await answersOf(world)) assert.match(headers['cache-control'] ?? '', /\bno-store\b/)
    },
  },
  {
    section: '5.1',
    level: 'MUST',
    says: 'Every answer of the token endpoint has Pragma: no-cache',
    async check(world) {
      for (const { headers } of await answersOf(world)) assert.equal(headers.pragma, 'no-cache')
    },
  },
  {
    section: '5.2',
    level: 'states',
    says: 'Refusals are status 400 with error in JSON',
    async check({ main }) {
      refused(await main.credentials(await main.client(), { scope: 'admin' }), 'invalid_scope')
    },
  },
  ...(
    [
      ['invalid_request', 'a parameter is missing', { grant_type: 'authorization_code' }],
      ['invalid_request', 'a parameter is repeated', { scope: ['read', 'write'] }],
      ['invalid_grant', 'the code is unknown', { grant_type: 'authorization_code', code: 'x' }],
      ['invalid_grant', 'the refresh token is unknown', { grant_type: 'refresh_token', refresh_token: 'x' }],
      ['unsupported_grant_type', 'the grant is not served', { grant_type: 'urn:example:grant' }],
      ['invalid_scope', 'the scope is unknown', { scope: 'admin' }],
      ['invalid_scope', 'the scope is malformed', { scope: 'read "' }],
    ] as const
  ).map(
    ([error, what, form]): ConformanceRow => ({
      section: '5.2',
      level: 'REQUIRED',
      says: `error is ${error} where ${what}`,
      async check({ main }) {
        refused(await main.credentials(await main.client(), form), error)
      },
    }),
  ),
  {
    section: '5.2',
    level: 'REQUIRED',
    says: 'error is invalid_client where the client is unknown or its secret wrong',
    async check({ main }) {
      const [known, unknown] = [await main.client(), 'unknown-client']
      for (const as of [known, unknown])
        refused(await main.credentials(as, {}, { as, secret: 'wrong' }), 'invalid_client', 401)
    },
  },
  {
    section: '5.2',
    level: 'REQUIRED',
    says: 'error is unauthorized_client where the client may not use the grant',
    async check({ main }) {
      const as = await main.client({ grant_types: ['authorization_code'] })
      refused(await main.credentials(as), 'unauthorized_client')
    },
  },
  {
    section: '5.2',
    level: 'MUST',
    says: 'A client refused in Authorization gets 401 with a challenge of its scheme',
    async check({ main }) {
      const as = await main.client()
      const answer = await main.credentials(as, {}, { as, secret: 'wrong' })
      assert.equal(answer.status, 401)
      assert.match(challengesOf(answer), /^Basic realm=/)
    },
  },
  {
    section: '5.2',
    level: 'MUST NOT',
    says: 'error, error_description and error_uri hold only the allowed characters',
    async check({ main }) {
      const as = await main.client()
      for (const form of [{ grant_type: '"\\é\n' }, { scope: '"\\é\n' }, { '"\\é': ['a', 'b'] }, { resource: '"\\' }]) {
        const { error, error_description } = membersOf(await main.credentials(as, form))
        assert.match(error, /^[a-z_]+$/)
        assert.match(error_description, ALLOWED)
      }
    },
  },
  {
    section: '5.2',
    level: 'OPTIONAL',
    says: 'error_description is readable text for the developer',
    async check({ main }) {
      const { error_description } = refused(
        await main.credentials(await main.client(), { scope: 'admin' }),
        'invalid_scope',
      )
      assert.match(error_description, /admin/)
    },
  },
  {
    section: '6',
    level: 'REQUIRED',
    says: 'refresh_token of a refresh is required',
    async check({ main }) {
      refused(await main.refresh(await main.client(), ''), 'invalid_request')
    },
  },
  {
    section: '6',
    level: 'MUST NOT',
    says: 'A refresh asks for no scope that was not granted',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client, { scope: 'read' })
      refused(await main.refresh(client, refresh_token, { scope: 'read write' }), 'invalid_scope')
    },
  },
  {
    section: '6',
    level: 'states',
    says: 'A refresh without scope has the granted one',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client, { scope: 'read write' })
      assert.equal(good(await main.refresh(client, refresh_token)).scope, 'read write')
    },
  },
  {
    section: '6',
    level: 'MUST',
    says: 'The authorization server authenticates the client of a refresh',
    async check({ main }) {
      const as = await main.client()
      const { refresh_token } = await main.tokens(as)
      refused(await main.refresh(as, refresh_token, {}, { as, secret: 'wrong' }), 'invalid_client', 401)
    },
  },
  {
    section: '6',
    level: 'MUST',
    says: 'A refresh token is for the client that it was issued to',
    async check({ main }) {
      const [client, other] = [await main.client(), await main.client()]
      const { refresh_token } = await main.tokens(client)
      refused(await main.refresh(other, refresh_token), 'invalid_grant')
      good(await main.refresh(client, refresh_token))
    },
  },
  {
    section: '6',
    level: 'MUST',
    says: 'A refresh token that is not valid is refused',
    async check({ main, clock }) {
      const client = await main.client()
      refused(await main.refresh(client, 'x'), 'invalid_grant')
      const { refresh_token, access_token } = await main.tokens(client)
      refused(await main.refresh(client, access_token), 'invalid_grant')
      await clock.advance(1_209_601_000)
      refused(await main.refresh(client, refresh_token), 'invalid_grant')
    },
  },
  {
    section: '6',
    level: 'MUST',
    says: 'A new refresh token replaces the old one',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client)
      const next = good(await main.refresh(client, refresh_token))
      assert.notEqual(next.refresh_token, refresh_token)
      good(await main.refresh(client, next.refresh_token))
    },
  },
  {
    section: '6',
    level: 'MUST',
    says: 'The scope of a new refresh token is that of the old one',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client, { scope: 'read write' })
      const narrow = good(await main.refresh(client, refresh_token, { scope: 'read' }))
      assert.equal(narrow.scope, 'read')
      assert.equal(good(await main.refresh(client, narrow.refresh_token)).scope, 'read write')
    },
  },
  {
    section: '7',
    level: 'MUST',
    says: 'The resource server validates the access token, its expiry and its scope',
    async check({ main, clock }) {
      const { access_token } = good(await main.credentials(await main.client(), { scope: 'read' }))
      assert.equal((await main.use('x'.repeat(43))).status, 401)
      assert.equal((await main.use(access_token, { path: '/write', method: 'POST' })).status, 403)
      await clock.advance(3_601_000)
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '7.2',
    level: 'SHOULD',
    says: 'A refused resource request informs the client of the error',
    async check({ main }) {
      assert.match(challengesOf(await main.use('x'.repeat(43))), /error="invalid_token"/)
    },
  },
  {
    section: '10.1',
    level: 'MUST',
    says: 'The identity of a public client is not taken as proved',
    async check({ main }) {
      const token = good(await main.credentials(await main.client())).access_token
      refused(await main.post('introspect', { token, client_id: await main.publicClient() }), 'unauthorized_client')
    },
  },
  {
    section: '10.3',
    level: 'MUST',
    says: 'Access tokens cannot be generated, modified or guessed',
    async check({ main, jwt }) {
      const { access_token } = good(await main.credentials(await main.client()))
      assert.ok(bitsOf(access_token) >= 160)
      const signed: string = good(await jwt.credentials(await jwt.client())).access_token
      const [head, , signature] = signed.split('.')
      const claims = Buffer.from(JSON.stringify({ sub: 'root', exp: 9_999_999_999 })).toString('base64url')
      assert.equal((await jwt.use(`${head}.${claims}.${signature}`)).status, 401)
    },
  },
  {
    section: '10.4',
    level: 'MUST',
    says: 'A refresh token is bound to its client',
    async check({ main }) {
      const client_id = await main.publicClient()
      const { refresh_token } = await main.tokens('', { client_id }, { client_id }, NOBODY)
      const other = await main.publicClient()
      refused(await main.refresh('', refresh_token, { client_id: other }, NOBODY), 'invalid_grant')
    },
  },
  {
    section: '10.4',
    level: 'MUST',
    says: 'Refresh tokens cannot be generated, modified or guessed',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client)
      assert.ok(bitsOf(refresh_token) >= 160)
      refused(await main.refresh(client, `${refresh_token.slice(0, -1)}_`), 'invalid_grant')
    },
  },
  {
    section: '10.10',
    level: 'SHOULD',
    says: 'The chance to guess a credential is at most 2^-160',
    async check({ main }) {
      const client = await main.client()
      const { access_token, refresh_token } = await main.tokens(client)
      for (const text of [access_token, refresh_token, await main.code(client)]) assert.ok(bitsOf(text) >= 160)
    },
  },
  {
    section: '10.12',
    level: 'MUST',
    says: 'The authorization endpoint is protected against CSRF',
    async check({ main }) {
      const client_id = await main.client()
      const answer = await main.send('/svc/oauth/authorize-client', {
        ...{ method: 'POST', type: 'application/x-www-form-urlencoded' },
        body: `client_id=${client_id}&response_type=code`,
      })
      assert.equal(answer.status, 403, 'only the login page, with a secret, concludes a request')
    },
  },
  {
    section: '10.13',
    level: 'SHOULD',
    says: 'Answers of the authorization endpoint cannot be framed',
    async check({ main }) {
      const client_id = await main.client()
      for (const fields of [{ client_id }, { client_id, response_type: 'x' }, { client_id: 'nobody' }]) {
        const { headers } = await main.authorize(fields)
        assert.equal(headers['x-frame-options'], 'DENY')
        assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
      }
    },
  },
  {
    section: '10.14',
    level: 'MUST',
    says: 'state and redirect_uri are sanitized before they are used',
    async check({ main }) {
      const answer = await main.authorize({ client_id: await main.client(), state: 'a\r\nX-Injected: 1', scope: 'x"' })
      assert.equal(answer.headers['x-injected'], undefined)
      assert.equal(new URL(answer.headers.location!).searchParams.get('state'), 'a\r\nX-Injected: 1')
    },
  },
  {
    section: '10.15',
    level: 'SHOULD NOT',
    says: 'The authorization server is no open redirector',
    async check({ main }) {
      const evil = 'https://evil.example/'
      for (const fields of [{ client_id: 'x' }, { client_id: await main.client() }, {}])
        assert.equal((await main.authorize({ ...fields, redirect_uri: evil })).headers.location, undefined)
    },
  },
  {
    section: 'A',
    level: 'states',
    says: 'Issued tokens and codes are of visible characters',
    async check({ main, jwt }) {
      for (const served of [main, jwt]) {
        const client = await served.client()
        const { access_token, refresh_token } = await served.tokens(client)
        for (const text of [access_token, refresh_token, await served.code(client)])
          assert.match(text, /^[A-Za-z0-9\-._~+/]+=*$/)
      }
    },
  },
  {
    section: 'A',
    level: 'states',
    says: 'A secret of any visible characters is taken',
    async check({ main }) {
      const secret = `~!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|} ${SECRET}`
      const as = await main.client({ secret })
      good(await main.credentials(as, {}, { as, secret }))
    },
  },
]
