import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { sendGatewayCommand } from '../../../src/publish/nodes/gateway-commands.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  claims,
  compact,
  es,
  type JwtWorld,
  jwtWorld,
  keyedApi,
  type Signer,
  signer,
} from '../../worlds/gateway/jwt-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const [a, b, c] = [signer('ES256', 'a'), signer('ES256', 'b'), signer('ES256', 'c')]
const FRESH_MS = 60_000
const AGAIN_MS = 10_000

interface Issuer extends Origin {
  /** The response at its URL; a text is sent unchanged. */
  keys: JsonObject | string
  status: number
}

async function issuer(t: TestContext): Promise<Issuer> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const made: Issuer = Object.assign(origin, { keys: set(a), status: 200 })
  origin.script = (_request, response) => {
    response.writeHead(made.status, { 'content-type': 'application/json' })
    response.end(typeof made.keys === 'string' ? made.keys : JSON.stringify(made.keys))
  }
  return made
}

const set = (...signers: readonly Signer[]): JsonObject => ({ keys: signers.map(({ jwk }) => jwk) })
let number = 0
/** A token that nobody has seen before. */
const fresh = (by: Signer, kid: unknown = by.jwk.kid, alg = 'ES256') =>
  `Bearer ${compact({ alg, ...(kid === undefined ? {} : { kid }) }, claims({ jti: String(++number), exp: 1_800_000_000 }), es(by.privateKey))}`

async function world(t: TestContext, from: Issuer, more: JsonObject = {}): Promise<JwtWorld> {
  const uris = [{ url: `${from.url}/jwks`, cache_timeout: FRESH_MS / 1000 }]
  return jwtWorld(t, (origin) => keyedApi(origin, '', '', { jwt_jwks_uris: uris, ...more }))
}

test('the set is read once, with the first token, and then not again before its time', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  assert.equal(from.seen.length, 0)
  assert.deepEqual(
    await Promise.all(Array.from({ length: 8 }, async () => (await get(fresh(a))).status)),
    Array(8).fill(200),
  )
  assert.equal(from.seen.length, 1)
  gate.clock.advance(FRESH_MS - 1)
  assert.equal((await get(fresh(a))).status, 200)
  assert.equal(from.seen.length, 1)
  gate.clock.advance(1)
  // Nobody waits for the second reading.
  assert.equal((await get(fresh(a))).status, 200)
  await eventually('the set is read again', () => from.seen.length === 2)
})

test('a set is read again after its time, and every ten seconds while that fails', async (t) => {
  const from = await issuer(t)
  const uris = [{ url: `${from.url}/jwks`, cache_timeout: 2 }]
  const { get, gate } = await jwtWorld(t, (origin) => keyedApi(origin, '', '', { jwt_jwks_uris: uris }))
  assert.equal((await get(fresh(a))).status, 200)
  for (let turn = 0; turn < 3; turn++) {
    const [is, was] = turn % 2 === 0 ? [b, a] : [a, b]
    from.keys = set(is)
    gate.clock.advance(2000)
    assert.equal((await get(fresh(was))).status, 200)
    await eventually('the new set is known', async () => (await get(fresh(was))).status === 401)
    assert.equal(from.seen.length, turn + 2)
  }
  from.status = 500
  const before = from.seen.length
  for (let second = 0; second < 20; second++) {
    gate.clock.advance(1000)
    await get(fresh(b))
  }
  await eventually('it was asked', () => from.seen.length > before)
  assert.ok(from.seen.length - before <= 3, String(from.seen.length - before))
})

test('nobody waits for a set that is read again while its keys are known', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  assert.equal((await get(fresh(a))).status, 200)
  const waiting: (() => void)[] = []
  from.script = (_request, response) => waiting.push(() => response.end(JSON.stringify(set(b))))
  gate.clock.advance(FRESH_MS)
  assert.equal((await get(fresh(a))).status, 200)
  await eventually('the set is asked for', () => waiting.length === 1)
  assert.equal((await get(fresh(a))).status, 200)
  waiting[0]!()
  await eventually('the new set is known', async () => (await get(fresh(a))).status === 401)
  assert.equal((await get(fresh(b))).status, 200)
})

test('the address may stand in the single source, in base64 too', async (t) => {
  for (const write of [(url: string) => url, (url: string) => Buffer.from(url).toString('base64')]) {
    const from = await issuer(t)
    const { get } = await jwtWorld(t, (origin) => keyedApi(origin, write(`${from.url}/jwks`), 'ecdsa'))
    assert.equal((await get(fresh(a))).status, 200)
    assert.equal(from.seen.at(-1)!.target, '/jwks')
  }
})

test('an unknown key rereads the set, once for all and at most every ten seconds', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  assert.equal((await get(fresh(a))).status, 200)
  from.keys = set(a, b)
  assert.equal((await get(fresh(b))).status, 401)
  assert.equal(from.seen.length, 1)
  gate.clock.advance(AGAIN_MS)
  const rotated = await Promise.all(Array.from({ length: 5 }, async () => (await get(fresh(b))).status))
  assert.deepEqual(rotated, Array(5).fill(200))
  assert.equal(from.seen.length, 2)
  for (let i = 0; i < 20; i++) assert.equal((await get(fresh(c, `made-up-${i}`))).status, 401)
  assert.equal(from.seen.length, 2)
  gate.clock.advance(AGAIN_MS)
  assert.equal((await get(fresh(c, 'made-up'))).status, 401)
  assert.equal(from.seen.length, 3)
  // A known key with another algorithm is no reason to ask.
  gate.clock.advance(AGAIN_MS)
  assert.equal((await get(fresh(a, 'a', 'ES384'))).status, 401)
  assert.equal(from.seen.length, 3)
  // As a dashboard says it, or a gateway elsewhere.
  await sendGatewayCommand({ documents: gate.store.documents }, { order: 'key_sets', subject: '' })
  await eventually('it has forgotten', async () => (await get(fresh(b))).status === 200 && from.seen.length === 4)
})

test('a revoked key accepts no token, not even one that was accepted before', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  const known = fresh(a)
  assert.equal((await get(known)).status, 200)
  from.keys = set(b)
  gate.clock.advance(FRESH_MS)
  await get(known)
  await eventually('the set is read again', () => from.seen.length === 2)
  await eventually('the new key is known', async () => (await get(fresh(b))).status === 200)
  assert.equal((await get(fresh(a))).status, 401)
  gate.clock.advance(FRESH_MS)
  assert.equal((await get(known)).status, 401)
})

test('an administrator can have all keys forgotten', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  const known = fresh(a)
  assert.equal((await get(known)).status, 200)
  from.keys = set(b)
  assert.equal((await get(known)).status, 200)
  for (const path of ['/svc/cache/jwks', '/svc/cache/jwks/j']) {
    assert.equal((await gate.svc('DELETE', path)).status, 200)
    assert.equal((await get(known)).status, 401)
    assert.equal((await get(fresh(b))).status, 200)
  }
  assert.equal(from.seen.length, 3)
})

test('while the address fails, known keys stay good for an hour; without any the answer is 503', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  from.status = 500
  const away = await get(fresh(a))
  assert.equal(away.status, 503)
  assert.deepEqual(away.json, { error: 'Try again later' })
  assert.equal(from.seen.length, 1)
  assert.equal((await get(fresh(a))).status, 503)
  assert.equal(from.seen.length, 1)
  from.status = 200
  gate.clock.advance(AGAIN_MS)
  assert.equal((await get(fresh(a))).status, 200)
  from.keys = 'no JSON'
  gate.clock.advance(FRESH_MS + 3_599_999)
  assert.equal((await get(fresh(a))).status, 200)
  gate.clock.advance(AGAIN_MS)
  assert.equal((await get(fresh(a))).status, 503)
})

test('malformed key sets are refused; keys that are secret, weak, or for other uses are skipped', async (t) => {
  const from = await issuer(t)
  const { get, gate } = await world(t, from)
  const { jwk } = a
  const { d } = a.privateKey.export({ format: 'jwk' })
  const bad: [string, JsonObject | string, number][] = [
    ['a list', '[]', 503],
    ['no keys', {}, 503],
    ['keys that are an object', { keys: { a: jwk } }, 503],
    ['keys twice', `{"keys":[],"keys":[${JSON.stringify(jwk)}]}`, 503],
    ['too many keys', { keys: Array(101).fill(jwk) }, 503],
    ['too large', { keys: [jwk], x: 'x'.repeat(300_000) }, 503],
    ['entries that are no keys', { keys: [null, 'x', 7, [], {}] }, 401],
    ['a private key', { keys: [{ ...jwk, d } as JsonObject] }, 401],
    ['a key for encryption', { keys: [{ ...jwk, use: 'enc' }] }, 401],
    ['a key that signs only', { keys: [{ ...jwk, key_ops: ['sign'] }] }, 401],
    ['a key with another algorithm', { keys: [{ ...jwk, alg: 'ES384' }] }, 401],
    ['a key with algorithm none', { keys: [{ ...jwk, alg: 'none' }] }, 401],
    ['a secret', { keys: [{ kty: 'oct', k: jwk.x!, kid: 'a', alg: 'HS256' }] }, 401],
    ['a point off the curve', { keys: [{ ...jwk, y: jwk.x! }] }, 401],
    ['another curve with the same numbers', { keys: [{ ...jwk, crv: 'secp256k1' }] }, 401],
  ]
  for (const [name, keys, status] of bad) {
    from.keys = keys
    gate.clock.advance(FRESH_MS + 3_600_000 + AGAIN_MS)
    const answer = await get(fresh(a))
    assert.equal(answer.status, status, `${name}: ${answer.text}`)
  }
  from.keys = set(a)
  gate.clock.advance(FRESH_MS + 3_600_000 + AGAIN_MS)
  assert.equal((await get(fresh(a))).status, 200)
})

test('a token without key id may match any key; a shared secret never comes from a set', async (t) => {
  const from = await issuer(t)
  from.keys = set(a, b)
  const { get } = await world(t, from)
  assert.equal((await get(fresh(b, undefined))).status, 200)
  assert.equal((await get(fresh(c, undefined))).status, 401)
  assert.equal((await get(fresh(a, undefined, 'HS256'))).status, 401)
})

/** A key as issuers publish it that name none. */
const nameless = ({ jwk: { kid: _, ...jwk } }: Signer): JsonObject => jwk

test('a set without names serves every token that names a key, and reads nothing again', async (t) => {
  const from = await issuer(t)
  from.keys = { keys: [nameless(a), nameless(b)] }
  const { get, gate } = await world(t, from)
  for (let i = 0; i < 5; i++, gate.clock.advance(AGAIN_MS))
    for (const by of [a, b]) assert.equal((await get(fresh(by, `made-up-${i}`))).status, 200, `${i}`)
  assert.equal(from.seen.length, 1)
  assert.equal((await get(fresh(c))).status, 401)
})

test('of a set with names, keys without one serve what no other is named for; new names are read', async (t) => {
  const from = await issuer(t)
  from.keys = { keys: [a.jwk, nameless(b)] }
  const { get, gate } = await world(t, from)
  for (let i = 0; i < 3; i++) assert.equal((await get(fresh(b))).status, 200, `${i}`)
  assert.equal((await get(fresh(b, 'a'))).status, 401, 'a name that another key has')
  assert.equal((await get(fresh(a, 'b'))).status, 401)
  from.keys = set(a, b, c)
  gate.clock.advance(AGAIN_MS)
  assert.equal((await get(fresh(c))).status, 200)
})

test('addresses inside the network are not read unless the administrator allows it', async (t) => {
  const from = await issuer(t)
  const { startTestGateway } = await import('../../worlds/base/harness.ts')
  const { openMemoryStore } = await import('../../../src/store/memory/open.ts')
  const { FakeClock } = await import('../../../src/model/time/clock.ts')
  const store = openMemoryStore({ clock: new FakeClock() })
  t.after(() => store.close())
  const origin = await startOrigin()
  t.after(() => origin.close())
  const definition = keyedApi(origin, '', '', { jwt_jwks_uris: [{ url: `${from.url}/jwks` }] })
  // Stored while it was allowed.
  const before = await startTestGateway({ store, env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  assert.equal((await before.svc('POST', '/svc/apis', definition)).status, 200)
  await before.close()
  const gate = await startTestGateway({ store })
  t.after(() => gate.close())
  assert.equal((await gate.call('/j/x', { headers: { authorization: fresh(a) } })).status, 503)
  assert.equal(from.seen.length, 0)
  assert.ok(gate.log.some(({ message }) => message === 'cannot read a key set'))
})
