import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

test('the schemas of definitions are served by path and by name', async (t) => {
  const { admin: newAdmin, call, close } = await startTestDashboard()
  t.after(close)
  const admin = await newAdmin()
  const get = async (path: string) => bodyOf(await call('GET', path, { as: admin }))
  const classic = await get('/api/schemas/apidefs')
  assert.ok('proxy' in (classic.properties as JsonObject))
  assert.deepEqual(await get('/api/schema?schema_path=apidefs'), classic)
  const oas = await get('/api/schemas/apidefs/oas')
  assert.deepEqual((oas.allOf as JsonObject[])[1]!.required, ['x-svc-api-gateway'])
  assert.deepEqual(await get('/api/schema?schema_path=/apidefs/oas'), oas)
  const unknown = await call('GET', '/api/schema?schema_path=__proto__', { as: admin })
  assert.deepEqual([unknown.status, bodyOf(unknown).Message], [404, 'Schema not found'])
})

test('an OpenAPI API tells where it answers', async (t) => {
  const { admin: newAdmin, call, close } = await startTestDashboard({ env: { SVC_GW_LISTENPORT: '8181' } })
  t.after(close)
  const admin = await newAdmin()
  await call('POST', '/api/apis/oas', { as: admin, body: oasApi('pets', '/pets/') })
  const urls = async (host: string) =>
    bodyOf(await call('GET', '/api/apis/oas/pets/urls', { as: admin, headers: { host } })).urls
  assert.deepEqual(await urls('gate.example.org:3000'), ['http://gate.example.org:8181/pets/'])
  assert.deepEqual(await urls('a/b@c'), ['http://localhost:8181/pets/'])
})
