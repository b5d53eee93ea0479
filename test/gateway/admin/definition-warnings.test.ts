import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'

const definition = (version: object) => ({
  ...{ api_id: 'w', name: 'w', active: true, use_keyless: true },
  proxy: { listen_path: '/w/', target_url: 'http://up.test/', strip_listen_path: true },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', ...version } } },
})
const AT = 'version_data.versions.Default.extended_paths'
const on = (extended_paths: object) => ({ use_extended_paths: true, extended_paths })
const actions = (...methods: string[]) => ({
  method_actions: Object.fromEntries(methods.map((method) => [method, { action: 'no_action' }])),
})

/** Versions, and the places and words that their warnings must have. */
const CASES: readonly (readonly [name: string, version: object, warned: readonly (readonly [string, RegExp])[]])[] = [
  ['nothing', {}, []],
  [
    'lists that count',
    on({
      black_list: [
        { path: '/a', method: 'GET' },
        { path: '/b', ...actions('POST') },
      ],
    }),
    [],
  ],
  [
    'lists switched off in so many words',
    { use_extended_paths: false, extended_paths: { black_list: [{ path: '/a', method: 'GET' }] } },
    [],
  ],
  [
    'lists without the switch',
    { extended_paths: { black_list: [{ path: '/a', method: 'GET' }] } },
    [[AT, /use_extended_paths.*black_list/]],
  ],
  ['empty lists without the switch', { extended_paths: { black_list: [] } }, []],
  [
    'an entry without a method',
    on({ size_limits: [{ path: '/a', size_limit: 1 }] }),
    [[`${AT}.size_limits[0]`, /no method/]],
  ],
  [
    'lists that hold for every method',
    on({ black_list: [{ path: '/a' }], white_list: [{ path: '/b', method_actions: null }], ignored: [{ path: '/c' }] }),
    [
      [`${AT}.black_list[0]`, /every method/],
      [`${AT}.white_list[0]`, /every method/],
      [`${AT}.ignored[0]`, /no method.*nothing there/],
    ],
  ],
  [
    'a method without its action',
    on({ ignored: [{ path: '/a', method_actions: { GET: { code: 200 } } }] }),
    [[`${AT}.ignored[0]`, /no action for GET.*refused/]],
  ],
  [
    'no actions',
    on({ black_list: [{ path: '/a', method: 'GET', method_actions: {} }] }),
    [[`${AT}.black_list[0]`, /no method/]],
  ],
  [
    'lower case',
    on({ rate_limit: [{ path: '/a', method: 'get', rate: 1, per: 1 }] }),
    [[`${AT}.rate_limit[0]`, /the method get/]],
  ],
  [
    'one of two actions',
    on({ white_list: [{ path: '/a', ...actions('GET', 'post') }] }),
    [[`${AT}.white_list[0]`, /the method post,/]],
  ],
  ['an entry that is disabled', on({ black_list: [{ path: '/a', disabled: true }] }), []],
]

test('what a classic definition asks for and does not get is told by the answer and the node', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const [name, version, warned] of CASES) {
    for (const [method, path] of [
      ['POST', '/svc/apis'],
      ['PUT', '/svc/apis/w'],
    ] as const) {
      const { status, json } = await gateway.svc(method, path, definition(version))
      assert.equal(status, 200, name)
      const { warnings = [] } = json as { warnings?: { path: string; message: string }[] }
      assert.deepEqual(
        warnings.map((each) => each.path),
        warned.map(([at]) => at),
        name,
      )
      for (const [index, [, words]] of warned.entries()) assert.match(warnings[index]!.message, words, name)
    }
    const { apis } = (await gateway.svc('GET', '/svc/node')).json as { apis: { api_id: string; reason: string }[] }
    const told = JSON.stringify(apis)
    assert.equal(told.includes(AT), warned.length > 0, `${name}: ${told}`)
    assert.equal((await gateway.svc('DELETE', '/svc/apis/w')).status, 200)
  }
})

test('versions that no request can name are told by the answer', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const versions = { v1: { name: 'v1' }, v2: { name: 'v2' } }
  for (const [location, told] of [
    ['header', []],
    ['url', ['version_data.default_version']],
    ['', ['definition.location']],
    [undefined, ['definition.location']],
  ] as const) {
    const versioned = { not_versioned: false, default_version: 'v1', versions }
    const body = { ...definition({}), definition: { location, key: 'x-v' }, version_data: versioned }
    const { json } = await gateway.svc('POST', '/svc/apis', body)
    const { warnings = [] } = json as { warnings?: { path: string }[] }
    assert.deepEqual(
      warnings.map(({ path }) => path),
      told,
    )
    await gateway.svc('DELETE', '/svc/apis/w')
  }
})
