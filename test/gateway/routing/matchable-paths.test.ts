import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { isContaining, PATH_MATCHINGS, type PathMatching } from '../../../src/model/apis/definition/api.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { matcherFor } from '../../../src/model/patterns/matcher.ts'
import { unmatchablePattern } from '../../../src/model/patterns/pattern-reach.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { readablePath } from '../../../src/model/patterns/readable-path.ts'
import { readPath } from '../../../src/wire/http1/path.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

async function open(t: TestContext): Promise<[TestGateway, Origin]> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  return [gateway, origin]
}

const BLOCKED = 403

/** A definition that blocks one path. */
function blocking(matching: PathMatching, path: string, url: string, slashes: boolean): JsonObject {
  if (matching === 'openapi') {
    const server = { pathMatching: matching, allowEncodedSlashes: slashes }
    const paths = { [path]: { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
    return defined({ id: 'a', url, server, paths, operations: { a: { block: { enabled: true } } } })
  }
  const extended_paths = { black_list: [{ path, method: 'GET' }] }
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths } }
  return classic('a', '/a/', url, {
    ...{ path_matching: matching, allow_encoded_slashes: slashes },
    version_data: { not_versioned: true, versions },
  })
}

/** The path as a client would ask for it: placeholders filled in, everything else as it is written. */
function instanceOf(path: string): string {
  return path
    .replace(/\{[^{}]*\}/g, 'v1')
    .replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/gu, (character) => encodeURIComponent(character))
}

const SEGMENTS = [
  'a',
  'b.c',
  '.',
  '..',
  '%2e',
  '.%2E',
  '%2E%2e',
  '',
  '{id}',
  '{id}:go',
  '.{id}',
  '..;{id}',
  '%252e',
  '...',
]
const ODD = [
  'a b',
  'é',
  '%C3%A9',
  '%FF',
  'x?y',
  'x#y',
  'x\\y',
  'x%5Cy',
  'x%2fy',
  '%',
  'x%zy',
  '%00',
  '%01',
  'x%3Fy',
  '.;p',
  ';p',
  '\u0001',
  'a%20',
]
const paths = fc
  .array(fc.oneof(fc.constantFrom(...SEGMENTS), fc.constantFrom(...ODD)), { minLength: 1, maxLength: 4 })
  .map((segments) => `/${segments.join('/')}`)

test('whatever path of an operation is taken, the request that it spells meets its rule', async (t) => {
  const [gateway, origin] = await open(t)
  const taken = { true: 0, false: 0 }
  await fc.assert(
    fc.asyncProperty(paths, fc.constantFrom(...PATH_MATCHINGS), fc.boolean(), async (path, matching, slashes) => {
      const definition = blocking(matching, path, origin.url, slashes)
      const saved = await gateway.svc('POST', matching === 'openapi' ? '/svc/apis/oas' : '/svc/apis', definition)
      taken[saved.status === 200 ? 'true' : 'false']++
      if (saved.status !== 200) {
        assert.equal(saved.status, 400, saved.text)
        return
      }
      // In an expression `x?` is an x that need not be there.
      const spelled = isContaining(matching) ? path.replaceAll('?', '') : path
      const answer = await gateway.call(`/a${instanceOf(spelled)}`)
      const removed = await gateway.svc('DELETE', '/svc/apis/a')
      assert.equal(removed.status, 200, removed.text)
      assert.equal(answer.status, BLOCKED, JSON.stringify({ path, matching, slashes, text: answer.text }))
    }),
    { numRuns: 120 },
  )
  assert.ok(taken.true > 10 && taken.false > 10, JSON.stringify(taken))
})

test('an unreachable path is refused with the reason; equivalent paths are one', async (t) => {
  const [gateway, origin] = await open(t)
  const cases: readonly (readonly [path: string, expected: string | RegExp])[] = [
    ['/x/./y', '/x/y'],
    ['/x/%2e/y', '/x/y'],
    ['/x/../y', '/y'],
    ['/x/.%2E/y', '/y'],
    ['/x/{id}/./y', '/x/1/y'],
    ['/x//y/', '/x/y'],
    ['/x/..', '/'],
    ['/x/%3Fy', '/x/%3fy'],
    ['/x/{id}/../y', /placeholder away/],
    ['/../y', /leaves the root/],
    ['/x?y=1', /which ends.*%3F|regular expr/],
    ['/x#y', /which ends.*%23/],
    ['/x\\y', /backslash|regular expr/],
    ['/x%5cy', /allowEncodedSlashes/],
    ['/x%2Fy', /allowEncodedSlashes/],
    ['/100%', /%25/],
    ['/x%FFy', /UTF-8/],
    ['/x%00y', /%00/],
    ['/x/%252e%252E/y', /once it is decoded/],
    ['/x/..;a=1/y', /once it is decoded/],
  ]
  for (const matching of ['openapi', 'exact'] as const)
    for (const [path, expected] of cases) {
      const route = matching === 'openapi' ? '/svc/apis/oas' : '/svc/apis'
      const saved = await gateway.svc('POST', route, blocking(matching, path, origin.url, false))
      if (expected instanceof RegExp) {
        assert.equal(saved.status, 400, path)
        assert.match(saved.text, expected, `${path} ${saved.text}`)
        continue
      }
      assert.equal(saved.status, 200, `${path} ${saved.text}`)
      assert.equal((await gateway.call(`/a${expected}`)).status, BLOCKED, path)
      await gateway.svc('DELETE', '/svc/apis/a')
    }
  for (const path of ['/x/{id:[0-9]+}', '/x/{id:[0-9]{2}}/y', '/a-{n:a|b}'])
    assert.match(
      (await gateway.svc('POST', '/svc/apis/oas', blocking('openapi', path, origin.url, false))).text,
      /placeholder with a pattern/,
      path,
    )
  for (const path of ['/x/./y', '/x/../y', '/x?y', '/x#y', '/$metadata', '/x%00'])
    for (const matching of ['prefix', 'contains'] as const) {
      const definition = defined({ id: 'a', url: origin.url, server: { pathMatching: matching } })
      const operation = { operationId: 'a', responses: { 200: { description: 'ok' } } }
      const extension = definition['x-svc-api-gateway'] as JsonObject
      const middleware = { operations: { a: { block: { enabled: true } } } }
      const whole = {
        ...definition,
        paths: { [path]: { get: operation } },
        'x-svc-api-gateway': { ...extension, middleware },
      }
      const saved = await gateway.svc('POST', '/svc/apis/oas', whole)
      assert.equal(saved.status, 400, `${matching} ${path} ${saved.text}`)
    }
})

test('a document may describe unreachable operations without rules', async (t) => {
  const [gateway, origin] = await open(t)
  const operation = (operationId: string) => ({ get: { operationId, responses: { 200: { description: 'ok' } } } })
  const paths = { '/?Action=List': operation('a'), '/b': operation('b') }
  const operations = (id: string) => ({ [id]: { block: { enabled: true } } })
  const save = (id: string) =>
    gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, paths, operations: operations(id) }))
  assert.equal((await save('b')).status, 200)
  assert.equal((await save('a')).status, 400)
})

const WORDS = [
  'x',
  '\\.',
  '\\.\\.',
  '.',
  '..',
  '',
  '{id}',
  '[^/]+',
  '\\?y',
  '#y',
  '%2e%2e',
  '(?:\\.|x)',
  'é',
  '\\\\',
  'x$',
  '^x',
  '(?:/)?x',
]
const patterns = fc
  .tuple(
    fc.constantFrom('^/k/', '/', '^', '^k/', ''),
    fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', '$', '/.*', '|^z'),
  )
  .map(([before, words, behind]) => `${before}${words.join('/')}${behind}`)

/** Short paths below `/k/`, of every kind of character that the patterns ask for: the oracle tries all. */
const REQUESTS = (() => {
  const pieces = ['x', '...', '.x', 'é', 'z', 'k', 'ab']
  const two = pieces.flatMap((a) => ['', ...pieces].map((b) => (b === '' ? a : `${a}/${b}`)))
  const three = two.flatMap((a) => pieces.map((b) => `${a}/${b}`))
  const all = [...two, ...three, ...three.flatMap((path) => [`k/${path}`])]
  return ['/', ...all.flatMap((path) => [`/${path}`, `/${path}/`])]
})()

test('an expression is taken where a path matches it, and refused where none does', () => {
  const readable = REQUESTS.flatMap((path) => {
    const read = readPath(encodeURI(path))
    return read instanceof Error ? [] : [readablePath(read.path)]
  })
  const seen = { true: 0, false: 0 }
  fc.assert(
    fc.property(patterns, (pattern) => {
      const reason = unmatchablePattern(pattern)
      const matcher = matcherFor(pattern)!
      const found = readable.find((path) => matcher.test(path, newPatternWork()))
      seen[reason === undefined ? 'true' : 'false']++
      assert.equal(reason === undefined, found !== undefined, JSON.stringify({ pattern, found, reason }))
    }),
    { numRuns: 500, examples: [['^$'], ['$']] },
  )
  assert.ok(seen.true > 20 && seen.false > 20, JSON.stringify(seen))
})

test('keys and policies take no pattern that no path matches', async (t) => {
  const [gateway] = await open(t)
  const auth = { use_keyless: false, auth: { auth_header_name: 'X-Key' } }
  await gateway.svc('POST', '/svc/apis', classic('k', '/k/', 'http://127.0.0.1:9', auth))
  const cases: Readonly<Record<string, boolean>> = {
    ...{ '^/k/x': true, '/k/./x': true, '^/k/x%3Fy': true, '^/k/%23': true, '^/k/x(\\?.*)?$': true, '': true },
    ...{ '^k/x': false, '^/k/\\./x': false, '^/k/\\.\\.$': false, '/k//x': false, '/k/x\\?y': false, '/k/x#y': false },
    ...{ '/k/%2e%2e/x': false, '/k\\\\x': false, '/k/$metadata': false },
  }
  let policies = 0
  for (const [pattern, taken] of Object.entries(cases)) {
    const limit = { rate: 5, per: 1 }
    for (const more of [
      { allowed_urls: [{ url: pattern, methods: ['GET'] }] },
      { endpoints: [{ path: pattern, methods: [{ name: 'GET', limit }] }] },
    ]) {
      const access_rights = { k: { api_id: 'k', api_name: 'k', versions: ['Default'], ...more } }
      const key = await gateway.svc('POST', '/svc/keys', { access_rights })
      const policy = await gateway.svc('POST', '/svc/policies', { id: `p${policies++}`, name: 'p', access_rights })
      for (const answer of [key, policy]) {
        assert.equal(answer.status, taken ? 200 : 400, `${pattern} ${answer.text}`)
        if (!taken) assert.match(answer.text, /matches no path/)
      }
    }
  }
})

test('rewrites: no pattern that nothing matches, no target that is refused in every request', async (t) => {
  const [gateway, origin] = await open(t)
  const cases: readonly (readonly [pattern: string, rewriteTo: string, taken: boolean])[] = [
    ['^/x/(.*)', '/y/$1', true],
    ['\\?a=//\\.\\./', '/y', true],
    ['^/(.*)$', '/%$1', true],
    ['^/x/\\./y', '/y', false],
    ['^x', '/y', false],
    ['^//x', '/y', false],
    ['^/x', '/y/../z', false],
    ['^/x', '/y/%2e%2E/$1', false],
    ['^/x', 'https://example.com/./y', false],
    ['^/x', '/y%', false],
    ['^/x', '/y?a=/../', true],
  ]
  for (const [pattern, rewriteTo, taken] of cases) {
    const paths = { '/*': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
    const operations = { a: { urlRewrite: { enabled: true, pattern, rewriteTo } } }
    const saved = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, paths, operations }))
    assert.equal(saved.status, taken ? 200 : 400, `${pattern} ${rewriteTo} ${saved.text}`)
    if (taken) await gateway.svc('DELETE', '/svc/apis/a')
  }
})

test('a version that is named in the path is one segment', async (t) => {
  const [gateway, origin] = await open(t)
  const save = (name: string) => {
    const versions = { [name]: { name }, v0: { name: 'v0' } }
    const version_data = { not_versioned: false, default_version: 'v0', versions }
    const definition = { location: 'url', key: '' }
    return gateway.svc('POST', '/svc/apis', classic('a', '/a/', origin.url, { version_data, definition }))
  }
  for (const [name, taken] of [
    ['v1', true],
    ['é 1', true],
    ['a/b', false],
    ['..', false],
    ['v%201', false],
    ['a\\b', false],
  ] as const) {
    const saved = await save(name)
    assert.equal(saved.status, taken ? 200 : 400, `${name} ${saved.text}`)
    if (!taken) continue
    assert.equal((await gateway.call(`/a/${encodeURIComponent(name)}/x`)).status, 200, name)
    await gateway.svc('DELETE', '/svc/apis/a')
  }
})

test('a stored definition whose rules no request meets stays served, and is reported', async (t) => {
  const [gateway, origin] = await open(t)
  const saved = await gateway.svc('POST', '/svc/apis', blocking('exact', '/x', origin.url, false))
  assert.equal(saved.status, 200, saved.text)
  const stored = (await gateway.store.documents.find('api', 'api_id', 'a'))!
  const body = JSON.parse(JSON.stringify(stored.body).replaceAll('"/x"', '"/x%FF"')) as JsonObject
  await gateway.store.documents.commit([{ op: 'put', kind: 'api', id: stored.id, body }], undefined)
  assert.equal((await gateway.svc('GET', '/svc/reload?block=true')).status, 200)
  assert.equal((await gateway.call('/a/y')).status, 200)
  assert.ok(gateway.log.some(({ level, message }) => level === 'warn' && /rules without effect.*UTF-8/.test(message)))
})
