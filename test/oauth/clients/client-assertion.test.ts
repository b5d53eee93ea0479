import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { type JWK, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import { Fault } from '../../../src/errors/fault.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { verifyAssertion } from '../../../src/oauth/clients/client-assertion.ts'
import { ISSUER, makeCall, makeWorld, otherNode, type ProofWorld, TOKEN_URL } from '../../worlds/oauth/proof-world.ts'

type Keys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
const first = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const second = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwkOf = (key: KeyObject, more: JsonObject = {}) =>
  ({ ...(key.export({ format: 'jwk' }) as JWK), ...more }) as JsonObject

const KEYS = [
  jwkOf(first.publicKey, { kid: 'first', use: 'sig', alg: 'ES256', key_ops: ['verify'] }),
  jwkOf(second.publicKey, { kid: 'second' }),
  jwkOf(rsa.publicKey, { kid: 'rsa' }),
]
const clientWith = (keys: unknown, clientId = 'app') =>
  ({ client_id: clientId, jwks: { keys } }) as unknown as OAuthClient
const client = clientWith(KEYS)

interface Assertion {
  readonly keys?: Keys
  readonly header?: Record<string, unknown>
  readonly claims?: Record<string, unknown>
}

/** An assertion made by jose. Members that are undefined are left out. */
function assertionOf(world: ProofWorld, { keys = first, header = {}, claims = {} }: Assertion = {}): Promise<string> {
  const now = Math.floor(world.clock.wall() / 1000)
  const all = { iss: 'app', sub: 'app', aud: ISSUER, jti: crypto.randomUUID(), iat: now, exp: now + 60, ...claims }
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(kept).setProtectedHeader({ alg: 'ES256', kid: 'first', ...header }).sign(keys.privateKey)
}

const refusedFor = (flaw: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === 'oauth_invalid_client' && flaw.test(error.message)

type Given = Assertion | ((nowS: number) => Assertion)
const given = (world: ProofWorld, assertion: Given) =>
  assertionOf(world, typeof assertion === 'function' ? assertion(world.clock.wall() / 1000) : assertion)

const TAKEN: Record<string, Given> = {
  'as it is': {},
  'typ JWT': { header: { typ: 'JWT' } },
  'typ client-authentication+jwt': { header: { typ: 'client-authentication+jwt' } },
  'another kid': { keys: second, header: { kid: 'second' } },
  RS256: { keys: rsa, header: { alg: 'RS256', kid: 'rsa' } },
  'PS256, the only RSA key not named': { keys: rsa, header: { alg: 'PS256', kid: undefined } },
  'aud the token endpoint': { claims: { aud: TOKEN_URL } },
  'aud the endpoint that is called': { claims: { aud: `${ISSUER}/oauth/par` } },
  'aud both': { claims: { aud: [ISSUER, TOKEN_URL] } },
  'no iat': { claims: { iat: undefined } },
  'nbf now': (now) => ({ claims: { nbf: now } }),
  'expired 59 s ago': (now) => ({ claims: { exp: now - 59 } }),
  'ten minutes to live': (now) => ({ claims: { exp: now + 600 } }),
}

for (const [what, assertion] of Object.entries(TAKEN)) {
  test(`taken: ${what}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    const call = makeCall({ endpoint: 'par' })
    await verifyAssertion(world, call, client, await given(world, assertion))
  })
}

const REFUSED: Record<string, [assertion: Given, flaw: RegExp]> = {
  'another iss': [{ claims: { iss: 'other' } }, /iss and sub/],
  'no iss': [{ claims: { iss: undefined } }, /iss and sub/],
  'another sub': [{ claims: { sub: 'other' } }, /iss and sub/],
  'no sub': [{ claims: { sub: undefined } }, /iss and sub/],
  'sub in a list': [{ claims: { sub: ['app'] } }, /iss and sub/],
  'no aud': [{ claims: { aud: undefined } }, /aud/],
  'an empty aud': [{ claims: { aud: [] } }, /aud/],
  'aud of another server': [{ claims: { aud: 'https://api.example.com/other' } }, /aud/],
  'aud also of another server': [{ claims: { aud: [ISSUER, 'https://evil.example.com'] } }, /aud/],
  'aud with a slash more': [{ claims: { aud: `${ISSUER}/` } }, /aud/],
  'aud an endpoint that is not called': [{ claims: { aud: `${ISSUER}/oauth/revoke` } }, /aud/],
  'no exp': [{ claims: { exp: undefined } }, /exp/],
  'exp as text': [{ claims: { exp: '9999999999' } }, /exp/],
  expired: [(now) => ({ claims: { exp: now - 60 } }), /expired/],
  'a year to live': [(now) => ({ claims: { exp: now + 31_536_000 } }), /too long/],
  'iat in the future': [(now) => ({ claims: { iat: now + 61 } }), /future/],
  'iat as text': [{ claims: { iat: 'now' } }, /future/],
  'nbf in the future': [(now) => ({ claims: { nbf: now + 61 } }), /future/],
  'no jti': [{ claims: { jti: undefined } }, /jti/],
  'an empty jti': [{ claims: { jti: '' } }, /jti/],
  'a jti of 257 characters': [{ claims: { jti: 'x'.repeat(257) } }, /jti/],
  'an unknown kid': [{ header: { kid: 'third' } }, /no key/],
  'a kid that is no text': [{ header: { kid: null } }, /no key/],
  'no kid where several keys fit': [{ header: { kid: undefined } }, /name one/],
  'the kid of another key': [{ header: { kid: 'second' } }, /signature/],
  'a key that is not the client’s': [{ keys: stranger }, /signature/],
  'a key in the header': [{ keys: stranger, header: { jwk: jwkOf(stranger.publicKey) } }, /signature/],
  'an alg that the key is not for': [{ keys: rsa, header: { alg: 'RS256', kid: 'first' } }, /no key/],
  'typ of a proof': [{ header: { typ: 'dpop+jwt' } }, /typ/],
  'typ of an access token': [{ header: { typ: 'at+jwt' } }, /typ/],
}

for (const [what, [assertion, flaw]] of Object.entries(REFUSED)) {
  test(`refused: ${what}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    await assert.rejects(verifyAssertion(world, makeCall(), client, await given(world, assertion)), refusedFor(flaw))
  })
}

const NO_KEYS: Record<string, OAuthClient> = {
  'no key set': { client_id: 'app' } as OAuthClient,
  'an empty set': clientWith([]),
  'a set that is no list': clientWith({ first: KEYS[0] }),
  'entries that are no keys': clientWith([null, 'x', {}]),
  'a private key': clientWith([jwkOf(first.privateKey, { kid: 'first' })]),
  'a key to encrypt with': clientWith([{ ...KEYS[0], use: 'enc' }]),
  'a key to sign with, as its key_ops say': clientWith([{ ...KEYS[0], key_ops: ['sign'] }]),
  'a key for another alg': clientWith([{ ...KEYS[0], alg: 'ES384' }]),
}

for (const [what, without] of Object.entries(NO_KEYS)) {
  test(`refused: a client with ${what}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    await assert.rejects(verifyAssertion(world, makeCall(), without, await assertionOf(world)), refusedFor(/no key/))
  })
}

test('alg none and HS256 with the public key are refused', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const [, claims] = (await assertionOf(world)).split('.')
  const header = (alg: string) => Buffer.from(JSON.stringify({ alg, kid: 'first' })).toString('base64url')
  const signed = `${header('HS256')}.${claims}`
  const secret = first.publicKey.export({ type: 'spki', format: 'pem' })
  const mac = createHmac('sha256', secret).update(signed).digest('base64url')
  for (const text of [`${header('none')}.${claims}.AA`, `${signed}.${mac}`])
    await assert.rejects(verifyAssertion(world, makeCall(), client, text), refusedFor(/alg/))
})

test('an assertion is taken once, on any node, until it has ended', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const text = await assertionOf(world)
  await verifyAssertion(world, makeCall(), client, text)
  for (const seconds of [0, 60, 59]) {
    world.clock.advance(seconds * 1000)
    for (const node of [world, otherNode(world)])
      await assert.rejects(verifyAssertion(node, makeCall(), client, text), refusedFor(/before/))
  }
  world.clock.advance(1000)
  await assert.rejects(verifyAssertion(world, makeCall(), client, text), refusedFor(/expired/))
})

test('of 100 uses at once one is let in', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const text = await assertionOf(world)
  const tries = Array.from({ length: 100 }, () => verifyAssertion(world, makeCall(), client, text))
  const results = await Promise.allSettled(tries)
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('the same jti of two clients are two', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const claims = { jti: 'same' }
  await verifyAssertion(world, makeCall(), client, await assertionOf(world, { claims }))
  const theirs = await assertionOf(world, { claims: { ...claims, iss: 'app2', sub: 'app2' } })
  await verifyAssertion(world, makeCall(), clientWith(KEYS, 'app2'), theirs)
})

test('the assertion of an independent client is taken', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const key = await crypto.subtle.importKey(
    'jwk',
    first.privateKey.export({ format: 'jwk' }),
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['sign'],
  )
  let sent: URLSearchParams | undefined
  const server = { issuer: ISSUER, token_endpoint: TOKEN_URL }
  const proof = oauth.PrivateKeyJwt({ key, kid: 'first' })
  await oauth.clientCredentialsGrantRequest(
    server,
    { client_id: 'app' },
    proof,
    {},
    {
      [oauth.customFetch]: async (_url, { body }) => {
        sent = body as URLSearchParams
        return new Response('{}')
      },
    },
  )
  await verifyAssertion(world, makeCall(), client, sent!.get('client_assertion')!)
})
