import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

test('the OpenAPI document tells of every route, once, with every placeholder', async (t) => {
  const { call, dashboard, close } = await startTestDashboard()
  t.after(close)
  const { json } = await call('GET', '/api/openapi.json')
  const paths = (json as { paths: Record<string, Record<string, JsonObject>> }).paths
  const told = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  assert.equal(told.length, dashboard.routes.length)
  const ids = told.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique')
  const patterns = Object.keys(paths).map((path) => path.replace(/\{[^}]*\}/g, '{}'))
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
      const [, other, instead] = /^Use `([A-Z]+) (\S+)` instead\.$/.exec(String(description)) ?? []
      const named = paths[instead!]?.[other!.toLowerCase()]
      assert.ok(named !== undefined && named.deprecated !== true, `${method} ${path}: ${description}`)
    }
  assert.equal(deprecated.length, dashboard.routes.filter((route) => route.deprecated !== undefined).length)
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
  let schemas = 0
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'schema' && !('$ref' in (member as object))) {
        schemas++
        assert.ok(ajv.validateSchema(member as object), JSON.stringify(member))
      }
      walk(member)
    }
  }
  walk((json as JsonObject).paths)
  assert.ok(schemas > 0)
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
