import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  type ConformanceRow,
  type ConformanceWorld,
  challengesOf,
  good,
  hashOfToken,
  type Members,
  newHolderKey,
  proofFor,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

const KEY = newHolderKey()
const OTHER = newHolderKey()

async function boundToken(world: ConformanceWorld, served: Served): Promise<string> {
  const dpop = proofFor(world, served.url('token'), KEY)
  return good(await served.credentials(await served.client(), {}, { headers: { dpop } })).access_token
}

/** A call of the protected API with a token bound to `KEY`, and a proof that differs from a right one by what is given. */
async function call(world: ConformanceWorld, claims: Members = {}, key = KEY, word = 'DPoP', served = world.main) {
  const token = await boundToken(world, served)
  const usual = { htm: 'GET', ath: hashOfToken(token), ...claims }
  const dpop = proofFor(world, `${served.issuer}/things`, key, usual)
  return served.use('', { headers: { authorization: `${word} ${token}`, dpop } })
}

const FLAWS: readonly (readonly [string, Members])[] = [
  ['ath is missing', { ath: undefined }],
  ['ath is of another token', { ath: hashOfToken('another') }],
  ['htm is another method', { htm: 'POST' }],
  ['htu is another address', { htu: 'https://api.example.test/gw/orders/others' }],
  ['jti is missing', { jti: undefined }],
  ['iat is missing', { iat: undefined }],
  ['iat is too old', { iat: 1_700_000_000 }],
]

/** RFC 9449 sections 7 to 9: DPoP at the resource server. */
export const DPOP_RESOURCE_ROWS: readonly ConformanceRow[] = [
  {
    section: '7.1',
    level: 'MUST',
    says: 'A bound token is sent under the scheme DPoP with a proof',
    async check(world) {
      for (const served of [world.main, world.jwt, world.proved])
        assert.equal((await call(world, {}, KEY, 'DPoP', served)).status, 200)
    },
  },
  {
    section: '7.1',
    level: 'states',
    says: 'The scheme word DPoP has any letter case',
    async check(world) {
      assert.equal((await call(world, {}, KEY, 'dpop')).status, 200)
    },
  },
  ...FLAWS.map(
    ([flaw, claims]): ConformanceRow => ({
      section: '7.1',
      level: 'MUST',
      says: `Access is refused where ${flaw}`,
      async check(world) {
        const answer = await call(world, claims)
        assert.equal(answer.status, 401)
        assert.match(challengesOf(answer), /DPoP [^,]*(?:, )?.*error="invalid_dpop_proof"/)
      },
    }),
  ),
  {
    section: '7.1',
    level: 'MUST',
    says: 'Access is refused without a proof',
    async check(world) {
      const token = await boundToken(world, world.main)
      const answer = await world.main.use('', { headers: { authorization: `DPoP ${token}` } })
      assert.equal(answer.status, 401)
    },
  },
  {
    section: '7.1',
    level: 'MUST',
    says: 'Access is refused where the proof is of another key than the token',
    async check(world) {
      const answer = await call(world, {}, OTHER)
      assert.equal(answer.status, 401)
      assert.match(challengesOf(answer), /error="invalid_token"/)
    },
  },
  {
    section: '7.1',
    level: 'MUST',
    says: 'A refusal has a challenge of the scheme DPoP',
    async check({ main, proved }) {
      for (const served of [main, proved]) assert.match(challengesOf(await served.send('/things')), /DPoP /)
    },
  },
  {
    section: '7.1',
    level: 'SHOULD',
    says: 'The challenge names the algorithms of proofs in algs',
    async check({ main }) {
      assert.match(challengesOf(await main.send('/things')), /DPoP algs="ES256 PS256 RS256"/)
    },
  },
  {
    section: '7.1',
    level: 'SHOULD NOT',
    says: 'A challenge without a credential sent has no error',
    async check({ proved }) {
      assert.doesNotMatch(challengesOf(await proved.send('/things')), /error/)
    },
  },
  {
    section: '7.1',
    level: 'states',
    says: 'An API that takes both schemes has a challenge of each',
    async check({ main }) {
      const [bearer, dpop] = [await main.send('/things')].map(challengesOf)[0]!.split('DPoP')
      assert.match(bearer!, /^Bearer /)
      assert.match(dpop!, /^ algs=/)
    },
  },
  {
    section: '7.2',
    level: 'MUST',
    says: 'A bound token is refused as a bearer token',
    async check(world) {
      assert.equal((await world.main.use(await boundToken(world, world.main))).status, 401)
      assert.equal((await call(world, {}, KEY, 'Bearer')).status, 401)
    },
  },
  {
    section: '7.2',
    level: 'MUST',
    says: 'A bearer token is refused under the scheme DPoP',
    async check(world) {
      const { main } = world
      const token = good(await main.credentials(await main.client())).access_token
      const dpop = proofFor(world, `${main.issuer}/things`, KEY, { htm: 'GET', ath: hashOfToken(token) })
      const answer = await main.use('', { headers: { authorization: `DPoP ${token}`, dpop } })
      assert.equal(answer.status, 401)
    },
  },
  {
    section: '7.2',
    level: 'states',
    says: 'An API that requires DPoP takes no bearer token',
    async check({ proved }) {
      const answer = await proved.use('x'.repeat(43))
      assert.equal(answer.status, 401)
      assert.doesNotMatch(challengesOf(answer), /Bearer/)
    },
  },
  {
    section: '9',
    level: 'MAY',
    says: 'The resource server asks for nonces',
    decided: 'It does not: a proof is used once, and for a minute',
    async check(world) {
      assert.equal((await call(world)).headers['dpop-nonce'], undefined)
    },
  },
  {
    section: '11.1',
    level: 'states',
    says: 'A proof is used once at the resource server too',
    async check(world) {
      const { main } = world
      const token = await boundToken(world, main)
      const claims = { htm: 'GET', ath: hashOfToken(token), jti: randomUUID() }
      const once = () => {
        const dpop = proofFor(world, `${main.issuer}/things`, KEY, claims)
        return main.use('', { headers: { authorization: `DPoP ${token}`, dpop } })
      }
      assert.equal((await once()).status, 200)
      assert.equal((await once()).status, 401)
    },
  },
  {
    section: '4.3',
    level: 'MUST',
    says: 'A proof for one token is no proof for another (ath)',
    async check(world) {
      const { main } = world
      const [one, two] = [await boundToken(world, main), await boundToken(world, main)]
      const dpop = proofFor(world, `${main.issuer}/things`, KEY, { htm: 'GET', ath: hashOfToken(one) })
      assert.equal((await main.use('', { headers: { authorization: `DPoP ${two}`, dpop } })).status, 401)
    },
  },
]
