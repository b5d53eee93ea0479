import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { Api } from '../../../src/model/apis/definition/api.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { putAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

function read(format: 'classic' | 'oas', definition: JsonObject): Api {
  return readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition })
}

function refusal(format: 'classic' | 'oas', definition: JsonObject): string {
  try {
    read(format, definition)
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    assert.equal(error.code, 'definition_invalid')
    return error.message
  }
  throw new Error('the definition was accepted')
}

const operation = (circuitBreaker: JsonObject): JsonObject =>
  oas({
    document: { paths: { '/a': { get: { operationId: 'op' } } } },
    middleware: { operations: { op: { circuitBreaker: { enabled: true, ...circuitBreaker } } } },
  })

const listed = (entry: JsonObject): JsonObject => {
  const extended_paths = { circuit_breakers: [{ path: '/a', method: 'GET', ...entry }] }
  return classic({
    version_data: { not_versioned: true, versions: { Default: { use_extended_paths: true, extended_paths } } },
  })
}

/** The upstream of a definition in both formats, and the text of the refusal of each. */
const REFUSED: readonly [classic: JsonObject, oas: JsonObject, place: readonly [string, string], says: string][] = [
  [
    { uptime_tests: { check_list: [{ url: '/ok' }, { url: 'health' }] } },
    { uptimeTests: { enabled: true, tests: [{ url: '/ok' }, { url: 'health' }] } },
    ['uptime_tests.check_list[1].url', 'uptimeTests.tests[1].url'],
    'must be a path that begins with "/", or an absolute URL',
  ],
  [
    { uptime_tests: { check_list: [{ url: 'http://elsewhere/' }] } },
    { uptimeTests: { enabled: true, tests: [{ url: 'http://elsewhere/' }] } },
    ['uptime_tests.check_list[0].url', 'uptimeTests.tests[0].url'],
    'is at none of the targets of this API',
  ],
  [
    { uptime_tests: { config: { interval: 0.05 } } },
    { uptimeTests: { enabled: true, interval: '50ms' } },
    ['uptime_tests.config.interval', 'uptimeTests.interval'],
    'must be at least 0.1 seconds',
  ],
  [
    { proxy: { service_discovery: { use_discovery_service: true, srv_name: 'a b' } } },
    { serviceDiscovery: { enabled: true, srvName: 'a b' } },
    ['proxy.service_discovery.srv_name', 'serviceDiscovery.srvName'],
    'must be a DNS name such as',
  ],
  [
    { pinned_public_keys: { '*': `${'ab'.repeat(32)},xy` } },
    {
      certificatePinning: {
        enabled: true,
        domainToPublicKeysMapping: [{ domain: '*', publicKeys: ['ab'.repeat(32), 'xy'] }],
      },
    },
    ['pinned_public_keys', 'certificatePinning.domainToPublicKeysMapping'],
    'must hold SHA-256 hashes of public keys for *',
  ],
  [
    { upstream_certificates: { 'a/b': 'c' } },
    { mutualTLS: { enabled: true, domainToCertificates: [{ domain: 'a/b', certificate: 'c' }] } },
    ['upstream_certificates', 'mutualTLS.domainToCertificates'],
    'is no host, host:port, *.domain or *',
  ],
]

describe('care of an upstream that cannot be taken is refused with its place', () => {
  for (const [left, right, [classicPlace, oasPlace], says] of REFUSED) {
    test(`${classicPlace}: ${says}`, () => {
      const base = classic()
      const definition = { ...base, ...left, proxy: { ...(base.proxy as JsonObject), ...(left.proxy as JsonObject) } }
      assert.ok(refusal('classic', definition).includes(`${classicPlace}: `), refusal('classic', definition))
      assert.ok(refusal('classic', definition).includes(says))
      const document = oas({ upstream: right })
      assert.ok(refusal('oas', document).includes(`${EXTENSION}.upstream.${oasPlace}: `), refusal('oas', document))
      assert.ok(refusal('oas', document).includes(says))
    })
  }

  const breakers: readonly [entry: JsonObject, held: JsonObject, place: readonly [string, string]][] = [
    [{ threshold_percent: 50, samples: 1 }, { threshold: 50, sampleSize: 1 }, ['threshold_percent', 'threshold']],
    [{ threshold_percent: 0, samples: 1 }, { threshold: 0, sampleSize: 1 }, ['threshold_percent', 'threshold']],
    [{ threshold_percent: 0.5 }, { threshold: 0.5 }, ['samples', 'sampleSize']],
  ]
  for (const [entry, held, [classicName, oasName]] of breakers) {
    test(`a breaker with ${JSON.stringify(held)}`, () => {
      assert.match(refusal('classic', listed(entry)), new RegExp(`circuit_breakers\\[0\\]\\.${classicName}: must be`))
      assert.match(
        refusal('oas', operation(held)),
        new RegExp(`operations\\.op\\.circuitBreaker\\.${oasName}: must be`),
      )
    })
  }
})

test('what is switched off is neither checked nor served', () => {
  const off: JsonObject = {
    uptime_tests: { disabled: true, check_list: [{ url: 'nothing' }] },
    upstream_certificates: { '*': 'x' },
    upstream_certificates_disabled: true,
    pinned_public_keys: { '*': 'x' },
    certificate_pinning_disabled: true,
  }
  const definition = classic(off)
  putAt(definition, ['proxy', 'retries'], { attempts: 2 })
  putAt(definition, ['proxy', 'outlier_ejection'], { enabled: false, max_percent: 50 })
  assert.deepEqual(Object.keys(read('classic', definition).upstream), [
    'targets',
    'preserveHost',
    'insecure',
    'timeoutMs',
  ])
})

test('both formats are read the same, and have the same defaults', () => {
  const definition = classic({
    uptime_tests: { check_list: [{ url: '/health' }] },
    upstream_certificates: { 'Up.example': 'c' },
    pinned_public_keys: { '*': `${'ab'.repeat(32)}, sha256/${Buffer.alloc(32, 1).toString('base64')}` },
  })
  const proxy: Record<string, Json> = {
    check_host_against_uptime_tests: true,
    outlier_ejection: { enabled: true },
    retries: { enabled: true, budget_percent: 0 },
    service_discovery: { use_discovery_service: true, srv_name: '_http._tcp.a' },
  }
  for (const [name, value] of Object.entries(proxy)) putAt(definition, ['proxy', name], value)
  const { upstream } = read('classic', definition)
  const check = { url: '/health', method: 'GET', headers: [], body: '', timeoutMs: 5000, statuses: [] }
  const health = { checks: [check], intervalMs: 10_000, downIntervalMs: 10_000, failures: 3, successes: 2, skip: true }
  assert.deepEqual(upstream, {
    targets: [{ url: 'http://up:8080/', weight: 1 }],
    preserveHost: false,
    insecure: false,
    timeoutMs: 0,
    health,
    ejection: { failures: 5, baseMs: 30_000, maxMs: 300_000, maxShare: 0.5 },
    retries: { attempts: 2, statuses: [502, 503, 504], budgetShare: 0, minPerSecond: 10 },
    discovery: { srvName: '_http._tcp.a', refreshMs: 300_000 },
    tls: { certificates: [['up.example', 'c']], pins: [['*', ['ab'.repeat(32), '01'.repeat(32)]]] },
  })
  assert.deepEqual(read('oas', toOas(definition).document).upstream, upstream)
})
