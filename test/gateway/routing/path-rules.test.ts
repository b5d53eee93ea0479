import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import {
  BLOCK,
  keyFor,
  named,
  ON,
  OPEN,
  openGateway,
  operationsOf,
  publish,
} from '../../worlds/gateway/operation-rules.ts'

/** Classic lists that say what `operationsOf` says. */
function listsOf(rules: Readonly<Record<string, JsonObject>>): JsonObject {
  const lists: Record<string, JsonObject[]> = {}
  for (const [name, rule] of Object.entries(rules)) {
    const [method, path] = named(name)
    const list = 'block' in rule ? 'black_list' : 'allow' in rule ? 'white_list' : 'ignored'
    lists[list] = [...(lists[list] ?? []), { path, method }]
  }
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } }
  return { version_data: { not_versioned: true, versions } }
}

test('an encoded slash is refused by default, in the words that say how to allow it', async (t) => {
  const [gateway, origin] = await openGateway(t)
  await publish(gateway, defined({ id: 'o', url: origin.url }), classic('c', '/c/', origin.url))
  for (const path of ['/o/a%2fb', '/o/a%5Cb', '/c/a%2Fb', '/c/%2f', '/o%2fa/b']) {
    const answer = await gateway.call(path)
    assert.equal(answer.status, path.startsWith('/o%2f') ? 404 : 400, path)
    if (answer.status === 400) assert.match(answer.text, /%2F, %5C.*allowEncodedSlashes.*allow_encoded_slashes/, path)
  }
  for (const path of ['/o/..%2fc/x', '/o/%252e%252e/c', '/o/x/..%5c..%5cc', '/o/..;/c', '/o/%c0%ae%c0%ae/c']) {
    const answer = await gateway.call(path)
    const reason = path.includes('%c0')
      ? /not UTF-8/
      : /becomes .*once decoded \(refused with allowEncodedSlashes too\)/
    assert.equal(answer.status, 400, path)
    assert.match(answer.text, reason, path)
  }
  assert.deepEqual(origin.seen, [])
  const asked = { method: 'GET', url: '/o/a%2fb' }
  const explained = (await gateway.svc('POST', '/svc/explain', asked)).json as { result: JsonObject }
  assert.equal(explained.result.status, 400)
})

test('where encoded slashes are allowed, every rule sees the path with and without them', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const rules = { 'GET /admin/x': BLOCK, 'GET /pub/{slug}': OPEN, 'GET /pub/a/b': undefined }
  const listed = { 'GET /admin/x': BLOCK, 'GET /pub/{slug}': OPEN }
  const auth = { auth_configs: { authToken: { auth_header_name: 'X-Key' } }, use_keyless: false }
  await publish(
    gateway,
    defined({
      id: 'o',
      url: `${origin.url}/base`,
      keyIn: 'X-Key',
      server: { allowEncodedSlashes: true },
      ...operationsOf(rules),
    }),
    classic('c', '/c/', `${origin.url}/base`, { ...listsOf(listed), ...auth, allow_encoded_slashes: true }),
  )
  for (const api of ['o', 'c']) {
    const key = await keyFor(gateway, api, [{ url: `^/${api}/(?:pub|admin|free)/`, methods: ['GET'] }])
    const headers = { 'X-Key': key }
    const status = async (path: string, keyed = true) =>
      (await gateway.call(`/${api}${path}`, keyed ? { headers } : {})).status
    assert.equal(await status('/admin%2fx'), 403, 'block, rights')
    assert.equal(await status('/admin%5Cx'), 403)
    assert.equal(await status('/pub%2f..%2fadmin/x'), 400, 'dots')
    assert.equal(await status('/pub/y', false), 200, 'open')
    assert.equal(await status('/pub/y%2fz', false), 401, 'open in one reading alone')
    assert.equal(await status('/pub/y%2fz'), 200)
    assert.equal(origin.seen.at(-1)!.target, '/base/pub/y%2fz', 'as it was sent')
    // With the slash decoded it lies outside of what the key may call.
    assert.equal(await status('/free%2fx'), 403)
    assert.equal(await status('/free/x%2fy'), 200)
  }
})

test('rules that do more than let in or out see encoded slashes too', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const drawn = operationsOf({
    'GET /checked/{n}': { validateRequest: ON },
    'GET /mock/x': { mockResponse: { enabled: true, code: 203 } },
    'GET /old/{x}': { urlRewrite: { enabled: true, pattern: '^/old/(.*)$', rewriteTo: '/new/$1' } },
    'POST /small/x': { requestSizeLimit: { enabled: true, value: 4 } },
    'POST /{any}': { requestSizeLimit: { enabled: true, value: 100 } },
    'GET /slow/x': { rateLimit: { enabled: true, rate: 1, per: '60s' } },
    'GET /cached/{x}': { cache: { enabled: true, timeout: 60 } },
    'GET /cached/x/y': undefined,
  })
  const checked = drawn.paths['/checked/{n}'] as { get: JsonObject }
  checked.get.parameters = [{ name: 'n', in: 'path', required: true, schema: { type: 'integer' } }]
  await publish(gateway, defined({ id: 'o', url: origin.url, server: { allowEncodedSlashes: true }, ...drawn }))
  const status = async (path: string, options = {}) => (await gateway.call(`/o${path}`, options)).status
  assert.deepEqual(
    [await status('/checked%2fx'), await status('/checked%5Cx'), await status('/checked%2f7')],
    [422, 422, 200],
  )
  assert.equal(await status('/mock%2fx'), 203)
  assert.equal(await status('/old%2Fa%3Ab'), 200)
  assert.equal(origin.seen.at(-1)!.target, '/new/a:b')
  const post = (body: string) => ({ method: 'POST', body })
  assert.deepEqual([await status('/small%2fx', post('12345')), await status('/small%2fx', post('1'))], [400, 200])
  assert.deepEqual([await status('/slow/x'), await status('/slow%2fx')], [200, 429])
  for (const path of ['/cached/x%2fy', '/cached/x%2fy']) await status(path)
  assert.equal(origin.seen.filter(({ target }) => target === '/cached/x%2fy').length, 2, 'stored in one reading alone')
})

test('an encoded slash does not lead into another API, nor to another version', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const allowing = { allow_encoded_slashes: true }
  await publish(
    gateway,
    classic('root', '/', origin.url, allowing),
    classic('a', '/a/', origin.url, allowing),
    classic('ab', '/a/b/', origin.url, allowing),
    classic('v', '/v/', origin.url, {
      ...allowing,
      definition: { location: 'url', key: '' },
      version_data: {
        not_versioned: false,
        default_version: 'one',
        versions: { one: { name: 'one' }, two: { name: 'two' } },
      },
    }),
  )
  for (const path of ['/a%2fx', '/a%2fb/x', '/a/b%2fx', '/a%5cb%2fx', '/v/two%2fx', '/v/one%2ftwo']) {
    assert.equal((await gateway.call(path)).status, 400, path)
  }
  assert.deepEqual(origin.seen, [])
  for (const path of ['/x%2fy', '/a/x%2fb', '/a/b/x%2fy', '/v/two/x%2fy'])
    assert.equal((await gateway.call(path)).status, 200, path)
})

test('both switches are converted both ways, and served the same', () => {
  const lists = listsOf({ 'GET /a': BLOCK })
  for (const [more, server] of [
    [{ ...lists }, { pathMatching: 'exact' }],
    [
      { ...lists, path_matching: 'contains', allow_encoded_slashes: true },
      { pathMatching: 'contains', allowEncodedSlashes: true },
    ],
    [{ ...lists, path_matching: 'openapi' }, {}],
    [{ path_matching: 'prefix' }, { pathMatching: 'prefix' }],
    [{}, {}],
  ] as const) {
    const definition = classic('c', '/c/', 'http://up.test', more)
    const { document, lost } = toOas(definition)
    assert.deepEqual(lost, [])
    const made = (document['x-svc-api-gateway'] as { server: JsonObject }).server
    assert.deepEqual(
      { pathMatching: made.pathMatching, allowEncodedSlashes: made.allowEncodedSlashes },
      {
        pathMatching: undefined,
        allowEncodedSlashes: undefined,
        ...server,
      },
    )
    assert.deepEqual(toClassic(document).definition, definition)
  }
  const document = defined({
    id: 'o',
    url: 'http://up.test',
    server: { allowEncodedSlashes: true },
    ...operationsOf({ 'GET /a': BLOCK }),
  })
  const there = toClassic(document)
  assert.deepEqual([there.definition.path_matching, there.definition.allow_encoded_slashes], ['openapi', true])
  assert.deepEqual(toOas(there.definition).document, document)
})

test('rules hold for every spelling of their path, and the upstream gets the one that was sent', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const rules = { 'GET /café': BLOCK, 'GET /a b': BLOCK, 'GET /r/{id}:cancel': BLOCK, 'GET /x%7Ey/{a}.{b}': BLOCK }
  await publish(
    gateway,
    defined({ id: 'o', url: origin.url, ...operationsOf(rules) }),
    classic('c', '/c/', origin.url, listsOf(rules)),
  )
  for (const api of ['o', 'c']) {
    for (const path of [
      '/caf%C3%A9',
      '/caf%c3%a9',
      '/%63af%C3%A9/',
      '//caf%C3%A9',
      '/a%20b',
      '/%61%20b',
      '/r/1:cancel',
      '/r/1%3Acancel',
      '/r/%C3%A9%3acancel',
      '/x~y/1.2',
      '/x%7ey/1%2e2',
      '/./q/../a%20b',
    ])
      assert.equal((await gateway.call(`/${api}${path}`)).status, 403, path)
    for (const path of ['/caf%C3%A8', '/a%2520b', '/a+b', '/r/1:cancel2', '/caf%25C3%25A9']) {
      assert.equal((await gateway.call(`/${api}${path}`)).status, 200, path)
      assert.equal(origin.seen.at(-1)!.target, path)
    }
  }
})

test('letter case counts, unless an operation ignores it', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const folded = { block: { enabled: true, ignoreCase: true } }
  const rules = { 'GET /Café/{id}': folded, 'GET /x/Y': BLOCK, 'GET /ME': folded, 'GET /me': undefined }
  await publish(gateway, defined({ id: 'o', url: origin.url, ...operationsOf(rules) }))
  for (const path of ['/Caf%C3%A9/1', '/cAF%C3%89/A', '/x/Y', '/ME', '/mE']) {
    assert.equal((await gateway.call(`/o${path}`)).status, 403, path)
  }
  for (const path of ['/x/y', '/X/Y', '/me']) assert.equal((await gateway.call(`/o${path}`)).status, 200, path)
})

test('an allow list takes every spelling of what it names, in definitions and in rights', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const { paths, operations } = operationsOf({ 'GET /café/{id}': { allow: ON } })
  await publish(gateway, defined({ id: 'o', url: origin.url, keyIn: 'X-Key', paths, operations }))
  for (const url of ['^/o/café/[^/]+$', '^/o/caf%c3%a9/[a-z é]+$', '/o/caf\\xe9/{id}']) {
    const headers = { 'X-Key': await keyFor(gateway, 'o', [{ url, methods: ['GET'] }]) }
    for (const path of ['/caf%C3%A9/a%20b', '/%63af%c3%a9/%C3%A9']) {
      assert.equal((await gateway.call(`/o${path}`, { headers })).status, 200, `${url} ${path}`)
      assert.equal(origin.seen.at(-1)!.target, path)
    }
    for (const path of ['/cafe/x', '/caf%25C3%25A9/x'])
      assert.equal((await gateway.call(`/o${path}`, { headers })).status, 403)
  }
})

test('a listen path is the same in every spelling', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const plain = { strip_listen_path: false }
  await publish(
    gateway,
    classic('a', '/café/', origin.url),
    classic('b', '/%E6%97%A5/', origin.url, {
      proxy: { listen_path: '/%E6%97%A5/', target_url: origin.url, ...plain },
    }),
  )
  const taken = await gateway.svc('POST', '/svc/apis', classic('c', '/caf%c3%A9', origin.url))
  assert.equal(taken.status, 409, taken.text)
  assert.equal((await gateway.call('/caf%C3%A9/x//%79')).status, 200)
  assert.equal((await gateway.call('//%63af%c3%a9//%41')).status, 200)
  assert.equal((await gateway.call('/%E6%97%A5/a%3Ab')).status, 200)
  assert.deepEqual(
    origin.seen.map(({ target }) => target),
    ['/x//%79', '/%41', '/%E6%97%A5/a%3Ab'],
  )
})

test('HEAD is judged as GET where nothing is said of HEAD', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const rules = {
    'GET /blocked': BLOCK,
    'GET /open': OPEN,
    'GET /own': BLOCK,
    'HEAD /own': undefined,
    'GET /checked': { validateRequest: ON },
  }
  const drawn = operationsOf(rules)
  const checked = drawn.paths['/checked'] as { get: JsonObject }
  checked.get.parameters = [{ name: 'n', in: 'query', required: true, schema: { type: 'integer' } }]
  const listed = { 'GET /blocked': BLOCK, 'GET /open': OPEN }
  const auth = { auth_configs: { authToken: { auth_header_name: 'X-Key' } }, use_keyless: false }
  await publish(
    gateway,
    defined({ id: 'o', url: origin.url, keyIn: 'X-Key', ...drawn }),
    classic('c', '/c/', origin.url, { ...listsOf(listed), ...auth }),
  )
  for (const api of ['o', 'c']) {
    const key = await keyFor(gateway, api, [{ url: '^/./(?:blocked|open|own|checked|a)', methods: ['GET'] }])
    const status = async (path: string, headers: Record<string, string> = { 'X-Key': key }) =>
      (await gateway.call(`/${api}${path}`, { method: 'HEAD', headers })).status
    assert.equal(await status('/blocked'), 403)
    assert.equal(await status('/open', {}), 200)
    assert.equal(await status('/a'), 200)
    assert.equal(await status('/b'), 403)
    if (api === 'c') continue
    assert.equal(await status('/own'), 403)
    assert.deepEqual([await status('/checked'), await status('/checked?n=1')], [422, 200])
  }
  const limits = { endpoints: [{ path: '/a', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] }] }
  const access_rights = { o: { api_id: 'o', api_name: 'o', versions: ['Default'], ...limits } }
  const { key } = (await gateway.svc('POST', '/svc/keys', { access_rights })).json as { key: string }
  const asked = async (method: string) => (await gateway.call('/o/a', { method, headers: { 'X-Key': key } })).status
  assert.deepEqual([await asked('GET'), await asked('HEAD'), await asked('POST')], [200, 429, 200])
})

test('lists match whole paths, beginnings or parts, as the definition says', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const rules = listsOf({ 'GET /admin': BLOCK, 'GET /t/{id}/x': BLOCK })
  const expected = {
    exact: ['/admin', '/admin/', '/t/1/x'],
    prefix: ['/admin', '/admin/', '/admin/y', '/administrator', '/t/1/x', '/t/1/xy'],
    contains: [
      '/admin',
      '/admin/',
      '/admin/y',
      '/administrator',
      '/t/1/x',
      '/t/1/xy',

      '/y/admin',

      '/y/t/a%20b/x',
    ],
  }
  for (const [matching, blocked] of Object.entries(expected)) {
    await publish(gateway, classic(matching, `/${matching}/`, origin.url, { ...rules, path_matching: matching }))
    for (const path of [...expected.contains, '/', '/n/x', '/t/x', '/Admin']) {
      const answer = await gateway.call(`/${matching}${path}`)
      assert.equal(answer.status === 403, blocked.includes(path), `${matching} ${path}`)
    }
  }
})
