import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { hashKey, unseal } from '../../../src/model/secrets/secret.ts'
import { clientViewFor } from '../../../src/publish/oauth-clients/oauth-client-lists.ts'
import { endAllTokens, rotateClient, updateClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import type { AuditEntry } from '../../../src/store/ports/ports.ts'
import { actor, made, now, opened, REDIRECT, refused, sweepsEnded } from '../../worlds/publish/client-world.ts'
import { putToken, type Stored } from '../../worlds/publish/stored.ts'

/** The current one first. */
function secretsIn(parts: Stored, client: OAuthClient): string[] {
  const context = `oauth_client:${client.client_id}`
  return client.secrets
    .filter(({ until }) => until === 0 || until > parts.clock.wall())
    .map(({ sealed }) => unseal(parts.sealKey, Buffer.from(sealed, 'base64'), context).toString())
}

test('id and secret are made of 256 random bits, or kept when given', async (t) => {
  const parts = await opened(t)
  const one = await made(parts)
  const other = await made(parts)
  assert.match(one.client.client_id, /^[A-Za-z0-9_-]{43}$/)
  assert.match(one.secret, /^[A-Za-z0-9_-]{43}$/)
  assert.notEqual(one.client.client_id, other.client.client_id)
  assert.notEqual(one.secret, other.secret)
  const kept = await made(parts, { client_id: 'a/.b/b%2F', secret: 'c2VjcmV0+/==' })
  assert.equal(kept.client.client_id, 'a/.b/b%2F')
  assert.equal(kept.secret, 'c2VjcmV0+/==')
})

test('the secret is kept sealed, for this client only, and never in an audit entry', async (t) => {
  const parts = await opened(t)
  const audits: (AuditEntry | undefined)[] = []
  const documents = {
    ...parts.documents,
    commit: (changes: never, audit: AuditEntry | undefined) => {
      audits.push(audit)
      return parts.documents.commit(changes, audit)
    },
  }
  const { client, secret } = await made({ ...parts, documents })
  await rotateClient({ ...parts, documents }, client, { overlapS: 0, secret: 'another-secret-1', actor })
  const stored = await parts.documents.find('oauth_client', 'client_id', client.client_id)
  assert.ok(!JSON.stringify(stored).includes(secret))
  assert.ok(!JSON.stringify(stored).includes('another-secret-1'))
  assert.deepEqual(
    audits.map((audit) => audit?.action),
    ['oauth_client.create', 'oauth_client.rotate'],
  )
  assert.ok(!JSON.stringify(audits).includes(secret) && !JSON.stringify(audits).includes('another-secret-1'))
  const sealed = Buffer.from(client.secrets[0]!.sealed, 'base64')
  assert.throws(() => unseal(parts.sealKey, sealed, 'oauth_client:somebody-else'))
})

for (const [what, body, code, words] of [
  ['no redirect URI', { redirect_uri: '' }, 'oauth_client_invalid', /redirect_uri: is missing/],
  ['a redirect URI without scheme', { redirect_uri: '/cb' }, 'oauth_client_invalid', /redirect_uri: must be absolute/],
  ['a fragment', { redirect_uri: 'https://a.example/cb#x' }, 'oauth_client_invalid', /redirect_uri/],
  [
    'a scheme that runs',
    { redirect_uris: ['javascript://a.b/%0aalert(1)'] },
    'oauth_client_invalid',
    /redirect_uris\[0\]/,
  ],
  [
    'several in one text',
    { redirect_uri: 'https://a.example/1;https://a.example/2' },
    'oauth_client_invalid',
    /several/,
  ],
  [
    'a list without the one',
    { redirect_uris: ['https://b.example/cb'] },
    'oauth_client_invalid',
    /must be one of redirect_uris/,
  ],
  ['two sorts of metadata', { metadata: { a: 1 }, meta_data: { a: 2 } }, 'oauth_client_invalid', /metadata/],
  ['an API that is none', { api_id: 'nowhere' }, 'query_invalid', /^API doesn't exist$/],
  ['an API without OAuth', { api_id: 'open' }, 'query_invalid', /^API is not OAuth2$/],
  ['a policy that is none', { policy_id: 'lead' }, 'query_invalid', /^Policy doesn't exist$/],
  ['a policy without rights here', { policy_id: 'silver' }, 'oauth_client_invalid', /rights on API orders/],
  ['neither API nor policy', { api_id: '' }, 'oauth_client_invalid', /api_id or policy_id/],
  [
    'keys that are no keys',
    { auth_method: 'private_key_jwt', jwks: { keys: [{}] } },
    'oauth_client_invalid',
    /jwks: keys\[0\]/,
  ],
  ['no keys', { auth_method: 'private_key_jwt' }, 'oauth_client_invalid', /jwks: is missing/],
  ['no certificate', { auth_method: 'tls_client_auth' }, 'oauth_client_invalid', /certificate: is missing/],
  ['a grant that is none', { grant_types: ['implicit'] }, 'oauth_client_invalid', /grant_types\[0\]/],
  [
    'credentials of a public client',
    { auth_method: 'none', grant_types: ['client_credentials'] },
    'oauth_client_invalid',
    /client_credentials/,
  ],
  ['a life of a century', { token_lifetime: 4e9 }, 'oauth_client_invalid', /token_lifetime/],
  ['a secret that no header carries', { secret: 'sécret' }, 'oauth_client_invalid', /secret/],
  ['an id that no path can hold', { client_id: '..' }, 'oauth_client_invalid', /client_id/],
  ['an id that is a number', { client_id: 7 }, 'oauth_client_invalid', /client_id/],
] as const) {
  test(`a client is refused for ${what}`, async (t) => {
    const parts = await opened(t)
    await assert.rejects(made(parts, body as JsonObject), refused(code, words))
    assert.equal((await parts.documents.list('oauth_client', { limit: 10 })).total, 0)
  })
}

test('policies, metadata and redirect URIs are taken and shown under both names', async (t) => {
  const parts = await opened(t)
  const uris = [REDIRECT, 'http://127.0.0.1/cb', 'com.example.app:/cb']
  const { client, secret } = await made(parts, {
    redirect_uris: uris,
    policy_id: 'gold',
    policies: ['silver', 'gold'],
    meta_data: { tier: 1 },
    description: 'd',
    app_description: 'a',
    use_case: 'u',
    client_name: 'kept as it is',
    date_created: '2020-01-02T03:04:05Z',
  })
  const shown = clientViewFor(parts, client, { withSecret: true })
  assert.deepEqual(
    { ...shown },
    {
      client_id: client.client_id,
      secret,
      redirect_uri: REDIRECT,
      redirect_uris: uris,
      policy_id: 'gold',
      policies: ['gold', 'silver'],
      meta_data: { tier: 1 },
      metadata: { tier: 1 },
      description: 'd',
      app_description: 'a',
      use_case: 'u',
      client_name: 'kept as it is',
      api_ids: ['orders'],
      auth_method: 'any',
      token_lifetime: 0,
      date_created: '2020-01-02T03:04:05Z',
    },
  )
  assert.equal(clientViewFor(parts, client, { withSecret: false }).secret, '')
  const list = await made(parts, { redirect_uri: uris })
  assert.deepEqual(list.client.redirect_uris, uris)
})

test('what is ours cannot be written from outside', async (t) => {
  const parts = await opened(t)
  const own = {
    epoch: 'mine',
    secrets: [],
    registration: { a: 1 },
    registered_by_policy: 'gold',
    client_secret: 'given-1',
  }
  const { client, secret } = await made(parts, own)
  assert.equal(secret, 'given-1')
  assert.notEqual(client.epoch, 'mine')
  assert.equal(client.registered_by_policy, '')
  assert.equal(client.registration, undefined)
  assert.equal(client.client_secret, undefined)
})

test('clients that prove themselves without a secret have none', async (t) => {
  const parts = await opened(t)
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1' }] } as unknown as JsonObject
  const byKey = await made(parts, { token_endpoint_auth_method: 'private_key_jwt', jwks })
  assert.deepEqual([byKey.secret, byKey.client.secrets, byKey.client.jwks], ['', [], jwks])
  await assert.rejects(
    rotateClient(parts, byKey.client, { overlapS: 0, actor }),
    refused('oauth_client_invalid', /without/),
  )
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leaked = { keys: [privateKey.export({ format: 'jwk' })] } as unknown as JsonObject
  await assert.rejects(
    made(parts, { auth_method: 'private_key_jwt', jwks: leaked }),
    refused('oauth_client_invalid', /no public key/),
  )
  const thumbprint = Array(32).fill('AB').join(':')
  const byCertificate = await made(parts, { auth_method: 'tls_client_auth', certificate: thumbprint })
  assert.equal(byCertificate.client.certificate, 'ab'.repeat(32))
  const changed = await updateClient(parts, byKey.client, {
    body: { redirect_uri: REDIRECT, auth_method: 'client_secret_basic', jwks: null },
    actor,
  })
  assert.match(changed.secret, /^[A-Za-z0-9_-]{43}$/)
  assert.equal(changed.client.jwks, undefined)
})

test('PUT replaces the four members of the wire, and leaves the others unless they are sent', async (t) => {
  const parts = await opened(t)
  const { client, secret } = await made(parts, {
    policy_id: 'gold',
    metadata: { a: 1 },
    description: 'd',
    scope: 'read write',
    grant_types: ['authorization_code'],
    token_lifetime: 60,
    use_case: 'u',
  })
  const { client: after, secret: still } = await updateClient(parts, client, {
    body: { redirect_uri: 'https://b.example/', policy_id: 'gold', scope: null, client_id: client.client_id, secret },
    actor,
  })
  const { scope: _gone, ...rest } = client
  const { redirect_since: since, ...others } = after
  assert.deepEqual(Object.keys(since ?? {}), ['https://b.example/'])
  assert.deepEqual(others, { ...rest, redirect_uris: ['https://b.example/'], metadata: {}, description: '' })
  assert.equal(still, secret)
  await assert.rejects(
    updateClient(parts, client, { body: {}, actor }),
    refused('oauth_client_invalid', /redirect_uri/),
  )
  await assert.rejects(
    updateClient(parts, { client_id: 'nobody' }, { body: { redirect_uri: REDIRECT }, actor }),
    refused('not_found', /OAuth Client ID not found/),
  )
})

test('neither other policies nor the same ones end the tokens of a client', async (t) => {
  const parts = await opened(t)
  const { client } = await made(parts, { policy_id: 'gold' })
  const clientId = client.client_id
  await putToken(parts, 'token-1', { clientId, epoch: client.epoch, apiId: 'orders' })
  await updateClient(parts, { client_id: clientId }, { body: { redirect_uri: REDIRECT, policy_id: 'gold' }, actor })
  await sweepsEnded(parts)
  assert.ok(await parts.tokens.getSession(hashKey('token-1')))
  const { client: after } = await updateClient(
    parts,
    { client_id: clientId },
    {
      body: { redirect_uri: REDIRECT, policies: ['gold', 'silver'] },
      actor,
    },
  )
  assert.deepEqual([after.policies, after.epoch], [['gold', 'silver'], client.epoch])
  await sweepsEnded(parts)
  assert.ok(await parts.tokens.getSession(hashKey('token-1')))
})

test('a rotated secret goes at once, or after the overlap', async (t) => {
  const parts = await opened(t)
  const { client, secret: first } = await made(parts)
  const clientId = client.client_id
  const { client: second, secret: next } = await rotateClient(parts, { client_id: clientId }, { overlapS: 60, actor })
  assert.deepEqual(secretsIn(parts, second), [next, first])
  assert.notEqual(next, first)
  parts.clock.advance(59_999)
  assert.deepEqual(secretsIn(parts, second), [next, first])
  parts.clock.advance(1)
  assert.deepEqual(secretsIn(parts, second), [next])
  const { client: third, secret: last } = await rotateClient(parts, { client_id: clientId }, { overlapS: 0, actor })
  assert.deepEqual(secretsIn(parts, third), [last])
  let client4 = third
  for (let round = 0; round < 8; round++)
    client4 = (await rotateClient(parts, { client_id: clientId }, { overlapS: 60, actor })).client
  assert.equal(client4.secrets.length, 5)
  assert.equal(third.epoch, client.epoch)
})

test('an overlap never lengthens the one that a secret has already', async (t) => {
  const parts = await opened(t)
  const { client, secret: first } = await made(parts)
  await rotateClient(parts, client, { overlapS: 10, actor })
  const { client: after } = await rotateClient(parts, client, { overlapS: 1000, actor })
  parts.clock.advance(10_000)
  assert.ok(!secretsIn(parts, after).includes(first))
})

test('revoking all tokens starts a new epoch and deletes the rows in chunks, but no keys', async (t) => {
  const parts = await opened(t)
  const { client } = await made(parts)
  const clientId = client.client_id
  for (let i = 0; i < 450; i++) await putToken(parts, `token-${i}`, { clientId, epoch: client.epoch, apiId: 'orders' })
  const key = { body: { oauth_client_id: clientId }, orgId: '', apiIds: [], policyIds: [], clientId, evictAt: 0 }
  await parts.documents.commit([{ op: 'putSession', hash: hashKey('a-key'), row: key }], undefined)
  await endAllTokens(parts, client, actor)
  const after = await now(parts, clientId)
  assert.notEqual(after?.epoch, client.epoch)
  await putToken(parts, 'fresh', { clientId, epoch: after!.epoch, apiId: 'orders' })
  await sweepsEnded(parts)
  const { rows } = await parts.tokens.listSessions({ clientId, limit: 1000 })
  assert.deepEqual(
    rows.map(({ hash }) => Buffer.from(hash).toString('hex')).sort(),
    [hashKey('a-key'), hashKey('fresh')].map((hash) => hash.toString('hex')).sort(),
  )
})
