import assert from 'node:assert/strict'
import { type ConformanceRow, challengesOf, claimsOf, good, type Served } from '../../worlds/oauth/conformance-world.ts'

const tokenOf = async (served: Served, scope?: string): Promise<string> =>
  good(await served.credentials(await served.client(), { scope })).access_token

const UNKNOWN = 'x'.repeat(43)

/** RFC 6750: bearer tokens. */
export const BEARER_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST NOT',
    says: 'A request carries its token by one method only',
    async check({ inQuery }) {
      const token = await tokenOf(inQuery)
      const answer = await inQuery.use(token, { query: `access_token=${token}` })
      assert.equal(answer.status, 400)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'Resource servers support the Authorization field',
    async check({ main }) {
      assert.equal((await main.use(await tokenOf(main))).status, 200)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'The scheme word has any letter case, and one or more spaces follow',
    async check({ main }) {
      const token = await tokenOf(main)
      for (const word of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
        assert.equal((await main.use('', { headers: { authorization: `${word} ${token}` } })).status, 200, word)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'Without the scheme word there is no credential',
    async check({ main }) {
      assert.equal((await main.use('', { headers: { authorization: await tokenOf(main) } })).status, 401)
    },
  },
  {
    section: '2.2',
    level: 'MAY',
    says: 'Resource servers support the form parameter access_token',
    decided: 'Not read: the gateway streams bodies, and RFC 9700 section 4.3.2 prefers the field',
    async check({ main }) {
      const body = `access_token=${await tokenOf(main)}`
      const answer = await main.send('/things', { method: 'POST', type: 'application/x-www-form-urlencoded', body })
      assert.equal(answer.status, 401)
    },
  },
  {
    section: '2.3',
    level: 'MAY',
    says: 'Resource servers support the query parameter access_token',
    async check({ inQuery }) {
      const query = `access_token=${await tokenOf(inQuery)}`
      assert.equal((await inQuery.send('/things', { query })).status, 200)
    },
  },
  {
    section: '2.3',
    level: 'SHOULD NOT',
    says: 'The query parameter is used where the field can be',
    async check({ main }) {
      assert.equal((await main.send('/things', { query: `access_token=${await tokenOf(main)}` })).status, 401)
    },
  },
  {
    section: '2.3',
    level: 'SHOULD',
    says: 'The answer to a token in the query has Cache-Control: private',
    async check({ inQuery }) {
      const query = `access_token=${await tokenOf(inQuery)}`
      const { status, headers } = await inQuery.send('/things', { query })
      assert.deepEqual([status, headers['cache-control']], [200, 'private'])
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'A request without credential gets 401 with WWW-Authenticate',
    async check({ main }) {
      const answer = await main.send('/things')
      assert.equal(answer.status, 401)
      assert.match(challengesOf(answer), /^Bearer /)
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'A request whose token gives no access gets WWW-Authenticate',
    async check({ main }) {
      const tooLittle = await main.use(await tokenOf(main, 'read'), { path: '/write', method: 'POST' })
      for (const answer of [await main.use(UNKNOWN), tooLittle]) assert.match(challengesOf(answer), /^Bearer /)
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'The challenge is of the scheme Bearer, with a parameter or more',
    async check({ main }) {
      assert.match(challengesOf(await main.send('/things')), /^Bearer \w+="/)
    },
  },
  {
    section: '3',
    level: 'MUST NOT',
    says: 'realm, scope and error appear at most once in a challenge',
    async check({ plain, main }) {
      const answers = [
        await plain.send('/things'),
        await plain.use(UNKNOWN),
        await main.use(await tokenOf(main, 'read'), { path: '/write', method: 'POST' }),
      ]
      for (const answer of answers)
        for (const name of ['realm', 'scope', 'error', 'error_description'])
          assert.ok((answer.headers['www-authenticate'] ?? '').split(` ${name}="`).length <= 2, name)
    },
  },
  {
    section: '3',
    level: 'SHOULD',
    says: 'A refused token is refused with an error',
    async check({ main }) {
      assert.match(challengesOf(await main.use(UNKNOWN)), /error="invalid_token", error_description="[^"]+"/)
    },
  },
  {
    section: '3',
    level: 'MUST NOT',
    says: 'error and error_description hold only the allowed characters',
    async check({ main }) {
      for (const text of ['"x"', 'a\\b', "{'}"]) {
        const challenge = challengesOf(await main.use(text))
        assert.match(challenge, /error_description="[\x20-\x21\x23-\x5b\x5d-\x7e]*"/)
      }
    },
  },
  {
    section: '3',
    level: 'states',
    says: 'scope names what the resource needs, parted by spaces',
    async check({ main }) {
      const answer = await main.use(await tokenOf(main, 'read'), { path: '/write', method: 'POST' })
      assert.match(challengesOf(answer), /scope="write"/)
    },
  },
  {
    section: '3.1',
    level: 'SHOULD',
    says: 'invalid_request is 400',
    async check({ inQuery }) {
      const token = await tokenOf(inQuery)
      const answer = await inQuery.use(token, { query: `access_token=${token}` })
      assert.equal(answer.status, 400)
      assert.match(challengesOf(answer), /error="invalid_request"/)
    },
  },
  {
    section: '3.1',
    level: 'SHOULD',
    says: 'invalid_token is 401: unknown, expired and revoked tokens',
    async check({ main, clock }) {
      const as = await main.client()
      const [expired, revoked] = [await tokenOf(main), good(await main.credentials(as)).access_token]
      good(await main.post('revoke', { token: revoked }, { as }))
      const answers = [await main.use(UNKNOWN), await main.use(revoked)]
      await clock.advance(3_600_000)
      for (const answer of [...answers, await main.use(expired)]) {
        assert.equal(answer.status, 401)
        assert.match(challengesOf(answer), /error="invalid_token"/)
      }
    },
  },
  {
    section: '3.1',
    level: 'SHOULD',
    says: 'insufficient_scope is 403',
    async check({ main }) {
      const answer = await main.use(await tokenOf(main, 'read'), { path: '/write', method: 'POST' })
      assert.equal(answer.status, 403)
      assert.match(challengesOf(answer), /error="insufficient_scope"/)
    },
  },
  {
    section: '3.1',
    level: 'SHOULD NOT',
    says: 'A request without authentication information gets no error code',
    async check({ main }) {
      assert.doesNotMatch(challengesOf(await main.send('/things')), /error/)
    },
  },
  {
    section: '3.1',
    level: 'SHOULD NOT',
    says: 'A request by a method that is not supported gets no error code',
    async check({ main, proved }) {
      for (const served of [main, proved])
        for (const authorization of ['Basic YTpi', 'Digest username="a"', 'Negotiate abc'])
          assert.doesNotMatch(challengesOf(await served.use('', { headers: { authorization } })), /error/)
    },
  },
  {
    section: '5.2',
    level: 'MUST',
    says: 'A token lives for a limited time',
    async check({ main }) {
      assert.ok(good(await main.credentials(await main.client())).expires_in > 0)
    },
  },
  {
    section: '5.2',
    level: 'MUST',
    says: 'A resource server refuses a token that was made for another one',
    async check({ main, jwt }) {
      assert.equal((await jwt.use(await tokenOf(main))).status, 401)
      assert.equal((await main.use(await tokenOf(jwt))).status, 401)
    },
  },
  {
    section: '5.2',
    level: 'MUST',
    says: 'The integrity of a token is protected',
    async check({ jwt }) {
      const token = await tokenOf(jwt)
      assert.equal((await jwt.use(`${token.slice(0, -4)}AAAA`)).status, 401)
    },
  },
  {
    section: '5.3',
    level: 'SHOULD',
    says: 'Tokens live for an hour or less unless set otherwise',
    async check({ main }) {
      assert.ok(good(await main.credentials(await main.client())).expires_in <= 3600)
    },
  },
  {
    section: '5.3',
    level: 'SHOULD',
    says: 'Tokens have an audience',
    async check({ jwt }) {
      assert.equal(claimsOf(await tokenOf(jwt)).claims.aud, jwt.issuer)
    },
  },
  {
    section: '5.3',
    level: 'SHOULD NOT',
    says: 'Tokens are passed in page addresses',
    async check({ main }) {
      const back = await main.comeBack(await main.client())
      assert.ok(![...back.searchParams.keys()].some((name) => name.includes('token')))
    },
  },
]
