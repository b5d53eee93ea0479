import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as oauth from 'oauth4webapi'
import type { OAuthRules } from '../../../src/model/oauth-clients/oauth-rules.ts'
import { jwks, metadata, metadataOf } from '../../../src/oauth/endpoints/metadata.ts'
import type { OAuthAnswer } from '../../../src/oauth/endpoints/parts.ts'
import { checkTokenProof, readBinding } from '../../../src/oauth/proofs/dpop.ts'
import { accessTokenText } from '../../../src/oauth/tokens/jwt-access-token.ts'
import { ISSUER, makeApi, makeCall, makeWorld, TOKEN_URL } from '../../worlds/oauth/proof-world.ts'

const RESOURCE_URL = 'https://api.example.com/orders/1?page=2'
const UNBOUND = { jkt: '', x5t: '' }

function responseOf({ status, fields, body }: OAuthAnswer): Response {
  const lines = fields.split('\r\n').filter((line) => line !== '')
  return new Response(body, { status, headers: lines.map((line) => line.split(': ', 2) as [string, string]) })
}

test('an independent client discovers the server, validates a token and uses DPoP proofs', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const api = makeApi()
  const found = await metadata(world, makeCall({ endpoint: 'metadata', method: 'GET' }))
  const server = await oauth.processDiscoveryResponse(new URL(ISSUER), responseOf(found))
  assert.equal(server.token_endpoint, TOKEN_URL)

  const pair = await oauth.generateKeyPair('ES256')
  const dpop = oauth.DPoP({}, pair)
  const sent: Headers[] = []
  const keep = async (_url: string, { headers }: { headers: Record<string, string> }) => {
    sent.push(new Headers(headers))
    return new Response('{}')
  }
  const secret = oauth.ClientSecretBasic('secret')
  await oauth.clientCredentialsGrantRequest(
    server,
    { client_id: 'app' },
    secret,
    {},
    { DPoP: dpop, [oauth.customFetch]: keep },
  )
  const binding = await readBinding(world, makeCall({ proofs: [sent[0]!.get('dpop')!] }), api.oauth)
  assert.notEqual(binding.jkt, '')

  const nowS = Math.floor(world.clock.wall() / 1000)
  const facts = {
    clientId: 'app',
    username: 'ann',
    scope: 'read write',
    issuedAtS: nowS,
    expiresAtS: nowS + 60,
    binding,
  }
  const token = await accessTokenText(world, makeCall(), facts)
  await oauth.protectedResourceRequest(token, 'GET', new URL(RESOURCE_URL), undefined, undefined, {
    DPoP: dpop,
    [oauth.customFetch]: keep,
  })
  const headers = sent[1]!
  const request = new Request(RESOURCE_URL, { headers })
  const claims = await oauth.validateJwtAccessToken(server, request, ISSUER, {
    [oauth.customFetch]: async (url) => {
      assert.equal(url, `${ISSUER}/oauth/jwks`)
      return responseOf(await jwks(world, makeCall({ endpoint: 'jwks', method: 'GET' })))
    },
  })
  const { jti, ...rest } = claims
  assert.match(jti, /^[A-Za-z0-9_-]{22}$/)
  assert.deepEqual(rest, {
    iss: ISSUER,
    sub: 'ann',
    aud: ISSUER,
    client_id: 'app',
    iat: nowS,
    exp: nowS + 60,
    scope: 'read write',
    cnf: { jkt: binding.jkt },
  })
  const proved = { proofs: [headers.get('dpop')!], method: 'GET', url: RESOURCE_URL, token, jkt: binding.jkt }
  assert.equal(await checkTokenProof(world, proved), undefined)
  assert.equal((await checkTokenProof(world, proved))?.code, 'token_proof_invalid')
})

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

test('a token of client credentials has the client as sub and no scope or cnf', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const facts = { clientId: 'app', username: '', scope: '', issuedAtS: 1, expiresAtS: 2, binding: UNBOUND }
  const [one, two] = [await accessTokenText(world, makeCall(), facts), await accessTokenText(world, makeCall(), facts)]
  const { jti, ...claims } = claimsOf(one)
  assert.deepEqual(claims, { iss: ISSUER, sub: 'app', aud: ISSUER, client_id: 'app', iat: 1, exp: 2 })
  assert.notEqual(jti, claimsOf(two).jti)
})

test('a token that is bound to a certificate names it; RS256 where the API says so', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const call = makeCall({ api: makeApi({ signingAlgorithm: 'RS256' }) })
  const binding = { jkt: '', x5t: 'thumb' }
  const facts = { clientId: 'app', username: '', scope: '', issuedAtS: 1, expiresAtS: 2, binding }
  const token = await accessTokenText(world, call, facts)
  assert.deepEqual(claimsOf(token).cnf, { 'x5t#S256': 'thumb' })
  const header = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())
  assert.deepEqual([header.typ, header.alg], ['at+jwt', 'RS256'])
})

test('everything that the API offers is in the metadata', (t) => {
  const world = makeWorld(t.after.bind(t))
  const grants: OAuthRules['grants'] = new Set([
    'authorization_code',
    'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code',
  ])
  const api = makeApi({
    grants,
    scopes: new Set(['write', 'read']),
    requirePushedRequests: true,
    dpop: 'required',
    mutualTls: 'allowed',
  })
  const config = { ...world.config, gateway: { ...world.config.gateway, oauth_registration_token: 'x' } }
  const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth']
  const algorithms = ['ES256', 'PS256', 'RS256']
  const assertions = [
    ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
    ...['EdDSA', 'Ed25519', 'Ed448'],
  ]
  assert.deepEqual(metadataOf({ config }, api, ISSUER, true), {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/oauth/authorize`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    pushed_authorization_request_endpoint: `${ISSUER}/oauth/par`,
    require_pushed_authorization_requests: true,
    token_endpoint: TOKEN_URL,
    grant_types_supported: [...grants],
    token_endpoint_auth_methods_supported: [...methods, 'none'],
    token_endpoint_auth_signing_alg_values_supported: assertions,
    revocation_endpoint: `${ISSUER}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: [...methods, 'none'],
    revocation_endpoint_auth_signing_alg_values_supported: assertions,
    introspection_endpoint: `${ISSUER}/oauth/introspect`,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: assertions,
    jwks_uri: `${ISSUER}/oauth/jwks`,
    scopes_supported: ['read', 'write'],
    device_authorization_endpoint: `${ISSUER}/oauth/device_authorization`,
    registration_endpoint: `${ISSUER}/oauth/register`,
    dpop_signing_alg_values_supported: algorithms,
    tls_client_certificate_bound_access_tokens: true,
  })
})

test('what the API does not offer is not in the metadata', (t) => {
  const world = makeWorld(t.after.bind(t))
  const api = makeApi({ grants: new Set(['client_credentials']), accessTokenFormat: 'opaque', dpop: 'off' })
  const members = Object.keys(metadataOf(world, api, ISSUER, true))
  for (const name of [
    ...['authorization_endpoint', 'response_types_supported', 'code_challenge_methods_supported', 'jwks_uri'],
    ...['scopes_supported', 'device_authorization_endpoint', 'pushed_authorization_request_endpoint'],
    ...['registration_endpoint', 'dpop_signing_alg_values_supported', 'tls_client_certificate_bound_access_tokens'],
  ])
    assert.ok(!members.includes(name), name)
})

test('a grant without its login page, or without its response type, is not in the metadata', (t) => {
  const world = makeWorld(t.after.bind(t))
  const device = 'urn:ietf:params:oauth:grant-type:device_code'
  const grants: OAuthRules['grants'] = new Set(['client_credentials', 'authorization_code', device])
  const api = makeApi({ grants, loginRedirect: '', responseTypes: new Set() })
  const document = metadataOf(world, api, ISSUER, true)
  assert.deepEqual(document.grant_types_supported, ['client_credentials'])
  assert.ok(!('device_authorization_endpoint' in document || 'authorization_endpoint' in document))
})

test('metadata and keys may be kept, unlike other answers', async (t) => {
  const world = makeWorld(t.after.bind(t))
  for (const answer of [await metadata(world, makeCall()), await jwks(world, makeCall())]) {
    assert.match(answer.fields, /^Content-Type: application\/json\r\nCache-Control: public, max-age=300\r\n/)
    assert.doesNotMatch(answer.fields, /no-store/)
  }
})

test('RSA keys of an independent client are taken for proofs', async (t) => {
  const world = makeWorld(t.after.bind(t))
  for (const alg of ['PS256', 'RS256']) {
    const dpop = oauth.DPoP({}, await oauth.generateKeyPair(alg))
    let proof = ''
    await oauth.clientCredentialsGrantRequest(
      { issuer: ISSUER, token_endpoint: TOKEN_URL },
      { client_id: 'app' },
      oauth.None(),
      {},
      {
        DPoP: dpop,
        [oauth.customFetch]: async (_url, { headers }) => {
          proof = new Headers(headers).get('dpop')!
          return new Response('{}')
        },
      },
    )
    const { jkt } = await readBinding(world, makeCall({ proofs: [proof] }), { dpop: 'required', mutualTls: 'off' })
    assert.equal(jkt, await dpop.calculateThumbprint())
  }
})
