import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  type ConformanceRow,
  type ConformanceWorld,
  claimsOf,
  good,
  INITIAL_TOKEN,
  type Members,
  membersOf,
  NOBODY,
  newHolderKey,
  PKCE,
  proofFor,
  refused,
  type Sent,
  signedJwt,
} from '../../worlds/oauth/conformance-world.ts'

const KEY = newHolderKey()
const OTHER = newHolderKey()
const proved = (proof: string): Sent => ({ headers: { dpop: proof } })

/** A token request by client credentials with a proof that differs from a right one by `claims` and `header`. */
async function withProof({ main, clock }: ConformanceWorld, claims: Members = {}, header: Members = {}) {
  return main.credentials(await main.client(), {}, proved(proofFor({ clock }, main.url('token'), KEY, claims, header)))
}

const nowS = ({ clock }: ConformanceWorld) => Math.floor(clock.wall() / 1000)

/** Flaws of a proof that section 4.3 has servers look for. */
const FLAWS: readonly (readonly [string, (world: ConformanceWorld) => Promise<Members>])[] = [
  ['it is no JWT', async ({ main }) => refuse(main.credentials(await main.client(), {}, proved('a.b')))],
  ['jti is missing', (world) => refuse(withProof(world, { jti: undefined }))],
  ['htm is missing', (world) => refuse(withProof(world, { htm: undefined }))],
  ['htu is missing', (world) => refuse(withProof(world, { htu: undefined }))],
  ['iat is missing', (world) => refuse(withProof(world, { iat: undefined }))],
  ['typ is not dpop+jwt', (world) => refuse(withProof(world, {}, { typ: 'JWT' }))],
  ['typ is missing', (world) => refuse(withProof(world, {}, { typ: undefined }))],
  ['alg is none', (world) => refuse(withProof(world, {}, { alg: 'none' }))],
  ['alg is symmetric', (world) => refuse(withProof(world, {}, { alg: 'HS256' }))],
  ['alg is not supported', (world) => refuse(withProof(world, {}, { alg: 'ES512' }))],
  ['jwk is missing', (world) => refuse(withProof(world, {}, { jwk: undefined }))],
  ['the signature is of another key', (world) => refuse(withProof(world, {}, { jwk: OTHER.jwk }))],
  ['jwk holds a private key', (world) => refuse(withProof(world, {}, { jwk: { ...KEY.jwk, d: 'x'.repeat(43) } }))],
  ['htm is another method', (world) => refuse(withProof(world, { htm: 'GET' }))],
  ['htu is another address', (world) => refuse(withProof(world, { htu: 'https://api.example.test/other' }))],
  ['iat is too old', (world) => refuse(withProof(world, { iat: nowS(world) - 300 }))],
  ['iat is in the future', (world) => refuse(withProof(world, { iat: nowS(world) + 300 }))],
]

async function refuse(asked: ReturnType<typeof withProof>): Promise<Members> {
  return refused(await asked, 'invalid_dpop_proof')
}

async function registered({ main }: ConformanceWorld, metadata: Members): Promise<Members> {
  const headers = { authorization: `Bearer ${INITIAL_TOKEN}` }
  const body = JSON.stringify({ redirect_uris: ['https://client.example/callback'], ...metadata })
  const answer = await main.send('/oauth/register', { method: 'POST', headers, type: 'application/json', body })
  assert.equal(answer.status, 201, answer.text)
  return membersOf(answer)
}

/** RFC 9449 sections 4 to 6 and 10: DPoP at the authorization server. */
export const DPOP_SERVER_ROWS: readonly ConformanceRow[] = [
  {
    section: '4.1',
    level: 'MUST',
    says: 'A request has one DPoP field at most',
    async check(world) {
      const proof = () => proofFor(world, world.main.url('token'), KEY)
      const headers = { dpop: [proof(), proof()] } as never
      refused(await world.main.credentials(await world.main.client(), {}, { headers }), 'invalid_dpop_proof')
    },
  },
  {
    section: '4.2',
    level: 'states',
    says: 'A proof of typ dpop+jwt with jwk, jti, htm, htu and iat is taken',
    async check(world) {
      assert.equal(good(await withProof(world)).token_type, 'DPoP')
    },
  },
  ...FLAWS.map(
    ([flaw, run]): ConformanceRow => ({
      section: '4.3',
      level: 'MUST',
      says: `A proof is refused where ${flaw}`,
      check: async (world) => void (await run(world)),
    }),
  ),
  {
    section: '4.3',
    level: 'states',
    says: 'htu is compared without query and fragment',
    async check(world) {
      good(await withProof(world, { htu: `${world.main.url('token')}?a=b#c` }))
    },
  },
  {
    section: '4.3',
    level: 'SHOULD',
    says: 'htu is normalized by syntax and scheme before it is compared',
    async check(world) {
      const htu = world.main.url('token')
      good(await withProof(world, { htu: htu.replace('https://api.example', 'HTTPS://API.example') }))
      good(await withProof(world, { htu: htu.replace('.test/', '.test:443/') }))
      good(await withProof(world, { htu: htu.replace('/token', '/x/../%74oken') }))
    },
  },
  {
    section: '4.3',
    level: 'MUST',
    says: 'A nonce that the server gave is in the proof',
    decided: 'Section 8 is optional: no nonces are given, proofs are used once and within a minute',
    async check(world) {
      const answer = await withProof(world, { nonce: 'one that nobody gave' })
      assert.equal(good(answer).token_type, 'DPoP')
      assert.equal(answer.headers['dpop-nonce'], undefined)
    },
  },
  {
    section: '5',
    level: 'MUST',
    says: 'token_type of bound tokens is DPoP',
    async check(world) {
      assert.equal(good(await withProof(world)).token_type, 'DPoP')
    },
  },
  {
    section: '5',
    level: 'states',
    says: 'A malformed proof is invalid_dpop_proof with status 400',
    async check({ main }) {
      refused(await main.credentials(await main.client(), {}, proved('x')), 'invalid_dpop_proof')
    },
  },
  {
    section: '5',
    level: 'MUST',
    says: 'A refresh token of a public client is bound to the key',
    async check(world) {
      const { main } = world
      const client_id = await main.publicClient()
      const proof = (key = KEY) => ({ ...NOBODY, ...proved(proofFor(world, main.url('token'), key)) })
      const { refresh_token } = await main.tokens('', { client_id }, { client_id }, proof())
      refused(await main.refresh('', refresh_token, { client_id }, proof(OTHER)), 'invalid_grant')
      refused(await main.refresh('', refresh_token, { client_id }, NOBODY), 'invalid_grant')
      good(await main.refresh('', refresh_token, { client_id }, proof()))
    },
  },
  {
    section: '5',
    level: 'states',
    says: 'A refresh token of a confidential client is bound to the client, not to the key',
    async check(world) {
      const { main } = world
      const client = await main.client()
      const proof = (key = KEY) => proved(proofFor(world, main.url('token'), key))
      const { refresh_token } = await main.tokens(client, {}, {}, proof())
      assert.equal(good(await main.refresh(client, refresh_token, {}, proof(OTHER))).token_type, 'DPoP')
    },
  },
  {
    section: '5',
    level: 'MAY',
    says: 'A refresh with a proof gives a token bound to its key',
    async check(world) {
      const { jwt } = world
      const client = await jwt.client()
      const proof = () => proved(proofFor(world, jwt.url('token'), KEY))
      const { refresh_token } = await jwt.tokens(client, {}, {}, proof())
      const next = good(await jwt.refresh(client, refresh_token, {}, proof()))
      assert.equal(claimsOf(next.access_token).claims.cnf.jkt, KEY.thumbprint)
    },
  },
  {
    section: '5',
    level: 'MAY',
    says: 'Without a proof a bearer token is given where DPoP is not required',
    async check({ main, proved: strict }) {
      assert.equal(good(await main.credentials(await main.client())).token_type, 'bearer')
      refused(await strict.credentials(await strict.client()), 'invalid_dpop_proof')
    },
  },
  {
    section: '5.1',
    level: 'states',
    says: 'Metadata name the algorithms of proofs',
    async check({ main, plain }) {
      assert.deepEqual((await main.metadata()).dpop_signing_alg_values_supported, ['ES256', 'PS256', 'RS256'])
      assert.ok(!('dpop_signing_alg_values_supported' in (await plain.metadata())))
    },
  },
  {
    section: '5.2',
    level: 'MUST',
    says: 'A client with dpop_bound_access_tokens gets no token without a proof',
    async check(world) {
      const { main } = world
      const metadata = { grant_types: ['client_credentials'], redirect_uris: [], dpop_bound_access_tokens: true }
      const client = await registered(world, metadata)
      assert.equal(client.dpop_bound_access_tokens, true)
      await main.client({ client_id: 'bound', dpop_bound_access_tokens: true })
      refused(await main.credentials('bound'), 'invalid_dpop_proof')
      good(await main.credentials('bound', {}, proved(proofFor(world, main.url('token'), KEY))))
    },
  },
  {
    section: '6.1',
    level: 'MUST',
    says: 'cnf.jkt of a JWT access token is the thumbprint of the key',
    async check(world) {
      const { jwt } = world
      const proof = proved(proofFor(world, jwt.url('token'), KEY))
      const { access_token } = good(await jwt.credentials(await jwt.client(), {}, proof))
      assert.deepEqual(claimsOf(access_token).claims.cnf, { jkt: KEY.thumbprint })
    },
  },
  {
    section: '6.2',
    level: 'MUST',
    says: 'Introspection of a bound token has cnf.jkt at its top level',
    async check(world) {
      const { access_token } = good(await withProof(world))
      const { cnf, token_type } = await world.main.introspect(access_token)
      assert.deepEqual([cnf, token_type], [{ jkt: KEY.thumbprint }, 'DPoP'])
    },
  },
  {
    section: '8',
    level: 'MAY',
    says: 'The authorization server asks for nonces',
    decided: 'It does not: a proof is used once, and for a minute',
    async check(world) {
      assert.equal((await withProof(world)).headers['dpop-nonce'], undefined)
    },
  },
  {
    section: '10',
    level: 'MUST',
    says: 'A code with dpop_jkt is refused with a proof of another key',
    async check(world) {
      const { main } = world
      const client = await main.client()
      const code = await main.code(client, { dpop_jkt: KEY.thumbprint })
      const proof = (key = KEY) => proved(proofFor(world, main.url('token'), key))
      refused(await main.exchange(client, { code }, proof(OTHER)), 'invalid_grant')
      refused(await main.exchange(client, { code }), 'invalid_grant')
      good(await main.exchange(client, { code }, proof()))
    },
  },
  {
    section: '10',
    level: 'states',
    says: 'dpop_jkt is the SHA-256 thumbprint of a key',
    async check({ main }) {
      const refusal = await main.refusal({ client_id: await main.client(), dpop_jkt: 'short' })
      assert.equal(refusal.get('error'), 'invalid_request')
    },
  },
  {
    section: '10.1',
    level: 'MUST',
    says: 'A pushed request takes dpop_jkt or a proof, and binds the code to its key',
    async check(world) {
      const { main } = world
      const client = await main.client()
      const form = { response_type: 'code', ...PKCE }
      for (const [more, sent] of [
        [{ dpop_jkt: KEY.thumbprint }, {}],
        [{}, proved(proofFor(world, main.url('par'), KEY))],
      ] as const) {
        const pushed = await main.post('par', { ...form, ...more }, { as: client, ...sent })
        const { request_uri } = membersOf(pushed)
        const code = await main.code(client, { request_uri })
        refused(await main.exchange(client, { code }), 'invalid_grant')
        good(await main.exchange(client, { code }, proved(proofFor(world, main.url('token'), KEY))))
      }
    },
  },
  {
    section: '10.1',
    level: 'MUST',
    says: 'A pushed request whose proof is of another key than dpop_jkt is refused',
    async check(world) {
      const { main } = world
      const form = { response_type: 'code', ...PKCE, dpop_jkt: OTHER.thumbprint }
      const sent = { as: await main.client(), ...proved(proofFor(world, main.url('par'), KEY)) }
      refused(await main.post('par', form, sent), 'invalid_dpop_proof')
    },
  },
  {
    section: '10.1',
    level: 'MUST',
    says: 'The proof of a pushed request is for the address of that endpoint',
    async check(world) {
      const { main } = world
      const form = { response_type: 'code', ...PKCE }
      const sent = { as: await main.client(), ...proved(proofFor(world, main.url('token'), KEY)) }
      refused(await main.post('par', form, sent), 'invalid_dpop_proof')
    },
  },
  {
    section: '11.1',
    level: 'SHOULD',
    says: 'A proof is used once',
    async check(world) {
      const jti = randomUUID()
      good(await withProof(world, { jti }))
      await refuse(withProof(world, { jti }))
    },
  },
  {
    section: '11.1',
    level: 'MUST',
    says: 'Proofs are taken only for a limited time',
    async check(world) {
      good(await withProof(world, { iat: nowS(world) - 50 }))
      await refuse(withProof(world, { iat: nowS(world) - 70 }))
    },
  },
  {
    section: '11.6',
    level: 'MUST',
    says: 'Only asymmetric algorithms are taken',
    async check({ main }) {
      for (const alg of (await main.metadata()).dpop_signing_alg_values_supported) assert.match(alg, /^(?:ES|PS|RS|Ed)/)
    },
  },
  {
    section: '11.5',
    level: 'MUST NOT',
    says: 'A proof is taken for another kind of JWT, or the other way round',
    async check(world) {
      const { main } = world
      const claims = { iss: 'x', sub: 'x', aud: main.issuer, jti: 'j', exp: nowS(world) + 60 }
      const assertion = signedJwt({ typ: 'JWT', alg: 'ES256', jwk: KEY.jwk }, claims, KEY.privateKey)
      refused(await main.credentials(await main.client(), {}, proved(assertion)), 'invalid_dpop_proof')
      const client_id = await main.client({
        secret: undefined,
        auth_method: 'private_key_jwt',
        jwks: { keys: [KEY.jwk] },
      })
      const client_assertion = proofFor(world, main.url('token'), KEY, { ...claims, iss: client_id, sub: client_id })
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      refused(await main.credentials('', { client_assertion, client_assertion_type }, NOBODY), 'invalid_client', 401)
    },
  },
]
