import assert from 'node:assert/strict'
import {
  type ConformanceRow,
  good,
  INITIAL_TOKEN,
  membersOf,
  newHolderKey,
  PKCE,
  refused,
  signedJwt,
} from '../../worlds/oauth/conformance-world.ts'

const KEY = newHolderKey()
const NOT_SERVED = 'Request objects are not served: pushed requests (RFC 9126) protect a request as well'

/** RFC 9101: requests in a JWT. Few of it is ours, as request objects are refused. */
export const REQUEST_OBJECT_ROWS: readonly ConformanceRow[] = [
  {
    section: '4',
    level: 'states',
    says: 'A request object is a signed or encrypted JWT',
    decided: NOT_SERVED,
    async check({ main }) {
      const client_id = await main.client()
      const claims = { iss: client_id, aud: main.issuer, response_type: 'code', client_id, ...PKCE }
      const request = signedJwt({ alg: 'ES256', typ: 'oauth-authz-req+jwt' }, claims, KEY.privateKey)
      assert.equal((await main.refusal({ client_id, request })).get('error'), 'request_not_supported')
    },
  },
  {
    section: '5',
    level: 'MUST NOT',
    says: 'request and request_uri come together',
    async check({ main }) {
      const client_id = await main.client()
      const pushed = await main.post('par', { response_type: 'code', ...PKCE }, { as: client_id })
      const { request_uri } = membersOf(pushed)
      assert.equal((await main.refusal({ client_id, request: 'a.b.c', request_uri })).get('error'), 'invalid_request')
    },
  },
  {
    section: '5',
    level: 'MUST',
    says: 'client_id is in the query too, and must be that of the request object',
    async check({ main }) {
      const { request_uri } = membersOf(
        await main.post('par', { response_type: 'code', ...PKCE }, { as: await main.client() }),
      )
      refused(await main.authorize({ request_uri }), 'invalid_request')
      refused(await main.authorize({ client_id: await main.client(), request_uri }), 'invalid_request_uri')
    },
  },
  {
    section: '5.2',
    level: 'states',
    says: 'request_uri may be an https address of a request object',
    decided: NOT_SERVED,
    async check({ main }) {
      const request_uri = 'https://client.example/request.jwt'
      const refusal = await main.refusal({ client_id: await main.client(), request_uri })
      assert.equal(refusal.get('error'), 'request_uri_not_supported')
    },
  },
  {
    section: '5.2',
    level: 'states',
    says: 'request_uri may be a URN that the authorization server gave',
    async check({ main }) {
      const client_id = await main.client()
      const pushed = await main.post('par', { response_type: 'code', ...PKCE }, { as: client_id })
      assert.ok(await main.page({ client_id, request_uri: membersOf(pushed).request_uri }))
    },
  },
  {
    section: '6.3',
    level: 'MUST',
    says: 'Of a request by reference only the parameters inside it count',
    async check({ main }) {
      const client_id = await main.client()
      const pushed = await main.post('par', { response_type: 'code', scope: 'read', ...PKCE }, { as: client_id })
      const page = await main.page({ client_id, request_uri: membersOf(pushed).request_uri, scope: 'write' })
      assert.equal(page.get('scope'), 'read')
    },
  },
  {
    section: '7',
    level: 'states',
    says: 'A bad request_uri is invalid_request_uri',
    async check({ main }) {
      const request_uri = 'urn:ietf:params:oauth:request_uri:x'
      refused(await main.authorize({ client_id: await main.client(), request_uri }), 'invalid_request_uri')
    },
  },
  {
    section: '7',
    level: 'states',
    says: 'request_not_supported and request_uri_not_supported where they are not served',
    async check({ main }) {
      const client_id = await main.client()
      assert.equal((await main.refusal({ client_id, request: 'x' })).get('error'), 'request_not_supported')
      const refusal = await main.refusal({ client_id, request_uri: 'https://x.example/' })
      assert.equal(refusal.get('error'), 'request_uri_not_supported')
    },
  },
  {
    section: '9.2',
    level: 'states',
    says: 'Metadata say that request objects are not required, and name none',
    async check({ main }) {
      const metadata = await main.metadata()
      assert.ok(!metadata.require_signed_request_object)
      assert.ok(!metadata.request_parameter_supported)
      const discovered = good(await main.send('/.well-known/openid-configuration'))
      assert.equal(discovered.request_uri_parameter_supported, false)
    },
  },
  {
    section: '10.5',
    level: 'states',
    says: 'A client that asks for require_signed_request_object is not registered as one',
    async check({ main }) {
      const body = JSON.stringify({
        redirect_uris: ['https://client.example/callback'],
        require_signed_request_object: true,
      })
      const headers = { authorization: `Bearer ${INITIAL_TOKEN}` }
      const answer = await main.send('/oauth/register', { method: 'POST', headers, type: 'application/json', body })
      assert.ok(!('require_signed_request_object' in membersOf(answer)))
    },
  },
  {
    section: '10.4',
    level: 'MUST NOT',
    says: 'The server fetches an address that a request names',
    async check({ main, origin }) {
      const before = origin.seen.length
      await main.refusal({ client_id: await main.client(), request_uri: `${origin.url}/request.jwt` })
      assert.equal(origin.seen.length, before)
    },
  },
]
