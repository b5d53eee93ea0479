import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentOf } from '../../../src/model/apis/definition/stored-api.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { apiWithSameIssuer } from '../../../src/publish/apis/issuer-conflict.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'

const PUBLIC = { SVC_GW_PUBLICURL: 'https://api.example.test/gw' }
const EDGES = {
  SVC_DB_EDGEENDPOINTS: JSON.stringify([
    { name: 'us', endpoint: 'https://us.example.test', tags: ['us'] },
    { name: 'eu', endpoint: 'https://eu.example.test', tags: ['eu'] },
    { name: 'both', endpoint: 'https://both.example.test', tags: ['fr', 'de'] },
  ]),
}

interface Place {
  readonly path: string
  readonly domain?: string
  readonly tags?: readonly string[]
  readonly active?: boolean
}

const definitionOf = (id: string, { path, domain, tags, active = true }: Place): JsonObject =>
  oauthApi('http://127.0.0.1:1', {
    ...{ id, path, info: { state: { active } } },
    server: {
      ...(domain !== undefined && { customDomain: { enabled: true, name: domain } }),
      ...(tags !== undefined && { gatewayTags: { enabled: true, tags: [...tags] } }),
    },
  })

/** Two authorization servers, and whether the second one may be saved beside the first. */
const PAIRS: readonly (readonly [why: string, env: Record<string, string>, Place, Place, 200 | 409])[] = [
  ['nodes apart, one public address', PUBLIC, { path: '/a/', tags: ['x'] }, { path: '/a/', tags: ['y'] }, 409],
  ['the slash at the end', PUBLIC, { path: '/a', tags: ['x'] }, { path: '/a/', tags: ['y'] }, 409],
  ['an escape', PUBLIC, { path: '/a%62/', tags: ['x'] }, { path: '/ab/', tags: ['y'] }, 409],
  ['nodes apart, an edge each', EDGES, { path: '/a/', tags: ['us'] }, { path: '/a/', tags: ['eu'] }, 200],
  ['nodes apart, one edge for both', EDGES, { path: '/a/', tags: ['fr'] }, { path: '/a/', tags: ['de'] }, 409],
  ['nodes apart, no address', {}, { path: '/a/', tags: ['x'] }, { path: '/a/', tags: ['y'] }, 200],
  [
    'the host as a domain',
    { SVC_GW_PUBLICURL: 'https://api.example.test' },
    { path: '/a/' },
    { path: '/a/', domain: 'api.example.test' },
    409,
  ],
  ['the path of the address', PUBLIC, { path: '/a/' }, { path: '/gw/a/', domain: 'api.example.test' }, 409],
  ['another path at the domain', PUBLIC, { path: '/a/' }, { path: '/a/', domain: 'api.example.test' }, 200],
  ['a placeholder apart', PUBLIC, { path: '/t/{x}/', tags: ['x'] }, { path: '/t/b/', tags: ['y'] }, 409],
  [
    'a placeholder that does not match',
    PUBLIC,
    { path: '/t/{x:[0-9]+}/', tags: ['x'] },
    { path: '/t/b/', tags: ['y'] },
    200,
  ],
  ['one of them is inactive', PUBLIC, { path: '/a/', tags: ['x'], active: false }, { path: '/a/', tags: ['y'] }, 200],
]

test('two authorization servers never have one issuer, in either order and by each call', async (t) => {
  for (const [why, env, one, other, status] of PAIRS)
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const world = await keyWorld(t, { env })
      const save = async (method: string, path: string, body: JsonObject) =>
        (await world.call(method, path, { as: world.root, body })).status
      assert.equal(await save('POST', '/api/apis/oas', definitionOf('first', first)), 200, why)
      assert.equal(await save('POST', '/api/apis/oas', definitionOf('second', second)), status, why)
      if (status === 200) continue
      assert.equal(await save('POST', '/api/apis/oas', definitionOf('third', { path: '/third/' })), 200, why)
      assert.equal(await save('PUT', '/api/apis/oas/third', definitionOf('third', second)), 409, why)
      const inactive = definitionOf('fourth', { ...second, active: false })
      assert.equal(await save('POST', '/api/apis/oas', inactive), 200, why)
      assert.equal(await save('PUT', '/api/apis/oas/fourth', definitionOf('fourth', second)), 409, why)
    }
})

test('at the administration API too, naming the one that has it', async (t) => {
  const gateway = await startTestGateway({ env: PUBLIC })
  t.after(() => gateway.close())
  const save = (id: string, place: Place) => gateway.svc('POST', '/svc/apis/oas', definitionOf(id, place))
  assert.equal((await save('first', { path: '/a/' })).status, 200)
  const refused = await save('second', { path: '/gw/a/', domain: 'api.example.test' })
  assert.equal(refused.status, 409)
  assert.match(refused.text, /has the issuer of the authorization server of API first/)
})

test('the store is asked for addresses once, however many authorization servers are near', async (t) => {
  const { asked, root, parts } = await keyWorld(t, { env: PUBLIC })
  for (let i = 0; i < 5; i++) {
    const definition = definitionOf(`near${i}`, { path: `/near/${i}/`, tags: ['x'] })
    await asked(200, 'POST', '/api/apis/oas', root, definition)
  }
  let reads = 0
  const documents = new Proxy(parts.documents, {
    get(target, name) {
      if (name === 'each') reads++
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const stored = await documents.find('api', 'api_id', 'near0')
  assert.equal(
    await apiWithSameIssuer({ ...parts, documents }, readApi(documentOf(stored!.body)), [stored!.id]),
    undefined,
  )
  assert.equal(reads, 1)
})
