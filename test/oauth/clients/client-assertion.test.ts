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

/** Keys for further algorithms, as other libraries use them. */
const OTHERS: Readonly<Record<string, Keys>> = {
  RS512: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS384: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
}

const KEYS = [
  jwkOf(first.publicKey, { kid: 'first', use: 'sig', alg: 'ES256', key_ops: ['verify'] }),
  jwkOf(second.publicKey, { kid: 'second' }),
  jwkOf(rsa.publicKey, { kid: 'rsa' }),
  ...Object.entries(OTHERS).map(([alg, { publicKey }]) => jwkOf(publicKey, { kid: alg, alg })),
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
  error instanceof Fault && error.code === 'oauth_assertion_refused' && flaw.test(error.message)

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
  'an hour to live': (now) => ({ claims: { exp: now + 3600 } }),
  'no kid where several keys fit': { keys: second, header: { kid: undefined } },
  'no jti': { claims: { jti: undefined } },
  'aud with a slash more': { claims: { aud: `${ISSUER}/` } },
  'aud also of another server': { claims: { aud: ['https://other.example.com', ISSUER] } },
  ...Object.fromEntries(
    Object.entries(OTHERS).map(([alg, keys]) => [alg, { keys, header: { alg, kid: alg } } satisfies Assertion]),
  ),
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
  'aud with two slashes more': [{ claims: { aud: `${ISSUER}//` } }, /aud/],
  'aud an endpoint that is not called': [{ claims: { aud: `${ISSUER}/oauth/revoke` } }, /aud/],
  'no exp': [{ claims: { exp: undefined } }, /exp/],
  'exp as text': [{ claims: { exp: '9999999999' } }, /exp/],
  expired: [(now) => ({ claims: { exp: now - 60 } }), /expired/],
  'a year to live': [(now) => ({ claims: { exp: now + 31_536_000 } }), /longer than 3600 s/],
  'iat in the future': [(now) => ({ claims: { iat: now + 61 } }), /future/],
  'iat as text': [{ claims: { iat: 'now' } }, /future/],
  'nbf in the future': [(now) => ({ claims: { nbf: now + 61 } }), /future/],
  'a jti that is no text': [{ claims: { jti: 7 } }, /jti/],
  'an empty jti': [{ claims: { jti: '' } }, /jti/],
  'a jti of 257 characters': [{ claims: { jti: 'x'.repeat(257) } }, /jti/],
  'an unknown kid': [{ header: { kid: 'third' } }, /no key/],
  'a kid that is no text': [{ header: { kid: null } }, /no key/],
  'no kid, and a key that is not the client’s': [{ keys: stranger, header: { kid: undefined } }, /signature/],
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

test('without jti an assertion is taken once, also with the other signature that ECDSA gives', async (t) => {
  const world = makeWorld(t.after.bind(t))
  for (const [alg, keys] of [
    ['ES256', first],
    ['RS256', rsa],
  ] as const) {
    const header = { alg, kid: keys === first ? 'first' : 'rsa' }
    const text = await assertionOf(world, { keys, header, claims: { jti: undefined } })
    await verifyAssertion(world, makeCall(), client, text)
    await assert.rejects(verifyAssertion(otherNode(world), makeCall(), client, text), refusedFor(/before/))
    if (alg === 'ES256')
      await assert.rejects(verifyAssertion(world, makeCall(), client, withOtherSignature(text)), refusedFor(/before/))
  }
  // Two of the same second are two.
  const again = () =>
    assertionOf(world, { claims: { jti: undefined, exp: Math.floor(world.clock.wall() / 1000) + 60 } })
  for (const text of await Promise.all([again(), again()])) await verifyAssertion(world, makeCall(), client, text)
})

/** The same assertion with n - s for s. */
function withOtherSignature(text: string): string {
  const [head, body, signature] = text.split('.')
  const bytes = Buffer.from(signature!, 'base64url')
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const s = order - BigInt(`0x${bytes.toString('hex', 32)}`)
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
  return `${head}.${body}.${other.toString('base64url')}`
}

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
