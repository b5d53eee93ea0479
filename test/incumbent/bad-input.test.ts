import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../src/model/apis/convert/convert.ts'
import { pathOf, putAt } from '../../src/model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../src/model/json/json.ts'
import { startTestGateway } from '../worlds/base/harness.ts'
import { ALIAS } from '../worlds/incumbent/recordings.ts'

const VERSION = 'version_data.versions.Default'
const classic = (): JsonObject => ({
  ...{ api_id: 'bad', name: 'bad', active: true, use_keyless: true },
  proxy: { listen_path: '/bad/', target_url: 'http://up.test/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', use_extended_paths: true } } },
})
const rewrite = (more: JsonObject): Json => [
  { path: '/a', method: 'GET', match_pattern: 'a(.*)', rewrite_to: '/b', ...more },
]
const trigger = (more: JsonObject, match_rx = 'x'): Json =>
  rewrite({ triggers: [{ on: 'any', rewrite_to: '/c', options: { header_matches: { X: { match_rx } } }, ...more }] })
const REWRITES = `${VERSION}.extended_paths.url_rewrites`

const TOO_LARGE = [
  '(?:(?:a{100}){100}){100}',
  '[a-z]{1,1000}[a-z]{1,1000}',
  '('.repeat(200) + ')'.repeat(200),
  'a'.repeat(2000),
]
const UNBOUNDED = ['(?=a)b', '(a)\\1', '(?<!a)b', '(', '[b-a]']
const PATTERNS = [...TOO_LARGE, ...UNBOUNDED]
const LOGINS = ['http://user:word@up.test/', 'http://user@up.test/', 'https://:word@up.test/', 'http://a%3Ab@up.test/']
const CLIMBS = [
  '/../x',
  '../x',
  '/a/../../x',
  '/..',
  '/a/%2e%2E/b',
  '/a/.',
  '/..;x/b',
  '/$1/../x',
  '/%252e%252e/x',
  'http://h.test/../x',
]

/** Values that are refused, by the member that holds them; `place` and `reason` are words of the answer. */
const TABLE: readonly {
  readonly member: string
  readonly values: readonly Json[]
  readonly place: string
  readonly reason: RegExp
}[] = [
  {
    member: REWRITES,
    values: PATTERNS.map((match_pattern) => rewrite({ match_pattern })),
    place: 'url_rewrites[0].match_pattern',
    reason: /safe to run: \w/,
  },
  {
    member: REWRITES,
    values: PATTERNS.map((pattern) => trigger({}, pattern)),
    place: 'url_rewrites[0].triggers[0]',
    reason: /header X .*safe to run: \w/,
  },
  {
    member: 'definition',
    values: PATTERNS.map((pattern) => ({ location: 'url', url_versioning_pattern: pattern })),
    place: 'definition.url_versioning_pattern',
    reason: /safe to run: \w/,
  },
  {
    member: REWRITES,
    values: CLIMBS.map((to) => rewrite({ rewrite_to: to })),
    place: '["/a"]',
    reason: /dot segments/,
  },
  {
    member: REWRITES,
    values: CLIMBS.map((to) => trigger({ rewrite_to: to })),
    place: '["/a"]',
    reason: /dot segments/,
  },
  { member: 'proxy.target_url', values: LOGINS, place: 'proxy.target_url', reason: /user name or password/ },
  {
    member: 'proxy.target_list',
    values: LOGINS.map((url) => ['http://up.test/', url]),
    place: 'proxy.target_list[1]',
    reason: /user name or password/,
  },
  {
    member: `${VERSION}.override_target`,
    values: LOGINS,
    place: 'Default.override_target',
    reason: /user name or password/,
  },
  {
    member: REWRITES,
    values: LOGINS.map((to) => rewrite({ rewrite_to: to })),
    place: 'url_rewrites[0].rewrite_to',
    reason: /plain host and port/,
  },
  {
    member: 'uptime_tests.check_list',
    values: LOGINS.map((url) => [{ url }]),
    place: 'uptime_tests.check_list[0].url',
    reason: /user name or password/,
  },
]

test('bad definitions are refused with the place and the reason, in both formats', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: ALIAS } })
  t.after(() => gateway.close())
  for (const { member, values, place, reason } of TABLE) {
    for (const value of values) {
      const definition = classic()
      putAt(definition, pathOf(member), value)
      const about = `${member}: ${JSON.stringify(value).slice(0, 200)}`
      const { status, text } = await gateway.svc('POST', `/${ALIAS}/apis`, definition)
      assert.equal(status, 400, `${about}: ${text}`)
      const { message } = JSON.parse(text) as { message: string }
      assert.ok(message.includes(place), `${about}: ${message}`)
      assert.match(message, reason, about)
      const converted = convertedOf(definition)
      if (converted === undefined) continue
      const other = await gateway.svc('POST', '/svc/apis/oas', converted)
      assert.equal(other.status, 400, `${about}, converted: ${other.text}`)
      assert.match((JSON.parse(other.text) as { message: string }).message, reason, about)
    }
  }
})

test('expressions that take backtracking engines for ever are served in linear time', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const pattern of ['(a+)+$', '(a|a)*b', '(.*)*x', '(x+x+)+y', 'v[0-9]+(\\.[0-9]+)*$']) {
    const definition = classic()
    putAt(definition, pathOf(REWRITES), rewrite({ match_pattern: pattern, rewrite_to: 'svc://none/' }))
    putAt(definition, ['definition'], { location: 'url', url_versioning_pattern: pattern })
    putAt(definition, ['version_data', 'not_versioned'], false)
    putAt(definition, ['definition', 'default'], 'Default')
    putAt(definition, ['definition', 'fallback_to_default'], true)
    assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200, pattern)
    // A backtracking engine would not end within the life of this test.
    assert.ok((await gateway.call(`/bad/${'a'.repeat(2_000)}!`)).status > 0, pattern)
    assert.equal((await gateway.svc('DELETE', '/svc/apis/bad')).status, 200)
  }
})

/** Undefined where the definition does not even fit its schema. */
function convertedOf(definition: JsonObject): JsonObject | undefined {
  try {
    return toOas(definition).document
  } catch {
    return undefined
  }
}
