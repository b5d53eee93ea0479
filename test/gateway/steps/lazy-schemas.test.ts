import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const COUNT = 150
const ref = (index: number): JsonObject => ({ $ref: `#/components/schemas/S${index % COUNT}` })

/** An API whose only operation is checked against schemas that lead to each other, in each version by another rule. */
function checkedApi(url: string, needs: string): JsonObject {
  const definition = defined({
    ...{ id: 'lazy', url },
    paths: {
      '/x': {
        post: {
          operationId: 'x',
          requestBody: { content: { 'application/json': { schema: ref(0) } } },
          responses: { 200: { description: '' } },
        },
      },
    },
    operations: { x: { validateRequest: { enabled: true } } },
  })
  const schemas = Array.from({ length: COUNT }, (_, index) => [
    `S${index}`,
    { type: 'object', required: [needs, 'z'], properties: { a: ref(index + 1), b: ref(index * 7 + 3) } },
  ])
  return { ...definition, components: { schemas: Object.fromEntries(schemas) } }
}

test('first requests wait together for the schemas, get every flaw, and edits are seen whole', async (t) => {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(async () => {
    await gateway.close()
    await origin.close()
  })
  const ask = async (body: JsonObject) => {
    const headers = { 'content-type': 'application/json' }
    const { status, text } = await gateway.call('/lazy/x', { method: 'POST', headers, body: JSON.stringify(body) })
    if (status === 200) return []
    assert.equal(status, 422, text)
    return (JSON.parse(text) as { faults: { at: string }[] }).faults.map(({ at }) => at).sort()
  }
  const nested = (inner: JsonObject): JsonObject => ({ y: 1, z: 1, a: { y: 1, z: 1, b: inner } })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', checkedApi(origin.url, 'y'))).status, 200)
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => ask(nested(index % 2 === 0 ? {} : { y: 1, z: 1 }))),
  )
  assert.deepEqual(
    answers,
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? ['body/a/b/y', 'body/a/b/z'] : [])),
  )
  // Each edit brings schemas that are not compiled yet.
  for (const needs of ['q', 'r', 's']) {
    const saved = gateway.svc('PUT', '/svc/apis/oas/lazy', checkedApi(origin.url, needs))
    const during = await Promise.all(Array.from({ length: 20 }, () => ask({ z: 1 })))
    assert.equal((await saved).status, 200)
    for (const flaws of during) assert.equal(flaws.length, 1, flaws.join())
    assert.deepEqual(await ask({}), [`body/${needs}`, 'body/z'])
    assert.deepEqual(await ask({ [needs]: 1, z: 1 }), [])
  }
})

test('a schema of which a part cannot be compiled is warned of, and the rest of it checked', async (t) => {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(async () => {
    await gateway.close()
    await origin.close()
  })
  const definition = checkedApi(origin.url, 'y')
  const lists = ['not', 'if', 'then', 'contains', 'propertyNames', 'additionalProperties', 'unevaluatedProperties']
  const schema = { type: 'object', required: ['z'], ...Object.fromEntries(lists.map((name) => [name, []])) }
  const saved = await gateway.svc('POST', '/svc/apis/oas', { ...definition, components: { schemas: { S0: schema } } })
  assert.equal(saved.status, 200, saved.text)
  for (const name of lists) assert.match(saved.text, new RegExp(`S0\\.${name}\\b`))
  const headers = { 'content-type': 'application/json' }
  const ask = (body: string) => gateway.call('/lazy/x', { method: 'POST', headers, body })
  assert.deepEqual([(await ask('{"z":1}')).status, (await ask('{}')).status], [200, 422])
})

test('the answer to a body with long names says where it is wrong in few words', async (t) => {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(async () => {
    await gateway.close()
    await origin.close()
  })
  const within = { type: 'object', additionalProperties: { type: 'object', additionalProperties: false } }
  const made = { ...checkedApi(origin.url, 'y'), components: { schemas: { S0: within } } }
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', made)).status, 200)
  const flaws = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, 1]))
  const body = JSON.stringify({ ['n'.repeat(500_000)]: flaws })
  const headers = { 'content-type': 'application/json' }
  const { status, text } = await gateway.call('/lazy/x', { method: 'POST', headers, body })
  assert.equal(status, 422)
  assert.ok(text.length < 50_000, `${text.length}`)
})
