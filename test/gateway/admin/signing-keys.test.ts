import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { signJwt } from '../../../src/oauth/signing-keys/jwt.ts'
import { privateKeyOf, type StoredRing } from '../../../src/oauth/signing-keys/key-ring.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { base64, jwtApi } from '../../worlds/gateway/jwt-fixtures.ts'
import { oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const CALLS = '/svc/oauth/signing-keys'
const AHEAD_MS = 610_000
const DAY_MS = 86_400_000

interface Key extends JsonObject {
  kid: string
  alg: string
  state: string
}

/** Two gateways of one store, an API `a` whose authorization server issues JWTs, its client `app`, and `j`, which takes tokens of a key. */
async function start(t: TestContext, algorithm = 'ES256') {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const world = await startWorld(t, { store, clock, accessLog: true })
  const other = await startTestGateway({ store, clock })
  t.after(() => other.close())
  const settings = { accessTokenFormat: 'jwt', accessTokenSigningAlgorithm: algorithm }
  await world.publish(oauthApi(world.origin.url, { id: 'a', settings }))
  await world.policy('p', ['a', 'j'])
  await world.client('app', { api_id: 'a', policies: ['p'] })
  const nodes = [world.gateway, other]
  const answers: string[] = []
  const call = async (method: string, path = '', status = 200, node: TestGateway = world.gateway) => {
    const answer = await node.svc(method, CALLS + path)
    answers.push(answer.text)
    assert.equal(answer.status, status, answer.text)
    return (answer.json as { keys: Key[] }).keys
  }
  const rings = async () => {
    const { rows } = await store.documents.list('oauth_key', { limit: 10 })
    return rows.map(({ body }) => body as unknown as StoredRing)
  }
  const keySet = async (node: TestGateway): Promise<JSONWebKeySet> =>
    (await node.call('/a/oauth/jwks')).json as unknown as JSONWebKeySet
  const api = `http://127.0.0.1:${world.gateway.port}/a`
  return {
    ...{ world, other, nodes, clock, store, answers, call, rings, keySet },
    token: () => world.token('/a/', 'app'),
    /** A resource server that reads the key set by itself, as `jose` has it. */
    remote: createRemoteJWKSet(new URL(`${api}/oauth/jwks`), { cooldownDuration: 0 }),
    verify: (token: string, keys: Parameters<typeof jwtVerify>[1]) =>
      jwtVerify(token, keys, { typ: 'at+jwt', currentDate: new Date(clock.wall()) }),
    /** The answer of each node to the token. */
    use: (token: string, path = '/a/x') =>
      Promise.all(
        nodes.map(async (node) => (await node.call(path, { headers: { authorization: `Bearer ${token}` } })).status),
      ),
    async isActive(token: string, node: TestGateway) {
      const answer = await node.call('/a/oauth/introspect', {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from('app:secret-of-app').toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: `token=${token}`,
      })
      return (answer.json as { active: boolean }).active
    },
  }
}

const kidOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid
const statesOf = (keys: readonly Key[]) => keys.map(({ state }) => state)

test('a JWT client verifies every token across a rotation, also with its older key set', async (t) => {
  const { world, nodes, clock, call, keySet, token, remote, verify, use } = await start(t)
  const old = await token()
  const [first] = await call('GET')
  assert.deepEqual([first!.kid, first!.state, first!.alg], [kidOf(old), 'current', 'ES256'])
  await verify(old, remote)

  const rotated = await call('POST', '/rotate')
  assert.deepEqual(statesOf(rotated), ['next', 'current'])
  const young = rotated[0]!.kid
  const read = await Promise.all(nodes.map(keySet))
  for (const { keys } of read) assert.deepEqual(keys.map(({ kid }) => kid).sort(), [first!.kid, young].sort())
  assert.equal(kidOf(await token()), first!.kid, 'it does not sign before verifiers know it')
  assert.deepEqual(statesOf(await call('POST', '/rotate')), ['next', 'current'], 'one on its way is enough')

  clock.advance(AHEAD_MS)
  const late = await token()
  assert.equal(kidOf(late), young)
  for (const keys of [remote, createLocalJWKSet(read[0]!), createLocalJWKSet(await keySet(nodes[1]!))]) {
    await verify(old, keys)
    await verify(late, keys)
  }
  assert.deepEqual(
    [await use(old), await use(late)],
    [
      [200, 200],
      [200, 200],
    ],
  )
  const [, previous] = await call('GET')
  assert.equal(previous!.state, 'previous')
  assert.equal(previous!.published_until, new Date(clock.wall() + DAY_MS + 60_000).toISOString())
  clock.advance(DAY_MS + 60_000)
  assert.deepEqual(statesOf(await call('GET')), ['current'])
  assert.deepEqual((await keySet(world.gateway)).keys.length, 1)
})

for (const state of ['current', 'previous', 'next'] as const)
  test(`a retired ${state} key is not published, signs nothing and verifies nothing on any node`, async (t) => {
    const { nodes, other, clock, call, keySet, rings, token, remote, verify, use, isActive, answers, world } =
      await start(t)
    const tokens = [await token()]
    await call('POST', '/rotate')
    if (state === 'previous') clock.advance(AHEAD_MS)
    tokens.push(await token())
    // Both nodes hold the tokens and the keys in memory.
    for (const each of tokens) assert.deepEqual(await use(each), [200, 200])
    for (const node of nodes) assert.equal((await keySet(node)).keys.length, 2)
    const before = await rings()

    const { kid } = (await call('GET')).find((key) => key.state === state)!
    const left = await call('DELETE', `/${kid}`, 200, other)
    const retired = left.filter((key) => key.state === 'retired')
    assert.deepEqual(
      retired.map((key) => [key.kid, key.retired_at]),
      [[kid, new Date(clock.wall()).toISOString()]],
    )
    assert.equal(left.filter((key) => key.state === 'current').length, 1)
    for (const node of nodes) assert.ok(!(await keySet(node)).keys.some((key) => key.kid === kid))
    const made = await token()
    assert.notEqual(kidOf(made), kid)
    assert.deepEqual(await use(made), [200, 200])
    await verify(made, remote)
    for (const each of tokens) {
      const good = kidOf(each) !== kid
      assert.deepEqual(await use(each), good ? [200, 200] : [401, 401], 'on every node')
      for (const node of nodes) assert.equal(await isActive(each, node), good)
      if (!good) await assert.rejects(verify(each, remote), errors.JWKSNoMatchingKey)
    }
    // A rotation afterwards, and a second time, bring nothing back.
    await call('POST', '/rotate')
    assert.equal((await call('DELETE', `/${kid}`)).filter((key) => key.state === 'retired').length, 1)
    assert.ok(!(await rings()).some(({ keys }) => keys.some((key) => key.kid === kid)))
    const said = JSON.stringify([answers, nodes.map(({ log }) => log), world.gateway.accessLines])
    for (const ring of [...before, ...(await rings())])
      for (const key of ring.keys) {
        const { d } = privateKeyOf(key, Buffer.alloc(32, 7)).export({ format: 'jwk' })
        assert.ok(!said.includes(key.sealed) && !said.includes(d!), 'private parts are shown to nobody')
      }
  })

test('tokens of a stolen key are refused while its copy is trusted, also on later nodes', async (t) => {
  const { world, store, clock, call, rings, token, use } = await start(t)
  const good = await token()
  const [
    {
      keys: [stored],
    } = { keys: [] },
  ] = await rings()
  const pem = createPublicKey({ key: stored!.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()
  const trusting = { jwt_source: base64(pem), jwt_signing_method: 'ecdsa' }
  const defined = await world.gateway.svc('POST', '/svc/apis', jwtApi(world.origin, trusting))
  assert.equal(defined.status, 200, defined.text)
  const claims = JSON.parse(Buffer.from(good.split('.')[1]!, 'base64url').toString())
  const header = { typ: 'at+jwt', alg: 'ES256', kid: stored!.kid }
  const forged = signJwt(header, { ...claims, sub: 'root' }, privateKeyOf(stored!, Buffer.alloc(32, 7)))
  assert.deepEqual(
    [await use(good, '/j/x'), await use(forged, '/j/x')],
    [
      [200, 200],
      [401, 401],
    ],
  )
  await call('DELETE', `/${stored!.kid}`)
  const fresh = await startTestGateway({ store, clock })
  t.after(() => fresh.close())
  for (const node of [world.gateway, fresh])
    for (const [path, sent] of [
      ['/a/x', good],
      ['/j/x', good],
      ['/a/x', forged],
      ['/j/x', forged],
    ] as const)
      assert.equal((await node.call(path, { headers: { authorization: `Bearer ${sent}` } })).status, 401, path)
})

test('RSA keys rotate and retire as well, each organisation and algorithm apart', async (t) => {
  const { call, token, use } = await start(t, 'RS256')
  const old = await token()
  const made = await call('POST', '/rotate?alg=ES256')
  assert.deepEqual(
    made.map(({ alg, state }) => [alg, state]),
    [
      ['ES256', 'current'],
      ['RS256', 'current'],
    ],
  )
  await call('POST', '/rotate?org_id=elsewhere&alg=ES256')
  assert.equal((await call('GET', '?org_id=elsewhere')).length, 1)
  assert.equal((await call('GET')).length, 3)
  await call('DELETE', `/${kidOf(old)}?org_id=elsewhere`, 404)
  await call('DELETE', '/nothing', 404)
  await call('POST', '/rotate?org_id=nobody', 404)
  await call('POST', '/rotate?alg=none', 400)
  assert.deepEqual(await use(old), [200, 200])
  const left = await call('DELETE', `/${kidOf(old)}?org_id=`)
  assert.deepEqual(
    left.map(({ alg, state }) => [alg, state]),
    [
      ['ES256', 'current'],
      ['RS256', 'current'],
      ['RS256', 'retired'],
    ],
  )
  assert.deepEqual(await use(old), [401, 401])
})
