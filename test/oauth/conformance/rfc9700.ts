import assert from 'node:assert/strict'
import { REDIRECT } from '../../worlds/flows/oauth-world.ts'
import {
  CHALLENGE,
  type ConformanceRow,
  claimsOf,
  good,
  INITIAL_TOKEN,
  membersOf,
  NOBODY,
  newHolderKey,
  OTHER_RESOURCE,
  PKCE,
  proofFor,
  refused,
  VERIFIER,
} from '../../worlds/oauth/conformance-world.ts'

const ORIGIN = { origin: 'https://app.example' }

/** RFC 9700: best current practice of security. */
export const PRACTICE_ROWS: readonly ConformanceRow[] = [
  {
    section: '2.1',
    level: 'MUST',
    says: 'Redirection URIs are compared as exact texts',
    async check({ main }) {
      const client_id = await main.client()
      for (const redirect_uri of [
        `${REDIRECT}/`,
        `${REDIRECT}?`,
        REDIRECT.replace('client', 'Client'),
        `${REDIRECT}/../callback`,
      ])
        refused(await main.authorize({ client_id, redirect_uri }), 'invalid_request')
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'The port of a loopback redirection URI of a native app may differ',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: 'http://127.0.0.1/done' })
      const back = await main.comeBack(client_id, { redirect_uri: 'http://127.0.0.1:49152/done' })
      assert.equal(back.port, '49152')
    },
  },
  {
    section: '2.1',
    level: 'MUST NOT',
    says: 'Authorization servers are open redirectors',
    async check({ main }) {
      const answer = await main.authorize({ client_id: await main.client(), redirect_uri: 'https://evil.example/' })
      assert.equal(answer.headers.location, undefined)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'Clients are protected against CSRF: PKCE, and state as it was sent',
    async check({ main }) {
      const back = await main.comeBack(await main.client(), { state: 'csrf' })
      assert.equal(back.searchParams.get('state'), 'csrf')
    },
  },
  {
    section: '2.1',
    level: 'REQUIRED',
    says: 'Clients of several servers are protected against mix-up: iss',
    async check({ main }) {
      assert.equal((await main.comeBack(await main.client())).searchParams.get('iss'), main.issuer)
    },
  },
  {
    section: '2.1.1',
    level: 'MUST',
    says: 'Public clients use PKCE',
    async check({ main }) {
      assert.equal((await main.refusal({ client_id: await main.publicClient() })).get('error'), 'invalid_request')
    },
  },
  {
    section: '2.1.1',
    level: 'MUST',
    says: 'Authorization servers support PKCE',
    async check({ main }) {
      good(await main.exchange(await main.client()))
    },
  },
  {
    section: '2.1.1',
    level: 'MUST',
    says: 'A verifier is enforced where the authorization request had a challenge',
    async check({ main }) {
      const client = await main.client()
      refused(await main.exchange(client, { code_verifier: undefined }), 'invalid_grant')
      refused(await main.exchange(client, { code_verifier: 'x'.repeat(43) }), 'invalid_grant')
    },
  },
  {
    section: '2.1.1',
    level: 'MUST',
    says: 'A verifier for a code without challenge is refused (PKCE downgrade)',
    async check({ main }) {
      const client = await main.client()
      const page = await main.page({ client_id: client })
      const { code } = await main.login({ ...Object.fromEntries(page), username: 'ada' })
      refused(await main.exchange(client, { code, code_verifier: VERIFIER }), 'invalid_grant')
    },
  },
  {
    section: '2.1.1',
    level: 'MUST',
    says: 'Support of PKCE can be detected',
    async check({ main }) {
      assert.deepEqual((await main.metadata()).code_challenge_methods_supported, ['S256'])
    },
  },
  {
    section: '2.1.1',
    level: 'SHOULD',
    says: 'Challenges do not show the verifier: S256 alone',
    async check({ main }) {
      const fields = { code_challenge: VERIFIER, code_challenge_method: 'plain' }
      assert.equal((await main.refusal({ client_id: await main.client(), ...fields })).get('error'), 'invalid_request')
    },
  },
  {
    section: '2.1.2',
    level: 'SHOULD NOT',
    says: 'Tokens are issued by the authorization endpoint',
    async check({ main }) {
      for (const response_type of ['token', 'code token', 'id_token token'])
        assert.equal(
          (await main.refusal({ client_id: await main.client(), response_type })).get('error'),
          'unsupported_response_type',
        )
    },
  },
  {
    section: '2.2.1',
    level: 'SHOULD',
    says: 'Access tokens can be bound to their sender',
    async check(world) {
      const { main } = world
      const dpop = proofFor(world, main.url('token'), newHolderKey())
      const { access_token } = good(await main.credentials(await main.client(), {}, { headers: { dpop } }))
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '2.2.2',
    level: 'MUST',
    says: 'Refresh tokens of public clients are rotated or bound to their sender',
    async check({ main }) {
      const client_id = await main.publicClient()
      const { refresh_token } = await main.tokens('', { client_id }, { client_id }, NOBODY)
      const next = good(await main.refresh('', refresh_token, { client_id }, NOBODY))
      assert.notEqual(next.refresh_token, refresh_token)
      refused(await main.refresh('', refresh_token, { client_id }, NOBODY), 'invalid_grant')
    },
  },
  {
    section: '2.3',
    level: 'SHOULD',
    says: 'Access tokens are restricted to a resource server, and the server checks it',
    async check({ audience }) {
      const form = { resource: OTHER_RESOURCE }
      const { access_token } = good(await audience.credentials(await audience.client(), form))
      assert.equal(claimsOf(access_token).claims.aud, OTHER_RESOURCE)
      assert.equal((await audience.use(access_token)).status, 401)
    },
  },
  {
    section: '2.3',
    level: 'SHOULD',
    says: 'Access tokens are restricted to scopes, and the resource server checks them',
    async check({ main }) {
      const { access_token } = good(await main.credentials(await main.client(), { scope: 'read' }))
      assert.equal((await main.use(access_token, { path: '/write', method: 'POST' })).status, 403)
    },
  },
  {
    section: '2.4',
    level: 'MUST NOT',
    says: 'The password grant is used',
    decided: 'Off unless a definition lists its flow, for clients that cannot do better; each use is logged',
    async check({ strict }) {
      assert.ok(!(await strict.metadata()).grant_types_supported.includes('password'))
    },
  },
  {
    section: '2.5',
    level: 'SHOULD',
    says: 'Clients can authenticate, by asymmetric keys too',
    async check({ main }) {
      const { token_endpoint_auth_methods_supported: methods } = await main.metadata()
      assert.ok(methods.includes('private_key_jwt') && methods.includes('client_secret_basic'))
    },
  },
  {
    section: '2.6',
    level: 'RECOMMENDED',
    says: 'Servers publish metadata (RFC 8414)',
    async check({ main }) {
      assert.equal((await main.metadata()).issuer, main.issuer)
    },
  },
  {
    section: '2.6',
    level: 'MUST NOT',
    says: 'The authorization endpoint supports CORS',
    async check({ main }) {
      const query = `response_type=code&client_id=${await main.client()}`
      const { headers } = await main.send('/oauth/authorize', { headers: ORIGIN, query })
      assert.equal(headers['access-control-allow-origin'], undefined)
    },
  },
  {
    section: '2.6',
    level: 'MAY',
    says: 'Endpoints that clients call directly support CORS',
    async check({ main }) {
      for (const path of ['/oauth/token', '/oauth/par', '/oauth/revoke', '/.well-known/oauth-authorization-server']) {
        const headers = { ...ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'dpop' }
        const answer = await main.send(path, { method: 'OPTIONS', headers })
        assert.equal(answer.headers['access-control-allow-origin'], '*', path)
        assert.match(answer.headers['access-control-allow-headers']!, /dpop/i, path)
      }
    },
  },
  {
    section: '4.1.3',
    level: 'MUST NOT',
    says: 'Redirection URIs are matched by patterns',
    async check({ main }) {
      await assert.rejects(main.client({ redirect_uri: 'https://*.example/callback' }))
      const client_id = await main.client({ redirect_uri: 'https://client.example/cb*' })
      refused(await main.authorize({ client_id, redirect_uri: 'https://client.example/cbx' }), 'invalid_request')
    },
  },
  {
    section: '4.2.4',
    level: 'SHOULD',
    says: 'Pages and redirects do not leak by Referer',
    async check({ main }) {
      const { headers } = await main.authorize({ client_id: await main.client() })
      assert.equal(headers['referrer-policy'], 'no-referrer')
    },
  },
  {
    section: '4.2.4',
    level: 'MUST',
    says: 'A code is invalid after its first use',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client)
      good(await main.exchange(client, { code }))
      refused(await main.exchange(client, { code }), 'invalid_grant')
    },
  },
  {
    section: '4.2.4',
    level: 'SHOULD',
    says: 'A code that comes twice ends the tokens of its first use',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client)
      const { access_token } = good(await main.exchange(client, { code }))
      await main.exchange(client, { code })
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '4.3.2',
    level: 'MUST NOT',
    says: 'Access tokens are passed in a query, unless a definition asks for it',
    async check({ main }) {
      const { access_token } = good(await main.credentials(await main.client()))
      assert.equal((await main.send('/things', { query: `access_token=${access_token}` })).status, 401)
    },
  },
  {
    section: '4.4.2',
    level: 'MUST',
    says: 'Authorization responses name their issuer, errors too',
    async check({ main }) {
      assert.equal((await main.comeBack(await main.client())).searchParams.get('iss'), main.issuer)
      assert.equal((await main.refusal({ client_id: await main.client(), scope: 'x' })).get('iss'), main.issuer)
    },
  },
  {
    section: '4.5.3',
    level: 'MUST',
    says: 'An injected code is refused: it is bound to the challenge of its request',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client, { code_challenge: CHALLENGE })
      refused(await main.exchange(client, { code, code_verifier: 'y'.repeat(43) }), 'invalid_grant')
    },
  },
  {
    section: '4.8.2',
    level: 'MUST',
    says: 'A challenge that was stripped from the request is noticed',
    async check({ main }) {
      const client = await main.client()
      const page = await main.page({ client_id: client, ...PKCE })
      const fields = Object.fromEntries(page)
      const { code } = await main.login({ ...fields, code_challenge: '', code_challenge_method: '', username: 'ada' })
      refused(await main.exchange(client, { code }), 'invalid_grant')
    },
  },
  {
    section: '4.14.2',
    level: 'states',
    says: 'A refreshed token ends the one before',
    async check({ main }) {
      const client = await main.client()
      const { access_token, refresh_token } = await main.tokens(client)
      good(await main.refresh(client, refresh_token))
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '4.10.1',
    level: 'SHOULD',
    says: 'A stolen bound token is worth nothing without its key',
    async check(world) {
      const { jwt } = world
      const dpop = proofFor(world, jwt.url('token'), newHolderKey())
      const { access_token } = good(await jwt.credentials(await jwt.client(), {}, { headers: { dpop } }))
      assert.equal((await jwt.use(access_token)).status, 401)
    },
  },
  {
    section: '4.10.2',
    level: 'MUST',
    says: 'A resource server refuses a token whose audience is not itself',
    async check({ main, jwt, audience }) {
      const { access_token } = good(await jwt.credentials(await jwt.client()))
      for (const served of [main, audience]) assert.equal((await served.use(access_token)).status, 401)
    },
  },
  {
    section: '4.11.2',
    level: 'MUST NOT',
    says: 'The browser is sent to a redirection URI that is not valid',
    async check({ main }) {
      const client_id = await main.client()
      for (const redirect_uri of ['https://evil.example/', 'javascript:alert(1)', 'data:text/html,x'])
        assert.equal((await main.authorize({ client_id, redirect_uri })).headers.location, undefined)
    },
  },
  {
    section: '4.11.2',
    level: 'MUST',
    says: 'The user signs in before any redirect to the client',
    decided: 'Faulty requests go back at once, to redirection URIs that are registered (RFC 6749 section 4.1.2.1)',
    async check({ main }) {
      const answer = await main.authorize({ client_id: await main.client(), scope: 'admin' })
      assert.equal(answer.status, 303)
    },
  },
  {
    section: '4.12',
    level: 'MUST NOT',
    says: 'A redirect to the client keeps the method and body of a form (307)',
    async check({ main }) {
      const form = { response_type: 'code', client_id: await main.client(), scope: 'admin' }
      assert.equal((await main.post('authorize', form)).status, 303)
    },
  },
  {
    section: '4.13',
    level: 'MUST',
    says: 'Fields of forwarding from others than trusted proxies are not believed',
    async check({ main }) {
      const headers = {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      }
      const answer = await main.send('/.well-known/oauth-authorization-server', { headers })
      assert.doesNotMatch(answer.text, /evil/)
    },
  },
  {
    section: '4.14.2',
    level: 'MUST',
    says: 'A refresh token is bound to its scope and resources',
    async check({ audience }) {
      const client = await audience.client()
      const { refresh_token } = await audience.tokens(client, { scope: 'read', resource: OTHER_RESOURCE })
      refused(await audience.refresh(client, refresh_token, { scope: 'write' }), 'invalid_scope')
      refused(await audience.refresh(client, refresh_token, { resource: audience.issuer }), 'invalid_target')
    },
  },
  {
    section: '4.14.2',
    level: 'MUST',
    says: 'A refresh token that comes twice ends all tokens of its grant',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client)
      const next = good(await main.refresh(client, refresh_token))
      refused(await main.refresh(client, refresh_token), 'invalid_grant')
      refused(await main.refresh(client, next.refresh_token), 'invalid_grant')
      assert.equal((await main.use(next.access_token)).status, 401)
    },
  },
  {
    section: '4.14.2',
    level: 'SHOULD',
    says: 'A refresh token that is not used for some time expires',
    async check({ main, clock }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client)
      await clock.advance(14 * 86_400_000 + 1000)
      refused(await main.refresh(client, refresh_token), 'invalid_grant')
    },
  },
  {
    section: '4.15.1',
    level: 'SHOULD NOT',
    says: 'A client chooses its client_id at registration',
    async check({ main }) {
      const headers = { authorization: `Bearer ${INITIAL_TOKEN}` }
      const body = JSON.stringify({ redirect_uris: [REDIRECT], client_id: 'ada' })
      const answer = await main.send('/oauth/register', { method: 'POST', headers, type: 'application/json', body })
      assert.equal(answer.status, 201, answer.text)
      assert.notEqual(membersOf(answer).client_id, 'ada')
    },
  },
  {
    section: '4.16',
    level: 'MUST',
    says: 'Answers of the authorization endpoint cannot be framed',
    async check({ main }) {
      const { headers } = await main.authorize({ client_id: await main.client() })
      assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
      assert.equal(headers['x-frame-options'], 'DENY')
    },
  },
]
