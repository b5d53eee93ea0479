import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { mergedOverTemplate } from '../../../src/model/assets/asset.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { assertRefused, bodyOf } from '../../worlds/dashboard/people.ts'

const TEMPLATE = {
  kind: 'oas-template',
  name: 'Team',
  description: 'What all APIs of the team have',
  data: { info: { contact: { name: 'Team' } }, 'x-svc-api-gateway': { upstream: { url: 'http://127.0.0.1:9/' } } },
}
const PATH = '/api/assets'

async function world(t: TestContext, env: Record<string, string> = {}) {
  const dashboard = await startTestDashboard({ env })
  t.after(() => dashboard.close())
  const admin = await dashboard.admin()
  const ask = (method: string, path: string, body?: unknown) =>
    dashboard.call(method, path, { as: admin, ...(body !== undefined && { body }) })
  return { ...dashboard, admin, ask }
}

test('an asset is created, listed, read by either id, replaced and deleted', async (t) => {
  const { ask, orgId } = await world(t)
  assert.deepEqual((await ask('GET', PATH)).json, [])
  const made = await ask('POST', PATH, { ...TEMPLATE, id: 'team' })
  assert.equal(made.status, 201)
  const { Meta: _id, ...rest } = made.json as JsonObject
  assert.deepEqual(rest, { Status: 'success', Message: 'asset created', ID: 'team' })
  const shown = bodyOf(await ask('GET', `${PATH}/team`))
  assert.deepEqual(Object.keys(shown), ['_id', 'id', 'kind', 'name', 'description', 'data', 'last_updated', 'org_id'])
  assert.deepEqual([shown._id, shown.org_id, shown.data], [_id, orgId, TEMPLATE.data])
  assert.deepEqual(bodyOf(await ask('GET', `${PATH}/${_id}`)), shown)
  const second = (await ask('POST', PATH, { ...TEMPLATE, name: 'Another' })).json as JsonObject
  assert.equal(second.ID, second.Meta, 'without an id it is the storage id')
  const names = async (query = '') => ((await ask('GET', PATH + query)).json as JsonObject[]).map(({ name }) => name)
  assert.deepEqual(await names(), ['Another', 'Team'])
  assert.deepEqual([await names('?kind=oas-template'), await names('?kind=x')], [['Another', 'Team'], []])
  const replaced = await ask('PUT', `${PATH}/team`, { ...TEMPLATE, id: 'other', name: 'Team 2' })
  assert.deepEqual(replaced.json, { Status: 'success', Message: 'asset updated', Meta: _id!, ID: 'team' })
  assert.equal(bodyOf(await ask('GET', `${PATH}/team`)).name, 'Team 2')
  assert.equal(bodyOf(await ask('DELETE', `${PATH}/${_id}`)).Message, 'asset deleted')
  for (const [method, body] of [['GET'], ['PUT', TEMPLATE], ['DELETE']] as const)
    assertRefused(await ask(method, `${PATH}/team`, body), 404, 'Asset not found')
})

test('invalid assets and taken ids are refused, except across organisations', async (t) => {
  const { ask, call, user, organisation, orgId } = await world(t)
  await ask('POST', PATH, { ...TEMPLATE, id: 'team' })
  assertRefused(await ask('POST', PATH, { ...TEMPLATE, id: 'team' }), 409, "Asset ID already exists: 'team'")
  assertRefused(await ask('POST', PATH, { ...TEMPLATE, kind: 'swagger' }), 422, /^Asset kind is not supported/)
  for (const wrong of [{ id: 'a/b' }, { id: 7 }, { name: '' }, { name: null }, { data: [] }, { description: {} }])
    assertRefused(await ask('POST', PATH, { ...TEMPLATE, ...wrong }), 400, /^Asset is not valid: \w+/)
  assertRefused(await ask('POST', PATH, '{'), 403, 'Request body malformed')
  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  assert.equal((await call('POST', PATH, { as: foreign, body: { ...TEMPLATE, id: 'team' } })).status, 201)
  assert.equal(((await ask('GET', PATH)).json as JsonObject[]).length, 1)
  const [theirs] = (await call('GET', PATH, { as: foreign })).json as JsonObject[]
  for (const method of ['GET', 'DELETE'])
    assertRefused(await ask(method, `${PATH}/${theirs!._id}`), 404, 'Asset not found')
  assert.notEqual(theirs!.org_id, orgId)
})

test('an API is made from a template: what is sent counts', async (t) => {
  const { ask } = await world(t)
  await ask('POST', PATH, { ...TEMPLATE, id: 'team' })
  const document = {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {},
    'x-svc-api-gateway': {
      info: { name: 'Orders', id: 'orders', state: { active: true } },
      server: { listenPath: { value: '/orders/' } },
    },
  }
  assertRefused(await ask('POST', '/api/apis/oas?templateID=none', document), 404, 'Asset not found')
  assert.equal((await ask('POST', '/api/apis/oas', document)).status, 400, 'it has no upstream of its own')
  assert.equal((await ask('POST', '/api/apis/oas?templateID=team', document)).status, 200)
  const made = bodyOf(await ask('GET', '/api/apis/oas/orders'))
  assert.deepEqual(made.info, { contact: { name: 'Team' }, title: 'Orders', version: '1' })
})

test('secrets of a template go only to callers who may write templates', async (t) => {
  const { ask, call, user } = await world(t)
  const secret = 'hidden-from-makers'
  const sends = (value: string) => ({
    middleware: { global: { transformRequestHeaders: { enabled: true, add: [{ name: 'Authorization', value }] } } },
  })
  const upstream = { url: 'http://127.0.0.1:9/' }
  await ask('POST', PATH, {
    ...TEMPLATE,
    id: 'secretive',
    data: { 'x-svc-api-gateway': { upstream, ...sends(secret) } },
  })
  const make = (id: string, more: JsonObject = {}) => ({
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: {},
    'x-svc-api-gateway': {
      info: { name: id, id, state: { active: true } },
      server: { listenPath: { value: `/${id}/` } },
      ...more,
    },
  })
  const send = async (permissions: JsonObject, id: string, more?: JsonObject) => {
    const as = await user(permissions)
    const made = await call('POST', '/api/apis/oas?templateID=secretive', { as, body: make(id, more) })
    const read = await call('GET', `/api/apis/oas/${id}`, { as })
    return { made, read }
  }
  const maker = await send({ apis: 'write', api_assets: 'read' }, 'maker')
  assert.equal(maker.made.status, 400)
  assert.match(maker.made.text, /transformRequestHeaders\.add\.0\.value: contains the mask \*\*\*/)
  assert.ok(!`${maker.made.text}${maker.read.text}`.includes(secret))
  const filled = await send({ apis: 'write', api_assets: 'read' }, 'own', sends('my own'))
  assert.equal(filled.made.status, 200, filled.made.text)
  assertRefused((await send({ apis: 'write' }, 'stranger')).made, 404, 'Asset not found')
  const owner = await send({ apis: 'write', api_assets: 'write' }, 'owner')
  assert.equal(owner.made.status, 200, owner.made.text)
  assert.ok(owner.read.text.includes(secret))
})

test('laid over a template a document keeps all that it says, and the template is as it was', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5, noNullPrototype: true })
  fc.assert(
    fc.property(object, object, (template, document) => {
      const before = JSON.stringify(template)
      const both = mergedOverTemplate(template as JsonObject, document as JsonObject)
      assert.deepEqual(mergedOverTemplate(both, document as JsonObject), both)
      for (const name of Object.keys(template)) assert.ok(Object.hasOwn(both, name))
      for (const [name, value] of Object.entries(document))
        if (typeof value !== 'object') assert.deepEqual(both[name], value)
      assert.equal(JSON.stringify(template), before)
    }),
  )
  assert.equal(Object.getPrototypeOf(mergedOverTemplate(JSON.parse('{"__proto__":{"a":1}}'), {})), Object.prototype)
})
