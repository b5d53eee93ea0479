import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { makeEditedObjects } from '../../worlds/dashboard/edited-objects.ts'
import { routeFor } from '../../worlds/dashboard/harness.ts'
import { type KeyWorld, keyWorld } from '../../worlds/dashboard/key-world.ts'
import { described, resolvedDocument } from '../../worlds/dashboard/openapi-document.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

const LIMITED: JsonObject = {
  ...{ rate: 5, per: 60, quota_max: 100, quota_renewal_rate: 3600, throttle_interval: 2, throttle_retry_limit: 3 },
  ...{ max_query_depth: 7, expires: 0, alias: 'shop', meta_data: { plan: { kind: 'gold' } }, tags: ['a'] },
  access_rights: {
    orders: {
      api_id: 'orders',
      versions: ['Default'],
      allowed_urls: [{ url: '/a', methods: ['GET'] }],
      limit: { rate: 3, per: 10, quota_max: 50, quota_renewal_rate: 60 },
      endpoints: [{ path: '/x', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] }],
    },
  },
}

interface Operation {
  readonly responses: Record<string, { content: Record<string, { schema: Json }> }>
  readonly requestBody?: { content: Record<string, { schema: Json }> }
}

/** A client whose types are generated from the document: it reads and writes only members that are described. */
async function generatedClient(world: KeyWorld) {
  const { json } = await world.call('GET', '/api/openapi.json')
  const { paths } = resolvedDocument(json as JsonObject) as unknown as {
    paths: Record<string, Record<string, Operation>>
  }
  const operation = (method: string, path: string) => {
    const route = routeFor(world.dashboard.routes, method, path)!
    const shape = (text: string) => text.replace(/\{[^}]*\}/g, '{}')
    const found = Object.entries(paths).find(
      ([one, methods]) => shape(one) === shape(route.path) && method.toLowerCase() in methods,
    )
    return found![1][method.toLowerCase()]!
  }
  const schemaOf = (content: Record<string, { schema: Json }>) => content['application/json']!.schema
  return {
    async read(path: string): Promise<JsonObject> {
      const whole = await world.asked(200, 'GET', path, world.root)
      return described(schemaOf(operation('GET', path).responses[200]!.content), whole) as JsonObject
    },
    async write(path: string, body: Json): Promise<JsonObject> {
      const sent = described(schemaOf(operation('PUT', path).requestBody!.content), body)
      return world.asked(200, 'PUT', path, world.root, sent)
    },
  }
}

describe('a client that knows only what the document describes', () => {
  test('reads, changes and writes a key without losing a limit or anything else', async (t) => {
    const world = await keyWorld(t)
    await world.api('orders')
    const { hash } = await world.key(LIMITED)
    const client = await generatedClient(world)
    for (const path of [`/api/keys/${hash}?hashed=1`, `/api/apis/orders/keys/${hash}?hashed=1`]) {
      const before = await world.asked(200, 'GET', path, world.root)
      assert.ok(isObject(before.data))
      const { data } = await client.read(path)
      const answer = await client.write(path, { ...(data as JsonObject), tags: ['changed'] })
      // Without a limit that is gone: of its members one has no effect.
      assert.deepEqual(
        ((answer.warnings ?? []) as JsonObject[]).map((warning) => warning.path),
        ['max_query_depth'],
      )
      const after = await world.asked(200, 'GET', path, world.root)
      const { last_updated: _now, ...changed } = after.data as JsonObject
      const { last_updated: _then, ...unchanged } = before.data
      assert.deepEqual(changed, { ...unchanged, tags: ['changed'] })
    }
  })

  test('writes back every kind of object that people edit as it was', async (t) => {
    const world = await keyWorld(t)
    const { paths } = await makeEditedObjects(world)
    await world.asked(200, 'POST', '/api/apis/oas', world.root, oasApi('described', '/described/', { id: 'described' }))
    await world.asked(200, 'PUT', '/api/portal/policies/gold', world.root, {
      ...(await world.asked(200, 'GET', '/api/portal/policies/gold', world.root)),
      ...LIMITED,
    })
    const client = await generatedClient(world)
    const lost: string[] = []
    for (const path of [...paths, '/api/apis/orders', '/api/apis/oas/described']) {
      // The first write brings members that the server fills in.
      await client.write(path, await client.read(path))
      const before = await world.asked(200, 'GET', path, world.root)
      await client.write(path, await client.read(path))
      const after = await world.asked(200, 'GET', path, world.root)
      for (const [name, value] of Object.entries(before))
        if (!/updated/.test(name) && JSON.stringify(after[name]) !== JSON.stringify(value)) lost.push(`${path} ${name}`)
    }
    assert.deepEqual(lost, [])
  })
})

describe('a PUT that leaves out limits', () => {
  const left = [
    'rate',
    'quota_max',
    'max_query_depth',
    'access_rights.orders.limit.rate',
    'access_rights.orders.limit.quota_max',
  ]
  const RIGHT = { access_rights: { orders: { api_id: 'orders', versions: ['Default'] } } }
  const places = (warnings: unknown) => (warnings as { path: string }[] | undefined)?.map(({ path }) => path)

  test('of a key or policy names each of them in the answer of the dashboard', async (t) => {
    const world = await keyWorld(t)
    await world.api('orders')
    const { hash } = await world.key(LIMITED)
    await world.policy('gold', ['orders'], LIMITED)
    const put = (path: string, body: JsonObject) => world.asked(200, 'PUT', path, world.root, body)
    for (const path of [`/api/keys/${hash}?hashed=1`, `/api/apis/orders/keys/${hash}?hashed=1`]) {
      await put(path, LIMITED)
      assert.deepEqual(places((await put(path, RIGHT)).warnings), left)
      assert.equal((await put(path, RIGHT)).warnings, undefined, 'they are gone already')
    }
    const policy = '/api/portal/policies/gold'
    await put(policy, { name: 'gold', ...LIMITED })
    assert.deepEqual(places((await put(policy, { name: 'gold', ...RIGHT })).Warnings), left)
    await put(policy, { name: 'gold', ...LIMITED })
    const unlimited = { rate: -1, per: 1, quota_max: -1, max_query_depth: -1 }
    const deliberate = { ...unlimited, access_rights: { orders: { ...RIGHT.access_rights.orders, limit: unlimited } } }
    assert.equal((await put(policy, { name: 'gold', ...deliberate })).Warnings, undefined)
  })

  test('names them in the answer of the gateway, too', async (t) => {
    const gateway = await startTestGateway()
    t.after(() => gateway.close())
    const put = async (path: string, body: JsonObject) => {
      const { status, json, text } = await gateway.svc('PUT', path, body)
      assert.equal(status, 200, text)
      return places((json as JsonObject).warnings)?.filter((place) => place in LIMITED || place.includes('limit'))
    }
    assert.equal((await gateway.svc('POST', '/svc/keys/key-of-16-letters', LIMITED)).status, 200)
    assert.deepEqual(await put('/svc/keys/key-of-16-letters', RIGHT), left)
    assert.equal((await gateway.svc('POST', '/svc/policies', { id: 'gold', name: 'gold', ...LIMITED })).status, 200)
    assert.deepEqual(await put('/svc/policies/gold', { id: 'gold', name: 'gold', ...RIGHT }), left)
  })
})
