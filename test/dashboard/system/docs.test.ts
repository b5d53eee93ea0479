import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { startTestDashboard, type TestDashboard } from '../../worlds/dashboard/harness.ts'
import { resolvedDocument } from '../../worlds/dashboard/openapi-document.ts'

interface Told {
  readonly path: string
  readonly method: string
  readonly operation: JsonObject
}

async function operationsOf(call: TestDashboard['call']): Promise<Told[]> {
  const { json } = await call('GET', '/api/openapi.json')
  const { paths } = json as { paths: Record<string, Record<string, JsonObject>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

test('the OpenAPI document tells of every route, once, with every placeholder', async (t) => {
  const { call, dashboard, close } = await startTestDashboard()
  t.after(close)
  const told = await operationsOf(call)
  const shape = (path: string) => path.replace(/\{[^}]*\}/g, '{}')
  const calls = told.flatMap(({ path, method, operation }) =>
    [path, ...(operation['x-svc-alias'] === undefined ? [] : [String(operation['x-svc-alias'])])].map(
      (one) => `${method.toUpperCase()} ${shape(one)}`,
    ),
  )
  assert.deepEqual(calls.sort(), dashboard.routes.map(({ method, path }) => `${method} ${shape(path)}`).sort())
  const patterns = [...new Set(told.map(({ path }) => path))].map(shape)
  assert.equal(new Set(patterns).size, patterns.length, 'no two paths are one to the standard')
  for (const { path, operation } of told) {
    const named = (operation.parameters as { name: string; in: string }[]).filter((one) => one.in === 'path')
    assert.deepEqual(
      named.map(({ name }) => `{${name}}`),
      path.match(/\{[^}]*\}/g) ?? [],
    )
    assert.ok(operation.summary, path)
  }
})

const VERBS =
  /^(?:accept|acquire|allow|approve|authorize|begin|change|check|choose|collect|confirm|continue|create|deactivate|delete|disable|disallow|drop|export|find|finish|follow|get|import|list|log|migrate|open|patch|preview|purge|regenerate|register|release|reload|rename|request|resend|reset|retire|revoke|rotate|save|search|set|sign|store|test|try|undo|unlink|update|verify)(?:[A-Z]|$)/

test('operation ids are a verb and a noun, in words, and unique without regard to letter case', async (t) => {
  const { call, close } = await startTestDashboard()
  t.after(close)
  const ids = (await operationsOf(call)).map(({ operation }) => String(operation.operationId))
  assert.deepEqual(
    ids.filter((id) => !VERBS.test(id) || !/^[a-zA-Z]{3,40}$/.test(id)),
    [],
  )
  assert.equal(new Set(ids.map((id) => id.toLowerCase())).size, ids.length)
})

/** Every schema below a place, with its place. */
function schemasBelow(value: unknown, place: string): [place: string, schema: JsonObject][] {
  if (!isObject(value as Json)) return Array.isArray(value) ? value.flatMap((one) => schemasBelow(one, place)) : []
  return Object.entries(value as JsonObject).flatMap(([name, each]) => [
    ...(isObject(each) ? [[`${place}/${name}`, each] as [string, JsonObject]] : []),
    ...schemasBelow(each, `${place}/${name}`),
  ])
}

test('objects are components, which are used and named by what they are', async (t) => {
  const { call, close } = await startTestDashboard()
  t.after(close)
  const { json } = await call('GET', '/api/openapi.json')
  const { paths, components } = json as { paths: JsonObject; components: { schemas: JsonObject } }
  const inline = [
    ...schemasBelow(paths, ''),
    ...Object.entries(components.schemas).flatMap(([name, schema]) => schemasBelow(schema, name)),
  ].filter(([place, schema]) => isObject(schema.properties) && !place.endsWith('/properties'))
  assert.deepEqual(
    inline.map(([place]) => place),
    [],
  )
  const names = Object.keys(components.schemas)
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length)
  const text = JSON.stringify(json)
  assert.deepEqual(
    names.filter((name) => !text.includes(`"#/components/schemas/${name}"`)),
    [],
  )
})

test('a component that several calls use has a name of its own, and no two have one', async (t) => {
  const { call, close } = await startTestDashboard()
  t.after(close)
  const { json } = await call('GET', '/api/openapi.json')
  const { components } = json as { components: { schemas: JsonObject } }
  const users = new Map<string, Set<string>>()
  const note = (value: unknown, id: string): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const known = users.get(name) ?? new Set()
      if (known.has(id)) continue
      users.set(name, known.add(id))
      note(components.schemas[name], id)
    }
  }
  const ids = (await operationsOf(call)).map(({ operation }) => {
    note(operation, String(operation.operationId))
    return String(operation.operationId)
  })
  const ofPlace = new RegExp(`^(?:${ids.join('|')})(?:Body|Result|Refusal|Query)`, 'i')
  const shared = [...users].filter(([name, some]) => some.size > 1 && ofPlace.test(name))
  assert.deepEqual(
    shared.map(([name]) => name),
    [],
    'give the shape a title',
  )
  assert.deepEqual(
    [...users.keys()].filter((name) => /\d$/.test(name)),
    [],
    'two shapes have one title',
  )
  // Generators of Go make a function of this name for a component without it.
  assert.deepEqual(
    [...users.keys()].filter((name) => /^New[A-Z]/.test(name)),
    [],
  )
})

test('no keyword of the OpenAPI document is one that 3.0 does not have', async (t) => {
  const { call, close } = await startTestDashboard()
  t.after(close)
  const { json } = await call('GET', '/api/openapi.json')
  const { paths, components } = json as { paths: JsonObject; components: { schemas: JsonObject } }
  const foreign = [
    ...schemasBelow(paths, ''),
    ...Object.entries(components.schemas).flatMap(([name, schema]) => schemasBelow({ schema }, name)),
  ].filter(([place, schema]) => {
    if (place.endsWith('/properties')) return false
    if (schema.$ref !== undefined) return Object.keys(schema).length > 1
    const types = [schema.type].flat()
    return (
      types.length > 1 ||
      types[0] === 'null' ||
      ['const', 'patternProperties', 'examples'].some((name) => name in schema)
    )
  })
  assert.deepEqual(
    foreign.map(([place]) => place),
    [],
  )
  assert.ok(!JSON.stringify(json).includes('"*/*"'))
})

test('what the OpenAPI document calls deprecated names a call of the document that is not', async (t) => {
  const { call, dashboard, close } = await startTestDashboard()
  t.after(close)
  const paths = ((await call('GET', '/api/openapi.json')).json as { paths: Record<string, Record<string, JsonObject>> })
    .paths
  const deprecated: string[] = []
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { deprecated: isMarked, summary, description }] of Object.entries(methods)) {
      assert.doesNotMatch(String(summary), /deprecated/i, `${method} ${path} says it in its summary alone`)
      if (isMarked !== true) continue
      deprecated.push(`${method.toUpperCase()} ${path}`)
      const [, other, instead] = /Use `([A-Z]+) (\S+)` instead\.$/.exec(String(description)) ?? []
      const named = paths[instead!]?.[other!.toLowerCase()]
      assert.ok(named !== undefined && named.deprecated !== true, `${method} ${path}: ${description}`)
    }
  const marked = dashboard.routes.filter((route) => route.deprecated !== undefined && route.aliasOf === undefined)
  assert.equal(deprecated.length, marked.length)
  // Spellings with private words.
  for (const old of [
    'GET /api/system/standings',
    'GET /api/login/doors',
    'PUT /api/moves/turn',
    'DELETE /api/moves/turn',
  ])
    assert.ok(deprecated.includes(old), old)
})

test('every schema in the OpenAPI document is one', async (t) => {
  const { call, close } = await startTestDashboard()
  t.after(close)
  const { json } = await call('GET', '/api/openapi.json')
  const ajv = new Ajv2020({ strict: false })
  const { paths, components } = resolvedDocument(json as JsonObject) as { paths: JsonObject; components: JsonObject }
  const schemas = [
    ...schemasBelow(paths, '').filter(([place]) => place.endsWith('/schema')),
    ...Object.entries(components.schemas as JsonObject),
  ]
  assert.ok(schemas.length > 500)
  for (const [place, schema] of schemas) assert.ok(ajv.validateSchema(schema as object), place)
})

test('the page comes from here alone', async (t) => {
  const { call, port, close } = await startTestDashboard()
  t.after(close)
  const page = await call('GET', '/api/docs')
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'; script-src 'self'/)
  assert.doesNotMatch(page.text, /https?:\/\//)
  assert.doesNotMatch(page.text, /<script>/)
  const plain = await call('GET', '/api/docs/reader.js')
  assert.ok(plain.text.length > 1_000_000)
  assert.match(plain.text, /createApiReference/)
  const response = await fetch(`http://127.0.0.1:${port}/api/docs/reader.js`)
  assert.equal(response.headers.get('content-encoding'), 'gzip')
  assert.equal(await response.text(), plain.text)
})
