import assert from 'node:assert/strict'
import { REDIRECT } from '../../worlds/flows/oauth-world.ts'
import {
  bitsOf,
  type ConformanceRow,
  type ConformanceWorld,
  good,
  NOBODY,
  refused,
  VERIFIER,
} from '../../worlds/oauth/conformance-world.ts'

const PASSWORD = 'Correct-horse-7'
async function userOf({ svc }: ConformanceWorld, name: string): Promise<void> {
  const rights = { orders: { api_id: 'orders', versions: ['Default'] } }
  const answer = await svc('POST', `/svc/keys/${name}`, {
    access_rights: rights,
    rate: 1000,
    per: 1,
    quota_max: -1,
    basic_auth_data: { password: PASSWORD },
  })
  assert.equal(answer.status, 200, answer.text)
}

/** RFC 6749 section 4: the grants. */
export const GRANT_ROWS: readonly ConformanceRow[] = [
  {
    section: '4.1.1',
    level: 'REQUIRED',
    says: 'client_id of an authorization request is required',
    async check({ main }) {
      refused(await main.authorize({ redirect_uri: REDIRECT }), 'invalid_request')
    },
  },
  {
    section: '4.1.1',
    level: 'OPTIONAL',
    says: 'redirect_uri may be left out where one is registered',
    async check({ main }) {
      const back = await main.comeBack(await main.client())
      assert.ok(back.href.startsWith(REDIRECT))
    },
  },
  {
    section: '4.1.1',
    level: 'OPTIONAL',
    says: 'scope may be left out',
    async check({ main }) {
      good(await main.exchange(await main.client()))
    },
  },
  {
    section: '4.1.1',
    level: 'RECOMMENDED',
    says: 'state is taken as an opaque value and kept as it is',
    async check({ main }) {
      const state = 'a b&c=d%2F#?+"<>é'
      const back = await main.comeBack(await main.client(), { state })
      assert.equal(back.searchParams.get('state'), state)
    },
  },
  {
    section: '4.1.2',
    level: 'REQUIRED',
    says: 'The answer to a consent has a code',
    async check({ main }) {
      assert.ok((await main.comeBack(await main.client())).searchParams.get('code'))
    },
  },
  {
    section: '4.1.2',
    level: 'MUST',
    says: 'A code expires shortly after it was issued',
    async check({ main, clock }) {
      const client = await main.client()
      const code = await main.code(client)
      await clock.advance(600_000)
      refused(await main.exchange(client, { code }), 'invalid_grant')
    },
  },
  {
    section: '4.1.2',
    level: 'RECOMMENDED',
    says: 'A code lives for at most ten minutes',
    async check({ main, clock }) {
      const client = await main.client()
      const [early, late] = [await main.code(client), await main.code(client)]
      await clock.advance(59_000)
      good(await main.exchange(client, { code: early }))
      await clock.advance(2_000)
      refused(await main.exchange(client, { code: late }), 'invalid_grant')
    },
  },
  {
    section: '4.1.2',
    level: 'MUST NOT',
    says: 'A client uses a code more than once',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client)
      good(await main.exchange(client, { code }))
      refused(await main.exchange(client, { code }), 'invalid_grant')
    },
  },
  {
    section: '4.1.2',
    level: 'SHOULD',
    says: 'A second use of a code revokes the tokens of the first',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client)
      const { access_token, refresh_token } = good(await main.exchange(client, { code }))
      await main.exchange(client, { code })
      assert.equal((await main.use(access_token)).status, 401)
      refused(await main.refresh(client, refresh_token), 'invalid_grant')
    },
  },
  {
    section: '4.1.2',
    level: 'states',
    says: 'A code is bound to its client and redirection URI',
    async check({ main }) {
      const [client, other] = [await main.client(), await main.client()]
      refused(await main.exchange(other, { code: await main.code(client) }), 'invalid_grant')
      const code = await main.code(client, { redirect_uri: REDIRECT })
      refused(await main.exchange(client, { code, redirect_uri: `${REDIRECT}/` }), 'invalid_grant')
    },
  },
  {
    section: '4.1.2',
    level: 'REQUIRED',
    says: 'state is in the answer exactly if it was in the request',
    async check({ main }) {
      const client = await main.client()
      assert.equal((await main.comeBack(client, { state: 'xyz' })).searchParams.get('state'), 'xyz')
      assert.ok(!(await main.comeBack(client)).searchParams.has('state'))
    },
  },
  {
    section: '4.1.2.1',
    level: 'MUST NOT',
    says: 'An unknown client or a bad redirection URI redirects nowhere',
    async check({ main }) {
      for (const fields of [
        { client_id: 'nobody', redirect_uri: REDIRECT },
        { client_id: await main.client(), redirect_uri: 'https://x.example/' },
      ]) {
        const answer = await main.authorize(fields)
        assert.deepEqual([answer.status, answer.headers.location], [400, undefined])
      }
    },
  },
  {
    section: '4.1.2.1',
    level: 'states',
    says: 'Other faults are added to the query of the redirection URI',
    async check({ main }) {
      const client_id = await main.client({ redirect_uri: `${REDIRECT}?a=b` })
      const refusal = await main.refusal({ client_id, response_type: 'token' })
      assert.deepEqual([refusal.get('a'), refusal.has('error'), refusal.get('state')], ['b', true, 'st'])
    },
  },
  ...(
    [
      ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
      ['unsupported_response_type', { response_type: 'token' }],
      ['invalid_scope', { scope: 'admin' }],
    ] as const
  ).map(
    ([error, fields]): ConformanceRow => ({
      section: '4.1.2.1',
      level: 'REQUIRED',
      says: `The error of such a request is ${error}`,
      async check({ main }) {
        assert.equal((await main.refusal({ client_id: await main.client(), ...fields })).get('error'), error)
      },
    }),
  ),
  {
    section: '4.1.2.1',
    level: 'REQUIRED',
    says: 'A client without this grant gets unauthorized_client',
    async check({ main }) {
      const client_id = await main.client({ grant_types: ['client_credentials'] })
      assert.equal((await main.refusal({ client_id })).get('error'), 'unauthorized_client')
    },
  },
  {
    section: '4.1.2.1',
    level: 'REQUIRED',
    says: 'A denial of the resource owner is access_denied, with the state',
    async check({ main }) {
      const page = await main.page({ client_id: await main.client(), state: 's' })
      const { redirect_to } = await main.login({ ...Object.fromEntries(page), error: 'access_denied' })
      const back = new URL(redirect_to)
      assert.deepEqual([back.searchParams.get('error'), back.searchParams.get('state')], ['access_denied', 's'])
      assert.ok(!back.searchParams.has('code'))
    },
  },
  {
    section: '4.1.2.1',
    level: 'MUST NOT',
    says: 'error and error_description hold only the allowed characters',
    async check({ main }) {
      const refusal = await main.refusal({ client_id: await main.client(), scope: 'a"\\\n\u00e9' })
      assert.match(refusal.get('error')!, /^[a-z_]+$/)
      assert.match(refusal.get('error_description')!, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    },
  },
  {
    section: '4.1.3',
    level: 'REQUIRED',
    says: 'grant_type and code are required',
    async check({ main }) {
      const client = await main.client()
      refused(await main.exchange(client, { grant_type: undefined }), 'invalid_request')
      refused(await main.exchange(client, { code: undefined }), 'invalid_request')
    },
  },
  {
    section: '4.1.3',
    level: 'REQUIRED',
    says: 'redirect_uri is required where the authorization request had it',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client, { redirect_uri: REDIRECT })
      refused(await main.exchange(client, { code }), 'invalid_grant')
      good(await main.exchange(client, { code, redirect_uri: REDIRECT }))
    },
  },
  {
    section: '4.1.3',
    level: 'MUST',
    says: 'Confidential clients authenticate to use a code',
    async check({ main }) {
      const client_id = await main.client()
      const code = await main.code(client_id)
      refused(await main.exchange('', { code, client_id }, NOBODY), 'invalid_client', 401)
    },
  },
  {
    section: '4.1.3',
    level: 'MUST',
    says: 'A code is for the client that it was issued to, public ones too',
    async check({ main }) {
      const [client, other] = [await main.publicClient(), await main.publicClient()]
      const code = await main.code(client)
      refused(await main.exchange('', { code, client_id: other }, NOBODY), 'invalid_grant')
      good(await main.exchange('', { code, client_id: client }, NOBODY))
    },
  },
  {
    section: '4.1.3',
    level: 'MUST',
    says: 'A code that is not valid is refused',
    async check({ main }) {
      refused(await main.exchange(await main.client(), { code: 'no-code' }), 'invalid_grant')
    },
  },
  {
    section: '4.1.4',
    level: 'states',
    says: 'A good code gives an access token, and a refresh token where the API has them',
    async check({ main, plain }) {
      const tokens = await main.tokens(await main.client())
      assert.ok(tokens.access_token && tokens.refresh_token)
      assert.ok(!('refresh_token' in (await plain.tokens(await plain.client()))))
    },
  },
  {
    section: '4.2',
    level: 'states',
    says: 'The implicit grant gives tokens in the fragment',
    decided: 'Not served: RFC 9700 section 2.1.2 and OAuth 2.1 give it up. The request is refused',
    async check({ main }) {
      const refusal = await main.refusal({ client_id: await main.client(), response_type: 'token' })
      assert.equal(refusal.get('error'), 'unsupported_response_type')
    },
  },
  {
    section: '4.3',
    level: 'SHOULD',
    says: 'The password grant is enabled only where nothing else is viable',
    async check({ strict }) {
      const as = await strict.client()
      const form = { grant_type: 'password', username: 'ann', password: PASSWORD }
      refused(await strict.post('token', form, { as }), 'unsupported_grant_type')
    },
  },
  {
    section: '4.3.2',
    level: 'REQUIRED',
    says: 'username and password of the password grant are required',
    async check({ main }) {
      const as = await main.client()
      refused(await main.post('token', { grant_type: 'password', username: 'ann' }, { as }), 'invalid_request')
      refused(await main.post('token', { grant_type: 'password', password: PASSWORD }, { as }), 'invalid_request')
    },
  },
  {
    section: '4.3.2',
    level: 'MUST',
    says: 'The password grant authenticates the client and validates the password',
    async check(world) {
      const { main } = world
      const as = await main.client()
      await userOf(world, 'ann-one')
      const form = { grant_type: 'password', username: 'ann-one', password: PASSWORD }
      good(await main.post('token', form, { as }))
      refused(await main.post('token', { ...form, client_id: as }), 'invalid_client', 401)
      refused(await main.post('token', { ...form, password: 'another-one-8' }, { as }), 'invalid_grant')
    },
  },
  {
    section: '4.3.2',
    level: 'MUST',
    says: 'The password grant is protected against brute force',
    async check(world) {
      const { main } = world
      const as = await main.client()
      await userOf(world, 'ann-two')
      const form = { grant_type: 'password', username: 'ann-two' }
      const statuses = new Set<number>()
      for (let at = 0; at < 30 && !statuses.has(429); at++)
        statuses.add((await main.post('token', { ...form, password: `wrong ${at}` }, { as })).status)
      assert.deepEqual([...statuses], [400, 429])
    },
  },
  {
    section: '4.4',
    level: 'MUST',
    says: 'Client credentials are for confidential clients alone',
    async check({ main }) {
      const client_id = await main.publicClient()
      refused(await main.credentials('', { client_id }, NOBODY), 'unauthorized_client')
    },
  },
  {
    section: '4.4.2',
    level: 'MUST',
    says: 'The client authenticates for client credentials',
    async check({ main }) {
      const as = await main.client()
      refused(await main.credentials(as, {}, { as, secret: 'a wrong one' }), 'invalid_client', 401)
    },
  },
  {
    section: '4.4.3',
    level: 'SHOULD NOT',
    says: 'Client credentials give no refresh token',
    async check({ main }) {
      assert.ok(!('refresh_token' in good(await main.credentials(await main.client()))))
    },
  },
  {
    section: '4.5',
    level: 'states',
    says: 'An extension grant is named by an absolute URI; unknown ones are refused',
    async check({ main }) {
      const grant_type = 'urn:ietf:params:oauth:grant-type:saml2-bearer'
      refused(await main.credentials(await main.client(), { grant_type }), 'unsupported_grant_type')
    },
  },
  {
    section: '10.5',
    level: 'MUST',
    says: 'Codes are hard to guess',
    async check({ main }) {
      const client = await main.client()
      const codes = [await main.code(client), await main.code(client)]
      assert.notEqual(codes[0], codes[1])
      assert.ok(codes.every((code) => bitsOf(code) >= 160))
    },
  },
  {
    section: '10.6',
    level: 'MUST',
    says: 'The redirection URI of the token request is that of the authorization request',
    async check({ main }) {
      const other = 'https://client.example/two'
      const client = await main.client({ redirect_uri: undefined, redirect_uris: [REDIRECT, other] })
      const code = await main.code(client, { redirect_uri: REDIRECT })
      refused(await main.exchange(client, { code, redirect_uri: other, code_verifier: VERIFIER }), 'invalid_grant')
    },
  },
]
