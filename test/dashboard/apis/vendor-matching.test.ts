import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const EXTENDED = { black_list: [{ path: '/users/\\d+$', method: 'GET' }] }
const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: EXTENDED } }
const listed = (id: string, more: JsonObject = {}) =>
  classicApi(id, `/${id}/`, { version_data: { not_versioned: true, versions }, ...more })

test('a classic definition that is sent to the dashboard matches as where its alias comes from', async (t) => {
  const world = await startTestDashboard({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => world.close())
  const as = await world.admin()
  const save = async (method: string, path: string, body: JsonObject) => {
    const answer = await world.call(method, path, { as, body })
    assert.equal(answer.status, 200, answer.text)
    return ((bodyOf(answer).Warnings ?? []) as JsonObject[]).map((warning) => warning.path)
  }
  const matching = async (id: string) => {
    const { api_definition: definition } = bodyOf(await world.call('GET', `/api/apis/${id}`, { as }))
    return (definition as JsonObject).path_matching
  }
  // Wrapped and bare, as programs send it.
  assert.deepEqual(await save('POST', '/api/apis', { api_definition: listed('a') }), ['path_matching'])
  assert.deepEqual(await save('POST', '/api/apis', listed('b', { path_matching: '' })), ['path_matching'])
  assert.deepEqual([await matching('a'), await matching('b')], ['contains', 'contains'])
  // A program that does not know the member leaves it out.
  await save('PUT', '/api/apis/a', { api_definition: listed('a') })
  assert.equal(await matching('a'), 'contains')
  const plain = { black_list: [{ path: '/users', method: 'GET' }] }
  const other = { Default: { name: 'Default', use_extended_paths: true, extended_paths: plain } }
  const exact = listed('c', { path_matching: 'exact', version_data: { not_versioned: true, versions: other } })
  assert.deepEqual(await save('POST', '/api/apis', { api_definition: exact }), [])
  const { path_matching: _said, ...unsaid } = exact
  await save('PUT', '/api/apis/c', { api_definition: unsaid })
  // Written out where a vendor's word is asked for, and no change when it comes back.
  assert.equal(await matching('c'), 'exact')
})

test('without an alias a classic definition keeps matching whole paths', async (t) => {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const as = await world.admin()
  const refused = await world.call('POST', '/api/apis', { as, body: { api_definition: listed('a') } })
  assert.match(`${refused.status} ${refused.text}`, /^400 .*regular expressions as paths, where path_matching is/)
})
