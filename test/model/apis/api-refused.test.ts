import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import { putAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { authToken, classic, oas } from '../../worlds/model/api-samples.ts'

type Format = 'classic' | 'oas'

function refusal(format: Format, definition: JsonObject): Fault {
  try {
    readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition })
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return error
  }
  throw new Error('the definition was accepted')
}

const EXTENSION = 'x-svc-api-gateway'
const DEFAULT = ['version_data', 'versions', 'Default']

/** Where something is put into a good definition, what, and what the refusal says. */
const CLASSIC: readonly [path: string[], value: Json, says: string][] = [
  [['name'], null, 'name: must be a text'],
  [['active'], 'yes', 'active: must be true or false'],
  [['proxy', 'listen_path'], 'orders/', 'proxy.listen_path: must begin with "/"'],
  [['proxy', 'listen_path'], '/a/../b', 'proxy.listen_path: must not hold "." or ".." as a segment'],
  [['proxy', 'listen_path'], '/svc/x', 'proxy.listen_path: is taken: /svc is answered by the gateway itself'],
  [['proxy', 'target_url'], 'up:80', 'proxy.target_url: must be an absolute URL'],
  [['proxy', 'target_url'], 'http://u:p@up/', 'proxy.target_url: must not hold a user name or password'],
  [['proxy', 'target_list'], ['http://a/', 'http://b/#c'], 'proxy.target_list[1]: must not have a fragment'],
  [['allowed_ips'], ['10.0.0.1', '10.0.0'], 'allowed_ips[1]: must be an IP address or a CIDR range'],
  [['blacklisted_ips'], ['10.0.0.0/33'], 'blacklisted_ips[0]: must be an IP address or a CIDR range'],
  [['domain'], 'a b', 'domain: must be a host name'],
  [['expiration'], '2031-02-30 00:00', 'expiration: must be a date'],
  [['global_rate_limit'], { rate: -1, per: 1 }, 'global_rate_limit.rate: must be at least 0'],
  [['base_identity_provided_by'], 'me', 'base_identity_provided_by: must be one of "", "auth_token"'],
  [['tag_headers'], ['a b'], 'tag_headers[0]: must be the name of a header'],
  [
    [...DEFAULT, 'global_headers'],
    { 'X A': 'v' },
    'version_data.versions.Default.global_headers["X A"]: must be the name of a header',
  ],
  [[...DEFAULT, 'global_headers'], { X: 'a\r\nb: c' }, 'global_headers.X: must be a value that a header can have'],
  [[...DEFAULT, 'extended_paths', 'white_list'], [{ method: 'GET' }], 'extended_paths.white_list[0].path: is missing'],
  [['definition'], { enabled: true, location: 'header' }, 'definition.key: must name the header or parameter'],
  [
    ['definition'],
    { url_versioning_pattern: '(?=a)' },
    'definition.url_versioning_pattern: must be a regular expression',
  ],
  [
    ['version_data'],
    { default_version: 'c', versions: { a: {} } },
    'version_data.default_version: must name one of the versions',
  ],
  [
    ['auth_configs'],
    { authToken: { auth_header_name: 'a:b' } },
    'auth_configs.authToken.auth_header_name: must be the name',
  ],
]

const EXT: readonly [path: string[], value: Json, says: string][] = [
  [['info', 'name'], 1, 'info.name: must be a text'],
  [['info', 'state'], {}, 'info.state.active: is missing'],
  [['info', 'versioning'], { enabled: true }, 'info.versioning.key: must name the header or parameter'],
  [['info', 'versioning'], { versions: [{ name: 'a' }] }, 'info.versioning.versions[0].id: is missing'],
  [['upstream', 'url'], '/relative', 'upstream.url: must be an absolute URL'],
  [
    ['upstream', 'rateLimit'],
    { enabled: true, rate: 1, per: '1 minute' },
    'upstream.rateLimit.per: must be a time such as',
  ],
  [
    ['upstream', 'loadBalancing'],
    { enabled: true, targets: [{ url: 'http://a/', weight: 0 }] },
    'upstream.loadBalancing.targets: must hold a weight above 0',
  ],
  [['server', 'listenPath', 'value'], 'orders', 'server.listenPath.value: must begin with "/"'],
  [['server', 'ipAccessControl'], { block: ['::1/129'] }, 'server.ipAccessControl.block[0]: must be an IP address'],
  [['server', 'customDomain'], { name: 'http://a' }, 'server.customDomain.name: must be a host name'],
  [['server', 'authentication', 'enabled'], 1, 'server.authentication.enabled: must be true or false'],
  [
    ['server', 'authentication', 'securitySchemes'],
    {},
    'server.authentication.securitySchemes: must hold a scheme that is enabled',
  ],
  [
    ['server', 'authentication', 'securitySchemes'],
    { other: { enabled: true } },
    'server.authentication.securitySchemes.other: is not declared in components.securitySchemes',
  ],
  [['middleware', 'operations'], { nope: {} }, 'middleware.operations.nope: is no operationId of the document'],
  [['classic'], { kept: { '/name': { is: 'x' } } }, 'classic.kept["/name"]: contradicts the rest of the document'],
  [['classic'], { kept: { '/allowed_ips': { is: ['x'] } } }, 'classic.allowed_ips[0]: must be an IP address'],
  [['classic'], { version: 1 }, 'classic.version: must be a text'],
]

const DOCUMENT: readonly [path: string[], value: Json, says: string][] = [
  [['openapi'], '2.0', 'openapi: must look like'],
  [['openapi'], '3.3.0', 'openapi: must look like'],
  [['info'], { title: 'x' }, 'info.version: is missing'],
  [['paths'], [], 'paths: must be an object'],
  [['paths'], { pets: {} }, 'paths'],
  [['paths'], { '/a': { get: [] } }, 'paths["/a"].get: must be an object'],
  [
    ['paths'],
    { '/a': { get: { operationId: 'x' }, post: { operationId: 'x' } } },
    'paths["/a"].post.operationId: "x" is used twice',
  ],
  [['components'], { securitySchemes: { key: {} } }, 'components.securitySchemes.key.type: is missing'],
  [
    ['components'],
    { securitySchemes: { key: { type: 'apiKey', in: 'header' } } },
    'components.securitySchemes.key.name: is missing',
  ],
  [['security'], [{}], `${EXTENSION}.server.authentication.securitySchemes.key: is not asked for in security`],
  [[EXTENSION], null, `${EXTENSION}: must be an object`],
]

describe('definitions that are refused with the path of the fault', () => {
  const cases: readonly [Format, string[], Json, string][] = [
    ...CLASSIC.map(([path, value, says]) => ['classic', path, value, says] as [Format, string[], Json, string]),
    ...EXT.map(
      ([path, value, says]) =>
        ['oas', [EXTENSION, ...path], value, `${EXTENSION}.${says}`] as [Format, string[], Json, string],
    ),
    ...DOCUMENT.map(([path, value, says]) => ['oas', path, value, says] as [Format, string[], Json, string]),
  ]
  for (const [format, path, value, says] of cases) {
    test(`${format}: ${says}`, () => {
      const definition =
        format === 'classic'
          ? classic({ version_data: { not_versioned: true }, definition: { key: 'v' } })
          : authToken()
      assert.ok(putAt(definition, path, value))
      const { code, message } = refusal(format, definition)
      assert.equal(code, 'definition_invalid')
      assert.ok(message.includes(says), message)
      assert.ok(!message.includes('; '), `one fault, but: ${message}`)
    })
  }
})

test('every fault is named at once, up to twenty', () => {
  const two = refusal('classic', { name: 'x', proxy: { listen_path: 'x' } })
  assert.equal(two.message, 'proxy.target_url: is missing; proxy.listen_path: must begin with "/"')
  const many = refusal('classic', classic({ allowed_ips: Array<string>(50).fill('x') }))
  assert.equal(many.message.split('; ').length, 21)
  assert.ok(many.message.endsWith('; and 30 more'))
})

test('a document without the extension says so', () => {
  const { [EXTENSION]: _, ...document } = oas({})
  assert.equal(refusal('oas', document).message, `${EXTENSION}: is missing`)
})

test('depth and number of values are bounded, before anything walks the document', () => {
  let deep: Json = 'x'
  for (let level = 0; level < 100_000; level++) deep = [deep]
  const nested = classic({ config_data: { deep } })
  assert.match(refusal('classic', nested).message, /deeper than 64 levels/)
  assert.throws(() => toOas(nested), /deeper than 64/)
  assert.throws(() => toClassic({ ...oas({}), deep }), /deeper than 64/)
  const wide = classic({ config_data: { list: Array<number>(1_000_001).fill(1) } })
  assert.match(refusal('classic', wide).message, /more than 1000000 values/)
})

test('names of the prototype are names like others', () => {
  const hostile = JSON.parse(
    '{"__proto__":{"polluted":1},"version_data":{"not_versioned":true,"versions":{"Default":{"global_headers":{"constructor":"c"},"__proto__":{"x":1}}}},"constructor":{"prototype":{"polluted":1}}}',
  ) as JsonObject
  const definition = Object.fromEntries([...Object.entries(classic()), ...Object.entries(hostile)]) as JsonObject
  Object.defineProperty(definition, '__proto__', {
    value: { use_keyless: true },
    enumerable: true,
    configurable: true,
    writable: true,
  })
  const api = readApi({ api_id: 'i', org_id: 'o', name: 'n', format: 'classic', definition })
  assert.notEqual(api.auth, undefined)
  assert.deepEqual(api.rules.requestHeaders, { remove: [], add: [['constructor', 'c']] })
  const { document } = toOas(definition)
  assert.deepEqual(toClassic(document).definition, definition)
  const carried = { kept: { '/__proto__/polluted': { is: 1 }, '/constructor/prototype/polluted': { is: 1 } } }
  readApi({
    api_id: 'i',
    org_id: 'o',
    name: 'n',
    format: 'oas',
    definition: { ...oas({}), [EXTENSION]: { ...(oas({})[EXTENSION] as JsonObject), classic: carried } },
  })
  assert.equal(({} as JsonObject).polluted, undefined)
})
