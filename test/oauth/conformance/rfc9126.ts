import assert from 'node:assert/strict'
import { REDIRECT } from '../../worlds/flows/oauth-world.ts'
import {
  bitsOf,
  CHALLENGE,
  type ConformanceRow,
  good,
  membersOf,
  NOBODY,
  newHolderKey,
  PKCE,
  refused,
  type Served,
  signedJwt,
} from '../../worlds/oauth/conformance-world.ts'

const REQUEST = { response_type: 'code', ...PKCE }
const URN = /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]+$/

async function pushed(served: Served, clientId: string, fields = {}): Promise<string> {
  const answer = await served.post('par', { ...REQUEST, ...fields }, { as: clientId })
  assert.equal(answer.status, 201, answer.text)
  return membersOf(answer).request_uri
}

/** RFC 9126: pushed authorization requests. */
export const PUSHED_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'states',
    says: 'The endpoint takes POST of a form',
    async check({ main }) {
      await pushed(main, await main.client())
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'The endpoint is an https address',
    async check({ main }) {
      assert.match((await main.metadata()).pushed_authorization_request_endpoint, /^https:/)
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'Client authentication is that of the token endpoint',
    async check({ main }) {
      const client_id = await main.client()
      refused(await main.post('par', { ...REQUEST, client_id }), 'invalid_client', 401)
      refused(await main.post('par', REQUEST, { as: client_id, secret: 'wrong' }), 'invalid_client', 401)
      const open = await main.publicClient()
      assert.equal((await main.post('par', { ...REQUEST, client_id: open })).status, 201)
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'The address of this endpoint is taken as an audience of client assertions',
    async check({ main, clock }) {
      const key = newHolderKey()
      const keys = { jwks: { keys: [key.jwk] }, secret: undefined }
      const client = await main.client({ auth_method: 'private_key_jwt', ...keys })
      const exp = Math.floor(clock.wall() / 1000) + 60
      for (const aud of [main.url('par'), main.url('token'), main.issuer]) {
        const claims = { iss: client, sub: client, aud, exp, jti: aud }
        const client_assertion = signedJwt({ alg: 'ES256' }, claims, key.privateKey)
        const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
        const answer = await main.post('par', { ...REQUEST, client_assertion, client_assertion_type })
        assert.equal(answer.status, 201, answer.text)
      }
    },
  },
  {
    section: '2.1',
    level: 'REQUIRED',
    says: 'client_id and the parameters of an authorization request are taken',
    async check({ main }) {
      const client_id = await main.client()
      const request_uri = await pushed(main, client_id, { scope: 'read', state: 's', redirect_uri: REDIRECT })
      const page = await main.page({ client_id, request_uri })
      assert.deepEqual([page.get('scope'), page.get('state'), page.get('redirect_uri')], ['read', 's', REDIRECT])
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'A request with request_uri is refused',
    async check({ main }) {
      const form = { ...REQUEST, request_uri: 'urn:ietf:params:oauth:request_uri:x' }
      refused(await main.post('par', form, { as: await main.client() }), 'invalid_request')
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'The request is validated as one of the authorization endpoint',
    async check({ main }) {
      const as = await main.client()
      refused(await main.post('par', { ...REQUEST, scope: 'admin' }, { as }), 'invalid_scope')
      refused(await main.post('par', { ...REQUEST, response_type: 'x' }, { as }), 'unsupported_response_type')
      refused(await main.post('par', { ...REQUEST, redirect_uri: 'https://x.example/' }, { as }), 'invalid_request')
      refused(await main.post('par', { ...REQUEST, code_challenge_method: 'plain' }, { as }), 'invalid_request')
    },
  },
  {
    section: '2.2',
    level: 'MUST',
    says: 'Success is 201 with request_uri and expires_in in JSON',
    async check({ main }) {
      const answer = await main.post('par', REQUEST, { as: await main.client() })
      assert.equal(answer.status, 201)
      const { request_uri, expires_in } = membersOf(answer)
      assert.match(request_uri, URN)
      assert.ok(Number.isInteger(expires_in) && expires_in > 0)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'The answer has Cache-Control: no-store',
    async check({ main }) {
      const { headers } = await main.post('par', REQUEST, { as: await main.client() })
      assert.match(headers['cache-control'] ?? '', /\bno-store\b/)
    },
  },
  {
    section: '2.2',
    level: 'MUST',
    says: 'request_uri holds a part that cannot be guessed',
    async check({ main }) {
      const client = await main.client()
      const [one, two] = [await pushed(main, client), await pushed(main, client)]
      assert.notEqual(one, two)
      assert.ok(bitsOf(one.split(':').at(-1)!) >= 128)
    },
  },
  {
    section: '2.2',
    level: 'MUST',
    says: 'request_uri is bound to the client that posted the request',
    async check({ main }) {
      const request_uri = await pushed(main, await main.client())
      refused(await main.authorize({ client_id: await main.client(), request_uri }), 'invalid_request_uri')
    },
  },
  {
    section: '2.2',
    level: 'RECOMMENDED',
    says: 'request_uri lives for 5 to 600 seconds, and then no longer',
    async check({ main, clock }) {
      const client_id = await main.client()
      const answer = membersOf(await main.post('par', REQUEST, { as: client_id }))
      assert.ok(answer.expires_in >= 5 && answer.expires_in <= 600)
      await clock.advance(answer.expires_in * 1000 + 1)
      refused(await main.authorize({ client_id, request_uri: answer.request_uri }), 'invalid_request_uri')
    },
  },
  {
    section: '2.3',
    level: 'states',
    says: 'Refusals are those of the token endpoint, in JSON',
    async check({ main }) {
      const answer = await main.post('par', { ...REQUEST, scope: 'admin' }, { as: await main.client() })
      assert.equal(typeof refused(answer, 'invalid_scope').error_description, 'string')
      assert.equal(answer.headers.location, undefined)
    },
  },
  {
    section: '2.3',
    level: 'states',
    says: 'Another method than POST is 405',
    async check({ main }) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await main.send('/oauth/par', { method, as: await main.client() })
        assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
      }
    },
  },
  {
    section: '2.3',
    level: 'states',
    says: 'A request that is too large is 413',
    async check({ main }) {
      const answer = await main.post('par', { ...REQUEST, x: 'x'.repeat(70_000) }, { as: await main.client() })
      assert.equal(answer.status, 413)
      assert.equal(membersOf(answer).error, 'invalid_request')
    },
  },
  {
    section: '2.3',
    level: 'states',
    says: 'Too many requests of a client are 429',
    async check({ main }) {
      const as = await main.client()
      let status = 0
      for (let at = 0; at < 110 && status !== 429; at++)
        status = (await main.post('par', REQUEST, { as, secret: `wrong ${at}` })).status
      assert.equal(status, 429)
    },
  },
  {
    section: '2.4',
    level: 'MAY',
    says: 'Redirection URIs that are not registered are taken of clients that authenticate',
    decided: 'They are not: redirection URIs are compared with those of the client everywhere',
    async check({ main }) {
      const form = { ...REQUEST, redirect_uri: 'https://client.example/per-request' }
      refused(await main.post('par', form, { as: await main.client() }), 'invalid_request')
    },
  },
  {
    section: '3',
    level: 'states',
    says: 'A request object may be pushed',
    decided: 'Request objects are not served (RFC 9101): the pushed request is integrity-protected by itself',
    async check({ main }) {
      refused(await main.post('par', { request: 'a.b.c' }, { as: await main.client() }), 'request_not_supported')
    },
  },
  {
    section: '4',
    level: 'states',
    says: 'The authorization request has client_id and request_uri',
    async check({ main }) {
      const client_id = await main.client()
      assert.ok(await main.page({ response_type: undefined, client_id, request_uri: await pushed(main, client_id) }))
      refused(await main.authorize({ request_uri: await pushed(main, client_id) }), 'invalid_request')
    },
  },
  {
    section: '4',
    level: 'SHOULD',
    says: 'request_uri is used once',
    async check({ main }) {
      const client_id = await main.client()
      const request_uri = await pushed(main, client_id)
      assert.ok(await main.page({ client_id, request_uri }))
      refused(await main.authorize({ client_id, request_uri }), 'invalid_request_uri')
    },
  },
  {
    section: '4',
    level: 'MUST',
    says: 'An authorization request by request_uri is validated again as any other',
    async check({ main, svc }) {
      const client_id = await main.client()
      const request_uri = await pushed(main, client_id)
      const changed = { api_id: 'orders', client_id, redirect_uri: 'https://client.example/new', policies: ['orders'] }
      const put = await svc('PUT', `/svc/oauth/clients/orders/${client_id}`, changed)
      assert.equal(put.status, 200, put.text)
      const answer = await main.authorize({ client_id, request_uri })
      assert.deepEqual([answer.status, answer.headers.location], [400, undefined])
    },
  },
  {
    section: '4',
    level: 'states',
    says: 'Parameters beside request_uri do not count',
    async check({ main }) {
      const client_id = await main.client()
      const request_uri = await pushed(main, client_id, { scope: 'read', state: 'pushed' })
      const page = await main.page({
        client_id,
        request_uri,
        scope: 'write',
        state: 'other',
        code_challenge: CHALLENGE,
      })
      assert.deepEqual([page.get('scope'), page.get('state')], ['read', 'pushed'])
    },
  },
  {
    section: '5',
    level: 'states',
    says: 'Metadata name the endpoint',
    async check({ main }) {
      assert.equal((await main.metadata()).pushed_authorization_request_endpoint, main.url('par'))
    },
  },
  {
    section: '5',
    level: 'states',
    says: 'Metadata say whether pushed requests are required, and others are refused then',
    async check({ main, strict }) {
      assert.equal((await main.metadata()).require_pushed_authorization_requests, false)
      assert.equal((await strict.metadata()).require_pushed_authorization_requests, true)
      const client_id = await strict.client()
      assert.equal((await strict.refusal({ client_id, ...PKCE })).get('error'), 'invalid_request')
      assert.ok(await strict.page({ client_id, request_uri: await pushed(strict, client_id) }))
    },
  },
  {
    section: '6',
    level: 'states',
    says: 'A client with require_pushed_authorization_requests may begin by no other request',
    async check({ main }) {
      const client_id = await main.client({ require_pushed_authorization_requests: true })
      assert.equal((await main.refusal({ client_id, ...PKCE })).get('error'), 'invalid_request')
      const code = await main.code(client_id, { request_uri: await pushed(main, client_id) })
      good(await main.exchange(client_id, { code }))
    },
  },
  {
    section: '7.1',
    level: 'states',
    says: 'A request_uri that nobody was given is refused',
    async check({ main }) {
      const request_uri = 'urn:ietf:params:oauth:request_uri:guessed'
      refused(await main.authorize({ client_id: await main.client(), request_uri }), 'invalid_request_uri')
    },
  },
  {
    section: '7.2',
    level: 'states',
    says: 'An open redirect by a pushed request is not possible',
    async check({ main }) {
      const form = { ...REQUEST, redirect_uri: 'https://evil.example/', client_id: await main.publicClient() }
      refused(await main.post('par', form, NOBODY), 'invalid_request')
    },
  },
  {
    section: '7.3',
    level: 'SHOULD',
    says: 'A request object or request_uri is not replayed',
    async check({ main }) {
      const client_id = await main.client()
      const request_uri = await pushed(main, client_id)
      await main.code(client_id, { request_uri })
      refused(await main.authorize({ client_id, request_uri }), 'invalid_request_uri')
    },
  },
]
