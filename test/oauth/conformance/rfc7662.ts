import assert from 'node:assert/strict'
import {
  type ConformanceRow,
  type ConformanceWorld,
  good,
  membersOf,
  refused,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

const INACTIVE = { active: false }

const tokenOf = async (served: Served, form = {}): Promise<string> =>
  good(await served.credentials(await served.client(), form)).access_token

async function userToken({ main }: ConformanceWorld) {
  const client = await main.client()
  return { client, ...(await main.tokens(client, { scope: 'read' })) } as Readonly<Record<string, string>>
}

/** RFC 7662: introspection. */
export const INTROSPECTION_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST',
    says: 'The endpoint is an https address',
    async check({ main }) {
      assert.match((await main.metadata()).introspection_endpoint, /^https:/)
    },
  },
  {
    section: '2.1',
    level: 'states',
    says: 'An introspection is a POST of a form',
    async check({ main }) {
      const answer = await main.send('/oauth/introspect', { as: await main.client(), query: 'token=x' })
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
    },
  },
  {
    section: '2.1',
    level: 'REQUIRED',
    says: 'token is required',
    async check({ main }) {
      refused(await main.post('introspect', {}, { as: await main.client() }), 'invalid_request')
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'A wrong or unknown token_type_hint does not matter',
    async check({ main }) {
      const token = await tokenOf(main)
      for (const token_type_hint of ['refresh_token', 'access_token', 'unknown'])
        assert.equal(
          good(await main.post('introspect', { token, token_type_hint }, { as: await main.client() })).active,
          true,
        )
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'The endpoint requires authorization of its caller',
    async check({ main }) {
      const token = await tokenOf(main)
      refused(await main.post('introspect', { token }), 'invalid_client', 401)
      refused(
        await main.post('introspect', { token }, { as: await main.client(), secret: 'no' }),
        'invalid_client',
        401,
      )
      refused(await main.post('introspect', { token, client_id: await main.publicClient() }), 'unauthorized_client')
    },
  },
  {
    section: '2.2',
    level: 'REQUIRED',
    says: 'The answer is JSON with the boolean active',
    async check({ main }) {
      assert.equal((await main.introspect(await tokenOf(main))).active, true)
      assert.equal((await main.introspect('x')).active, false)
    },
  },
  ...(
    [
      ['scope', 'read'],
      ['username', 'ada'],
      ['sub', 'ada'],
      ['token_type', 'bearer'],
    ] as const
  ).map(
    ([name, value]): ConformanceRow => ({
      section: '2.2',
      level: 'OPTIONAL',
      says: `An active token of a user has ${name}`,
      async check(world) {
        const { access_token } = await userToken(world)
        assert.equal((await world.main.introspect(access_token!))[name], value)
      },
    }),
  ),
  {
    section: '2.2',
    level: 'OPTIONAL',
    says: 'client_id and iss name client and issuer',
    async check(world) {
      const { access_token, client } = await userToken(world)
      const { client_id, iss } = await world.main.introspect(access_token!)
      assert.deepEqual([client_id, iss], [client, world.main.issuer])
    },
  },
  {
    section: '2.2',
    level: 'OPTIONAL',
    says: 'exp and iat are in seconds',
    async check(world) {
      const { access_token } = await userToken(world)
      const { exp, iat } = await world.main.introspect(access_token!)
      assert.equal(iat, Math.floor(world.clock.wall() / 1000))
      assert.equal(exp - iat, 3600)
    },
  },
  {
    section: '2.2',
    level: 'OPTIONAL',
    says: 'aud is the resource that a token is restricted to',
    async check({ audience }) {
      const token = await tokenOf(audience, { resource: audience.issuer })
      assert.equal((await audience.introspect(token)).aud, audience.issuer)
    },
  },
  {
    section: '2.2',
    level: 'SHOULD NOT',
    says: 'An inactive token has any further member',
    async check({ main, clock }) {
      const as = await main.client()
      const { access_token: token } = good(await main.credentials(as))
      assert.deepEqual(await main.introspect('unknown'), INACTIVE)
      good(await main.post('revoke', { token }, { as }))
      assert.deepEqual(await main.introspect(token), INACTIVE)
      const expired = await tokenOf(main)
      await clock.advance(3_601_000)
      assert.deepEqual(await main.introspect(expired), INACTIVE)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A token that the caller may not know of is inactive',
    async check({ main, jwt }) {
      const token = await tokenOf(jwt)
      assert.deepEqual(good(await main.post('introspect', { token }, { as: await main.client() })), INACTIVE)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A refresh token is active for its own client alone, and says what it is',
    async check(world) {
      const { main } = world
      const { client, refresh_token: token } = await userToken(world)
      const own = good(await main.post('introspect', { token }, { as: client }))
      assert.deepEqual([own.active, own.token_use, own.token_type], [true, 'refresh_token', undefined])
      assert.deepEqual(await main.introspect(token!), INACTIVE)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'A used refresh token, and an ended grant, are inactive',
    async check(world) {
      const { main } = world
      const { client, refresh_token: token, access_token } = await userToken(world)
      good(await main.refresh(client!, token!))
      assert.deepEqual(good(await main.post('introspect', { token }, { as: client })), INACTIVE)
      assert.deepEqual(await main.introspect(access_token!), INACTIVE)
    },
  },
  {
    section: '2.3',
    level: 'states',
    says: 'A bad token is no error, a bad caller is 401',
    async check({ main }) {
      assert.deepEqual(await main.introspect('"\\é'), INACTIVE)
      refused(await main.post('introspect', { token: 'x' }, { as: 'nobody' }), 'invalid_client', 401)
    },
  },
  {
    section: '4',
    level: 'MUST',
    says: 'All that is checked of a token is checked here: expiry, revocation, signature',
    async check({ jwt }) {
      const token = await tokenOf(jwt)
      assert.equal((await jwt.introspect(token)).active, true)
      assert.deepEqual(await jwt.introspect(`${token.slice(0, -4)}AAAA`), INACTIVE)
    },
  },
  {
    section: '4',
    level: 'states',
    says: 'The token is not taken from the address: no GET',
    async check({ main }) {
      const query = `token=${await tokenOf(main)}`
      const answer = await main.post('introspect', {}, { as: await main.client(), query })
      assert.equal(membersOf(answer).error, 'invalid_request')
    },
  },
  {
    section: '4',
    level: 'states',
    says: 'Answers are not cached',
    async check({ main }) {
      const { headers } = await main.post('introspect', { token: 'x' }, { as: await main.client() })
      assert.match(headers['cache-control'] ?? '', /\bno-store\b/)
    },
  },
]
