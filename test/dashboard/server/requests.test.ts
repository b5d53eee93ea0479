import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type ActorKind, EXPECTED } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { resolvedDocument } from '../../worlds/dashboard/openapi-document.ts'
import { fitting, NASTY } from '../../worlds/dashboard/schema-arbitrary.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const RUNS = DEEP ? 12_000 : 2000
const RESTORE_EVERY = 40

const CALLERS: readonly ActorKind[] = [
  'admin',
  'admin',
  'write',
  'owner',
  'nobody',
  'admin of another organisation',
  'unbounded writer',
  'installation',
]

interface Operation {
  readonly method: string
  readonly path: string
  readonly query: readonly { name: string; schema: JsonObject }[]
  readonly body: JsonObject | undefined
  readonly bodyType: string
}

interface Generated {
  readonly operation: Operation
  readonly kind: ActorKind
  readonly params: readonly string[]
  readonly query: readonly (readonly [string, unknown])[]
  readonly body: unknown
}

async function operationsOf(world: World): Promise<Operation[]> {
  const { json } = await world.call('GET', '/api/openapi.json')
  const { paths } = resolvedDocument(json as JsonObject) as { paths: Record<string, Record<string, JsonObject>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => {
      const content = (requestBody as { content?: Record<string, { schema: JsonObject }> } | undefined)?.content ?? {}
      const [bodyType = 'application/json', body] = Object.entries(content)[0] ?? []
      const query = (parameters as { in: string; name: string; schema: JsonObject }[]).filter(
        (one) => one.in === 'query',
      )
      return { method: method.toUpperCase(), path, query, body: body?.schema, bodyType }
    }),
  )
}

/** A request that the document allows, or nearly. Placeholders name what is there more often than not. */
function requests(world: World, operations: readonly Operation[]): fc.Arbitrary<Generated> {
  const junk = [...Object.values(world.open), ...NASTY.filter((text) => text !== '')]
  const params = ({ method, path }: Operation) => {
    const names = EXPECTED.get(callOf({ method: method as Route['method'], path }))?.names ?? []
    const placeholders = path.match(/\{[^}]*\}/g) ?? []
    return fc.tuple(
      ...placeholders.map((_placeholder, i) => {
        const thing = names[i] ?? 'none'
        return fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(world.open[thing], world.owned[thing]) },
          fc.constantFrom(...junk),
        )
      }),
    )
  }
  return fc.constantFrom(...operations).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      kind: fc.constantFrom(...CALLERS),
      params: params(operation),
      query: fc
        .subarray([...operation.query])
        .chain((some) =>
          fc.tuple(...some.map(({ name, schema }) => fitting(schema).map((value) => [name, value] as const))),
        ),
      body: operation.body === undefined ? fc.constantFrom(undefined, {}) : fitting(operation.body),
    }),
  )
}

type Caller = Awaited<ReturnType<World['actor']>>

async function send(world: World, as: Caller, { operation, params, query, body }: Generated) {
  let number = 0
  const path = operation.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(params[number++]!))
  const words = query.map(([name, value]) => `${name}=${encodeURIComponent(textOf(value))}`)
  const search = endingOf(operation) ?? words.join('&')
  const sent = operation.method === 'GET' ? undefined : bodyOf(operation, body)
  const headers = { 'content-type': operation.bodyType }
  return world.call(operation.method, search === '' ? path : `${path}?${search}`, {
    as,
    body: sent,
    headers,
    isRandom: true,
  })
}

/** A stream would run for as long as its query says: it gets the one that ends at once. */
function endingOf({ method, path }: Operation): string | undefined {
  return EXPECTED.get(callOf({ method: method as Route['method'], path }))?.query?.slice(1)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()

function bodyOf({ bodyType }: Operation, body: unknown): unknown {
  if (bodyType === 'application/json' || typeof body !== 'object' || body === null) return body
  const pairs = Object.entries(body).map(([name, value]): [string, string] => [name, textOf(value ?? '')])
  return new URLSearchParams(pairs).toString()
}

test('any input within the document gets the declared form, and a refusal changes nothing', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const operations = await operationsOf(world)
  const statuses = new Map<number, number>()
  let run = 0
  await fc.assert(
    fc.asyncProperty(requests(world, operations), async (generated) => {
      if (++run % RESTORE_EVERY === 0) await world.restore()
      const as = await world.actor(generated.kind, { who: 'apis', names: [] })
      const before = await world.store.documents.revision()
      const { status, text } = await send(world, as, generated)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status < 400) return
      const after = await world.store.documents.revision()
      assert.equal(after, before, `${generated.operation.method} ${generated.operation.path} ${status} ${text}`)
    }),
    { numRuns: RUNS, endOnFailure: !DEEP },
  )
  t.diagnostic(
    `statuses: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map((pair) => pair.join(' x '))
      .join(', ')}`,
  )
  assert.ok((statuses.get(200) ?? 0) > RUNS / 20, 'enough of them get through')
})
