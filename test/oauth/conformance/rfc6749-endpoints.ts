import assert from 'node:assert/strict'
import { LOGIN_PAGE, REDIRECT, SECRET } from '../../worlds/flows/oauth-world.ts'
import {
  CHALLENGE,
  type ConformanceRow,
  formOf,
  good,
  membersOf,
  NOBODY,
  PKCE,
  refused,
} from '../../worlds/oauth/conformance-world.ts'

const OTHER = 'https://client.example/other'
const withQueries = 'https://client.example/callback?tenant=7'

/** RFC 6749 sections 1 to 3: clients, and the endpoints. */
export const ENDPOINT_ROWS: readonly ConformanceRow[] = [
  {
    section: '1.6',
    level: 'MUST',
    says: 'Servers support TLS',
    decided:
      'TLS is a setting of the listener or ends at a proxy; addresses that clients get follow gateway.public_url',
    async check({ main }) {
      for (const [name, value] of Object.entries(await main.metadata()))
        if (name.endsWith('_endpoint')) assert.match(value, /^https:/, name)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'A client is confidential or public, and says which at registration',
    async check({ main }) {
      assert.equal((await main.credentials(await main.client())).status, 200)
      refused(await main.credentials('', { client_id: await main.publicClient() }, NOBODY), 'unauthorized_client')
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'The client identifier is unique to the authorization server',
    async check({ main, svc }) {
      const client_id = await main.client()
      const draft = { api_id: 'orders', client_id, secret: SECRET, redirect_uri: REDIRECT, policies: ['orders'] }
      assert.notEqual((await svc('POST', '/svc/oauth/clients/create', draft)).status, 200)
    },
  },
  {
    section: '2.2',
    level: 'MUST NOT',
    says: 'The client identifier alone authenticates no client that has a secret',
    async check({ main }) {
      const client_id = await main.client()
      refused(await main.credentials('', { client_id }, NOBODY), 'invalid_client', 401)
    },
  },
  {
    section: '2.3',
    level: 'MUST NOT',
    says: 'A client uses no more than one method of authentication in a request',
    async check({ main }) {
      const client = await main.client()
      const assertion = { client_assertion: 'a.b.c', client_assertion_type: 'x' }
      refused(await main.credentials(client, assertion), 'invalid_request')
      refused(await main.credentials(client, { client_secret: 'another one' }), 'invalid_client', 401)
    },
  },
  {
    section: '2.3',
    level: 'MUST NOT',
    says: 'The secret in the body beside Basic is a second method',
    decided: 'Taken where both are equal: the documented calls of the product send both',
    async check({ main }) {
      const client = await main.client()
      assert.equal((await main.credentials(client, { client_id: client, client_secret: SECRET })).status, 200)
    },
  },
  {
    section: '2.3.1',
    level: 'MUST',
    says: 'HTTP Basic is supported for clients with a secret',
    async check({ main }) {
      assert.equal((await main.credentials(await main.client())).status, 200)
    },
  },
  {
    section: '2.3.1',
    level: 'states',
    says: 'Id and secret are form-encoded before Basic encodes them',
    async check({ main }) {
      const secret = 'a secret: with + and % and &, of some length'
      const client = await main.client({ client_id: 'an id: with + and % in it', secret })
      const encoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
      const pair = Buffer.from(`${encoded(client)}:${encoded(secret)}`).toString('base64')
      good(await main.credentials('', {}, { ...NOBODY, headers: { authorization: `Basic ${pair}` } }))
    },
  },
  {
    section: '2.3.1',
    level: 'MAY',
    says: 'The secret may come in the body',
    async check({ main }) {
      const client_id = await main.client()
      good(await main.credentials('', { client_id, client_secret: SECRET }, NOBODY))
    },
  },
  {
    section: '2.3.1',
    level: 'MUST NOT',
    says: 'Client credentials in the query are not read',
    async check({ main }) {
      const query = formOf({ client_id: await main.client(), client_secret: SECRET })
      refused(await main.credentials('', {}, { ...NOBODY, query }), 'invalid_client', 401)
    },
  },
  {
    section: '2.3.1',
    level: 'MUST',
    says: 'Endpoints that take passwords of clients are protected against brute force',
    async check({ main }) {
      const as = await main.client()
      const statuses = new Set<number>()
      for (let at = 0; at < 102; at++) statuses.add((await main.credentials(as, {}, { as, secret: `no ${at}` })).status)
      assert.deepEqual([...statuses], [401, 429])
    },
  },
  {
    section: '2.3.2',
    level: 'MUST',
    says: 'Other methods of authentication are bound to the registered client',
    async check({ main }) {
      const client_id = await main.client()
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      const form = { client_id, client_assertion_type, client_assertion: 'e30.e30.e30' }
      refused(await main.credentials('', form, NOBODY), 'invalid_client', 401)
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'The authorization server verifies the identity of the resource owner',
    async check({ main }) {
      const answer = await main.authorize({ client_id: await main.client() })
      assert.ok(answer.headers.location?.startsWith(LOGIN_PAGE))
      const without = await main.send('/svc/oauth/authorize-client', { method: 'POST' })
      assert.equal(without.status, 403)
    },
  },
  {
    section: '3.1',
    level: 'MUST NOT',
    says: 'The authorization endpoint has no fragment',
    async check({ main }) {
      assert.ok(!(await main.metadata()).authorization_endpoint.includes('#'))
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'The authorization endpoint supports GET',
    async check({ main }) {
      assert.equal((await main.authorize({ client_id: await main.client() })).status, 307)
    },
  },
  {
    section: '3.1',
    level: 'MAY',
    says: 'The authorization endpoint supports POST',
    async check({ main }) {
      const form = { response_type: 'code', client_id: await main.client() }
      assert.equal((await main.post('authorize', form)).status, 307)
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'A parameter without a value is treated as omitted',
    async check({ main }) {
      const page = await main.page({ client_id: await main.client(), redirect_uri: '', scope: '', state: '' })
      assert.ok(!page.has('scope') && !page.has('state'))
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'Unrecognized parameters of an authorization request are ignored',
    async check({ main }) {
      assert.ok(await main.page({ client_id: await main.client(), 'x-unknown': 'v', ui_locales: 'de' }))
    },
  },
  {
    section: '3.1',
    level: 'MUST NOT',
    says: 'Parameters of an authorization request are given once',
    async check({ main }) {
      const client_id = await main.client()
      for (const name of ['scope', 'state', 'response_type', 'x-unknown']) {
        const answer = await main.authorize({ client_id, scope: 'read', state: 's', 'x-unknown': 'v' }, `&${name}=code`)
        assert.equal(new URL(answer.headers.location!).searchParams.get('error'), 'invalid_request', name)
      }
      refused(await main.authorize({ client_id }, '&client_id=x'), 'invalid_request')
    },
  },
  {
    section: '3.1.1',
    level: 'REQUIRED',
    says: 'response_type is required, and its absence is an error',
    async check({ main }) {
      const client_id = await main.client()
      const refusal = await main.refusal({ client_id, response_type: undefined })
      assert.equal(refusal.get('error'), 'invalid_request')
    },
  },
  {
    section: '3.1.1',
    level: 'MUST',
    says: 'A response_type that is not understood is an error',
    async check({ main }) {
      for (const response_type of ['token', 'code token', 'magic', 'CODE'])
        assert.equal(
          (await main.refusal({ client_id: await main.client(), response_type })).get('error'),
          'unsupported_response_type',
        )
    },
  },
  {
    section: '3.1.2',
    level: 'MUST',
    says: 'The redirection endpoint is an absolute URI',
    async check({ main }) {
      for (const redirect_uri of ['/callback', 'client.example/callback', '//client.example/callback'])
        await assert.rejects(main.client({ redirect_uri }), redirect_uri)
    },
  },
  {
    section: '3.1.2',
    level: 'MUST',
    says: 'A query component of the redirection endpoint is retained',
    async check({ main }) {
      const client = await main.client({ redirect_uri: withQueries })
      const back = await main.comeBack(client)
      assert.equal(back.searchParams.get('tenant'), '7')
      assert.ok(back.searchParams.has('code'))
    },
  },
  {
    section: '3.1.2',
    level: 'MUST NOT',
    says: 'The redirection endpoint has no fragment',
    async check({ main }) {
      await assert.rejects(main.client({ redirect_uri: `${REDIRECT}#part` }), /fragment/)
      const answer = await main.authorize({ client_id: await main.client(), redirect_uri: `${REDIRECT}#part` })
      assert.equal(answer.status, 400)
    },
  },
  {
    section: '3.1.2.1',
    level: 'SHOULD',
    says: 'The redirection endpoint requires TLS',
    async check({ main }) {
      const headers = { authorization: 'Bearer the-initial-access-token-of-the-installation' }
      const body = JSON.stringify({ redirect_uris: ['http://client.example/callback'] })
      const answer = await main.send('/oauth/register', { method: 'POST', headers, type: 'application/json', body })
      refused(answer, 'invalid_redirect_uri')
    },
  },
  {
    section: '3.1.2.2',
    level: 'MUST',
    says: 'Public clients register their redirection endpoint',
    async check({ main }) {
      await assert.rejects(main.publicClient({ redirect_uri: undefined }))
    },
  },
  {
    section: '3.1.2.2',
    level: 'SHOULD',
    says: 'All clients register their redirection endpoint',
    async check({ main }) {
      await assert.rejects(main.client({ redirect_uri: undefined }))
    },
  },
  {
    section: '3.1.2.2',
    level: 'MAY',
    says: 'A client may register several redirection endpoints',
    async check({ main }) {
      const client = await main.client({ redirect_uri: undefined, redirect_uris: [REDIRECT, OTHER] })
      const back = await main.comeBack(client, { redirect_uri: OTHER })
      assert.ok(back.href.startsWith(OTHER))
    },
  },
  {
    section: '3.1.2.3',
    level: 'MUST',
    says: 'With several registered redirection URIs, the request names one',
    async check({ main }) {
      const client_id = await main.client({ redirect_uri: undefined, redirect_uris: [REDIRECT, OTHER] })
      refused(await main.authorize({ client_id }), 'invalid_request')
    },
  },
  {
    section: '3.1.2.3',
    level: 'MUST',
    says: 'A redirection URI of a request is compared with the registered ones',
    async check({ main }) {
      const client_id = await main.client()
      for (const redirect_uri of [OTHER, `${REDIRECT}/`, `${REDIRECT}?a=b`, REDIRECT.toUpperCase(), `${REDIRECT}%2e`])
        refused(await main.authorize({ client_id, redirect_uri }), 'invalid_request')
    },
  },
  {
    section: '3.1.2.4',
    level: 'MUST NOT',
    says: 'The browser is never redirected to an invalid redirection URI',
    async check({ main }) {
      const answer = await main.authorize({ client_id: await main.client(), redirect_uri: OTHER })
      assert.equal(answer.headers.location, undefined)
    },
  },
  {
    section: '3.1.2.4',
    level: 'SHOULD',
    says: 'The resource owner is informed of an invalid redirection URI',
    async check({ main }) {
      const answer = await main.authorize({ client_id: await main.client(), redirect_uri: OTHER })
      assert.match(membersOf(answer).error_description, /redirect_uri/)
    },
  },
  {
    section: '3.2',
    level: 'MUST NOT',
    says: 'The token endpoint has no fragment',
    async check({ main }) {
      assert.ok(!(await main.metadata()).token_endpoint.includes('#'))
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'The client uses POST at the token endpoint',
    async check({ main }) {
      for (const method of ['GET', 'PUT', 'HEAD', 'DELETE']) {
        const query = 'grant_type=client_credentials'
        const answer = await main.send('/oauth/token', { method, as: await main.client(), query })
        assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'], method)
      }
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'A parameter of a token request without a value is treated as omitted',
    async check({ main }) {
      good(await main.credentials(await main.client(), { scope: '', client_id: '', resource: '' }))
      refused(await main.credentials(await main.client(), { grant_type: '' }), 'invalid_request')
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'Unrecognized parameters of a token request are ignored',
    async check({ main }) {
      good(await main.credentials(await main.client(), { 'x-unknown': 'v', nonce: 'n' }))
    },
  },
  {
    section: '3.2',
    level: 'MUST NOT',
    says: 'Parameters of a token request are given once',
    async check({ main }) {
      const as = await main.client()
      for (const name of ['grant_type', 'scope', 'x-unknown'])
        refused(await main.credentials(as, { [name]: ['read', 'read'] }), 'invalid_request')
    },
  },
  {
    section: '3.2.1',
    level: 'MUST',
    says: 'Clients with credentials authenticate at the token endpoint',
    async check({ main }) {
      const client_id = await main.client()
      refused(await main.exchange('', { code: await main.code(client_id), client_id }, NOBODY), 'invalid_client', 401)
      const refresh_token = (await main.tokens(client_id)).refresh_token
      refused(await main.refresh('', refresh_token, { client_id }, NOBODY), 'invalid_client', 401)
    },
  },
  {
    section: '3.2.1',
    level: 'MUST',
    says: 'A public client names itself by client_id at the token endpoint',
    async check({ main }) {
      const client_id = await main.publicClient()
      refused(await main.exchange('', { code: await main.code(client_id) }, NOBODY), 'invalid_client', 401)
      good(await main.exchange('', { code: await main.code(client_id), client_id }, NOBODY))
    },
  },
  {
    section: '3.3',
    level: 'states',
    says: 'Scopes are a list parted by spaces, whose order does not matter',
    async check({ main }) {
      const client = await main.client()
      const scopes = async (scope: string) =>
        good(await main.credentials(client, { scope }))
          .scope.split(' ')
          .sort()
      assert.deepEqual(await scopes('write read'), await scopes('read write'))
    },
  },
  {
    section: '3.3',
    level: 'states',
    says: 'Scopes are case-sensitive',
    async check({ main }) {
      refused(await main.credentials(await main.client(), { scope: 'READ' }), 'invalid_scope')
    },
  },
  {
    section: '3.3',
    level: 'MUST',
    says: 'A scope that is not the requested one is named in the answer',
    async check({ main }) {
      const tokens = await main.tokens(await main.client(), { scope: 'read write', allow: 'read' })
      assert.equal(tokens.scope, 'read')
    },
  },
  {
    section: '3.3',
    level: 'MUST',
    says: 'A request without scope gets a default or fails',
    async check({ main }) {
      const { access_token, scope } = good(await main.credentials(await main.client()))
      assert.equal(scope, undefined)
      assert.equal((await main.introspect(access_token)).scope, undefined)
    },
  },
  {
    section: '3.3',
    level: 'states',
    says: 'Only the characters of scope-token are taken',
    async check({ plain }) {
      const client = await plain.client()
      for (const scope of ['a"b', 'a\\b', 'a\tb', 'é', ' a', 'a  b'])
        refused(await plain.credentials(client, { scope }), 'invalid_scope')
      good(await plain.credentials(client, { scope: "!#$%&'()*+,-./[]^_`{|}~" }))
    },
  },
  {
    section: 'B',
    level: 'MUST',
    says: 'Parameters are form-encoded UTF-8',
    async check({ main }) {
      const as = await main.client()
      for (const form of ['grant_type=client_credentials&x=%ff', 'grant_type=client_credentials&x=%2'])
        refused(await main.post('token', form, { as }), 'invalid_request')
      const page = await main.page({ client_id: as, state: 'ü+ %', ...PKCE, code_challenge: CHALLENGE })
      assert.equal(page.get('state'), 'ü+ %')
    },
  },
]
