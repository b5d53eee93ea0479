import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const CACHE = { enabled: true, timeout: 60, cacheAllSafeRequests: true }
const ORIGINS = { cors: { enabled: true, allowedOrigins: ['https://front.example'] } }
/** Few names, so that the edits of an API and its operations meet; the last one is the gateway's alone where CORS is on. */
const NAMES = ['X-One', 'X-Two', 'Access-Control-Allow-Origin']

interface Edit {
  readonly add: readonly { readonly name: string; readonly value: string }[]
  readonly remove: readonly string[]
}

const name = fc.constantFrom(...NAMES)
const edit: fc.Arbitrary<Edit> = fc.record({
  add: fc.uniqueArray(fc.record({ name, value: fc.constantFrom('a', 'b', 'https://a.example') }), {
    maxLength: 2,
    selector: ({ name }) => name,
  }),
  remove: fc.uniqueArray(name, { maxLength: 1 }),
})
const spelled = (name: string) => fc.constantFrom(name, name.toLowerCase(), name.toUpperCase())
const edited = fc.record({ ofApi: edit, ofOperation: edit }).chain(({ ofApi, ofOperation }) =>
  fc.record({
    ofApi: fc.constant(ofApi),
    ofOperation: fc.record({
      add: fc.tuple(...ofOperation.add.map(({ name, value }) => spelled(name).map((name) => ({ name, value })))),
      remove: fc.tuple(...ofOperation.remove.map(spelled)),
    }),
  }),
)
const enabled = ({ add, remove }: Edit): JsonObject => ({
  enabled: true,
  add: add.map((each) => ({ ...each })),
  remove: [...remove],
})
const fields = fc.dictionary(name, fc.constantFrom('sent', 'also sent'), { maxKeys: 3, noNullPrototype: true })

/** The fields after edits, one after another: removed ones disappear, and set ones replace the previous ones. */
function after(before: Readonly<Record<string, string>>, ...edits: readonly Edit[]): Record<string, string> {
  const now = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]))
  for (const { add, remove } of edits) {
    for (const name of remove) now.delete(name.toLowerCase())
    for (const { name, value } of add) now.set(name.toLowerCase(), value)
  }
  return Object.fromEntries(now)
}

/** Those of the names above. */
function known(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    NAMES.map((name) => name.toLowerCase()).flatMap((name) => (name in headers ? [[name, headers[name]]] : [])),
  )
}

test('edits of an operation follow those of its API for requests, and precede for answers', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  let answered: Record<string, string> = {}
  origin.script = (_, response) => response.writeHead(200, answered).end()
  let run = 0
  await fc.assert(
    fc.asyncProperty(edited, edited, fields, fields, fc.boolean(), async (request, answer, asked, said, cors) => {
      const id = `edits${run++}`
      const transform = (requestEdit: Edit, answerEdit: Edit): JsonObject => ({
        transformRequestHeaders: enabled(requestEdit),
        transformResponseHeaders: enabled(answerEdit),
      })
      await publish(id, CACHE, {
        global: { ...transform(request.ofApi, answer.ofApi), ...(cors && ORIGINS) },
        paths: { '/op': { get: { operationId: 'op', responses: { 200: { description: 'ok' } } } } },
        operations: { op: transform(request.ofOperation, answer.ofOperation) },
      })
      answered = said
      for (const stored of [undefined, '1']) {
        const { headers } = await gateway.call(`/${id}/op`, { headers: asked })
        assert.equal(headers['x-svc-cached-response'], stored)
        const expected = after(said, answer.ofOperation, answer.ofApi)
        if (cors) delete expected['access-control-allow-origin']
        assert.deepEqual(known(headers), expected, stored === undefined ? 'fresh' : 'stored')
      }
      assert.deepEqual(known(origin.seen.at(-1)!.headers), after(asked, request.ofApi, request.ofOperation))
    }),
    { numRuns: DEEP ? 1000 : 60 },
  )
})
