import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import * as oauth from 'oauth4webapi'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { base64 } from '../../worlds/gateway/jwt-fixtures.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const OTHER = 'https://issuer.example/realm'
const PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
  type: 'spki',
  format: 'pem',
}) as string
const JWT = { enable_jwt: true, jwt_signing_method: 'ecdsa', jwt_source: base64(PEM), jwt_default_policies: ['p'] }
const PROVIDER = { jwt: { enabled: true, signing_method: 'ecdsa', source: base64(PEM) } }

interface Kind {
  readonly definition: (id: string, path: string, url: string) => JsonObject
  /** Authorization servers, `self` being its own; undefined = it takes no tokens. */
  readonly servers: readonly string[] | undefined
}

const withClassic =
  (more: JsonObject): Kind['definition'] =>
  (id, path, url) =>
    classic(id, path, url, { use_keyless: false, ...more })

/** APIs by how callers prove who they are. */
const KINDS: Readonly<Record<string, Kind>> = {
  oauth: { definition: (id, path, url) => oauthApi(url, { id, path, scopes: ['read', 'write'] }), servers: ['self'] },
  jwt: {
    definition: withClassic({ ...JWT, jwt_allowed_issuers: [OTHER, 'a name of an issuer'] }),
    servers: [OTHER],
  },
  'jwt without issuers': { definition: withClassic(JWT), servers: [] },
  external: {
    definition: withClassic({
      external_oauth: { enabled: true, providers: [PROVIDER], authorization_servers: [OTHER] },
    }),
    servers: [OTHER],
  },
  'external without issuers': {
    definition: withClassic({ external_oauth: { enabled: true, providers: [PROVIDER] } }),
    servers: [],
  },
  'jwt and a key': {
    definition: withClassic({ ...JWT, use_standard_auth: true, base_identity_provided_by: 'auth_token' }),
    servers: [],
  },
  'a token, else a key': {
    definition: withClassic({
      ...{ ...JWT, use_standard_auth: true, security_processing_mode: 'compliant' },
      security_requirements: [['jwt'], ['authToken']],
    }),
    servers: [],
  },
  key: { definition: withClassic({ use_standard_auth: true }), servers: undefined },
  basic: { definition: withClassic({ use_basic_auth: true }), servers: undefined },
  keyless: { definition: withClassic({ use_keyless: true }), servers: undefined },
}

/** The `resource_metadata` of an answer: each of its challenges names the same. */
function namedBy(headers: Readonly<Record<string, unknown>>): string | undefined {
  const told = [headers['www-authenticate']].flat().filter((each) => each !== undefined)
  const found = told.map((each) => /resource_metadata="([^"]*)"/.exec(String(each))?.[1])
  assert.equal(new Set(found).size <= 1, true, String(told))
  return found[0]
}

async function publishAll(world: OAuthWorld, under: string): Promise<void> {
  await world.policy('p', [])
  for (const [i, { definition }] of Object.values(KINDS).entries()) {
    const made = definition(`api${i}`, `${under}${i}/`, world.origin.url)
    const path = made.openapi === undefined ? '/svc/apis' : '/svc/apis/oas'
    const answer = await world.gateway.svc('POST', path, made)
    assert.equal(answer.status, 200, answer.text)
  }
}

/** Addresses of a gateway: by which clients reach it, and whether paths before its own are a proxy's. */
const ADDRESSES = { '': '', 'https://api.example.test': '', 'https://api.example.test/gw': '/gw' }

for (const [address, base] of Object.entries(ADDRESSES))
  test(`every API that takes tokens says whose, below and before its path: ${address || 'no address'}`, async (t) => {
    const world = await startWorld(t, address === '' ? {} : { env: { SVC_GW_PUBLICURL: address } })
    const { gateway, origin } = world
    await publishAll(world, '/in-é-')
    const reached = address === '' ? `http://127.0.0.1:${gateway.port}` : address
    for (const [i, [name, { servers }]] of Object.entries(KINDS).entries()) {
      const path = `/in-%C3%A9-${i}`
      const resource = new URL(reached + path)
      for (const at of [`${path}${WELL_KNOWN}`, `${WELL_KNOWN}${path}`, `${WELL_KNOWN}${path}/`]) {
        const seen = origin.seen.length
        const { status, headers, text } = await gateway.call(at)
        if (servers === undefined) {
          const isOpen = name === 'keyless' && at.startsWith(path)
          assert.equal(origin.seen.length - seen, isOpen ? 1 : 0, `${name} ${at}`)
          if (!isOpen) assert.notEqual(status, 200, `${name} ${at}`)
          continue
        }
        const place = `${name} ${at}: ${text}`
        assert.equal(status, 200, place)
        const answer = new Response(text, { headers: { 'content-type': String(headers['content-type']) } })
        const asked = at.endsWith('/') ? new URL(`${resource}/`) : resource
        const read = await oauth.processResourceDiscoveryResponse(asked, answer)
        const expected = servers.map((each) => (each === 'self' ? resource.href : each))
        assert.deepEqual(read.authorization_servers ?? [], expected, place)
        assert.deepEqual(read.bearer_methods_supported, ['header'], place)
        if (name === 'oauth') assert.deepEqual(read.scopes_supported, ['read', 'write'], place)
        const posted = await gateway.call(at, { method: 'POST', body: '' })
        assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET, HEAD'], place)
      }
      const refused = await gateway.call(`${path}/tools`)
      const named = namedBy(refused.headers)
      if (servers === undefined) assert.equal(named, undefined, name)
      else {
        const expected = base === '' ? `${reached}${WELL_KNOWN}${path}` : `${reached}${path}${WELL_KNOWN}`
        assert.deepEqual([refused.status, named], [401, expected], name)
      }
    }
  })

/** Words of a request's path where a placeholder is, and hosts: what a listen path or a URL cannot hold among them. */
const WORDS = ['acme', 'a%20b', 'a%22b', '%7B', '%7Bx%7D', 'a;b=1', 'a'.repeat(1100)]
const HOSTS = ['gw.example', '999.1.1.1', 'a..b', '[::1]:8080']

test('a refusal names the metadata whatever path and host a request has', async (t) => {
  const { gateway, origin } = await startWorld(t)
  const apis = { '/': 'root', '/t/{tenant}/': 'tenants' }
  for (const [path, id] of Object.entries(apis)) {
    const answer = await gateway.svc('POST', '/svc/apis/oas', oauthApi(origin.url, { id, path }))
    assert.equal(answer.status, 200, answer.text)
  }
  const places = [...WORDS.map((word) => `/t/${word}`), '']
  for (const place of places)
    for (const host of HOSTS) {
      const { status, headers, text } = await gateway.call(`${place}/x`, { headers: { host } })
      const named = namedBy(headers)
      assert.deepEqual([status, named], [401, `http://${host}${WELL_KNOWN}${place}`], `${place} ${host}: ${text}`)
      const told = await gateway.call(`${WELL_KNOWN}${place}`, { headers: { host } })
      assert.equal((told.json as JsonObject).resource, `http://${host}${place}`, told.text)
    }
})
