import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { signJwt } from '../../../src/oauth/signing-keys/jwt.ts'
import { openWorld, type Sending, STORES, sealedFor, type World } from '../../worlds/oauth/core-world.ts'
import { basic, ISSUER, SECRET } from '../../worlds/oauth/front-fixtures.ts'

const [memory] = STORES
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

function raw(text: string | Buffer): Sending['headers'] {
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

async function outcome(world: World, headers: Sending['headers'], form: Record<string, string> = {}) {
  const sent = { grant_type: 'client_credentials', ...form }
  const { status, body, fields } = await world.ask('token', { headers: headers ?? {}, form: sent })
  if (status === 401) assert.match(fields, /WWW-Authenticate: Basic realm="[^"]+"/)
  else assert.ok(!fields.includes('WWW-Authenticate'))
  return status === 200 ? 'ok' : `${status} ${body.error}`
}

const BAD = '401 invalid_client'

test('Basic: right, wrong, unknown; the scheme in any letter case', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  assert.equal(await outcome(world, basic('shop')), 'ok')
  assert.equal(await outcome(world, { authorization: basic('shop').authorization.replace('Basic', 'bAsIc') }), 'ok')
  assert.equal(await outcome(world, basic('shop', 'wrong')), BAD)
  assert.equal(await outcome(world, basic('nobody')), BAD)
  assert.equal(await outcome(world, basic('', '')), BAD)
  assert.equal(await outcome(world, basic('shop', '')), BAD)
  assert.equal(await outcome(world, {}), BAD)
  assert.equal(await outcome(world, { authorization: 'Bearer abc' }), BAD)
})

test('an unknown client and a wrong secret get the same answer', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  const form = { grant_type: 'client_credentials' }
  const wrong = await world.ask('token', { headers: basic('shop', 'wrong'), form })
  const unknown = await world.ask('token', { headers: basic('nobody', 'wrong'), form })
  assert.deepEqual(unknown, wrong)
})

test('Basic that is malformed: 401; that is there twice: 400', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  for (const authorization of ['Basic', 'Basic ', 'Basic !!', 'Basic c2hvcA==', 'Basic a b']) {
    assert.equal(await outcome(world, { authorization }), '401 invalid_client', authorization)
  }
  const twice = { authorization: [basic('shop').authorization, basic('shop').authorization] }
  assert.equal(await outcome(world, twice), '400 invalid_request')
})

test('Basic: percent-decoded, and as it stands', async (t) => {
  const world = await openWorld(t, memory!)
  const secret = 'a+b c%20d:é'
  const secrets = [{ sealed: sealedFor(world.parts.sealKey, 'https://me/x y', secret), until: 0 }]
  await world.putClient({ client_id: 'https://me/x y', secrets })
  assert.equal(await outcome(world, basic('https://me/x y', secret)), 'ok')
  const form = new URLSearchParams({ a: 'https://me/x y', b: secret }).toString()
  const [id, password] = form.split('&').map((pair) => pair.slice(2))
  assert.equal(await outcome(world, raw(`${id}:${password}`)), 'ok')
  await world.putClient({
    client_id: 'plain',
    secrets: [{ sealed: sealedFor(world.parts.sealKey, 'plain', secret), until: 0 }],
  })
  assert.equal(await outcome(world, raw(`plain:${secret}`)), 'ok')
  assert.equal(await outcome(world, raw(`plain:a+b c%20d`)), BAD)
  assert.equal(await outcome(world, raw(Buffer.from([0x61, 0x3a, 0xff, 0xfe]))), BAD)
})

test('the body may repeat what Basic says, and nothing else', async (t) => {
  const world = await openWorld(t, memory!)
  const { sealKey } = world.parts
  const secrets = [SECRET, 'second'].map((secret) => ({ sealed: sealedFor(sealKey, 'shop', secret), until: 0 }))
  await world.putClient({ secrets })
  const right = basic('shop')
  assert.equal(await outcome(world, right, { client_id: 'shop' }), 'ok')
  assert.equal(await outcome(world, right, { client_id: 'shop', client_secret: SECRET }), 'ok')
  assert.equal(await outcome(world, right, { client_id: 'shop', secret: SECRET }), 'ok')
  assert.equal(await outcome(world, right, { client_secret: SECRET, secret: SECRET }), 'ok')
  assert.equal(await outcome(world, right, { client_id: 'other' }), BAD)
  assert.equal(await outcome(world, right, { client_secret: 'wrong' }), BAD)
  assert.equal(await outcome(world, right, { secret: 'second' }), BAD)
  assert.equal(await outcome(world, right, { client_secret: SECRET, secret: 'second' }), BAD)
})

test('the secret in the body, under either name', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  assert.equal(await outcome(world, {}, { client_id: 'shop', client_secret: SECRET }), 'ok')
  assert.equal(await outcome(world, {}, { client_id: 'shop', secret: SECRET }), 'ok')
  assert.equal(await outcome(world, {}, { client_id: 'shop', client_secret: 'wrong' }), BAD)
  assert.equal(await outcome(world, {}, { client_id: 'shop', client_secret: SECRET, secret: 'x' }), BAD)
  assert.equal(await outcome(world, {}, { client_secret: SECRET }), BAD)
  assert.equal(await outcome(world, {}, { client_id: 'shop' }), BAD)
})

test('only the way that the client is registered with', async (t) => {
  const world = await openWorld(t, memory!)
  const body = { client_id: 'shop', client_secret: SECRET }
  await world.putClient({ auth_method: 'client_secret_basic' })
  assert.equal(await outcome(world, basic('shop')), 'ok')
  assert.equal(await outcome(world, {}, body), BAD)
  await world.putClient({ auth_method: 'client_secret_post' })
  assert.equal(await outcome(world, basic('shop')), BAD)
  assert.equal(await outcome(world, {}, body), 'ok')
  await world.putClient({ auth_method: 'private_key_jwt' })
  assert.equal(await outcome(world, basic('shop')), BAD)
  assert.equal(await outcome(world, {}, body), BAD)
})

test('several secrets while a rotation overlaps, each until its end', async (t) => {
  const world = await openWorld(t, memory!)
  const until = world.clock.wallMs + 1000
  const old = { sealed: sealedFor(world.parts.sealKey, 'shop', 'old'), until }
  const now = { sealed: sealedFor(world.parts.sealKey, 'shop', 'new'), until: 0 }
  await world.putClient({ secrets: [now, old] })
  assert.equal(await outcome(world, basic('shop', 'old')), 'ok')
  assert.equal(await outcome(world, basic('shop', 'new')), 'ok')
  world.clock.advance(1000)
  assert.equal(await outcome(world, basic('shop', 'old')), BAD)
  assert.equal(await outcome(world, basic('shop', 'new')), 'ok')
})

test('a client of another API, or of another organisation, is unknown', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ api_ids: ['invoices'] })
  assert.equal(await outcome(world, basic('shop')), BAD)
  await world.putClient({ org_id: 'elsewhere' })
  assert.equal(await outcome(world, basic('shop')), BAD)
  await world.putClient({ api_ids: [], registered_by_policy: 'plan' })
  assert.equal(await outcome(world, basic('shop')), 'ok')
})

test('a changed or deleted client is so for the next call', async (t) => {
  const world = await openWorld(t, memory!)
  assert.equal(await outcome(world, basic('shop')), BAD)
  await world.putClient()
  assert.equal(await outcome(world, basic('shop')), 'ok')
  await world.putClient({ secrets: [{ sealed: sealedFor(world.parts.sealKey, 'shop', 'next'), until: 0 }] })
  assert.equal(await outcome(world, basic('shop')), BAD)
  assert.equal(await outcome(world, basic('shop', 'next')), 'ok')
  await world.deleteClient('shop')
  assert.equal(await outcome(world, basic('shop', 'next')), BAD)
})

test('a certificate proves the client that is registered with it', async (t) => {
  const world = await openWorld(t, memory!)
  const peer = 'ab'.repeat(32)
  await world.putClient({ auth_method: 'tls_client_auth', certificate: peer })
  const ask = async (peerCertificate: string) => {
    const form = { grant_type: 'client_credentials', client_id: 'shop' }
    return (await world.ask('token', { form, peerCertificate })).status
  }
  assert.equal(await ask(peer), 200)
  assert.equal(await ask('cd'.repeat(32)), 401)
  assert.equal(await ask(''), 401)
  assert.equal(await outcome(world, basic('shop')), BAD)
})

test('private_key_jwt: signed by the client, used once, never beside a secret', async (t) => {
  const world = await openWorld(t, memory!)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' }) as JsonObject
  await world.putClient({ auth_method: 'private_key_jwt', jwks: { keys: [jwk] } })
  await world.putClient({ client_id: 'secretive' })
  const nowS = world.clock.wallMs / 1000
  const assertion = (jti: string, sub = 'shop') =>
    signJwt({ alg: 'ES256' }, { iss: sub, sub, aud: ISSUER, exp: nowS + 60, iat: nowS, jti }, privateKey)
  const sent = (text: string) => ({ client_assertion: text, client_assertion_type: JWT_BEARER })
  assert.equal(await outcome(world, {}, { client_id: 'shop', ...sent(assertion('1')) }), 'ok')
  assert.equal(await outcome(world, {}, sent(assertion('2'))), 'ok')
  assert.equal(await outcome(world, {}, sent(assertion('2'))), BAD)
  assert.equal(await outcome(world, {}, { client_id: 'secretive', ...sent(assertion('3')) }), BAD)
  assert.equal(await outcome(world, {}, sent(assertion('4', 'secretive'))), BAD)
  assert.equal(await outcome(world, {}, sent(assertion('5', 'nobody'))), BAD)
  assert.equal(await outcome(world, {}, sent('not.a.jwt')), BAD)
  const both = '400 invalid_request'
  assert.equal(await outcome(world, basic('shop'), sent(assertion('6'))), both)
  assert.equal(await outcome(world, {}, { client_secret: SECRET, ...sent(assertion('7')) }), both)
  assert.equal(await outcome(world, {}, { client_id: 'shop', client_assertion: assertion('8') }), both)
  assert.equal(await outcome(world, {}, { client_id: 'shop', client_assertion_type: JWT_BEARER }), both)
})
