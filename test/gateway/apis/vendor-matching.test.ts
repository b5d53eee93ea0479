import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { spread } from '../../worlds/base/spread.ts'
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

/** Expressions as authors write them, and requests: below the listen path, or with it, an engine of its own says whether they match. */
const EXPRESSIONS = [
  ...['/users/\\d+$', '/colou?r', '^/start', '/x/{1}/y', '/v\\.1', '/(a|b)?c$', '/w/\\w+/end', '/n/{id}/{2}$'],
  ...['bare/[a-c]$', 'z/a*$', '/o/a+', 'any/[^bar]$', '^/m/low', '^/p[^/]*$', 'one/.$', '^/?$'],
  ...['(?i)/COLOR$', '(?i)^/M/Low', '(?i)BARE/[A]', '(?s)/w/.*end'],
]
const REQUESTS = [
  ...['/users/12', '/users/12/x', '/users/x', '/color', '/colour', '/colr', '/start', '/start/x', '/x/start'],
  ...['/x/7/y', '/x/y', '/x/7/8/y', '/v.1', '/vx1', '/c', '/bc', '/dc', '/w/ab/end', '/w/a-b/end', '/n/1/2', '/n/1'],
  ...[
    '/bare/a',
    '/bare/d',
    '/z/',
    '/z/aa',
    '/z/b',
    '/o/a',
    '/o/b',
    '/any/f',
    '/any/b',
    '/low',
    '/m/low',
    '/pq',
    '/pq/r',
  ],
  ...['/one/x', '/one/xy', '/'],
]
const matches = (expression: string, path: string) => {
  const [, flags, bare = ''] = /^(?:\(\?([is])\))?(.*)$/.exec(expression)!
  const rooted = flags !== undefined || /^[/^]/.test(bare) ? bare : `/${bare}`
  const plain = new RegExp(rooted.replace(/\/\{[^}]+\}/g, '/[^/]+'), flags)
  return plain.test(path) || plain.test(`/m${path}`)
}

test('paths of lists are expressions, in block lists and in replies', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  let met = 0
  for (const path of EXPRESSIONS) {
    const reply = { GET: { action: 'reply', code: 200, data: `by ${path}`, headers: {} } }
    const lists: [JsonObject, number, string][] = [
      [{ black_list: [{ path, method: 'GET' }] }, 403, ''],
      [{ ignored: [{ path, method_actions: reply }] }, 200, `by ${path}`],
    ]
    for (const [list, status, body] of lists) {
      const saved = await gateway.svc('POST', '/inc/apis', listed(origin.url, list))
      assert.equal(saved.status, 200, saved.text)
      for (const asked of REQUESTS) {
        const answer = await gateway.call(`/m${asked}`)
        const isMet = body === '' ? answer.status === status : answer.text === body
        assert.equal(isMet, matches(path, asked), `${path} ${asked} ${answer.status}`)
        met += Number(isMet)
      }
    }
  }
  assert.ok(met > 2 * EXPRESSIONS.length, `${met}`)
})

/** Settings of the gateway before, by the matching that means the same. */
const ANCHORS = {
  contains: [false, false],
  begins: [true, false],
  ends: [false, true],
  whole: [true, true],
} as const
const ANCHORED = ['/get', 'get', '/get$', '^/get', '/a/*', '/a/*?', '/i/{id}', '/i/{id}/', '/p|/q', '', '/', '/m/get']
const BELOW = ['/get', '/get/x', '/x/get', '/getter', '/a', '/ax', '/a/', '/a/b', '/i/1', '/i/1/2', '/z/i/1', '/i/1/']
/** As the gateway before writes its expressions: placeholders and stars first, then what its settings add. */
function holds(path: string, [prefix, suffix]: readonly [boolean, boolean], asked: string): boolean {
  const plain = path.replace(/\{[^}]+\}/g, '([^/]+)').replaceAll('/*', '/.*')
  const text = (prefix && plain.startsWith('/') ? '^' : '') + plain + (suffix && !plain.endsWith('$') ? '$' : '')
  return [asked, `/m${asked}`].some((each) => new RegExp(text).test(each))
}

test('the setting says where rules of definitions of a vendor hold', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  for (const [turn, [matching, anchors]] of Object.entries(ANCHORS).entries()) {
    const env = { SVC_COMPAT_VENDORALIASES: 'inc', SVC_COMPAT_PATHMATCHING: matching }
    const gateway = await startTestGateway({ env })
    t.after(() => gateway.close())
    for (const path of spread(ANCHORED, turn, 4)) {
      const saved = await gateway.svc(
        'POST',
        '/inc/apis',
        listed(origin.url, { black_list: [{ path, method: 'GET' }] }),
      )
      assert.equal(saved.status, 200, saved.text)
      assert.match(saved.text, new RegExp(`is now \\\\"${matching}\\\\"`))
      const { path_matching: stored } = (await gateway.svc('GET', '/svc/apis/m')).json as JsonObject
      assert.equal(stored, matching)
      for (const asked of [...BELOW, '/q', '/p/q', '/']) {
        const { status } = await gateway.call(`/m${asked}`)
        assert.equal(status === 403, holds(path, anchors, asked), `${matching} ${path} ${asked} ${status}`)
      }
      // A program that does not know the member leaves it out.
      assert.equal((await gateway.svc('PUT', '/inc/apis/m', listed(origin.url, BLOCKED))).status, 200)
      assert.equal(((await gateway.svc('GET', '/svc/apis/m')).json as JsonObject).path_matching, matching)
      assert.equal((await gateway.svc('DELETE', '/svc/apis/m')).status, 200)
    }
    const document = {
      openapi: '3.0.3',
      ...{ info: { title: 'm', version: '1' }, paths: { '/i/{id}': { get: { operationId: 'i', responses: {} } } } },
      'x-inc-api-gateway': {
        ...{ info: { id: 'm', name: 'm', state: { active: true } }, upstream: { url: origin.url } },
        server: { listenPath: { value: '/m/', strip: true } },
        middleware: { operations: { i: { block: { enabled: true } } } },
      },
    }
    const saved = await gateway.svc('POST', '/inc/apis/oas', document)
    assert.equal(saved.status, 200, saved.text)
    for (const asked of BELOW) {
      const { status } = await gateway.call(`/m${asked}`)
      assert.equal(status === 403, holds('/i/{id}', anchors, asked), `${matching} OpenAPI ${asked} ${status}`)
    }
  }
})

test('a limit of an expression that matches with and without the listen path counts once', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const rate_limit = [{ path: '^/.*', method: 'GET', rate: 2, per: 60 }]
  assert.equal((await gateway.svc('POST', '/inc/apis', listed(origin.url, { rate_limit }))).status, 200)
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) statuses.push((await gateway.call('/m/x')).status)
  assert.deepEqual(statuses, [200, 200, 429])
})

test('a file of a vendor matches as there where its word is an alias', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const folder = mkdtempSync(join(tmpdir(), 'matching-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'm.json'), JSON.stringify(listed(origin.url, BLOCKED)))
  for (const [word, status] of [
    ['inc', 403],
    ['', 200],
  ] as const) {
    const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: word, SVC_GW_APPPATH: folder } })
    t.after(() => gateway.close())
    assert.deepEqual(
      [(await gateway.call('/m/admin')).status, (await gateway.call('/m/x/admin/y')).status],
      [403, status],
    )
  }
})

test('an OpenAPI definition of a vendor with rules is told how they match when it is new', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const document = (id: string, word: string, operations: JsonObject, server: JsonObject = {}) => ({
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: { '/a': { get: { operationId: 'a', responses: {} } } },
    [`x-${word}-api-gateway`]: {
      info: { id, name: id, state: { active: true } },
      upstream: { url: 'http://127.0.0.1:1/' },
      server: { listenPath: { value: `/${id}/` }, ...server },
      middleware: { operations },
    },
  })
  const told = async (path: string, body: JsonObject) => {
    const { status, text } = await gateway.svc('POST', path, body)
    assert.equal(status, 200, text)
    return /x-inc-api-gateway\.server\.pathMatching.*is now \\"contains\\"/.test(text)
  }
  const blocked = { a: { block: { enabled: true } } }
  const cases: readonly (readonly [
    path: string,
    word: string,
    operations: JsonObject,
    server: JsonObject,
    isReported: boolean,
  ])[] = [
    ['/inc/apis/oas', 'inc', blocked, {}, true],
    ['/inc/apis/oas', 'inc', {}, {}, false],
    ['/inc/apis/oas', 'inc', blocked, { pathMatching: 'contains' }, false],
    ['/inc/apis/oas', 'inc', blocked, { pathMatching: 'openapi' }, false],
    ['/svc/apis/oas', 'svc', blocked, {}, false],
  ]
  for (const [number, [path, word, operations, server, isReported]] of cases.entries())
    assert.equal(await told(path, document(`w${number}`, word, operations, server)), isReported, String(number))
  assert.equal(await told('/inc/apis/oas', document('w0', 'inc', blocked)), false, 'it was told before')
})
