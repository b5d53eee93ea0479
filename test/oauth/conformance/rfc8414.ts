import assert from 'node:assert/strict'
import {
  type ConformanceRow,
  good,
  type Members,
  SERVER_METADATA_PATH,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

const NAMES_OF_ENDPOINTS = [
  ['authorization_endpoint', 'authorize'],
  ['token_endpoint', 'token'],
  ['registration_endpoint', 'register'],
  ['revocation_endpoint', 'revoke'],
  ['introspection_endpoint', 'introspect'],
] as const

const AUTH_METHODS = ['token', 'revocation', 'introspection'] as const

function pathOf(served: Served): string {
  return new URL(served.issuer).pathname.replace('/gw', '')
}

/** RFC 8414: metadata of authorization servers. */
export const METADATA_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'REQUIRED',
    says: 'issuer is an https address without query and fragment',
    async check({ main }) {
      const { issuer } = await main.metadata()
      assert.match(issuer, /^https:\/\/[^?#]+$/)
    },
  },
  ...NAMES_OF_ENDPOINTS.map(
    ([name, endpoint]): ConformanceRow => ({
      section: '2',
      level: name === 'token_endpoint' || name === 'authorization_endpoint' ? 'REQUIRED' : 'OPTIONAL',
      says: `${name} is the address of that endpoint`,
      async check({ main }) {
        assert.equal((await main.metadata())[name], main.url(endpoint))
        const answer = await main.send(`/oauth/${endpoint}`, { method: 'PATCH' })
        assert.notEqual(answer.status, 404)
      },
    }),
  ),
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'jwks_uri leads to the keys of signed tokens, each with kid and use',
    async check({ jwt, main }) {
      good(await jwt.credentials(await jwt.client()))
      assert.equal((await jwt.metadata()).jwks_uri, jwt.url('jwks'))
      const { keys } = good(await jwt.send('/oauth/jwks'))
      assert.ok(keys.length > 0)
      for (const key of keys as Members[]) assert.ok(key.kid && key.use === 'sig' && !('d' in key))
      assert.ok(!('jwks_uri' in (await main.metadata())), 'opaque tokens need none')
    },
  },
  {
    section: '2',
    level: 'RECOMMENDED',
    says: 'scopes_supported lists the scopes of the API',
    async check({ main }) {
      assert.deepEqual((await main.metadata()).scopes_supported, ['read', 'write'])
    },
  },
  {
    section: '2',
    level: 'REQUIRED',
    says: 'response_types_supported lists code',
    async check({ main }) {
      assert.deepEqual((await main.metadata()).response_types_supported, ['code'])
    },
  },
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'response_modes_supported lists query',
    async check({ main }) {
      assert.deepEqual((await main.metadata()).response_modes_supported, ['query'])
    },
  },
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'grant_types_supported lists what the API serves',
    async check({ main, plain }) {
      const { grant_types_supported: grants } = await main.metadata()
      for (const grant of ['authorization_code', 'client_credentials', 'refresh_token'])
        assert.ok(grants.includes(grant))
      assert.ok(!(await plain.metadata()).grant_types_supported.includes('refresh_token'))
    },
  },
  ...AUTH_METHODS.map(
    (endpoint): ConformanceRow => ({
      section: '2',
      level: 'MUST',
      says: `${endpoint}_endpoint_auth_signing_alg_values_supported is there, without none`,
      async check({ main }) {
        const metadata = await main.metadata()
        assert.ok(metadata[`${endpoint}_endpoint_auth_methods_supported`].includes('private_key_jwt'))
        const algorithms: string[] = metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`]
        assert.ok(algorithms.includes('RS256') && !algorithms.includes('none'))
      },
    }),
  ),
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'code_challenge_methods_supported lists S256',
    async check({ main }) {
      assert.deepEqual((await main.metadata()).code_challenge_methods_supported, ['S256'])
    },
  },
  {
    section: '2.1',
    level: 'OPTIONAL',
    says: 'signed_metadata is a JWT of the same claims',
    decided: 'Not given: TLS and the issuer prove the document',
    async check({ main }) {
      assert.ok(!('signed_metadata' in (await main.metadata())))
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'The document is at the well-known path before the path of the issuer',
    async check({ main }) {
      const document = good(await main.at(`${SERVER_METADATA_PATH}${pathOf(main)}`))
      assert.deepEqual(document, await main.metadata())
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'A last slash of the issuer is removed before the path is made',
    async check({ main }) {
      const { issuer } = good(await main.at(`${SERVER_METADATA_PATH}${pathOf(main)}`))
      assert.doesNotMatch(issuer, /\/$/)
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'The document is queried by GET',
    async check({ main }) {
      const path = `${SERVER_METADATA_PATH}${pathOf(main)}`
      assert.equal((await main.at(path, { method: 'HEAD' })).status, 200)
      assert.equal((await main.at(path, { method: 'POST', body: 'x' })).status, 405)
    },
  },
  {
    section: '3.1',
    level: 'states',
    says: 'Several issuers of one host each have their document',
    async check({ main, jwt, plain }) {
      for (const served of [main, jwt, plain]) {
        const { issuer } = good(await main.at(`${SERVER_METADATA_PATH}${pathOf(served)}`))
        assert.equal(issuer, served.issuer)
      }
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'Success is 200 with an object in application/json',
    async check({ main }) {
      const answer = await main.at(`${SERVER_METADATA_PATH}${pathOf(main)}`)
      assert.equal(answer.status, 200)
      assert.match(answer.headers['content-type']!, /^application\/json(?:;|$)/)
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'Members of several values are lists, and empty ones are left out',
    async check({ main, plain, strict, jwt }) {
      for (const served of [main, plain, strict, jwt])
        for (const [name, value] of Object.entries(await served.metadata())) {
          if (name.endsWith('_supported') && typeof value !== 'boolean') assert.ok(Array.isArray(value), name)
          assert.ok(!Array.isArray(value) || value.length > 0, name)
        }
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'An issuer that does not exist has no document',
    async check({ main }) {
      assert.equal((await main.at(`${SERVER_METADATA_PATH}/nobody`)).status, 404)
    },
  },
  {
    section: '3.3',
    level: 'MUST',
    says: 'issuer is exactly the issuer that the path was made from',
    async check({ main, audience, inQuery }) {
      for (const served of [main, audience, inQuery]) assert.equal((await served.metadata()).issuer, served.issuer)
    },
  },
  {
    section: '5',
    level: 'MAY',
    says: 'The document is also at the path of OpenID Connect Discovery, in both forms',
    async check({ main }) {
      const inserted = good(await main.at(`/.well-known/openid-configuration${pathOf(main)}`))
      const appended = good(await main.send('/.well-known/openid-configuration'))
      assert.deepEqual(inserted, appended)
      for (const [name, value] of Object.entries(await main.metadata())) assert.deepEqual(inserted[name], value, name)
    },
  },
  {
    section: '6.2',
    level: 'MUST',
    says: 'Metadata cannot be made to name another host',
    async check({ main }) {
      const path = `${SERVER_METADATA_PATH}${pathOf(main)}`
      const answer = await main.at(path, { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } })
      assert.doesNotMatch(answer.text, /evil/)
    },
  },
]

/** RFC 9207: the issuer in authorization responses. */
export const ISSUER_ROWS: readonly ConformanceRow[] = [
  {
    section: '2',
    level: 'MUST',
    says: 'iss is in the answer with a code',
    async check({ main }) {
      assert.equal((await main.comeBack(await main.client())).searchParams.get('iss'), main.issuer)
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'iss is in answers with an error',
    async check({ main }) {
      const client_id = await main.client()
      assert.equal((await main.refusal({ client_id, scope: 'admin' })).get('iss'), main.issuer)
      const page = await main.page({ client_id })
      const { redirect_to } = await main.login({ ...Object.fromEntries(page), error: 'access_denied' })
      assert.equal(new URL(redirect_to).searchParams.get('iss'), main.issuer)
    },
  },
  {
    section: '2',
    level: 'MUST',
    says: 'iss is an https address without query and fragment',
    async check({ main }) {
      const iss = (await main.comeBack(await main.client())).searchParams.get('iss')
      assert.match(iss!, /^https:\/\/[^?#]+$/)
    },
  },
  {
    section: '2',
    level: 'states',
    says: 'iss is there once, form-encoded, whatever the redirection URI has',
    async check({ main }) {
      const client = await main.client({ redirect_uri: 'https://client.example/callback?a=b' })
      const back = await main.comeBack(client)
      assert.deepEqual(back.searchParams.getAll('iss'), [main.issuer])
      assert.ok(back.search.includes(`iss=${encodeURIComponent(main.issuer)}`))
    },
  },
  {
    section: '3',
    level: 'states',
    says: 'Metadata say so by authorization_response_iss_parameter_supported',
    async check({ main }) {
      assert.equal((await main.metadata()).authorization_response_iss_parameter_supported, true)
    },
  },
  {
    section: '2.3',
    level: 'MUST',
    says: 'iss is identical to issuer of the metadata, for each API',
    async check({ main, jwt, audience }) {
      for (const served of [main, jwt, audience]) {
        const back = await served.comeBack(await served.client())
        assert.equal(back.searchParams.get('iss'), (await served.metadata()).issuer)
      }
    },
  },
]
