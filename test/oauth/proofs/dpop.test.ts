import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, hash, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign, calculateJwkThumbprint, type JWK, SignJWT } from 'jose'
import { Fault } from '../../../src/errors/fault.ts'
import { checkTokenProof, readBinding } from '../../../src/oauth/proofs/dpop.ts'
import { ISSUER, makeCall, makeWorld, otherNode, type ProofWorld, TOKEN_URL } from '../../worlds/oauth/proof-world.ts'

type Keys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
const holder = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const thief = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' }) as JWK
const jkt = await calculateJwkThumbprint(jwkOf(holder.publicKey))

const TOKEN = 'an.access-token'
const ath = hash('sha256', TOKEN, 'base64url')
const RESOURCE_URL = 'https://api.example.com/orders/a%20b/1'

interface Proof {
  readonly keys?: Keys
  readonly header?: Record<string, unknown>
  readonly claims?: Record<string, unknown>
}

/** A proof made by jose: for the token endpoint unless the claims say otherwise. Members that are undefined are left out. */
function prove(world: ProofWorld, { keys = holder, header = {}, claims = {} }: Proof = {}): Promise<string> {
  const iat = Math.floor(world.clock.wall() / 1000)
  const all = { jti: crypto.randomUUID(), htm: 'POST', htu: TOKEN_URL, iat, ...claims }
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(kept)
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: jwkOf(keys.publicKey), ...header })
    .sign(keys.privateKey)
}

const bind = (world: ProofWorld, ...proofs: string[]) =>
  readBinding(world, makeCall({ proofs }), { dpop: 'allowed', mutualTls: 'off' })

function use(
  world: ProofWorld,
  proofs: readonly string[],
  given: { token?: string; jkt?: string; method?: string; url?: string } = {},
) {
  return checkTokenProof(world, { proofs, method: 'GET', url: RESOURCE_URL, token: TOKEN, jkt, ...given })
}

const forResource = { htm: 'GET', htu: RESOURCE_URL, ath }
const refusedFor = (flaw: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === 'oauth_invalid_proof' && flaw.test(error.message)

test('a proof binds to the thumbprint of its key', async (t) => {
  const world = makeWorld(t.after.bind(t))
  assert.deepEqual(await bind(world, await prove(world)), { jkt, x5t: '' })
})

for (const [alg, keys] of [
  ['RS256', rsa],
  ['PS256', rsa],
] as const) {
  test(`a proof with ${alg}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    const proof = await prove(world, { keys, header: { alg } })
    assert.equal((await bind(world, proof)).jkt, await calculateJwkThumbprint(jwkOf(rsa.publicKey)))
  })
}

test('a proof with the token is taken at a protected API', async (t) => {
  const world = makeWorld(t.after.bind(t))
  assert.equal(await use(world, [await prove(world, { claims: forResource })]), undefined)
})

test('off: a proof is ignored; required: one must come', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const off = await readBinding(world, makeCall({ proofs: ['nonsense'] }), { dpop: 'off', mutualTls: 'off' })
  assert.deepEqual(off, { jkt: '', x5t: '' })
  const required = readBinding(world, makeCall(), { dpop: 'required', mutualTls: 'off' })
  await assert.rejects(required, refusedFor(/required/))
  assert.deepEqual(await readBinding(world, makeCall(), { dpop: 'allowed', mutualTls: 'off' }), { jkt: '', x5t: '' })
})

test('a token that is bound to a key is refused without a proof', async (t) => {
  const world = makeWorld(t.after.bind(t))
  assert.equal((await use(world, []))?.code, 'token_proof_missing')
})

test('a proof of another key is refused, and is not used up by it', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const proof = await prove(world, { keys: thief, claims: forResource })
  assert.equal((await use(world, [proof]))?.code, 'token_proof_missing')
  assert.equal(await use(world, [proof], { jkt: await calculateJwkThumbprint(jwkOf(thief.publicKey)) }), undefined)
})

/** Each is wrong at the token endpoint, and with the claims of the resource at a protected API. */
const FLAWS: Record<string, [proof: Proof | ((now: number) => Proof), flaw: RegExp]> = {
  'another htm': [{ claims: { htm: 'PUT' } }, /htm/],
  'htm in lower case': [{ claims: { htm: 'post' } }, /htm/],
  'no htm': [{ claims: { htm: undefined } }, /htm/],
  'no htu': [{ claims: { htu: undefined } }, /htu/],
  'htu in a list': [{ claims: { htu: [TOKEN_URL, RESOURCE_URL] } }, /htu/],
  'another host': [{ claims: { htu: TOKEN_URL.replace('api.', 'evil.') } }, /htu/],
  'another scheme': [{ claims: { htu: TOKEN_URL.replace('https', 'http') } }, /htu/],
  'another port': [{ claims: { htu: TOKEN_URL.replace('.com', '.com:8443') } }, /htu/],
  'another path': [{ claims: { htu: `${ISSUER}/oauth/revoke` } }, /htu/],
  'a path in capitals': [{ claims: { htu: TOKEN_URL.replace('orders', 'ORDERS') } }, /htu/],
  'a user in the address': [{ claims: { htu: TOKEN_URL.replace('//', '//u:p@') } }, /htu/],
  'backslashes in the address': [{ claims: { htu: TOKEN_URL.replaceAll('/', '\\') } }, /htu/],
  'a blank before the address': [{ claims: { htu: ` ${TOKEN_URL}` } }, /htu/],
  'a line feed in the address': [{ claims: { htu: TOKEN_URL.replace('/oauth', '\n/oauth') } }, /htu/],
  'a relative address': [{ claims: { htu: '/orders/oauth/token' } }, /htu/],
  'no jti': [{ claims: { jti: undefined } }, /jti/],
  'an empty jti': [{ claims: { jti: '' } }, /jti/],
  'a number as jti': [{ claims: { jti: 1 } }, /jti/],
  'a jti of 257 characters': [{ claims: { jti: 'x'.repeat(257) } }, /jti/],
  'no iat': [{ claims: { iat: undefined } }, /iat/],
  'iat as text': [{ claims: { iat: '1' } }, /iat/],
  'an iat 61 s ago': [(now) => ({ claims: { iat: now / 1000 - 61 } }), /too old/],
  'an iat in 61 s': [(now) => ({ claims: { iat: now / 1000 + 61 } }), /future/],
  'iat in milliseconds': [(now) => ({ claims: { iat: now } }), /future/],
  'an exp that has passed': [(now) => ({ claims: { exp: now / 1000 - 61 } }), /exp or nbf/],
  'exp as text': [{ claims: { exp: '9999999999' } }, /exp or nbf/],
  'exp null': [{ claims: { exp: null } }, /exp or nbf/],
  'an nbf in 61 s': [(now) => ({ claims: { nbf: now / 1000 + 61 } }), /exp or nbf/],
  'nbf as text': [{ claims: { nbf: '1' } }, /exp or nbf/],
  'b64 false without crit': [{ header: { b64: false } }, /b64/],
  'b64 as text': [{ header: { b64: 'false' } }, /b64/],
  'typ JWT': [{ header: { typ: 'JWT' } }, /typ/],
  'no typ': [{ header: { typ: undefined } }, /typ/],
  'no jwk': [{ header: { jwk: undefined } }, /jwk/],
  'a private jwk': [{ header: { jwk: jwkOf(holder.privateKey) } }, /jwk/],
  'a jwk that is no object': [{ header: { jwk: 'x' } }, /jwk/],
  'a symmetric jwk': [{ header: { jwk: { kty: 'oct', k: 'AAAA' } } }, /jwk/],
  'a jwk that did not sign': [{ header: { jwk: jwkOf(thief.publicKey) } }, /signature/],
  'a jwk of another type': [{ header: { jwk: jwkOf(rsa.publicKey) } }, /signature/],
  'an alg for another type of key': [
    { keys: rsa, header: { alg: 'PS256', jwk: jwkOf(holder.publicKey) } },
    /signature/,
  ],
}

for (const [what, [given, flaw]] of Object.entries(FLAWS)) {
  test(`refused: ${what}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    const proof = typeof given === 'function' ? given(world.clock.wall()) : given
    await assert.rejects(bind(world, await prove(world, proof)), refusedFor(flaw))
    const refused = await use(world, [await prove(world, { ...proof, claims: { ...forResource, ...proof.claims } })])
    assert.equal(refused?.code, 'token_proof_invalid')
    assert.match(refused.message, flaw)
  })
}

test('an iat 60 s before or after now is in time', async (t) => {
  const world = makeWorld(t.after.bind(t))
  for (const seconds of [-60, 60]) {
    const iat = world.clock.wall() / 1000 + seconds
    assert.equal((await bind(world, await prove(world, { claims: { iat } }))).jkt, jkt)
  }
})

for (const [what, value] of Object.entries({
  none: undefined,
  'of another token': hash('sha256', 'x', 'base64url'),
  raw: TOKEN,
  number: 1,
})) {
  test(`refused at a protected API: ath ${what}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    const refused = await use(world, [await prove(world, { claims: { ...forResource, ath: value } })])
    assert.equal(refused?.code, 'token_proof_invalid')
    assert.match(refused.message, /ath/)
  })
}

test('alg none and HS256 with the public key are refused', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const [, claims] = (await prove(world)).split('.')
  const header = (alg: string) =>
    Buffer.from(JSON.stringify({ alg, typ: 'dpop+jwt', jwk: jwkOf(holder.publicKey) })).toString('base64url')
  const secret = holder.publicKey.export({ type: 'spki', format: 'pem' })
  const signed = `${header('HS256')}.${claims}`
  const mac = createHmac('sha256', secret).update(signed).digest('base64url')
  for (const proof of [`${header('none')}.${claims}.`, `${header('none')}.${claims}.AA`, `${signed}.${mac}`])
    await assert.rejects(bind(world, proof), (error) => error instanceof Fault && error.code === 'oauth_invalid_proof')
  await assert.rejects(bind(world, `${signed}.${mac}`), refusedFor(/alg/))
})

test('an endless iat, or claims with a member twice, are refused though they are signed', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const rest = `"jti":"1","htm":"POST","htu":"${TOKEN_URL}"`
  const iat = Math.floor(world.clock.wall() / 1000)
  const sign = (claims: string) =>
    new CompactSign(Buffer.from(claims))
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: jwkOf(holder.publicKey) })
      .sign(holder.privateKey)
  await assert.rejects(bind(world, await sign(`{${rest},"iat":1e999}`)), refusedFor(/future/))
  await assert.rejects(bind(world, await sign(`{${rest},"iat":${iat},"jti":"2"}`)), refusedFor(/claims/))
  assert.equal((await bind(world, await sign(`{${rest},"iat":${iat}}`))).jkt, jkt)
})

test('there must be one field with one proof', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const [one, two] = [await prove(world), await prove(world)]
  await assert.rejects(bind(world, one, two), refusedFor(/one DPoP field/))
  await assert.rejects(bind(world, `${one}, ${two}`), refusedFor(/three parts/))
  await assert.rejects(bind(world, ''), refusedFor(/three parts/))
  assert.equal((await bind(world, one)).jkt, jkt)
})

const SAME_ADDRESS = [
  'https://api.example.com/orders/a%20b/1?page=2#top',
  'HTTPS://API.example.COM/orders/a%20b/1',
  'https://api.example.com:443/orders/a%20b/1',
  'https://api.example.com/x/../orders/./a%20b/1',
  'https://api.example.com/%6frders/a%20b/1',
]
for (const htu of SAME_ADDRESS) {
  test(`the same address: ${htu}`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    const proof = await prove(world, { claims: { ...forResource, htu } })
    assert.equal(await use(world, [proof], { url: `${RESOURCE_URL}?q=1` }), undefined)
  })
}

test('%2f is no slash: its digits may be in either case, but it must be there', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const tryIt = async (htu: string) =>
    use(world, [await prove(world, { claims: { ...forResource, htu } })], { url: 'https://api.example.com/a%2fb' })
  assert.equal(await tryIt('https://api.example.com/a%2Fb'), undefined)
  assert.equal((await tryIt('https://api.example.com/a/b'))?.code, 'token_proof_invalid')
})

test('the token endpoint may be called with a slash at its end', async (t) => {
  const world = makeWorld(t.after.bind(t))
  assert.equal((await bind(world, await prove(world, { claims: { htu: `${TOKEN_URL}/` } }))).jkt, jkt)
})

test('a proof works once on any connection and node, however late', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const now = world.clock.wall() / 1000
  const proof = await prove(world, { claims: { ...forResource, htu: TOKEN_URL, htm: 'POST', iat: now + 60 } })
  await bind(world, proof)
  const atApi = () => use(world, [proof], { method: 'POST', url: TOKEN_URL })
  for (const seconds of [0, 59, 61, 0]) {
    world.clock.advance(seconds * 1000)
    await assert.rejects(bind(world, proof), refusedFor(/before|old/))
    await assert.rejects(bind(otherNode(world), proof), refusedFor(/before|old/))
    assert.equal((await atApi())?.code, 'token_proof_invalid')
  }
})

test('of 100 that bring the same proof at once, one is let in', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const nodes = [world, otherNode(world)]
  const proof = await prove(world, { claims: forResource })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => use(nodes[i % 2]!, [proof])))
  assert.equal(answers.filter((answer) => answer === undefined).length, 1)
})

test('the same jti of two holders are two', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const claims = { jti: 'same' }
  await bind(world, await prove(world, { claims }))
  await bind(world, await prove(world, { keys: thief, claims }))
  await assert.rejects(bind(world, await prove(world, { claims })), refusedFor(/before/))
})

test('a proof that is refused for its contents is not used up', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const proof = await prove(world, { claims: forResource })
  assert.equal((await use(world, [proof], { method: 'POST' }))?.code, 'token_proof_invalid')
  assert.equal(await use(world, [proof]), undefined)
})

test('with the store away a proof is refused', async (t) => {
  const closers: (() => Promise<void>)[] = []
  const world = makeWorld((done) => closers.push(done))
  t.after(() => Promise.all(closers.map((done) => done())))
  for (const done of closers) await done()
  assert.equal((await use(world, [await prove(world, { claims: forResource })]))?.code, 'store_away')
  await assert.rejects(
    bind(world, await prove(world)),
    (error) => error instanceof Fault && error.code === 'store_away',
  )
})
