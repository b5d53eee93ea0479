import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint, createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { Fault } from '../../../src/errors/fault.ts'
import { jwks } from '../../../src/oauth/endpoints/metadata.ts'
import { signJwt } from '../../../src/oauth/signing-keys/jwt.ts'
import { ringId, type StoredRing } from '../../../src/oauth/signing-keys/key-ring.ts'
import { publishedKeys, rotateKeys, signingKey } from '../../../src/oauth/signing-keys/keys.ts'
import { makeApi, makeCall, makeWorld, otherNode, type ProofWorld } from '../../worlds/oauth/proof-world.ts'

const AHEAD_MS = 610_000
const DAY_MS = 86_400_000

async function keySet(world: ProofWorld, api = makeApi()): Promise<JSONWebKeySet> {
  const { status, body } = await jwks(world, makeCall({ api, endpoint: 'jwks', method: 'GET' }))
  assert.equal(status, 200)
  return JSON.parse(body)
}

async function storedRing(world: ProofWorld): Promise<StoredRing> {
  const stored = await world.documents.get('oauth_key', ringId('org1', 'ES256'))
  assert.ok(stored)
  return stored.body as unknown as StoredRing
}

const kids = async (world: ProofWorld) => (await keySet(world)).keys.map(({ kid }) => kid)
const kid = async (world: ProofWorld, lifetimeS?: number) => (await signingKey(world, 'org1', 'ES256', lifetimeS)).kid

for (const algorithm of ['ES256', 'RS256'] as const) {
  test(`${algorithm}: the first key is made on demand, published, and verifies its signatures`, async (t) => {
    const world = makeWorld(t.after.bind(t))
    const { kid, key } = await signingKey(world, 'org1', algorithm)
    const { keys } = await keySet(world, makeApi({ signingAlgorithm: algorithm }))
    assert.equal(keys.length, 1)
    assert.equal(keys[0]!.kid, kid)
    assert.equal(await calculateJwkThumbprint(keys[0]!), kid)
    assert.deepEqual([keys[0]!.alg, keys[0]!.use, keys[0]!.d, keys[0]!.p], [algorithm, 'sig', undefined, undefined])
    const token = signJwt({ alg: algorithm, kid, typ: 'at+jwt' }, { sub: 'x' }, key)
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys }))
    assert.equal(payload.sub, 'x')
  })
}

test('the key set of an API that issues JWTs is never empty; that of others shows what there is', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const opaque = makeApi({ accessTokenFormat: 'opaque' })
  assert.deepEqual(await keySet(world, opaque), { keys: [] })
  const [only] = await kids(world)
  assert.equal(only, await kid(world))
  assert.deepEqual(
    (await keySet(world, opaque)).keys.map(({ kid }) => kid),
    [only],
  )
})

test('keys of one organisation and algorithm are not those of another', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const kids = [
    await signingKey(world, 'org1', 'ES256'),
    await signingKey(world, 'org2', 'ES256'),
    await signingKey(world, 'org1', 'RS256'),
  ].map(({ kid }) => kid)
  assert.equal(new Set(kids).size, 3)
  assert.deepEqual(
    (await keySet(world)).keys.map(({ kid }) => kid),
    [kids[0], kids[2]],
  )
})

test('a process that needs the first key many times at once makes it once', async (t) => {
  const world = makeWorld(t.after.bind(t))
  let commits = 0
  const commit: typeof world.documents.commit = (...given) => {
    commits++
    return world.documents.commit(...given)
  }
  const counted = { ...world, documents: { ...world.documents, commit } }
  const made = await Promise.all(Array.from({ length: 20 }, () => kid(counted)))
  assert.equal(new Set(made).size, 1)
  assert.equal(commits, 1)
})

test('of nodes that need the first key at once, one makes it for all', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const nodes = Array.from({ length: 5 }, () => otherNode(world))
  const made = await Promise.all([...nodes, ...nodes].map((node) => kid(node)))
  assert.equal(new Set(made).size, 1)
  for (const node of nodes) assert.deepEqual(await kids(node), [made[0]])
})

test('every node publishes a new key before it signs, and the old one until its tokens end', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const node = otherNode(world)
  const old = await kid(world)
  assert.equal(await kid(node), old)
  const { kid: young, signsFrom } = (await rotateKeys(world, 'org1', 'ES256', 'tester')).result
  assert.equal(signsFrom, world.clock.wall() + AHEAD_MS)
  assert.deepEqual(await kids(world), [old, young])
  world.clock.advance(5_000)
  assert.deepEqual(await kids(node), [old, young])
  assert.deepEqual([await kid(world), await kid(node)], [old, old])
  world.clock.advance(AHEAD_MS - 5_001)
  assert.deepEqual([await kid(world), await kid(node)], [old, old])
  world.clock.advance(1)
  assert.deepEqual([await kid(world), await kid(node)], [young, young])
  world.clock.advance(DAY_MS + 59_999)
  assert.deepEqual(await kids(world), [old, young])
  world.clock.advance(1)
  assert.deepEqual([await kids(world), await kids(node)], [[young], [young]])
})

test('a rotation while one is on its way changes nothing', async (t) => {
  const world = makeWorld(t.after.bind(t))
  await kid(world)
  const first = await rotateKeys(world, 'org1', 'ES256', 'tester')
  const both = await Promise.all([
    rotateKeys(world, 'org1', 'ES256', 'a'),
    rotateKeys(otherNode(world), 'org1', 'ES256', 'b'),
  ])
  assert.deepEqual(both, [first, first])
  assert.equal((await kids(world)).length, 2)
})

test('of two rotations at once one wins, and both answer its key', async (t) => {
  const world = makeWorld(t.after.bind(t))
  await kid(world)
  const [a, b] = await Promise.all([
    rotateKeys(world, 'org1', 'ES256', 'a'),
    rotateKeys(otherNode(world), 'org1', 'ES256', 'b'),
  ])
  assert.deepEqual(a, b)
  assert.equal((await kids(world)).length, 2)
})

test('a rotation without a key makes the first, which signs at once', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const { kid: made, signsFrom } = (await rotateKeys(world, 'org1', 'ES256', 'tester')).result
  assert.equal(signsFrom, world.clock.wall())
  assert.equal(await kid(world), made)
})

test('a token of ten days keeps its key for ten days, whichever node signed it', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const node = otherNode(world)
  const old = await kid(world)
  assert.equal(await kid(node, 10 * 86_400), old)
  await rotateKeys(world, 'org1', 'ES256', 'tester')
  world.clock.advance(AHEAD_MS + 10 * DAY_MS)
  assert.ok((await kids(world)).includes(old))
  world.clock.advance(60_000)
  assert.ok(!(await kids(world)).includes(old))
})

test('keys whose tokens have all ended leave the store with the next rotation', async (t) => {
  const world = makeWorld(t.after.bind(t))
  await kid(world)
  for (let days = 0; days < 10; days++) {
    await rotateKeys(world, 'org1', 'ES256', 'tester')
    world.clock.advance(2 * DAY_MS)
  }
  assert.equal((await storedRing(world)).keys.length, 2)
})

test('with the clock set back before the first key, that one signs', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const only = await kid(world)
  world.clock.wallMs -= DAY_MS
  assert.equal(await kid(world), only)
  assert.deepEqual(await kids(world), [only])
})

test('the private part is stored sealed, and opens under its own seal key and name only', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const { key } = await signingKey(world, 'org1', 'ES256')
  const ring = await storedRing(world)
  const text = JSON.stringify(ring)
  const { d } = key.export({ format: 'jwk' })
  assert.ok(!text.includes(String(d)) && !text.includes('"d"') && !text.includes('PRIVATE'))
  const published = createPublicKey({ key: ring.keys[0]!.jwk, format: 'jwk' })
  assert.deepEqual(published.export({ format: 'jwk' }), createPublicKey(key).export({ format: 'jwk' }))
  const stranger = { ...otherNode(world), sealKey: Buffer.alloc(32, 8) }
  const broken = (error: unknown) => error instanceof Fault && error.code === 'seal_broken'
  await assert.rejects(signingKey(stranger, 'org1', 'ES256'), broken)
})

test('a node reads its keys every five seconds at most, and a read makes none', async (t) => {
  const world = makeWorld(t.after.bind(t))
  let reads = 0
  const { get } = world.documents
  const counting: typeof get = (...of) => {
    reads++
    return get(...of)
  }
  const counted = { ...world, documents: { ...world.documents, get: counting } }
  assert.deepEqual(await publishedKeys(counted, 'org1', 'ES256'), [])
  await kid(counted)
  reads = 0
  for (let i = 0; i < 100; i++) await kid(counted)
  assert.equal(reads, 0)
  world.clock.advance(5_000)
  for (let i = 0; i < 100; i++) await kid(counted)
  assert.equal(reads, 1)
})
