import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

// The calls that the incumbent's tool for moving APIs makes, in its order, with the extension under the incumbent's name.
const ALIAS = 'acme'
const EXTENSION = `x-${ALIAS}-api-gateway`

interface Item extends JsonObject {
  api_definition: JsonObject
}

/** One file of a dump. */
interface Dumped {
  readonly apiId: string
  readonly oas: JsonObject | undefined
  readonly wrapper: Item
  readonly categories: unknown
}

async function listAll({ call }: TestDashboard, as: TestUser): Promise<Item[]> {
  const answer = await call('GET', '/api/apis/?p=-2', { as })
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys(bodyOf(answer)), ['apis', 'pages'])
  return bodyOf(answer).apis as Item[]
}

async function dump(world: TestDashboard, as: TestUser): Promise<Dumped[]> {
  const files: Dumped[] = []
  for (const { api_definition: definition } of await listAll(world, as)) {
    assert.match(String(definition.id), /^[0-9a-f]{24}$/)
    const apiId = String(definition.api_id)
    const oas =
      definition.is_oas === true ? bodyOf(await world.call('GET', `/api/apis/oas/${apiId}/export`, { as })) : undefined
    const kept = oas && bodyOf(await world.call('GET', `/api/apis/oas/${apiId}/categories/`, { as })).categories
    const wrapper = bodyOf(await world.call('GET', `/api/apis/${apiId}`, { as })) as Item
    files.push({ apiId, oas, wrapper, categories: kept })
  }
  return files.sort((a, b) => a.apiId.localeCompare(b.apiId))
}

async function sync(world: TestDashboard, as: TestUser, files: readonly Dumped[]): Promise<void> {
  const there = new Map((await listAll(world, as)).map(({ api_definition: d }) => [String(d.api_id), d]))
  const done = (answer: Awaited<ReturnType<TestDashboard['call']>>) => {
    assert.deepEqual([answer.status, bodyOf(answer).Status], [200, 'OK'], answer.text)
    return bodyOf(answer)
  }
  for (const [apiId, { id }] of there)
    if (!files.some((file) => file.apiId === apiId)) done(await world.call('DELETE', `/api/apis/${id}`, { as }))
  const put = async (id: unknown, file: Dumped) => {
    const query = '?accept_additional_properties=true'
    if (file.oas === undefined)
      return done(await world.call('PUT', `/api/apis/${id}`, { as, body: withIds(file.wrapper, id, as) }))
    done(await world.call('PUT', `/api/apis/oas/${id}${query}`, { as, body: file.oas }))
    return done(
      await world.call('PUT', `/api/apis/oas/${file.apiId}/categories/`, { as, body: { categories: file.categories } }),
    )
  }
  const created: [unknown, Dumped][] = []
  for (const file of files) {
    const known = there.get(file.apiId)
    if (known !== undefined) await put(known.id, file)
    else {
      const [path, body] = file.oas === undefined ? ['/api/apis/', file.wrapper] : ['/api/apis/oas/', file.oas]
      const made = done(await world.call('POST', path, { as, body }))
      assert.match(String(made.Meta), /^[0-9a-f]{24}$/)
      created.push([made.Meta, file])
    }
  }
  for (const [id, file] of created) await put(id, file)
}

function withIds(wrapper: Item, id: unknown, { orgId }: TestUser): JsonObject {
  return { ...wrapper, api_definition: { ...wrapper.api_definition, id: id as string, org_id: orgId } }
}

/** The parts that must be equal: all but storage ids, organisations and times. */
function comparable(files: readonly Dumped[]): string {
  return JSON.stringify(files, (name, value) =>
    ['id', 'dbId', 'org_id', 'orgId', 'created_at', 'updated_at'].includes(name) && typeof value === 'string'
      ? undefined
      : value,
  )
}

const start = () => startTestDashboard({ env: { SVC_COMPAT_VENDORALIASES: ALIAS } })

test('dump, wipe, sync, dump: the files are the same; nothing changes at the second sync', async (t) => {
  const world = await start()
  t.after(() => world.close())
  const as = await world.admin()
  for (let n = 0; n < 5; n++) {
    await world.call('POST', '/api/apis/', {
      as,
      body: { api_definition: classicApi(`c${n}`, `/c${n}/`, { 'x-own': [n] }) },
    })
    const { 'x-svc-api-gateway': extension, ...rest } = oasApi(`o${n}`, `/o${n}/`)
    await world.call('POST', '/api/apis/oas/', { as, body: { ...rest, [EXTENSION]: extension! } })
    await world.call('PUT', `/api/apis/oas/o${n}/categories/`, { as, body: { categories: [`cat${n}`] } })
  }
  const first = await dump(world, as)
  assert.equal(first.length, 10)
  for (const { api_definition: d } of await listAll(world, as))
    assert.equal((await world.call('DELETE', `/api/apis/${d.id}`, { as })).status, 200)
  assert.deepEqual((await world.call('GET', '/api/apis', { as })).json, { apis: [], pages: 1 })
  await sync(world, as, first)
  assert.equal(comparable(await dump(world, as)), comparable(first))
  await sync(world, as, first)
  assert.equal(comparable(await dump(world, as)), comparable(first))
  assert.equal(bodyOf(await world.call('GET', '/api/apis?p=1', { as })).pages, 1)
})

test('sync into another installation deletes what is not in the files, and brings changes over', async (t) => {
  const [source, target] = [await start(), await start()]
  t.after(() => source.close())
  t.after(() => target.close())
  const [from, to] = [await source.admin(), await target.admin()]
  await source.call('POST', '/api/apis/oas/', { as: from, body: oasApi('shared', '/shared/') })
  await source.call('POST', '/api/apis/', { as: from, body: { api_definition: classicApi('fresh', '/fresh/') } })
  await target.call('POST', '/api/apis/oas/', { as: to, body: oasApi('shared', '/before/') })
  await target.call('POST', '/api/apis/oas/', { as: to, body: oasApi('extra', '/extra/') })
  const files = await dump(source, from)
  await sync(target, to, files)
  assert.deepEqual((await listAll(target, to)).map(({ api_definition: d }) => d.api_id).sort(), ['fresh', 'shared'])
  const changed = bodyOf(await source.call('GET', '/api/apis/oas/shared', { as: from }))
  ;((changed[EXTENSION] as JsonObject).info as JsonObject).name = 'Changed'
  assert.equal((await source.call('PUT', '/api/apis/oas/shared', { as: from, body: changed })).status, 200)
  await sync(target, to, await dump(source, from))
  const read = bodyOf(await target.call('GET', '/api/apis/oas/shared', { as: to }))
  assert.equal(((read[EXTENSION] as JsonObject).info as JsonObject).name, 'Changed')
  assert.equal(((read[EXTENSION] as JsonObject).info as JsonObject).orgId, to.orgId)
})
