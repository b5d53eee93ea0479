import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { boundsFlaw } from '../../../src/dashboard/routes/body-bounds.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { assertLinear } from '../../worlds/base/growth.ts'
import { placesOf, sharedComponents, tooLarge, withAt } from '../../worlds/dashboard/bounded-places.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'

/** Checked place by place where they are read: APIs, policies, keys, OAuth clients, and moves of them. */
const BY_THEMSELVES =
  /^\/(?:svc\/|api\/(?:apis|keys|moves|oauth|portal\/policies)\b|admin\/(?:apis|policies|org\/keys)\b)/

type Operation = JsonObject & {
  requestBody?: { content: Record<string, { schema: Json; example?: Json }> }
  security?: Json[]
}

/** Public calls take small bodies only, and say of a long text what they say of any wrong one. */
const isApart = (path: string, operation: JsonObject) =>
  BY_THEMSELVES.test(path) || (operation as Operation).security?.length === 0

/** Calls with a body that its schema bounds, from the published document. */
function bodiesOf(document: JsonObject) {
  const paths = document.paths as Record<string, Record<string, Operation>>
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
      if (content === undefined || isApart(path, operation)) return []
      return [{ call: `${method.toUpperCase()} ${path}`, path, method: method.toUpperCase(), type, ...content }]
    }),
  )
}

async function world(t: TestContext) {
  const dashboard = await startTestDashboard()
  t.after(dashboard.close)
  const as = await dashboard.admin()
  const { json } = await dashboard.call('GET', '/api/openapi.json', { as })
  return { ...dashboard, as, document: json as JsonObject }
}

test('the published schema of a body bounds every text, list and map of its own', async (t) => {
  const { document } = await world(t)
  const bodies = bodiesOf(document)
  const left = sharedComponents(document, isApart)
  assert.ok(bodies.length > 60, String(bodies.length))
  let bounded = 0
  for (const { call, schema } of bodies)
    for (const { path, kind, most } of placesOf(document, schema, left)) {
      assert.notEqual(most, undefined, `${call}: ${kind} ${path.join('.')} has no bound`)
      bounded++
    }
  assert.ok(bounded > 200, String(bounded))
})

test('parts of answers name no bound that only bodies have', async (t) => {
  const { document } = await world(t)
  const { schemas } = document.components as { schemas: JsonObject }
  for (const name of sharedComponents(document, () => false))
    assert.doesNotMatch(JSON.stringify(schemas[name] ?? {}), /"maxLength":16384\b/, name)
})

const TRIED = ['/api/hooks', '/api/portal/requests', '/api/portal/catalogue', '/api/tib/profiles', '/api/assets']

test('a body beyond a bound of its schema is refused, and the refusal names the bound', async (t) => {
  const { document, call: send, as } = await world(t)
  let [tried, named] = [0, 0]
  for (const { call, path, method, type, schema, example } of bodiesOf(document)) {
    if (type !== 'application/json' || (!deep && !(TRIED.includes(path) && method === 'POST'))) continue
    const known = path.startsWith('/admin/') ? ('installation' as const) : as
    const places = placesOf(document, schema, sharedComponents(document, isApart))
    const few = places.filter(({ path: { length }, most }) => length < 3 && most! < 20_000).slice(0, 12)
    for (const place of deep ? places : few) {
      const body = withAt(example, place.path, tooLarge(place))
      const { status, text } = await send(method, path.replaceAll(/\{[^}]*\}/g, 'x'), { as: known, body })
      const where = `${call} ${place.kind} ${place.path.join('.')}: ${status} ${text.slice(0, 300)}`
      assert.ok(status >= 400 && status < 500, where)
      tried++
      // A place may have a closer bound, where it is read.
      if (status === 400) assert.match(text, /\d/, where)
      if (text.includes(`${place.most}`)) named++
    }
  }
  assert.ok(tried > 40 && named > tried * 0.8, `${named} of ${tried}`)
})

test('members that no schema names are bounded too', async (t) => {
  const { call, as } = await world(t)
  const hook = { name: 'h', method: 'POST', target_path: 'https://h.test/' }
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`m${index}`, 1]))
  for (const [more, says] of [
    [many, /more than 10000 members \(100\d\d\)/],
    [{ other: [Array(10_001).fill(0)] }, /other\.0: must not have more than 10000 entries \(10001\)/],
    [{ ['x'.repeat(1025)]: 1 }, /name of a member must not be longer than 1024 characters/],
    [
      { ['y'.repeat(1000)]: [Array(10_001).fill(0)] },
      /: y{200}…: must not have more than 10000 entries|^[^:]*y{200}…: must/,
    ],
  ] as const) {
    const { status, text } = await call('POST', '/api/hooks', { as, body: { ...hook, ...more } })
    assert.equal(status, 400, text)
    assert.match(text, says)
  }
  const free = await call('POST', '/api/hooks', { as, body: { ...hook, other: { deeper: 'x'.repeat(300_000) } } })
  assert.equal(free.status, 200, free.text)
})

test('a body is measured in time that grows with its size, however long its names are', async () => {
  const schema = { type: 'object', properties: {} }
  const under = (names: number, value: Json): Json =>
    names === 0 ? value : { ['x'.repeat(1000)]: under(names - 1, value) }
  await assertLinear(
    'values below long names',
    (body: string) => boundsFlaw(schema, JSON.parse(body)),
    (length) =>
      JSON.stringify(
        under(
          90,
          Array.from({ length: length / 1000 }, () => Array(999).fill(null)),
        ),
      ),
    500_000,
  )
})
