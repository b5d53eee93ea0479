import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { MASK } from '../../../src/model/secrets/redact.ts'
import { maskIn, mergeSecrets, secretsOf, withoutSecrets } from '../../../src/model/secrets/secret-places.ts'
import { assertLinear } from '../../worlds/base/growth.ts'

const SECRET = 'canary-5b7d'

/** Where definitions, keys and webhooks hold secrets: members on the way to each, a number for a place in a list. */
const PLACES: readonly (readonly (string | number)[])[] = [
  ['notifications', 'shared_secret'],
  ['upstream_auth', 'basic_auth', 'password'],
  ['upstream_auth', 'oauth', 'client_credentials', 'client_secret'],
  ['version_data', 'versions', 'Default', 'global_headers', 'X-Pin'],
  ['version_data', 'versions', 'v2', 'extended_paths', 'transform_headers', 0, 'add_headers', 'X-Pin'],
  ['uptime_tests', 'check_list', 0, 'headers', 'X-Pin'],
  ['event_handlers', 'events', 'QuotaExceeded', 0, 'handler_meta', 'header_map', 'X-Pin'],
  ['x-svc-api-gateway', 'middleware', 'global', 'transformRequestHeaders', 'add', 0, 'value'],
  ['x-svc-api-gateway', 'middleware', 'operations', 'a', 'transformRequestHeaders', 'add', 1, 'value'],
  ['x-svc-api-gateway', 'server', 'authentication', 'sharedSecret'],
  ['jwt_source'],
  ['hmac_string'],
  ['jwt_data', 'secret'],
  ['meta_data', 'api_token'],
  ['header_map', 'X-Anything'],
  ['introspection', 'clientSecret'],
  ['external_oauth', 'providers', 0, 'introspection', 'client_secret'],
  ['external_oauth', 'providers', 0, 'jwt', 'source'],
]
test('addresses in the description of an OpenAPI document hide credentials alone', () => {
  const open = 'https://open.test/?page=1'
  const secret = `https://user:${SECRET}@host.test/x?api_key=${SECRET}&page=1`
  const documentOf = (url: string): JsonObject => ({
    openapi: '3.0.3',
    info: { title: SECRET, description: secret, contact: { url } },
    servers: [{ url: open }, { url }],
    paths: { '/a': { servers: [{ url }], get: { servers: [{ url }], externalDocs: { url } } } },
    components: { securitySchemes: { o: { flows: { implicit: { authorizationUrl: url, tokenUrl: url } } } } },
  })
  const document = documentOf(secret)
  const shown = withoutSecrets(document)
  assert.deepEqual(shown, {
    ...documentOf('https://***@host.test/x?api_key=***&page=1'),
    info: { ...(document.info as JsonObject), contact: { url: 'https://***@host.test/x?api_key=***&page=1' } },
  })
  assert.deepEqual(mergeSecrets(shown, document), document)
  assert.deepEqual(withoutSecrets(documentOf(open)), documentOf(open))
})

/** Values that look like a secret and are none. */
const HARMLESS: JsonObject = {
  global_response_headers: { 'X-Pin': 'shown' },
  transform_response_headers: [{ add_headers: { 'X-Pin': 'shown' } }],
  auth: { auth_header_name: 'shown', cookie_name: 'shown' },
  jwt_default_policies: ['shown'],
  hmac_allowed_algorithms: ['shown'],
  mockResponse: { headers: [{ name: 'X-Pin', value: 'shown' }] },
  schemes: { open: { signingMethod: 'rsa', source: 'shown' } },
  proxy: { target_url: 'https://shown.test/' },
}

function withPlaces(places: typeof PLACES): JsonObject {
  const document: JsonObject = structuredClone(HARMLESS)
  for (const path of places) put(document, path)
  return document
}

function put(holder: JsonObject, path: readonly (string | number)[]): void {
  let at: Json = holder
  for (const [index, step] of path.slice(0, -1).entries()) {
    const next: Json = typeof path[index + 1] === 'number' ? [] : {}
    const found: Json | undefined = (at as JsonObject)[step]
    if (found === undefined || found === null) (at as JsonObject)[step] = next
    at = (at as JsonObject)[step]!
    // Entries before the one that is meant are there too.
    if (Array.isArray(at)) while (at.length <= Number(path[index + 1])) at.push({ name: `X-${at.length}` })
  }
  ;(at as JsonObject)[path.at(-1)!] = SECRET
}

const documents = fc.subarray([...PLACES]).map(withPlaces)

test('readers without the right to secrets read none, and everything else', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const text = JSON.stringify(withoutSecrets(document))
      assert.ok(!text.includes(SECRET))
      assert.equal(text.replaceAll(JSON.stringify(MASK), JSON.stringify(SECRET)), JSON.stringify(document))
    }),
  )
})

test('what is sent back masked or blank is what it was; another secret is the one that was sent', () => {
  fc.assert(
    fc.property(documents, fc.constantFrom(MASK, ''), (document, sent) => {
      const shown = JSON.parse(JSON.stringify(document).replaceAll(SECRET, sent))
      assert.deepEqual(mergeSecrets(shown, document), document)
      assert.equal(maskIn(mergeSecrets(shown, document)), undefined)
      const other = JSON.parse(JSON.stringify(document).replaceAll(SECRET, 'another'))
      assert.deepEqual(mergeSecrets(other, document), other)
    }),
  )
})

test('entries of lists are known by their names, and a mask without a secret is found', () => {
  const edits = (...entries: [string, string][]) => ({
    transformRequestHeaders: { add: entries.map(([name, value]) => ({ name, value })) },
  })
  const before = edits(['A', 'one'], ['B', 'two'])
  assert.deepEqual(mergeSecrets(edits(['B', MASK], ['A', '']), before), edits(['B', 'two'], ['A', 'one']))
  const renamed = mergeSecrets(edits(['C', MASK]), before)
  assert.deepEqual(maskIn(renamed)?.join('.'), 'transformRequestHeaders.add.0.value')
})

test('a user and a password in an address are masked alone, and come back', () => {
  const document = { proxy: { target_url: 'https://user:pass@up.test/x' } }
  const shown = withoutSecrets(document)
  assert.deepEqual(shown, { proxy: { target_url: 'https://***@up.test/x' } })
  assert.deepEqual(mergeSecrets(shown, document), document)
  assert.deepEqual(maskIn(shown), ['proxy', 'target_url'])
})

test('of an OpenAPI document the extension holds secrets, and examples do not', () => {
  const document = { openapi: '3.0.3', components: { examples: { a: { value: { password: 'shown' } } } } }
  assert.deepEqual(secretsOf(document), [])
})

test('credentials in the query of an address are masked alone, and come back', () => {
  const masked = (text: string) => (withoutSecrets({ target_path: text }) as JsonObject).target_path
  for (const name of [
    'api_key',
    'key',
    'token',
    'access_token',
    'apikey',
    'apiKey',
    'subscription-key',
    'sig',
    'X-Auth',
    'api%5Fkey',
    '%6bey',
  ])
    for (const before of ['', 'page=1&', 'page=1;'])
      assert.equal(masked(`https://up.test/x?${before}${name}=s3#f`), `https://up.test/x?${before}${name}=***#f`)
  for (const harmless of [
    '?page=1',
    '?token_type=x',
    '?key=$1',
    '?key={{.Key}}',
    '?monkey=1',
    '/key=1',
    '?key=',
    '?sort=key',
  ])
    assert.equal(masked(`https://up.test${harmless}`), `https://up.test${harmless}`)
  const hook = (...urls: string[]) => ({ targets: urls.map((url) => ({ url, weight: 1 })) })
  const stored = hook('https://a.test/?key=one', 'https://a.test/?key=two', 'https://b.test/?key=three')
  const shown = withoutSecrets(stored)
  assert.deepEqual(shown, hook('https://a.test/?key=***', 'https://a.test/?key=***', 'https://b.test/?key=***'))
  assert.deepEqual(mergeSecrets(shown, stored), stored)
  const moved = hook('https://c.test/?key=***')
  assert.deepEqual(maskIn(mergeSecrets(moved, stored)), ['targets', 0, 'url'])
})

test('masking many secrets takes time linear in the definition', async () => {
  const fields = (count: number, of: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({ name: of(index), value: `v${index}` }))
  const shapes: Record<string, (count: number) => JsonObject> = {
    'one list': (count) => ({ transformRequestHeaders: { add: fields(count, (index) => `X-${index}`) } }),
    'one name': (count) => ({ transformRequestHeaders: { add: fields(count, () => 'X') } }),
    'a list for each operation': (count) => ({
      operations: Object.fromEntries(
        Array.from({ length: count / 4 }, (_, at) => [
          `o${at}`,
          { transformRequestHeaders: { add: fields(4, (index) => `X-${index}`) } },
        ]),
      ),
    }),
    'a map': (count) => ({
      global_headers: Object.fromEntries(
        fields(count, (index) => `X-${index}`).map(({ name, value }) => [name, value]),
      ),
    }),
    'members with secrets': (count) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, { secret: 's' }])),
  }
  const reversed = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(reversed).reverse()
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reversed(item)]))
  }
  const doubled = (value: Json): Json => {
    if (Array.isArray(value)) return [...value, ...value].map(doubled)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, doubled(item)]))
  }
  for (const [name, make] of Object.entries(shapes)) {
    const text = (count: number) => JSON.stringify(make(count))
    await assertLinear(name, (sent) => withoutSecrets(JSON.parse(sent) as JsonObject), text, 4096)
    const put = (sent: string) => {
      const stored = JSON.parse(sent) as JsonObject
      return mergeSecrets(reversed(withoutSecrets(stored)) as JsonObject, stored)
    }
    await assertLinear(`${name}, sent back`, put, text, 4096)
    const more = (sent: string) => {
      const stored = JSON.parse(sent) as JsonObject
      return mergeSecrets(doubled(withoutSecrets(stored)) as JsonObject, stored)
    }
    await assertLinear(`${name}, with more entries than are stored`, more, text, 4096)
  }
})
