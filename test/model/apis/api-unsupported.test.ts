import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { UNSUPPORTED } from '../../../src/model/apis/check/unsupported.ts'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import { EXTENSION, objectOf } from '../../../src/model/apis/definition/members.ts'
import { putAt, toWords } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

/** A value that asks for the feature, where `true` or an entry of a list does not. */
const ASKING: Readonly<Record<string, Json>> = {
  'server.authentication.securitySchemes.*.customClaimValidation': { a: {} },
  version_definition: { enabled: true, versions: { v2: 'other' } },
  response_processors: [{ name: 'custom' }],
  'version_data.versions.*.extended_paths.*.*.path': '/a/[0-9]+',
  protocol: 'tcp',
  'server.protocol': 'tcp',
  listen_port: 9000,
  'server.port': 9000,
  'proxy.target_url': 'tcp://up/',
  'proxy.target_list.*': 'tcp://up:1',
  'version_data.versions.*.override_target': 'grpc://up/',
  'upstream.url': 'tcp://up/',
  'upstream.loadBalancing.targets.*.url': 'tcp://up:1',
  'proxy.transport.proxy_url': 'http://proxy:3128',
  'proxy.transport.ssl_min_version': 772,
  'proxy.transport.ssl_max_version': 771,
  'upstream.tlsTransport.minVersion': '1.3',
  'upstream.tlsTransport.maxVersion': '1.2',
  custom_middleware: { driver: 'otto', pre: [{ name: 'x' }] },
  'middleware.global': { pluginConfig: { driver: 'otto' }, postPlugins: [{ enabled: true }] },
  'version_data.versions.*.extended_paths.transform': [
    { path: '/a', method: 'GET', template_data: { template_mode: 'file' } },
  ],
  'version_data.versions.*.extended_paths.transform_response': [
    { path: '/a', method: 'GET', template_data: { input_type: 'yaml' } },
  ],
  'middleware.operations.*.transformRequestBody': { enabled: true, format: 'yaml' },
  'middleware.operations.*.transformResponseBody': { enabled: true, path: 'a.tmpl', body: 'e30=' },
  custom_middleware_bundle: 'bundle.zip',
  'custom_middleware.auth_check.name': 'check',
  'uptime_tests.test_list': [{ url: 'http://up/' }],
  'uptime_tests.check_list.*.commands': [{ name: 'send', message: 'x' }],
  'uptime_tests.check_list.*.protocol': 'tcp',
  'upstream.uptimeTests.tests.*.commands': [{ name: 'send', message: 'x' }],
  'event_handlers.events.*': [{ handler_name: 'x' }],
  'proxy.transport.ssl_ciphers': ['x'],
  'upstream.tlsTransport.ciphers': ['x'],
}

const CHECKS = new Set(['check_list', 'tests'])
const LISTS = new Set(['tests', 'targets', 'target_list', 'add', 'triggers', 'rules', '*'])

/** Puts a value at the path of a probe, with objects and lists on the way as the format has them. */
function build(path: readonly string[], value: Json, format: 'classic' | 'oas'): [JsonObject, string] {
  const names: string[] = []
  const root: JsonObject = {}
  let holder: Json = root
  path.forEach((name, index) => {
    const last = index === path.length - 1
    const before = path[index - 1] ?? ''
    const inList = Array.isArray(holder)
    const own = name !== '*' ? name : inList ? '0' : nameOf(before, format)
    names.push(own)
    const next: Json = last ? value : isList(path, index, format) ? [] : {}
    if (Array.isArray(holder)) {
      const entry: Json = next
      if (isObject(entry) && path.includes('extended_paths')) entry.path = '/a'
      if (isObject(entry) && before === 'add') entry.name = 'X-A'
      if (isObject(entry) && CHECKS.has(before)) entry.url = '/'
      holder.push(entry)
    } else {
      ;(holder as JsonObject)[own] = next
      if (own === 'extended_paths') (holder as JsonObject).use_extended_paths = true
    }
    holder = next
  })
  return [root, toWords(names)]
}

function nameOf(parent: string, format: 'classic' | 'oas'): string {
  if (parent === 'operations') return 'op'
  if (parent === 'versions') return 'Default'
  if (parent === 'securitySchemes') return 'key'
  if (parent === 'extended_paths') return 'white_list'
  return format === 'classic' ? 'X-A' : 'x'
}

function isList(path: readonly string[], index: number, format: 'classic' | 'oas'): boolean {
  const name = path[index]!
  if (path[index + 1] !== '*') return false
  if (format === 'oas') return LISTS.has(name)
  return (
    ['check_list', 'target_list', 'transform_headers', 'transform_response_headers'].includes(name) ||
    (name === '*' && path[index - 1] === 'extended_paths')
  )
}

function askingValue(path: string, format: 'classic' | 'oas'): Json {
  const known = ASKING[path]
  if (known !== undefined) return known
  if (/(?:add_headers\.\*|global_headers\.\*|global_response_headers\.\*|\.value)$/.test(path))
    return '$secret_env.PASSWORD'
  if (/(?:Plugins|eventHandlers)$/.test(path)) return [{ enabled: true }]
  if (/custom_middleware\./.test(path)) return [{ name: 'x' }]
  if (/(?:white_list|black_list|ignored)$/.test(path)) {
    return [{ path: '/a', method: 'GET', method_actions: { GET: { action: 'redirect', code: 200 } } }]
  }
  if (/extended_paths\.cache$/.test(path)) return ['/a']
  if (/extended_paths\./.test(path) && format === 'classic') return [{ path: '/a', method: 'GET' }]
  return true
}

/** The same with its switch off, or empty where it has none. */
function turnedOff(path: string, value: Json): Json {
  if (value === true) return false
  if (typeof value === 'number') return 0
  if (typeof value === 'string') return QUIET[path] ?? ''
  if (!Array.isArray(value)) return {}
  if (!/extended_paths|Plugins|eventHandlers|processors/.test(path)) return []
  return value.filter(isObject).map((entry) => ({ ...entry, enabled: false, disabled: true, name: 'header_injector' }))
}

const QUIET: Readonly<Record<string, string>> = {
  'version_data.versions.*.extended_paths.*.*.path': '/a',
  'proxy.target_url': 'http://up/',
  'proxy.target_list.*': 'http://up/',
  'upstream.url': 'http://up/',
  'upstream.loadBalancing.targets.*.url': 'http://up/',
}

function definitionWith(part: JsonObject, format: 'classic' | 'oas'): JsonObject {
  if (format === 'classic') {
    const base = classic()
    return {
      ...base,
      ...part,
      proxy: { ...objectOf(base, 'proxy'), ...objectOf(part, 'proxy') },
      version_data: { not_versioned: true, ...objectOf(part, 'version_data') },
    }
  }
  const document = oas({ document: { paths: { '/a': { get: { operationId: 'op' } } } } })
  for (const section of Object.keys(part)) {
    for (const name of Object.keys(part[section] as JsonObject)) {
      putAt(document, [EXTENSION, section, name], (part[section] as JsonObject)[name]!)
    }
  }
  return document
}

function read(format: 'classic' | 'oas', definition: JsonObject): Fault | undefined {
  try {
    readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition })
    return undefined
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return error
  }
}

describe('what is not served yet is refused, never served without', () => {
  for (const row of UNSUPPORTED) {
    for (const format of ['classic', 'oas'] as const) {
      for (const { path } of row[format]) {
        const dotted = path.join('.')
        test(`${row.feature}: ${format} ${dotted}`, () => {
          const value = askingValue(dotted, format)
          const [part, words] = build(path, value, format)
          const refused = read(format, definitionWith(part, format))
          assert.ok(refused !== undefined, 'the definition was accepted')
          assert.equal(refused.code, 'definition_unsupported', refused.message)
          const where = format === 'oas' ? `${EXTENSION}.${words}` : words
          assert.ok(refused.message.includes(`${where}: ${row.feature}`), refused.message)
          const [quiet] = build(path, turnedOff(dotted, value), format)
          assert.equal(read(format, definitionWith(quiet, format))?.message, undefined)
        })
      }
    }
  }
})

describe('methods', () => {
  const declared: readonly [JsonObject, RegExp][] = [
    [{ type: 'openIdConnect' }, /OpenID Connect/],
    [{ type: 'mutualTLS' }, /not served by this gateway yet/],
  ]
  for (const [scheme, says] of declared) {
    test(`a scheme of type ${JSON.stringify(scheme)} is refused while it is enabled`, () => {
      const withScheme = (enabled: boolean) =>
        oas({
          document: { components: { securitySchemes: { s: scheme } }, security: [{ s: [] }] },
          server: { authentication: { enabled, securitySchemes: { s: { enabled: true } } } },
        })
      const refused = read('oas', withScheme(true))
      assert.equal(refused?.code, 'definition_unsupported')
      assert.match(refused.message, /^x-svc-api-gateway\.server\.authentication\.securitySchemes\.s: /)
      assert.match(refused.message, says)
      assert.equal(read('oas', withScheme(false)), undefined)
    })
  }

  test('two schemes of one kind are refused', () => {
    const scheme = { type: 'apiKey', in: 'header', name: 'K' }
    const document = oas({
      document: { components: { securitySchemes: { a: scheme, b: scheme } }, security: [{ a: [], b: [] }] },
      server: { authentication: { enabled: true, securitySchemes: { a: { enabled: true }, b: { enabled: true } } } },
    })
    assert.match(read('oas', document)?.message ?? '', /securitySchemes\.b: several security schemes of one kind/)
  })

  test('a requirement that everybody meets is refused where callers may choose', () => {
    const document = oas({
      document: {
        components: { securitySchemes: { a: { type: 'apiKey', in: 'header', name: 'K' } } },
        security: [{ a: [] }, {}],
      },
      server: {
        authentication: {
          enabled: true,
          securityProcessingMode: 'compliant',
          securitySchemes: { a: { enabled: true } },
        },
      },
    })
    assert.match(read('oas', document)?.message ?? '', /security\[1\]: must not be empty/)
  })
})

test('values kept elsewhere are refused wherever they would be used', () => {
  for (const text of ['env://A', 'secrets://a', 'consul://a', 'vault://a/b', 'file://a', 'kv://s/k']) {
    assert.match(
      read('classic', classic({ notifications: { shared_secret: text } }))?.message ?? '',
      /^notifications\.shared_secret: values kept elsewhere/,
    )
    assert.match(
      read('oas', oas({ upstream: { url: text } }))?.message ?? '',
      /^x-svc-api-gateway\.upstream\.url: values kept elsewhere/,
    )
  }
})

test('what a document carries from its classic days is refused like the rest', () => {
  const carried = { kept: { '/use_openid': { is: true } } }
  const document = oas({})
  putAt(document, [EXTENSION, 'classic'], carried)
  putAt(document, [EXTENSION, 'server', 'authentication'], {
    enabled: true,
    securitySchemes: { key: { enabled: true } },
  })
  putAt(document, ['components'], { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'K' } } })
  putAt(document, ['security'], [{ key: [] }])
  assert.match(read('oas', document)?.message ?? '', /x-svc-api-gateway\.classic\.use_openid: OpenID Connect/)
})

test('versions of TLS are taken where they are those of every upstream, and convert', () => {
  const proxy = { listen_path: '/a/', target_url: 'https://up/' }
  for (const [min, max, oldest, newest] of [
    [771, 772, '1.2', '1.3'],
    [769, 0, '1.0', ''],
    [772, 0, '1.3', ''],
    [0, 771, '', '1.2'],
  ] as const) {
    const isServed = min === 771
    const transport = { ssl_min_version: min, ssl_max_version: max }
    const definition = classic({ proxy: { ...proxy, transport } })
    const upstream = { url: 'https://up/', tlsTransport: { minVersion: oldest, maxVersion: newest } }
    assert.equal(read('classic', definition) === undefined, isServed, `${min} to ${max}`)
    assert.equal(read('oas', oas({ upstream })) === undefined, isServed, `${oldest} to ${newest}`)
    if (!isServed) continue
    const { document, lost } = toOas(definition)
    assert.deepEqual(lost, [])
    const { tlsTransport } = objectOf(objectOf(document, EXTENSION), 'upstream')
    assert.deepEqual(tlsTransport, { minVersion: oldest, maxVersion: newest })
    assert.deepEqual(objectOf(toClassic(document).definition, 'proxy').transport, transport)
  }
})

test('extended paths that are switched off ask for nothing', () => {
  const version = { use_extended_paths: false, extended_paths: { virtual: [{ path: '/a' }] } }
  assert.equal(
    read('classic', classic({ version_data: { not_versioned: true, versions: { Default: version } } })),
    undefined,
  )
})
