import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  type ConformanceRow,
  type ConformanceWorld,
  good,
  type Members,
  NOBODY,
  newHolderKey,
  refused,
  signedJwt,
} from '../../worlds/oauth/conformance-world.ts'

const KEY = newHolderKey()
const JWT_BEARER_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

interface Asked {
  readonly client: string
  /** A token request with an assertion that differs from a right one by what is given. */
  ask(claims?: Members, header?: Members, form?: Members, key?: typeof KEY): ReturnType<typeof request>
}

async function request({ main }: ConformanceWorld, form: Members) {
  return main.credentials('', { client_assertion_type: JWT_BEARER_TYPE, ...form }, NOBODY)
}

const nowS = ({ clock }: ConformanceWorld) => Math.floor(clock.wall() / 1000)

async function asserting(world: ConformanceWorld): Promise<Asked> {
  const { main } = world
  const client = await main.client({ secret: undefined, auth_method: 'private_key_jwt', jwks: { keys: [KEY.jwk] } })
  return {
    client,
    ask(claims = {}, header = {}, form = {}, key = KEY) {
      const usual = { iss: client, sub: client, aud: main.issuer, exp: nowS(world) + 60, jti: randomUUID() }
      const client_assertion = signedJwt({ alg: 'ES256', ...header }, { ...usual, ...claims }, key.privateKey)
      return request(world, { client_assertion, ...form })
    },
  }
}

const FLAWS: readonly (readonly [string, (world: ConformanceWorld) => Members])[] = [
  ['iss is missing', () => ({ iss: undefined })],
  ['iss is another', () => ({ iss: 'another' })],
  ['sub is another than iss', () => ({ sub: 'another' })],
  ['aud is missing', () => ({ aud: undefined })],
  ['aud is another server', () => ({ aud: 'https://other.example' })],
  ['exp is missing', () => ({ exp: undefined })],
  ['exp is over', (world) => ({ exp: nowS(world) - 120 })],
  ['exp is unreasonably far', (world) => ({ exp: nowS(world) + 86_400 })],
  ['nbf is in the future', (world) => ({ nbf: nowS(world) + 600 })],
  ['iat is in the future', (world) => ({ iat: nowS(world) + 600 })],
]

/** RFC 7523: assertions of clients. */
export const ASSERTION_ROWS: readonly ConformanceRow[] = [
  {
    section: '2.1',
    level: 'states',
    says: 'A JWT is an authorization grant of the type jwt-bearer',
    decided: 'Not served: no foreign issuer may grant access to an API of ours but by the methods of that API',
    async check({ main }) {
      const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'a.b.c' }
      refused(await main.credentials(await main.client(), form), 'unsupported_grant_type')
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A JWT authenticates a client at the token endpoint',
    async check(world) {
      good(await (await asserting(world)).ask())
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'client_assertion_type is that of RFC 7523',
    async check(world) {
      const { ask } = await asserting(world)
      for (const client_assertion_type of ['urn:ietf:params:oauth:client-assertion-type:saml2-bearer', undefined])
        refused(await ask({}, {}, { client_assertion_type }), 'invalid_request')
    },
  },
  {
    section: '2.2',
    level: 'MUST NOT',
    says: 'client_assertion holds more than one JWT',
    async check(world) {
      const { ask } = await asserting(world)
      refused(await ask({}, {}, { client_assertion: ['a.b.c', 'a.b.c'] }), 'invalid_request')
    },
  },
  {
    section: '2.2',
    level: 'OPTIONAL',
    says: 'client_id may come beside, and is then the client of the assertion',
    async check(world) {
      const { ask, client } = await asserting(world)
      good(await ask({}, {}, { client_id: client }))
      refused(await ask({}, {}, { client_id: await world.main.client() }), 'invalid_client', 401)
    },
  },
  ...FLAWS.map(
    ([flaw, claims]): ConformanceRow => ({
      section: '3',
      level: 'MUST',
      says: `An assertion is refused where ${flaw}`,
      async check(world) {
        refused(await (await asserting(world)).ask(claims(world)), 'invalid_client', 401)
      },
    }),
  ),
  {
    section: '3',
    level: 'states',
    says: 'aud may be the token endpoint, or a list with the issuer in it',
    async check(world) {
      const { ask } = await asserting(world)
      const { main } = world
      for (const aud of [main.issuer, `${main.issuer}/`, main.url('token'), ['https://x.example', main.issuer]])
        good(await ask({ aud }))
    },
  },
  {
    section: '3',
    level: 'MAY',
    says: 'jti keeps an assertion from being used twice',
    async check(world) {
      const { ask } = await asserting(world)
      const jti = randomUUID()
      good(await ask({ jti }))
      refused(await ask({ jti }), 'invalid_client', 401)
    },
  },
  {
    section: '3',
    level: 'MAY',
    says: 'Other claims are not read',
    async check(world) {
      good(await (await asserting(world)).ask({ scope: 'admin', name: 'x' }))
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'An assertion is signed, by a key of the client',
    async check(world) {
      const { ask } = await asserting(world)
      refused(await ask({}, {}, {}, newHolderKey()), 'invalid_client', 401)
      for (const alg of ['none', 'HS256', 'ES384']) refused(await ask({}, { alg }), 'invalid_client', 401)
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'What is no JWT is refused',
    async check(world) {
      const { ask, client } = await asserting(world)
      for (const client_assertion of ['x', 'a.b', 'a.b.c', 'e30.e30.', `${'x'.repeat(9000)}.b.c`])
        refused(await ask({}, {}, { client_id: client, client_assertion }), 'invalid_client', 401)
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'The refusal is invalid_client, with a reason for the developer',
    async check(world) {
      const answer = await (await asserting(world)).ask({ aud: 'https://other.example' })
      assert.match(refused(answer, 'invalid_client', 401).error_description, /aud/)
    },
  },
  {
    section: '3.2',
    level: 'states',
    says: 'A client that is registered for secrets proves nothing by an assertion',
    async check(world) {
      const client = await world.main.client()
      const { ask } = await asserting(world)
      refused(await ask({ iss: client, sub: client }), 'invalid_client', 401)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'Assertions are taken at the other endpoints too, with their address as aud',
    async check(world) {
      const { main } = world
      const { client } = await asserting(world)
      for (const [endpoint, form] of [
        ['revoke', { token: 'x' }],
        ['introspect', { token: 'x' }],
        ['par', { response_type: 'code' }],
      ] as const) {
        const claims = { iss: client, sub: client, aud: main.url(endpoint), exp: nowS(world) + 60, jti: randomUUID() }
        const client_assertion = signedJwt({ alg: 'ES256' }, claims, KEY.privateKey)
        const answer = await main.post(endpoint, { ...form, client_assertion, client_assertion_type: JWT_BEARER_TYPE })
        assert.equal(answer.status, endpoint === 'par' ? 201 : 200, answer.text)
      }
    },
  },
  {
    section: '5',
    level: 'MUST',
    says: 'RS256 is implemented',
    async check({ main }) {
      assert.ok((await main.metadata()).token_endpoint_auth_signing_alg_values_supported.includes('RS256'))
    },
  },
]
