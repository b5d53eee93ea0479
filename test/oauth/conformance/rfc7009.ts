import assert from 'node:assert/strict'
import { type ConformanceRow, challengesOf, good, NOBODY, refused } from '../../worlds/oauth/conformance-world.ts'

/** RFC 7009: revocation. */
export const REVOCATION_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST',
    says: 'Refresh tokens can be revoked',
    async check({ main }) {
      const client = await main.client()
      const { refresh_token } = await main.tokens(client)
      good(await main.post('revoke', { token: refresh_token }, { as: client }))
      refused(await main.refresh(client, refresh_token), 'invalid_grant')
    },
  },
  {
    section: '2',
    level: 'SHOULD',
    says: 'Access tokens can be revoked, JWTs too',
    async check({ main, jwt }) {
      for (const served of [main, jwt]) {
        const as = await served.client()
        const { access_token } = good(await served.credentials(as))
        good(await served.post('revoke', { token: access_token }, { as }))
        assert.equal((await served.use(access_token)).status, 401)
      }
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'The endpoint is an https address',
    async check({ main }) {
      assert.match((await main.metadata()).revocation_endpoint, /^https:/)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'A revocation is a POST of a form',
    async check({ main }) {
      const answer = await main.send('/oauth/revoke', { as: await main.client(), query: 'token=x' })
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
    },
  },
  {
    section: '2.1',
    level: 'REQUIRED',
    says: 'token is required',
    async check({ main }) {
      refused(await main.post('revoke', {}, { as: await main.client() }), 'invalid_request')
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'A hint that is wrong does not keep the token from being found',
    async check({ main }) {
      const client = await main.client()
      const { access_token, refresh_token } = await main.tokens(client)
      for (const [token, token_type_hint] of [
        [access_token, 'refresh_token'],
        [refresh_token, 'access_token'],
      ])
        good(await main.post('revoke', { token, token_type_hint }, { as: client }))
      assert.equal((await main.use(access_token)).status, 401)
      refused(await main.refresh(client, refresh_token), 'invalid_grant')
    },
  },
  {
    section: '2.1',
    level: 'MAY',
    says: 'A hint that is unknown is ignored',
    async check({ main }) {
      const as = await main.client()
      const { access_token } = good(await main.credentials(as))
      good(await main.post('revoke', { token: access_token, token_type_hint: 'pct' }, { as }))
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'The client is authenticated first',
    async check({ main }) {
      const as = await main.client()
      const { access_token: token } = good(await main.credentials(as))
      refused(await main.post('revoke', { token }), 'invalid_client', 401)
      refused(await main.post('revoke', { token }, { as, secret: 'wrong' }), 'invalid_client', 401)
      assert.equal((await main.use(token)).status, 200)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'A public client revokes its tokens by client_id',
    async check({ main }) {
      const client_id = await main.publicClient()
      const { access_token } = await main.tokens('', { client_id }, { client_id }, NOBODY)
      good(await main.post('revoke', { token: access_token, client_id }))
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'A token of another client is refused and stays valid',
    async check({ main }) {
      const client = await main.client()
      const { access_token, refresh_token } = await main.tokens(client)
      const as = await main.client()
      for (const token of [access_token, refresh_token])
        refused(await main.post('revoke', { token }, { as }), 'invalid_grant')
      assert.equal((await main.use(access_token)).status, 200)
      good(await main.refresh(client, refresh_token))
    },
  },
  {
    section: '2.1',
    level: 'SHOULD',
    says: 'Revoking a refresh token revokes the access tokens of its grant',
    async check({ main }) {
      const as = await main.client()
      const { access_token, refresh_token: token } = await main.tokens(as)
      good(await main.post('revoke', { token }, { as }))
      assert.equal((await main.use(access_token)).status, 401)
    },
  },
  {
    section: '2.1',
    level: 'MAY',
    says: 'Revoking an access token revokes its refresh token',
    decided: 'It does not: a client may give one access token up and go on',
    async check({ main }) {
      const as = await main.client()
      const { access_token: token, refresh_token } = await main.tokens(as)
      good(await main.post('revoke', { token }, { as }))
      good(await main.refresh(as, refresh_token))
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'The invalidation takes place immediately',
    async check({ main }) {
      const as = await main.client()
      const { access_token: token } = good(await main.credentials(as))
      assert.equal((await main.use(token)).status, 200)
      good(await main.post('revoke', { token }, { as }))
      assert.equal((await main.use(token)).status, 401)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'An invalid token is answered with 200: it is as good as revoked',
    async check({ main }) {
      const as = await main.client()
      good(await main.post('revoke', { token: 'unknown' }, { as }))
      const { access_token: token } = good(await main.credentials(as))
      for (let twice = 0; twice < 2; twice++) good(await main.post('revoke', { token }, { as }))
    },
  },
  {
    section: '2.2.1',
    level: 'states',
    says: 'Refusals are as RFC 6749 section 5.2 says',
    async check({ main }) {
      const as = await main.client()
      const answer = await main.post('revoke', { token: 'x' }, { as, secret: 'wrong' })
      refused(answer, 'invalid_client', 401)
      assert.match(challengesOf(answer), /^Basic/)
      refused(await main.post('revoke', { token: ['a', 'b'] }, { as }), 'invalid_request')
    },
  },
  {
    section: '2.3',
    level: 'MAY',
    says: 'Pages of other origins may call the endpoint (CORS)',
    async check({ main }) {
      const headers = { origin: 'https://app.example' }
      const answer = await main.post('revoke', { token: 'x' }, { as: await main.client(), headers })
      assert.equal(answer.headers['access-control-allow-origin'], '*')
    },
  },
  {
    section: '2.3',
    level: 'MAY',
    says: 'JSONP is supported by a callback parameter',
    decided: 'Not served: CORS took its place',
    async check({ main }) {
      const answer = await main.post('revoke', { token: 'x', callback: 'f' }, { as: await main.client() })
      assert.doesNotMatch(answer.text, /^f\(/)
    },
  },
  {
    section: '5',
    level: 'states',
    says: 'The answer does not tell a valid token from an unknown one',
    async check({ main }) {
      const as = await main.client()
      const { access_token: token } = good(await main.credentials(as))
      const [known, unknown] = [
        await main.post('revoke', { token }, { as }),
        await main.post('revoke', { token: 'x' }, { as }),
      ]
      assert.deepEqual([known.status, known.text], [unknown.status, unknown.text])
    },
  },
]
