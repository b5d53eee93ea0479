import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { makeEditedObjects } from '../../worlds/dashboard/edited-objects.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'
import { startEnvironment } from '../../worlds/flows/moves-world.ts'

/** A number that is sent with these digits. */
const exactly = (digits: string) => (JSON as unknown as { rawJSON(text: string): Json }).rawJSON(digits)
const LARGE = exactly('9007199254740993')

test('no object takes an integer that it could not give back, in free members too', async (t) => {
  const world = await keyWorld(t)
  const { asked, call, root, store } = world
  const { paths, key: hash } = await makeEditedObjects(world)
  const revision = await store.documents.revision()
  const places: readonly (readonly [body: JsonObject, place: string])[] = [
    [{ strange_member: LARGE }, 'strange_member'],
    [{ meta_data: { order: [1, { id: LARGE }] } }, 'meta_data.order[1].id'],
  ]
  for (const path of [...paths, `/api/keys/${hash}?hashed=1`]) {
    const read = await asked(200, 'GET', path, root)
    for (const [more, place] of places) {
      const { status, text } = await call('PUT', path, { as: root, body: { ...read, ...more } })
      assert.equal(status, 400, `${path}: ${text}`)
      assert.ok(text.includes(`${place}: is a number beyond 2^53 - 1`), `${path}: ${text}`)
    }
  }
  assert.equal(await store.documents.revision(), revision)
})

const document = (extension: JsonObject, schema: JsonObject): JsonObject => ({
  ...{ openapi: '3.0.3', info: { title: 'a', version: '1' }, paths: {} },
  components: { schemas: { Id: { type: 'integer', format: 'int64', ...schema } } },
  [EXTENSION]: {
    info: { id: 'a', name: 'a', state: { active: true } },
    upstream: { url: 'http://up.test/' },
    server: { listenPath: { value: '/a/', strip: true } },
    ...extension,
  },
})

test('bounds of schemas beyond 2^53 - 1 are stored with a warning, other members refused', async (t) => {
  const world = await startEnvironment(t)
  const callers = [
    ['/svc/apis/oas', world.gateway.svc] as const,
    ['/api/apis/oas', (method: string, path: string, body?: Json) => world.call(method, path, body)] as const,
  ]
  for (const [path, call] of callers) {
    const bounded = document({}, { maximum: exactly('9223372036854775807'), minimum: exactly('-9007199254740991') })
    const made = await call('POST', path, bounded)
    assert.equal(made.status, 200, made.text)
    const { warnings, Warnings, key, ID } = made.json as JsonObject
    assert.deepEqual(warnings ?? Warnings, [
      {
        path: 'components.schemas.Id.maximum',
        message: 'is beyond 2^53 - 1, where not every integer can be kept: it is stored as 9223372036854776000',
      },
    ])
    await world.gateway.svc('DELETE', `/svc/apis/${String(key ?? ID)}`)
    const refused = await call('POST', path, document({ config: { n: LARGE } }, {}))
    assert.equal(refused.status, 400, refused.text)
    assert.ok(refused.text.includes(`${EXTENSION}.config.n: is a number`), refused.text)
  }
  for (const [path, body] of [
    ['/svc/keys', { meta_data: { n: LARGE } }],
    ['/svc/policies', { id: 'p', meta_data: { n: LARGE } }],
    ['/svc/apis', { name: 'x', config_data: { n: LARGE } }],
    ['/svc/oauth/clients/create', { client_id: 'c', meta_data: { n: LARGE } }],
  ] as const) {
    const { status, text } = await world.gateway.svc('POST', path, body)
    assert.deepEqual([status, /_data\.n: is a number/.test(text)], [400, true], `${path}: ${text}`)
  }
})
