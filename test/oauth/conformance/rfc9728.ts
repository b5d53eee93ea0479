import assert from 'node:assert/strict'
import {
  type ConformanceRow,
  challengesOf,
  good,
  type Members,
  RESOURCE_METADATA_PATH,
  SERVER_METADATA_PATH,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

const pathOf = (served: Served) => new URL(served.issuer).pathname.replace('/gw', '')
const documentOf = async (served: Served): Promise<Members> =>
  good(await served.at(`${RESOURCE_METADATA_PATH}${pathOf(served)}`))

/** RFC 9728: metadata of protected resources. */
export const PROTECTED_ROWS: readonly ConformanceRow[] = [
  {
    section: '1.2',
    level: 'states',
    says: 'A resource identifier is an https address without fragment',
    async check({ main }) {
      assert.match((await documentOf(main)).resource, /^https:\/\/[^#]+$/)
    },
  },
  {
    section: '2',
    level: 'REQUIRED',
    says: 'resource is the address of the API',
    async check({ main }) {
      assert.equal((await documentOf(main)).resource, main.issuer)
    },
  },
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'authorization_servers lists issuers with metadata of RFC 8414',
    async check({ main }) {
      const { authorization_servers } = await documentOf(main)
      assert.deepEqual(authorization_servers, [main.issuer])
      assert.equal(good(await main.at(`${SERVER_METADATA_PATH}${pathOf(main)}`)).issuer, authorization_servers[0])
    },
  },
  {
    section: '2',
    level: 'RECOMMENDED',
    says: 'scopes_supported lists the scopes of the API',
    async check({ main }) {
      assert.deepEqual((await documentOf(main)).scopes_supported, ['read', 'write'])
    },
  },
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'bearer_methods_supported lists where a token may be: header, query',
    async check({ main, inQuery }) {
      assert.deepEqual((await documentOf(main)).bearer_methods_supported, ['header'])
      assert.deepEqual((await documentOf(inQuery)).bearer_methods_supported, ['header', 'query'])
    },
  },
  {
    section: '2',
    level: 'RECOMMENDED',
    says: 'resource_name is a name for people',
    async check({ main }) {
      assert.equal((await documentOf(main)).resource_name, 'orders')
    },
  },
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'dpop_signing_alg_values_supported is there where proofs are taken',
    async check({ main, plain }) {
      assert.deepEqual((await documentOf(main)).dpop_signing_alg_values_supported, ['ES256', 'PS256', 'RS256'])
      assert.ok(!('dpop_signing_alg_values_supported' in (await documentOf(plain))))
    },
  },
  {
    section: '2',
    level: 'OPTIONAL',
    says: 'dpop_bound_access_tokens_required says whether bearer tokens are refused',
    async check({ main, proved }) {
      assert.equal((await documentOf(proved)).dpop_bound_access_tokens_required, true)
      assert.ok(!(await documentOf(main)).dpop_bound_access_tokens_required)
    },
  },
  {
    section: '2.2',
    level: 'OPTIONAL',
    says: 'signed_metadata is a JWT of the same claims',
    decided: 'Not given: TLS proves the document',
    async check({ main }) {
      assert.ok(!('signed_metadata' in (await documentOf(main))))
    },
  },
  {
    section: '3',
    level: 'MUST',
    says: 'The document is at the well-known path before the path of the resource',
    async check({ main }) {
      assert.equal((await main.at(`${RESOURCE_METADATA_PATH}${pathOf(main)}`)).status, 200)
    },
  },
  {
    section: '3',
    level: 'states',
    says: 'The document is also below the path of the resource',
    async check({ main }) {
      assert.deepEqual(good(await main.send(RESOURCE_METADATA_PATH)), await documentOf(main))
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'The document is queried by GET, without a token',
    async check({ main }) {
      const path = `${RESOURCE_METADATA_PATH}${pathOf(main)}`
      assert.equal((await main.at(path, { method: 'HEAD' })).status, 200)
      assert.equal((await main.at(path, { method: 'POST', body: 'x' })).status, 405)
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'Success is 200 with an object in application/json',
    async check({ main }) {
      const answer = await main.at(`${RESOURCE_METADATA_PATH}${pathOf(main)}`)
      assert.equal(answer.status, 200)
      assert.match(answer.headers['content-type']!, /^application\/json(?:;|$)/)
    },
  },
  {
    section: '3.2',
    level: 'MUST',
    says: 'Members of no value are left out',
    async check({ main, plain, jwt, proved }) {
      for (const served of [main, plain, jwt, proved])
        for (const [name, value] of Object.entries(await documentOf(served)))
          assert.ok(name === 'bearer_methods_supported' || !Array.isArray(value) || value.length > 0, name)
    },
  },
  {
    section: '3.2',
    level: 'states',
    says: 'A resource that does not exist has no document',
    async check({ main }) {
      assert.equal((await main.at(`${RESOURCE_METADATA_PATH}/nobody`)).status, 404)
    },
  },
  {
    section: '3.3',
    level: 'MUST',
    says: 'resource is identical to what the address of the document was made from',
    async check({ main, jwt, plain }) {
      for (const served of [main, jwt, plain])
        for (const slash of ['', '/']) {
          const { resource } = good(await served.at(`${RESOURCE_METADATA_PATH}${pathOf(served)}${slash}`))
          assert.equal(resource, `${served.issuer}${slash}`)
        }
    },
  },
  {
    section: '5.1',
    level: 'states',
    says: 'A challenge names the document by resource_metadata',
    async check({ main, proved }) {
      for (const served of [main, proved])
        for (const answer of [await served.send('/things'), await served.use('x'.repeat(43))])
          assert.match(challengesOf(answer), /resource_metadata="https:\/\/[^"]+"/)
    },
  },
  {
    section: '5.1',
    level: 'states',
    says: 'The named address leads to the document',
    async check({ main }) {
      const [, address] = /resource_metadata="([^"]+)"/.exec(challengesOf(await main.send('/things')))!
      const path = new URL(address!).pathname.replace('/gw/', '/')
      assert.deepEqual(good(await main.at(path)), await documentOf(main))
    },
  },
  {
    section: '5.4',
    level: 'states',
    says: 'The parameter works with DPoP challenges as with Bearer',
    async check({ proved }) {
      assert.match(challengesOf(await proved.send('/things')), /^DPoP .*resource_metadata="/)
    },
  },
  {
    section: '7.3',
    level: 'MUST',
    says: 'The document cannot be made to name another host',
    async check({ main }) {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
      const answer = await main.at(`${RESOURCE_METADATA_PATH}${pathOf(main)}`, { headers })
      assert.doesNotMatch(answer.text, /evil/)
    },
  },
]
