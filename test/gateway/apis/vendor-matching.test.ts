import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const listed = (url: string, extended_paths: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ api_id: 'm', name: 'm', active: true, use_keyless: true, ...more },
  proxy: { listen_path: '/m/', target_url: url, strip_listen_path: true },
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
})
const BLOCKED = { black_list: [{ path: '/admin', method: 'GET' }] }

test('classic lists of a vendor match as there, and the answer says so', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const save = async (method: string, word: string, definition: JsonObject) => {
    const path = method === 'POST' ? `/${word}/apis` : `/${word}/apis/m`
    const { status, text, json } = await gateway.svc(method, path, definition)
    assert.equal(status, 200, text)
    return ((json as JsonObject).warnings ?? []) as { path: string; message: string }[]
  }
  const statuses = async (...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await gateway.call(`/m${path}`)).status))
  const paths = ['/admin', '/admin/x', '/x/admin', '/administrator', '/x']

  const [warning] = await save('POST', 'inc', listed(origin.url, BLOCKED))
  assert.equal(warning?.path, 'path_matching')
  assert.match(warning.message, /contains/)
  assert.deepEqual(await statuses(...paths), [403, 403, 403, 403, 200])
  // A program that does not know the member leaves it out.
  await save('PUT', 'inc', listed(origin.url, BLOCKED))
  assert.deepEqual(await statuses(...paths), [403, 403, 403, 403, 200])
  assert.equal(((await gateway.svc('GET', '/inc/apis/m')).json as JsonObject).path_matching, 'contains')
  await gateway.svc('DELETE', '/svc/apis/m')

  // Expressions are what such paths are.
  await save('POST', 'inc', listed(origin.url, { black_list: [{ path: '/a(dmin|ccess)/[0-9]+$', method: 'GET' }] }))
  assert.deepEqual(await statuses('/access/12', '/access/12/x', '/access/x'), [403, 200, 200])
  await gateway.svc('DELETE', '/svc/apis/m')

  // Said otherwise, or said here, lists name whole paths.
  assert.deepEqual(await save('POST', 'inc', listed(origin.url, BLOCKED, { path_matching: 'exact' })), [])
  assert.deepEqual(await statuses(...paths), [403, 200, 200, 200, 200])
  await gateway.svc('DELETE', '/svc/apis/m')
  assert.deepEqual(await save('POST', 'svc', listed(origin.url, BLOCKED)), [])
  await save('PUT', 'inc', listed(origin.url, BLOCKED))
  assert.deepEqual(await statuses(...paths), [403, 200, 200, 200, 200])
  await gateway.svc('DELETE', '/svc/apis/m')
  assert.deepEqual(await save('POST', 'inc', listed(origin.url, {})), [])
})
