import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const ACTION = { action: 'no_action', code: 200, data: '', headers: {} }
/** Entries of `/a`, and for GET and POST of it what each list answers: it holds (true), or it does not. */
const ENTRIES: readonly (readonly [entry: JsonObject, get: boolean, post: boolean])[] = [
  [{ method_actions: {} }, false, false],
  [{ method: 'GET', method_actions: {} }, false, false],
  [{ method: 'get' }, false, false],
  [{ method: 'get', method_actions: {} }, false, false],
  [{ method_actions: { get: ACTION } }, false, false],
  [{ method_actions: { GET: ACTION } }, true, false],
  [{ method: 'POST', method_actions: { GET: ACTION } }, true, false],
  [{ method: 'GET', method_actions: null }, true, false],
  [{ method: 'GET' }, true, false],
  [{}, true, true],
  [{ method: '' }, true, true],
  [{ method: '', method_actions: null }, true, true],
]
const LISTS = ['white_list', 'black_list', 'ignored'] as const
/** Where nobody names a method, the list that opens paths holds for none. */
const opensAll = (list: string, get: boolean, post: boolean) => list === 'ignored' && get && post
const statusOf = (list: string, holds: boolean) =>
  list === 'ignored' ? (holds ? 200 : 401) : (list === 'white_list') === holds ? 200 : 403

const definition = (id: string, list: string, entry: JsonObject, url: string): JsonObject => ({
  ...{ api_id: id, name: id, active: true },
  ...(list === 'ignored' ? { use_standard_auth: true } : { use_keyless: true }),
  proxy: { listen_path: `/${id}/`, target_url: url, strip_listen_path: true },
  version_data: {
    not_versioned: true,
    versions: {
      Default: { name: 'Default', use_extended_paths: true, extended_paths: { [list]: [{ path: '/a', ...entry }] } },
    },
  },
})

test('entries of lists speak of the methods that they name, whatever the way in', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const folder = mkdtempSync(join(tmpdir(), 'lists-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const cases = LISTS.flatMap((list, kind) => ENTRIES.map((entry, at) => ({ list, entry, id: `z${kind}-${at}` })))
  for (const { list, entry, id } of cases)
    writeFileSync(join(folder, `f${id}.json`), JSON.stringify(definition(`f${id}`, list, entry[0], origin.url)))
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc', SVC_GW_APPPATH: folder } })
  t.after(() => gateway.close())
  for (const { list, entry, id } of cases) {
    for (const [way, word] of [
      ['v', 'inc'],
      ['s', 'svc'],
    ] as const) {
      const saved = await gateway.svc('POST', `/${word}/apis`, definition(`${way}${id}`, list, entry[0], origin.url))
      assert.equal(saved.status, 200, saved.text)
      const isWarned = saved.text.includes(`extended_paths.${list}[0]`)
      const [, get, post] = entry
      assert.equal(isWarned, get === post, `${list} ${JSON.stringify(entry[0])}: ${saved.text}`)
    }
    for (const way of ['v', 's', 'f'])
      for (const [method, named] of [
        ['GET', entry[1]],
        ['POST', entry[2]],
      ] as const) {
        const { status } = await gateway.call(`/${way}${id}/a`, { method })
        const holds = named && !opensAll(list, entry[1], entry[2])
        assert.equal(status, statusOf(list, holds), `${way} ${list} ${JSON.stringify(entry[0])} ${method}`)
      }
  }
})

test('a mock of a list answers its own path alone, whatever the way in', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const mock = { method: 'GET', code: 203, body: 'mocked', headers: {} }
  for (const word of ['inc', 'svc']) {
    const saved = await gateway.svc('POST', `/${word}/apis`, definition(`k${word}`, 'mock_response', mock, origin.url))
    assert.equal(saved.status, 200, saved.text)
    const statuses = await Promise.all(
      ['/a', '/a/x', '/x/a'].map(async (path) => (await gateway.call(`/k${word}${path}`)).status),
    )
    assert.deepEqual(statuses, [203, 200, 200])
  }
})
