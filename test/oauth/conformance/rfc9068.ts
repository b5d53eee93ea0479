import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import {
  type ConformanceRow,
  challengesOf,
  claimsOf,
  good,
  type Members,
  OTHER_RESOURCE,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

async function jwtOf(served: Served, form = {}): Promise<string> {
  return good(await served.credentials(await served.client(), form)).access_token
}

/** The token with its header or claims changed, and its signature left as it was. */
function changed(token: string, header: Members, claims: Members = {}): string {
  const read = claimsOf(token)
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode({ ...read.header, ...header })}.${encode({ ...read.claims, ...claims })}.${token.split('.')[2]}`
}

async function isSignedByPublished(served: Served, token: string): Promise<boolean> {
  const { header } = claimsOf(token)
  const { keys } = good(await served.send('/oauth/jwks'))
  const jwk = (keys as Members[]).find(({ kid }) => kid === header.kid)
  assert.ok(jwk, 'the key is published')
  const [head, claims, signature] = token.split('.')
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const signed = Buffer.from(`${head}.${claims}`)
  return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature!, 'base64url'))
}

/** RFC 9068: JWT access tokens. */
export const JWT_ROWS: readonly ConformanceRow[] = [
  {
    section: '2.1',
    level: 'MUST',
    says: 'Tokens are signed, with a key that is published',
    async check({ jwt }) {
      assert.ok(await isSignedByPublished(jwt, await jwtOf(jwt)))
    },
  },
  {
    section: '2.1',
    level: 'MUST NOT',
    says: 'alg is none',
    async check({ jwt }) {
      const token = await jwtOf(jwt)
      assert.equal(claimsOf(token).header.alg, 'ES256')
      assert.equal((await jwt.use(changed(token, { alg: 'none' }))).status, 401)
      assert.equal((await jwt.use(changed(token, { alg: 'none' }).replace(/[^.]*$/, ''))).status, 401)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'RS256 is supported',
    async check({ rsa }) {
      const token = await jwtOf(rsa)
      assert.equal(claimsOf(token).header.alg, 'RS256')
      assert.ok(await isSignedByPublished(rsa, token))
      assert.equal((await rsa.use(token)).status, 200)
    },
  },
  {
    section: '2.1',
    level: 'MUST',
    says: 'typ is at+jwt',
    async check({ jwt }) {
      assert.equal(claimsOf(await jwtOf(jwt)).header.typ, 'at+jwt')
    },
  },
  ...(['iss', 'exp', 'aud', 'sub', 'client_id', 'iat', 'jti'] as const).map(
    (name): ConformanceRow => ({
      section: '2.2',
      level: 'REQUIRED',
      says: `${name} is in the token`,
      async check({ jwt }) {
        const { claims } = claimsOf(await jwtOf(jwt))
        assert.equal(typeof claims[name], name === 'exp' || name === 'iat' ? 'number' : 'string')
      },
    }),
  ),
  {
    section: '2.2',
    level: 'states',
    says: 'iss is the issuer of the metadata',
    async check({ jwt }) {
      assert.equal(claimsOf(await jwtOf(jwt)).claims.iss, (await jwt.metadata()).issuer)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'sub is the user, or the client where it acts for itself',
    async check({ jwt }) {
      const client = await jwt.client()
      assert.equal(claimsOf((await jwt.tokens(client)).access_token).claims.sub, 'ada')
      assert.equal(claimsOf(good(await jwt.credentials(client)).access_token).claims.sub, client)
    },
  },
  {
    section: '2.2',
    level: 'states',
    says: 'exp is what expires_in says, and no two tokens share a jti',
    async check({ jwt, clock }) {
      const client = await jwt.client()
      const [one, two] = [good(await jwt.credentials(client)), good(await jwt.credentials(client))]
      const claims = claimsOf(one.access_token).claims
      assert.equal(claims.exp, Math.floor(clock.wall() / 1000) + one.expires_in)
      assert.notEqual(claims.jti, claimsOf(two.access_token).claims.jti)
    },
  },
  {
    section: '2.2.1',
    level: 'OPTIONAL',
    says: 'auth_time, acr and amr tell how the user signed in',
    decided: 'Not given: the login page signs users in, and says who they are only',
    async check({ jwt }) {
      const { claims } = claimsOf((await jwt.tokens(await jwt.client())).access_token)
      for (const name of ['auth_time', 'acr', 'amr']) assert.ok(!(name in claims), name)
    },
  },
  {
    section: '2.2.3',
    level: 'SHOULD',
    says: 'scope is in the token where scopes were granted',
    async check({ jwt }) {
      assert.equal(claimsOf(await jwtOf(jwt, { scope: 'read write' })).claims.scope, 'read write')
    },
  },
  {
    section: '2.2.3',
    level: 'MUST',
    says: 'Scopes of the token mean what they mean for its resource',
    async check({ jwt }) {
      const read = await jwt.use(await jwtOf(jwt, { scope: 'read' }), { path: '/write', method: 'POST' })
      const write = await jwt.use(await jwtOf(jwt, { scope: 'write' }), { path: '/write', method: 'POST' })
      assert.deepEqual([read.status, write.status], [403, 200])
    },
  },
  {
    section: '3',
    level: 'SHOULD',
    says: 'aud is the resource that was asked for',
    async check({ audience }) {
      assert.equal(claimsOf(await jwtOf(audience, { resource: OTHER_RESOURCE })).claims.aud, OTHER_RESOURCE)
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'aud is a default resource where none was asked for',
    async check({ jwt }) {
      assert.equal(claimsOf(await jwtOf(jwt)).claims.aud, jwt.issuer)
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'A request for a resource that is unknown is invalid_target',
    async check({ jwt }) {
      const answer = await jwt.credentials(await jwt.client(), { resource: 'https://unknown.example/' })
      assert.equal((answer.json as Members).error, 'invalid_target')
    },
  },
  {
    section: '4',
    level: 'MUST',
    says: 'Keys are found by the metadata (jwks_uri)',
    async check({ jwt }) {
      assert.equal((await jwt.metadata()).jwks_uri, jwt.url('jwks'))
    },
  },
  ...(
    [
      ['typ', { typ: 'JWT' }, {}],
      ['iss', {}, { iss: 'https://evil.example' }],
      ['aud', {}, { aud: 'https://evil.example' }],
      ['exp', {}, { exp: 9_999_999_999 }],
      ['sub', {}, { sub: 'root' }],
      ['kid', { kid: 'other' }, {}],
    ] as const
  ).map(
    ([name, header, claims]): ConformanceRow => ({
      section: '4',
      level: 'MUST',
      says: `The resource server refuses a token whose ${name} was changed`,
      async check({ jwt }) {
        assert.equal((await jwt.use(changed(await jwtOf(jwt), header, claims))).status, 401)
      },
    }),
  ),
  {
    section: '4',
    level: 'MUST',
    says: 'The resource server refuses a token that has expired',
    async check({ jwt, clock }) {
      const token = await jwtOf(jwt)
      await clock.advance(3_601_000)
      assert.equal((await jwt.use(token)).status, 401)
    },
  },
  {
    section: '4',
    level: 'MUST',
    says: 'The resource server refuses a token that is for another API',
    async check({ audience }) {
      assert.equal((await audience.use(await jwtOf(audience, { resource: OTHER_RESOURCE }))).status, 401)
    },
  },
  {
    section: '4',
    level: 'MUST',
    says: 'The refusal is invalid_token',
    async check({ jwt }) {
      const answer = await jwt.use(changed(await jwtOf(jwt), {}, { sub: 'root' }))
      assert.match(challengesOf(answer), /error="invalid_token"/)
    },
  },
  {
    section: '5',
    level: 'SHOULD',
    says: 'sub of a client is never one that a user may have chosen, nor the other way round',
    decided:
      'The login page names users: it keeps their names apart from ids of clients; ids of registered clients are random',
    async check({ jwt }) {
      const { claims } = claimsOf(await jwtOf(jwt))
      assert.equal(claims.sub, claims.client_id)
    },
  },
  {
    section: '6',
    level: 'states',
    says: 'Tokens hold no personal data beside the name of the user',
    async check({ jwt }) {
      const { claims } = claimsOf((await jwt.tokens(await jwt.client(), { scope: 'read' })).access_token)
      const known = ['iss', 'sub', 'aud', 'client_id', 'iat', 'exp', 'jti', 'scope']
      assert.deepEqual(Object.keys(claims).sort(), known.sort())
    },
  },
]
