import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, TEST_SECRET, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'
import { WHOLE_POLICY, WHOLE_SESSION } from '../../worlds/model/whole-session.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const KEY = 'key-of-many-letters'
/** Members of sessions and policies that are written where they say something. */
const ONLY_WITH_VALUES = ['post_expiry_action', 'mtls_static_certificate_bindings']

interface World extends TestGateway {
  readonly origin: Origin
  /** A call under the path of the alias, which must be answered with 200. */
  inc(method: string, path: string, body?: Json): Promise<JsonObject>
}

async function startWorld(t: TestContext): Promise<World> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gate.close())
  return {
    ...gate,
    origin,
    async inc(method, path, body) {
      const answer = await gate.svc(method, `/inc${path}`, body)
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      return answer.json as JsonObject
    },
  }
}

/** A classic definition at `/{id}/`. */
function definition(id: string, url: string, more: JsonObject = {}): JsonObject {
  const { proxy, ...rest } = more
  return {
    ...{ name: id, api_id: id, active: true, use_keyless: true },
    proxy: { listen_path: `/${id}/`, target_url: url, strip_listen_path: true, ...(proxy as JsonObject) },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...rest,
  }
}

const guarded = { use_keyless: false, use_standard_auth: true, auth: { auth_header_name: 'authorization' } }

/** The operations of the incumbent's gateway description, besides its debugger and kinds of APIs that we do not serve. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/apis': 'GET POST',
  '/apis/{}': 'GET PUT DELETE',
  '/apis/{}/versions': 'GET',
  '/apis/oas': 'GET POST',
  '/apis/oas/{}': 'GET PUT PATCH DELETE',
  '/apis/oas/{}/export': 'GET',
  '/apis/oas/{}/versions': 'GET',
  '/apis/oas/export': 'GET',
  '/apis/oas/import': 'POST',
  '/cache/{}': 'DELETE',
  '/cache/jwks': 'DELETE',
  '/cache/jwks/{}': 'DELETE',
  '/certs': 'GET POST',
  '/certs/{}': 'GET DELETE',
  '/keys': 'GET POST',
  '/keys/{}': 'GET POST PUT DELETE',
  '/keys/create': 'POST',
  '/keys/policy/{}': 'POST',
  '/keys/preview': 'POST',
  '/oauth/clients/{}': 'GET',
  '/oauth/clients/{}/{}': 'GET PUT DELETE',
  '/oauth/clients/{}/{}/rotate': 'PUT',
  '/oauth/clients/{}/{}/tokens': 'GET',
  '/oauth/clients/apis/{}': 'GET',
  '/oauth/clients/create': 'POST',
  '/oauth/refresh/{}': 'DELETE',
  '/oauth/revoke': 'POST',
  '/oauth/revoke_all': 'POST',
  '/oauth/tokens': 'DELETE',
  '/org/keys': 'GET',
  '/org/keys/{}': 'GET POST PUT DELETE',
  '/policies': 'GET POST',
  '/policies/{}': 'GET PUT DELETE',
  '/reload': 'GET',
  '/reload/group': 'GET',
  '/schema': 'GET',
}

test("every operation of the incumbent's gateway is there", async (t) => {
  const world = await startWorld(t)
  const calls = new Set(
    world.gateway.calls.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`),
  )
  const named = Object.entries(OPERATIONS).flatMap(([path, methods]) =>
    methods.split(' ').map((method) => `${method} ${path}`),
  )
  assert.deepEqual(
    named.filter((call) => !calls.has(call)),
    [],
  )
  await world.inc('POST', '/apis', definition('a', world.origin.url, { enable_batch_request_support: true }))
  const body = JSON.stringify({ requests: [{ method: 'GET', relative_url: '/a/x' }] })
  for (const [method, path] of [
    ['GET', '/hello'],
    ['POST', '/a/inc/batch/'],
  ] as const)
    assert.equal((await world.call(path, method === 'GET' ? {} : { method, body })).status, 200, path)
})

test('members of definitions count in any letter case', async (t) => {
  const world = await startWorld(t)
  const { url } = world.origin
  const origins = { enable: true, allowed_origins: ['https://a.test'], allowed_methods: ['GET'] }
  await world.inc('POST', '/apis', definition('lower', url, { cors: { ...origins, Max_Age: 7 } }))
  await world.inc('POST', '/apis', definition('known', url, { CORS: { ...origins, max_age: 7 } }))
  const shown = [await world.inc('GET', '/apis/lower'), await world.inc('GET', '/apis/known')]
  assert.deepEqual(shown[0]!.CORS, shown[1]!.CORS)
  for (const path of ['/lower/x', '/known/x']) {
    const { headers } = await world.call(path, { headers: { origin: 'https://a.test' } })
    assert.equal(headers['access-control-allow-origin'], 'https://a.test', path)
  }
  const oas = oasApi('o', '/o/', { id: 'o', upstream: url })
  const { 'x-svc-api-gateway': extension, ...rest } = oas
  const { server, ...others } = extension as JsonObject
  const closed = { IPAccessControl: { enabled: true, allow: ['192.0.2.1'] } }
  await world.inc('POST', '/apis/oas', {
    ...rest,
    'x-inc-api-gateway': { ...others, server: { ...(server as JsonObject), ...closed } },
  })
  assert.equal((await world.call('/o/x')).status, 403)
})

test('balanced targets need no target URL, and take one without a scheme', async (t) => {
  const world = await startWorld(t)
  const target = world.origin.url.replace('http://', '')
  for (const [number, target_url] of ['', null, 'up.internal:8080/x', undefined].entries()) {
    const proxy = {
      listen_path: `/b${number}/`,
      strip_listen_path: true,
      enable_load_balancing: true,
      target_list: [target],
    }
    const sent = target_url === undefined ? proxy : { ...proxy, target_url }
    await world.inc('POST', '/apis', { ...definition(`b${number}`, ''), proxy: sent })
    assert.equal((await world.call(`/b${number}/x`)).status, 200, String(target_url))
  }
  const oas = oasApi('o', '/o/', { id: 'o' })
  const extension = oas['x-svc-api-gateway'] as JsonObject
  const upstream = { loadBalancing: { enabled: true, targets: [{ url: world.origin.url, weight: 1 }] } }
  await world.inc('POST', '/apis/oas', { ...oas, 'x-svc-api-gateway': { ...extension, upstream } })
  assert.equal((await world.call('/o/x')).status, 200)
  const refused = await world.svc('POST', '/inc/apis', definition('r', 'up.internal:8080/x'))
  assert.match(`${refused.status} ${refused.text}`, /^400 .*proxy\.target_url: must be an absolute URL/)
})

test('an empty pattern for bodies is none, and a default version needs no key', async (t) => {
  const world = await startWorld(t)
  const options = {
    header_matches: { 'X-A': { match_rx: 'y', reverse: false } },
    payload_matches: { match_rx: '', reverse: false },
  }
  const rewrite = {
    path: 'a',
    method: 'GET',
    match_pattern: 'a',
    rewrite_to: '/plain',
    triggers: [{ on: 'all', options, rewrite_to: '/triggered' }],
  }
  const versions = {
    Default: { name: 'Default', use_extended_paths: true, extended_paths: { url_rewrites: [rewrite] } },
  }
  await world.inc(
    'POST',
    '/apis',
    definition('t', world.origin.url, { version_data: { not_versioned: true, versions } }),
  )
  await world.call('/t/a')
  await world.call('/t/a', { headers: { 'x-a': 'y' } })
  const version_data = {
    not_versioned: false,
    default_version: 'v1',
    versions: { v1: { name: 'v1', global_headers: { 'x-v': '1' } }, v2: { name: 'v2' } },
  }
  await world.inc(
    'POST',
    '/apis',
    definition('v', world.origin.url, { definition: { location: 'header' }, version_data }),
  )
  await world.call('/v/x')
  assert.deepEqual(
    world.origin.seen.map(({ target, headers }) => [target, headers['x-v']]),
    [
      ['/plain', undefined],
      ['/triggered', undefined],
      ['/x', '1'],
    ],
  )
})

test('a rate of -1 limits nothing, also without a period', async (t) => {
  const world = await startWorld(t)
  await world.inc('POST', '/apis', definition('a', world.origin.url, guarded))
  const access_rights = { a: { api_id: 'a', versions: ['Default'] } }
  await world.inc('POST', `/keys/${KEY}`, { rate: -1, access_rights })
  await world.inc('POST', '/policies', { id: 'p', rate: -1, access_rights })
  await world.inc('POST', '/keys/key-with-a-policy', { apply_policies: ['p'] })
  for (const authorization of [KEY, KEY, KEY, 'key-with-a-policy', 'key-with-a-policy'])
    assert.equal((await world.call('/a/x', { headers: { authorization } })).status, 200)
})

test('lists under the path of an alias have no pages', async (t) => {
  const world = await startWorld(t)
  await world.inc('POST', '/apis', definition('a', world.origin.url, guarded))
  await world.inc('POST', `/keys/${KEY}`, { access_rights: { a: { api_id: 'a' } } })
  await world.inc('POST', '/policies', { id: 'p', access_rights: { a: { api_id: 'a' } } })
  for (const path of ['/apis', '/apis/oas', '/keys', '/policies', '/org/keys'])
    for (const p of ['1', '2', '0', '-1', 'x'])
      assert.deepEqual(await world.inc('GET', `${path}?p=${p}`), await world.inc('GET', path))
  assert.equal((await world.svc('GET', '/svc/keys?p=x')).status, 400)
})

test('health tells of redis where an alias is in use', async (t) => {
  const world = await startWorld(t)
  const { details } = (await world.call('/hello')).json as { details: JsonObject }
  assert.deepEqual(details.redis, details.store)
})

test('answers under the path of an alias have all members, and sent back change nothing', async (t) => {
  const world = await startWorld(t)
  await world.inc('POST', '/apis', definition('orders', world.origin.url, guarded))
  await world.inc('POST', '/apis', definition('users', world.origin.url, guarded))
  const right = { api_id: 'orders', versions: ['Default'], allowed_urls: [{ url: '/orders/a', methods: ['GET'] }] }
  await world.inc('POST', '/policies', {
    id: 'p',
    rate: 2,
    per: 1000,
    quota_max: 100,
    quota_renewal_rate: 60,
    access_rights: { orders: right },
  })
  await world.inc('POST', `/keys/${KEY}`, { apply_policies: ['p'] })
  await world.inc('POST', '/keys/key-with-own-rights', {
    rate: 3,
    per: 1000,
    access_rights: { orders: right, users: {} },
    tags: ['t'],
  })
  const before = await Promise.all(
    ['/keys/key-with-own-rights', `/keys/${KEY}`, '/policies/p'].map((path) => world.svc('GET', `/svc${path}`)),
  )
  for (const [path, whole] of [
    ['/keys/key-with-own-rights', WHOLE_SESSION],
    [`/keys/${KEY}`, WHOLE_SESSION],
    ['/policies/p', WHOLE_POLICY],
  ] as const) {
    const read = await world.inc('GET', path)
    const missing = Object.keys(whole).filter(
      (name) =>
        !Object.hasOwn(read, name) &&
        !['not_of_ours', 'smoothing', 'key_expires_in', 'access_rights_array', ...ONLY_WITH_VALUES].includes(name),
    )
    assert.deepEqual(missing, [], path)
    assert.ok(
      isObject(read.access_rights) &&
        isObject(read.access_rights.orders) &&
        Array.isArray(read.access_rights.orders.allowed_urls),
    )
    await world.inc('PUT', path, { ...read, last_updated: 1_700_000_000 })
    await world.inc('PUT', path, { ...read, last_updated: '2024-01-02T03:04:05Z' })
    const again = await world.inc('GET', path)
    assert.deepEqual(again, read)
  }
  const [listed] = (await world.inc('GET', '/policies')) as unknown as JsonObject[]
  assert.ok(isObject(listed?.partitions))
  for (const [authorization, times] of [
    [KEY, 2],
    ['key-with-own-rights', 3],
  ] as const) {
    assert.equal((await world.call('/orders/b', { headers: { authorization } })).status, 403)
    for (let i = 0; i <= times; i++)
      assert.equal(
        (await world.call('/orders/a', { headers: { authorization } })).status,
        i < times ? 200 : 429,
        `${authorization} ${i}`,
      )
  }
  assert.equal(
    before.every(({ status }) => status === 200),
    true,
  )
})

test('the secret of the gateway reaches no upstream under any word', async (t) => {
  const world = await startWorld(t)
  await world.inc('POST', '/apis', definition('a', world.origin.url))
  const headers = {
    'X-Svc-Authorization': 'wrong',
    'X-Inc-Authorization': 'wrong too',
    'X-Other-Authorization': TEST_SECRET,
    'X-Kept': 'kept',
  }
  assert.equal((await world.call('/a/x', { headers })).status, 200)
  const [seen] = world.origin.seen
  assert.equal(seen?.headers['x-kept'], 'kept')
  assert.deepEqual(
    Object.keys(seen?.headers ?? {}).filter((name) => name.endsWith('-authorization')),
    [],
  )
})

/** Names of members that are missing somewhere in a value where the other has them; entries of lists are not compared. */
function missing(value: Json | undefined, whole: JsonObject, at = ''): string[] {
  if (!isObject(value ?? null)) return [at]
  return Object.entries(whole).flatMap(([name, each]) => {
    const held = (value as JsonObject)[name]
    if (held === undefined || held === null) return [`${at}.${name}`]
    return isObject(each) ? missing(held, each, `${at}.${name}`) : []
  })
}

/** Members of classic definitions that scripts read, as the incumbent's answers have them. */
const READ: JsonObject = {
  ...{
    api_id: '',
    org_id: '',
    name: '',
    slug: '',
    active: true,
    internal: false,
    use_keyless: true,
    use_oauth2: false,
  },
  ...{ use_standard_auth: false, use_basic_auth: false, enable_jwt: false, use_openid: false, disable_quota: false },
  ...{ auth: { auth_header_name: '', use_param: false }, auth_configs: {}, allowed_ips: [], blacklisted_ips: [] },
  ...{ tags: [], tag_headers: [], certificates: [], client_certificates: [], domain: '', do_not_track: false },
  ...{
    config_data: {},
    upstream_certificates: {},
    pinned_public_keys: {},
    session_lifetime: 0,
    strip_auth_data: false,
  },
  ...{ CORS: { enable: false, allowed_origins: [] }, cache_options: { enable_cache: false, cache_timeout: 0 } },
  ...{ global_rate_limit: { rate: 0, per: 0 }, jwt_default_policies: [], jwt_source: '', hmac_allowed_clock_skew: 0 },
  ...{
    definition: { location: '', key: '' },
    uptime_tests: { check_list: [], config: {} },
    event_handlers: { events: {} },
  },
  ...{ proxy: { listen_path: '', target_url: '', preserve_host_header: false, target_list: [], transport: {} } },
  version_data: { not_versioned: true, versions: { Default: { name: '', expires: '', use_extended_paths: false } } },
}

test('definitions have all members under an alias, and sending them back changes nothing', async (t) => {
  const world = await startWorld(t)
  const { url } = world.origin
  const rules = {
    name: 'Default',
    use_extended_paths: true,
    extended_paths: { black_list: [{ path: '/b', method: 'GET', method_actions: null }] },
  }
  const versions = { not_versioned: true, versions: { Default: rules } }
  await world.inc('POST', '/apis', definition('a', url, { version_data: versions, config_data: { debug: false } }))
  await world.inc('POST', '/apis/oas', { ...oasApi('o', '/o/', { id: 'o', upstream: url }) })
  const stored = async (id: string) => JSON.stringify((await world.svc('GET', `/svc/apis/${id}`)).json)
  const before = await stored('a')
  const read = await world.inc('GET', '/apis/a')
  const [listed] = ((await world.svc('GET', '/inc/apis')).json as JsonObject[]).filter(({ api_id }) => api_id === 'a')
  assert.deepEqual(
    [
      missing(read, READ),
      missing(listed, READ),
      missing(await world.inc('GET', '/apis/o'), { ...READ, version_data: {} }),
    ],
    [[], [], []],
  )
  assert.equal(before.includes('"allowed_ips"'), false, 'under our own path a definition has its own members')
  for (const [method, path] of [
    ['PUT', '/apis/a'],
    ['POST', '/apis'],
  ] as const) {
    const { revision } = world.gateway.live.snapshot
    await world.inc(method, path, read)
    assert.equal(await stored('a'), before)
    assert.equal(world.gateway.live.snapshot.revision, revision, `${method} changed something`)
  }
  await world.inc('PUT', '/apis/a', { ...read, tags: ['x'], config_data: { debug: false, more: 0 } })
  const { tags, config_data } = JSON.parse(await stored('a')) as JsonObject
  assert.deepEqual([tags, config_data], [['x'], { debug: false, more: 0 }])
})

test('OpenAPI definitions have an address under an alias, which does not become their own', async (t) => {
  const world = await startWorld(t)
  const own = { url: 'https://api.example.org/v1' }
  await world.inc('POST', '/apis/oas', oasApi('o', '/o/', { id: 'o', upstream: world.origin.url }))
  await world.inc('POST', '/apis/oas', {
    ...oasApi('p', '/p/', { id: 'p', upstream: world.origin.url }),
    servers: [own],
  })
  const address = (id: string) => ({ url: `http://127.0.0.1:${world.port}/${id}/` })
  const servers = async (word: string, id: string) =>
    ((await world.svc('GET', `/${word}/apis/oas/${id}`)).json as JsonObject).servers
  assert.deepEqual([await servers('inc', 'o'), await servers('inc', 'p')], [[address('o')], [address('p'), own]])
  for (const [method, path] of [
    ['PUT', '/apis/oas/p'],
    ['POST', '/apis/oas'],
  ] as const)
    await world.inc(method, path, await world.inc('GET', '/apis/oas/p'))
  await world.inc('PUT', '/apis/oas/o', await world.inc('GET', '/apis/oas/o'))
  assert.deepEqual([await servers('svc', 'o'), await servers('svc', 'p')], [undefined, [own]])
})
