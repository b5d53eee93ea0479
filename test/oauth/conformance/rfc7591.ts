import assert from 'node:assert/strict'
import { REDIRECT } from '../../worlds/flows/oauth-world.ts'
import {
  bitsOf,
  type ConformanceRow,
  challengesOf,
  DEVICE_GRANT_TYPE,
  good,
  INITIAL_TOKEN,
  type Members,
  membersOf,
  newHolderKey,
  refused,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

const INITIAL = { authorization: `Bearer ${INITIAL_TOKEN}` }
const JSON_TYPE = 'application/json'

function register(served: Served, metadata: Members | string, headers: Record<string, string> = INITIAL) {
  const body = typeof metadata === 'string' ? metadata : JSON.stringify({ redirect_uris: [REDIRECT], ...metadata })
  return served.send('/oauth/register', { method: 'POST', headers, type: JSON_TYPE, body })
}

async function registered(served: Served, metadata: Members = {}): Promise<Members> {
  const answer = await register(served, metadata)
  assert.equal(answer.status, 201, answer.text)
  return membersOf(answer)
}

function manage(served: Served, client: Members, method: string, body?: Members, token?: string) {
  const headers = { authorization: `Bearer ${token ?? client.registration_access_token}` }
  const path = `/oauth/register/${client.client_id}`
  return served.send(path, { method, headers, ...(body && { type: JSON_TYPE, body: JSON.stringify(body) }) })
}

/** Members of a registration that the server says, and that no update may have. */
const OF_SERVER = [
  'registration_access_token',
  'registration_client_uri',
  'client_id_issued_at',
  'client_secret_expires_at',
] as const

function updatable(client: Members): Members {
  return Object.fromEntries(Object.entries(client).filter(([name]) => !OF_SERVER.includes(name as never)))
}

/** RFC 7591: dynamic registration of clients. */
export const REGISTRATION_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST',
    says: 'Clients with flows by redirection register their redirect_uris',
    async check({ main }) {
      refused(await register(main, { redirect_uris: [] }), 'invalid_redirect_uri')
      await registered(main, { redirect_uris: [], grant_types: ['client_credentials'], response_types: [] })
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'token_endpoint_auth_method is client_secret_basic unless given',
    async check({ main }) {
      assert.equal((await registered(main)).token_endpoint_auth_method, 'client_secret_basic')
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'grant_types and response_types are authorization_code and code unless given',
    async check({ main }) {
      const { grant_types, response_types } = await registered(main)
      assert.deepEqual([grant_types, response_types], [['authorization_code'], ['code']])
    },
  },
  ...(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const).map(
    (method): ConformanceRow => ({
      section: '2',
      level: 'states',
      says: `token_endpoint_auth_method ${method} is registered as it was asked for`,
      async check({ main }) {
        const jwks = method === 'private_key_jwt' ? { jwks: { keys: [newHolderKey().jwk] } } : {}
        const client = await registered(main, { token_endpoint_auth_method: method, ...jwks })
        assert.equal(client.token_endpoint_auth_method, method)
        assert.equal('client_secret' in client, method.startsWith('client_secret'))
      },
    }),
  ),
  {
    section: '2',
    level: 'MUST NOT',
    says: 'jwks and jwks_uri are both in a request',
    async check({ main }) {
      const metadata = { jwks_uri: 'https://client.example/jwks', jwks: { keys: [newHolderKey().jwk] } }
      refused(await register(main, metadata), 'invalid_client_metadata')
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'jwks_uri is the address of the keys of a client',
    async check({ main }) {
      const jwks_uri = 'https://client.example/jwks'
      const client = await registered(main, { jwks_uri, token_endpoint_auth_method: 'private_key_jwt' })
      assert.deepEqual([client.jwks_uri, client.jwks], [jwks_uri, undefined])
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'jwks_uri is an https address, and no other of the network of the server',
    async check({ main }) {
      for (const jwks_uri of ['ftp://client.example/k', 'https://u:p@client.example/k', 'client.example', 7])
        refused(
          await register(main, { jwks_uri, token_endpoint_auth_method: 'private_key_jwt' }),
          'invalid_client_metadata',
        )
    },
  },
  {
    section: '2',
    level: 'MUST NOT',
    says: 'A key set of a client holds private keys',
    async check({ main }) {
      const jwks = { keys: [{ ...newHolderKey().jwk, d: 'x'.repeat(43) }] }
      refused(await register(main, { token_endpoint_auth_method: 'private_key_jwt', jwks }), 'invalid_client_metadata')
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'Metadata that are not understood are ignored',
    async check({ main }) {
      const client = await registered(main, { 'x-unknown': 'v', sector_identifier_uri: 'https://x.example/' })
      assert.ok(!('x-unknown' in client))
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'Names, links and contacts for people are kept as they came',
    async check({ main }) {
      const metadata = {
        client_name: 'The shop',
        client_uri: 'https://client.example/',
        logo_uri: 'https://client.example/logo.png',
        tos_uri: 'https://client.example/tos',
        policy_uri: 'https://client.example/privacy',
        contacts: ['ann@client.example'],
        software_id: 'shop',
        software_version: '2',
      }
      const client = await registered(main, metadata)
      for (const [name, value] of Object.entries(metadata)) assert.deepEqual(client[name], value, name)
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'scope restricts what the client may ask for',
    async check({ main }) {
      const client = await registered(main, { scope: 'read' })
      assert.equal(client.scope, 'read')
      assert.equal((await main.refusal({ client_id: client.client_id, scope: 'write' })).get('error'), 'invalid_scope')
    },
  },
  {
    section: '2.1',
    level: 'SHOULD',
    says: 'grant_types and response_types that do not fit are refused',
    async check({ main }) {
      refused(
        await register(main, { grant_types: ['client_credentials'], response_types: ['code'] }),
        'invalid_client_metadata',
      )
      refused(
        await register(main, { grant_types: ['authorization_code'], response_types: [] }),
        'invalid_client_metadata',
      )
      refused(await register(main, { response_types: ['token'] }), 'invalid_client_metadata')
    },
  },
  {
    section: '2.2',
    level: 'MAY',
    says: 'Metadata for people come in languages, as client_name#fr',
    decided: 'Ignored, as the RFC lets a server do',
    async check({ main }) {
      assert.ok(!('client_name#fr' in (await registered(main, { 'client_name#fr': 'La boutique' }))))
    },
  },
  {
    section: '2.3',
    level: 'MAY',
    says: 'Software statements are ignored where they are not supported',
    async check({ main }) {
      assert.ok(!('software_statement' in (await registered(main, { software_statement: 'a.b.c' }))))
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'The endpoint takes POST of JSON',
    async check({ main }) {
      await registered(main)
      const form = await main.send('/oauth/register', {
        method: 'POST',
        headers: INITIAL,
        type: 'text/plain',
        body: '{}',
      })
      refused(form, 'invalid_client_metadata')
      refused(await register(main, '[1]'), 'invalid_client_metadata')
    },
  },
  {
    section: '3',
    level: 'MAY',
    says: 'The endpoint is protected by an initial access token',
    async check({ main }) {
      for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
        const answer = await register(main, {}, headers as Record<string, string>)
        assert.equal(answer.status, 401)
        assert.match(challengesOf(answer), /^Bearer/)
      }
    },
  },
  {
    section: '3',
    level: 'SHOULD',
    says: 'Open registration is possible, and limited in rate',
    async check({ plain }) {
      const client = membersOf(await register(plain, {}, {}))
      assert.ok(client.client_id)
      let status = 0
      for (let at = 0; at < 25 && status !== 429; at++) status = (await register(plain, {}, {})).status
      assert.equal(status, 429)
    },
  },
  {
    section: '3.1',
    level: 'states',
    says: 'The server assigns a client_id that is unique',
    async check({ main }) {
      const [one, two] = [await registered(main), await registered(main, { client_id: 'mine' })]
      assert.notEqual(one.client_id, two.client_id)
      assert.notEqual(two.client_id, 'mine')
    },
  },
  {
    section: '3.2.1',
    level: 'MUST',
    says: 'Success is 201 with all registered metadata, JSON, no-store',
    async check({ main }) {
      const answer = await register(main, { client_name: 'x' })
      assert.equal(answer.status, 201)
      assert.match(answer.headers['cache-control'] ?? '', /\bno-store\b/)
      const { redirect_uris, client_name, grant_types } = membersOf(answer)
      assert.deepEqual([redirect_uris, client_name, grant_types], [[REDIRECT], 'x', ['authorization_code']])
    },
  },
  {
    section: '3.2.1',
    level: 'REQUIRED',
    says: 'client_id is in the answer, client_secret_expires_at beside a secret',
    async check({ main }) {
      const client = await registered(main)
      assert.deepEqual([typeof client.client_id, client.client_secret_expires_at], ['string', 0])
    },
  },
  {
    section: '3.2.1',
    level: 'MUST',
    says: 'A secret is unique, and not issued to clients that use none',
    async check({ main }) {
      const [one, two] = [await registered(main), await registered(main)]
      assert.notEqual(one.client_secret, two.client_secret)
      assert.ok(bitsOf(one.client_secret) >= 128)
      assert.ok(!('client_secret' in (await registered(main, { token_endpoint_auth_method: 'none' }))))
    },
  },
  {
    section: '3.2.1',
    level: 'OPTIONAL',
    says: 'client_id_issued_at is in seconds',
    async check({ main, clock }) {
      assert.equal((await registered(main)).client_id_issued_at, Math.floor(clock.wall() / 1000))
    },
  },
  {
    section: '3.2.2',
    level: 'states',
    says: 'A bad redirection URI is invalid_redirect_uri with status 400',
    async check({ main }) {
      for (const uri of ['http://client.example/', 'https://client.example/#a', 'javascript:alert(1)', 'no address'])
        refused(await register(main, { redirect_uris: [uri] }), 'invalid_redirect_uri')
    },
  },
  {
    section: '3.2.2',
    level: 'states',
    says: 'Bad metadata are invalid_client_metadata with status 400',
    async check({ main }) {
      for (const metadata of [
        { grant_types: 'x' },
        { token_endpoint_auth_method: 'magic' },
        { client_name: 7 },
        { dpop_bound_access_tokens: 'yes' },
      ])
        refused(await register(main, metadata), 'invalid_client_metadata')
    },
  },
  {
    section: '3.2.2',
    level: 'states',
    says: 'A grant that the API does not have, and the password grant, are refused',
    async check({ main, plain }) {
      refused(await register(main, { grant_types: ['password', 'authorization_code'] }), 'invalid_client_metadata')
      refused(await register(plain, { grant_types: [DEVICE_GRANT_TYPE] }), 'invalid_client_metadata')
    },
  },
  {
    section: '5',
    level: 'MUST',
    says: 'Links for people are checked: none that can run',
    async check({ main }) {
      for (const name of ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'])
        refused(await register(main, { [name]: 'javascript:alert(1)' }), 'invalid_client_metadata')
    },
  },
  {
    section: '5',
    level: 'states',
    says: 'A public client gets no grant in which it would act for itself',
    async check({ main }) {
      const metadata = { token_endpoint_auth_method: 'none', grant_types: ['client_credentials'], response_types: [] }
      refused(await register(main, metadata), 'invalid_client_metadata')
    },
  },
]

/** RFC 7592: management of registrations. */
export const MANAGEMENT_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST',
    says: 'The address of a registration is its own, below https',
    async check({ main }) {
      const [one, two] = [await registered(main), await registered(main)]
      assert.notEqual(one.registration_client_uri, two.registration_client_uri)
      assert.match(one.registration_client_uri, /^https:/)
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'Without the registration access token the answer is 401',
    async check({ main }) {
      const client = await registered(main)
      for (const method of ['GET', 'PUT', 'DELETE'])
        assert.equal((await manage(main, client, method, undefined, 'wrong')).status, 401, method)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'GET answers the registration with status 200',
    async check({ main }) {
      const client = await registered(main)
      const read = good(await manage(main, client, 'GET'))
      assert.deepEqual([read.client_id, read.redirect_uris], [client.client_id, client.redirect_uris])
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'A token of another registration reads nothing, nor does that of a deleted one',
    async check({ main }) {
      const [one, two] = [await registered(main), await registered(main)]
      assert.equal((await manage(main, one, 'GET', undefined, two.registration_access_token)).status, 401)
      await manage(main, one, 'DELETE')
      assert.equal((await manage(main, one, 'GET')).status, 401)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'PUT replaces the metadata: those left out are gone',
    async check({ main }) {
      const client = await registered(main, { client_name: 'x', scope: 'read', dpop_bound_access_tokens: true })
      const { client_name: _name, scope: _scope, dpop_bound_access_tokens: _dpop, ...rest } = updatable(client)
      const saved = good(await manage(main, client, 'PUT', rest))
      for (const name of ['client_name', 'scope', 'dpop_bound_access_tokens']) assert.ok(!(name in saved), name)
    },
  },
  {
    section: '2.2',
    level: 'MUST',
    says: 'An update has client_id, and it is that of the registration',
    async check({ main }) {
      const client = await registered(main)
      refused(await manage(main, client, 'PUT', { ...updatable(client), client_id: 'x' }), 'invalid_request')
      refused(await manage(main, client, 'PUT', { ...updatable(client), client_id: undefined }), 'invalid_request')
    },
  },
  ...OF_SERVER.map(
    (name): ConformanceRow => ({
      section: '2.2',
      level: 'MUST NOT',
      says: `An update has ${name}`,
      async check({ main }) {
        const client = await registered(main)
        refused(await manage(main, client, 'PUT', { ...updatable(client), [name]: client[name] }), 'invalid_request')
      },
    }),
  ),
  {
    section: '2.2',
    level: 'MUST NOT',
    says: 'A client overwrites its secret with one of its choice',
    async check({ main }) {
      const client = await registered(main)
      refused(await manage(main, client, 'PUT', { ...updatable(client), client_secret: 'mine' }), 'invalid_request')
      good(await manage(main, client, 'PUT', updatable(client)))
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'Bad metadata of an update are refused as at registration',
    async check({ main }) {
      const client = await registered(main)
      refused(await manage(main, client, 'PUT', { ...updatable(client), redirect_uris: ['x'] }), 'invalid_redirect_uri')
    },
  },
  {
    section: '2.3',
    level: 'states',
    says: 'DELETE answers 204',
    async check({ main }) {
      const answer = await manage(main, await registered(main), 'DELETE')
      assert.deepEqual([answer.status, answer.text], [204, ''])
    },
  },
  {
    section: '2.3',
    level: 'SHOULD',
    says: 'A deleted client and its tokens are invalid at once',
    async check({ main, svc }) {
      const client = await registered(main)
      const put = { api_id: 'orders', client_id: client.client_id, redirect_uri: REDIRECT, policies: ['orders'] }
      assert.equal((await svc('PUT', `/svc/oauth/clients/orders/${client.client_id}`, put)).status, 200)
      const { access_token } = await main.tokens(client.client_id, {}, {}, { secret: client.client_secret })
      await manage(main, client, 'DELETE')
      assert.equal((await main.use(access_token)).status, 401)
      refused(await main.authorize({ client_id: client.client_id }), 'invalid_client')
    },
  },
  {
    section: '3',
    level: 'REQUIRED',
    says: 'registration_client_uri and registration_access_token are in the answer',
    async check({ main }) {
      const client = await registered(main)
      assert.equal(client.registration_client_uri, `${main.url('register')}/${client.client_id}`)
      assert.ok(bitsOf(client.registration_access_token) >= 128)
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'The answer of a read has all registered metadata',
    async check({ main }) {
      const client = await registered(main, { client_name: 'x', contacts: ['a@x.example'] })
      assert.deepEqual(good(await manage(main, client, 'GET')), client)
    },
  },
]
