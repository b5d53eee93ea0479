import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { checkPolicy, policyKind } from '../../../src/model/policies/policy.ts'
import { checkSession } from '../../../src/model/sessions/session.ts'

/** Every field that sessions have, with a value that is right. */
const SESSION: JsonObject = {
  rate: 10,
  per: 1.5,
  allowance: 3,
  last_check: 0,
  throttle_interval: 0.5,
  throttle_retry_limit: -1,
  quota_max: -1,
  quota_renewal_rate: 3600,
  quota_remaining: 5,
  quota_renews: 1_700_000_000,
  max_query_depth: -1,
  date_created: '2024-01-02T03:04:05.678Z',
  expires: -1,
  last_updated: '1700000000',
  access_rights: {
    orders: {
      api_id: 'orders',
      api_name: 'Orders',
      versions: ['Default'],
      allowed_urls: [{ url: '/a/{id}', methods: ['GET'] }],
      limit: { rate: 1, per: 1, quota_max: 0, smoothing: {} },
      allowance_scope: 's',
      endpoints: [{ path: '/x', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] }],
      restricted_types: [{ name: 'Query', fields: ['a'] }],
      allowed_types: null,
      field_access_rights: [{ type_name: 'Query', field_name: 'a', limits: { max_query_depth: 1 } }],
      disable_introspection: true,
      unheard_of: [1],
    },
    users: { api_id: 'users', allowed_urls: null, limit: null, endpoints: null },
  },
  org_id: 'o',
  apply_policies: ['p'],
  apply_policy_id: '',
  oauth_client_id: '',
  oauth_keys: null,
  basic_auth_data: { password: 'x', hash_type: 'bcrypt' },
  jwt_data: { secret: 'x' },
  hmac_enabled: false,
  hmac_string: '',
  enable_http_signature_validation: false,
  rsa_certificate_id: '',
  certificate: '',
  mtls_static_certificate_bindings: ['c'],
  is_inactive: false,
  data_expires: 0,
  monitor: { trigger_limits: [80, 99.5] },
  enable_detailed_recording: true,
  enable_detail_recording: true,
  meta_data: { any: { thing: [1] } },
  tags: ['t'],
  alias: 'a',
  id_extractor_deadline: 0,
  session_lifetime: 0,
  post_expiry_action: 'retain',
  post_expiry_grace_period: 0,
  smoothing: null,
  not_of_ours: { kept: true },
}

const POLICY: JsonObject = {
  _id: '0123456789abcdef01234567',
  id: 'gold-1.2_~',
  name: 'Gold plan',
  org_id: 'o',
  rate: 10,
  per: 1,
  quota_max: 100,
  quota_renewal_rate: 3600,
  throttle_interval: -1,
  throttle_retry_limit: -1,
  max_query_depth: 5,
  access_rights: SESSION.access_rights!,
  hmac_enabled: false,
  enable_http_signature_validation: false,
  active: true,
  is_inactive: false,
  tags: null,
  key_expires_in: 60,
  partitions: { quota: true, rate_limit: true, complexity: false, acl: false, per_api: false },
  last_updated: '',
  meta_data: null,
  post_expiry_action: '',
  post_expiry_grace_period: 0,
  smoothing: {},
  graphql_access_rights: null,
  not_of_ours: 'kept',
}

/** A copy with one value replaced, by its path. */
function replaced(body: JsonObject, path: readonly (string | number)[], value: unknown): JsonObject {
  const copy = structuredClone(body)
  let at: Record<string | number, unknown> = copy
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  at[path.at(-1)!] = value
  return copy
}

test('every field of a session and of a policy is kept as it came', () => {
  assert.deepEqual(checkSession(structuredClone(SESSION)), SESSION)
  assert.deepEqual(checkPolicy(structuredClone(POLICY)), POLICY)
})

test('a wrong type anywhere is refused with its path', () => {
  for (const [body, check, code] of [
    [SESSION, checkSession, 'key_invalid'],
    [POLICY, checkPolicy, 'policy_invalid'],
  ] as const) {
    for (const name of Object.keys(body)) {
      if (name === 'not_of_ours') continue
      const wrong = typeof body[name] === 'object' ? 7 : [1]
      assert.throws(
        () => check(replaced(body, [name], wrong)),
        (error: { code?: string; message?: string }) => {
          assert.equal(error.code, code, name)
          assert.match(error.message ?? '', new RegExp(`^${name}: `))
          return true
        },
      )
    }
  }
})

test('faults deep inside name the way to them, and several are named together', () => {
  const right = ['access_rights', 'orders']
  const table: [path: (string | number)[], value: unknown, message: RegExp][] = [
    [[...right, 'limit', 'rate'], '1', /^access_rights\.orders\.limit\.rate: must be a number$/],
    [[...right, 'limit', 'quota_max'], 1.5, /quota_max: must be a whole number/],
    [[...right, 'limit', 'per'], null, /limit\.per: must be a number/],
    [[...right, 'versions', 0], 7, /versions\[0\]: must be a string/],
    [[...right, 'allowed_urls', 0, 'url'], '/(?=a)', /allowed_urls\[0\]\.url: lookaround/],
    [[...right, 'allowed_urls', 0, 'url'], '(', /allowed_urls\[0\]\.url: missing \)/],
    [[...right, 'allowed_urls', 0], { url: '/a' }, /allowed_urls\[0\]\.methods: is missing/],
    [[...right, 'allowed_urls', 0, 'methods'], 'GET', /methods: must be a list/],
    [[...right, 'endpoints', 0, 'path'], '(x{1,30}){1,30}y', /endpoints\[0\]\.path: too large/],
    [[...right, 'endpoints', 0, 'methods', 0, 'limit'], { rate: 1 }, /limit\.per: is missing/],
    [[...right, 'api_id'], 'other', /^access_rights\.orders\.api_id: must be orders, as its key$/],
    [[...right], null, /^access_rights\.orders: must be an object$/],
    [['monitor', 'trigger_limits'], [1, 'x'], /trigger_limits\[1\]: must be a number/],
    [['date_created'], '2024-13-40T00:00:00Z', /date_created: must be a date/],
    [['basic_auth_data', 'hash_type'], 'md5', /hash_type: must be one of/],
  ]
  for (const [path, value, message] of table)
    assert.throws(() => checkSession(replaced(SESSION, path, value)), { message })
  assert.throws(() => checkSession({ rate: 'x', per: 'y', tags: 1, apply_policies: ['p'] }), {
    message: 'rate: must be a number; per: must be a number; tags: must be a list',
  })
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`api${i}`, 1]))
  assert.throws(() => checkSession({ access_rights: many }), /; and 20 more$/)
})

test('a key without rights and without policies is refused; limits of an organisation need none', () => {
  for (const body of [
    {},
    { access_rights: {} },
    { access_rights: null, apply_policies: [], apply_policy_id: '' },
  ] as JsonObject[]) {
    assert.throws(() => checkSession(body), { code: 'rights_missing' })
    assert.equal(checkSession(body, 'limits'), body)
  }
  for (const body of [{ apply_policies: ['p'] }, { apply_policy_id: 'p' }, { access_rights: { a: { api_id: 'a' } } }]) {
    assert.equal(checkSession(body as JsonObject), body)
  }
})

test('an access right without api_id takes that of its key, and no other object is touched', () => {
  const body = JSON.parse('{"access_rights":{"a":{},"b":{"api_id":""},"__proto__":{"versions":[]}}}') as JsonObject
  const { access_rights } = checkSession(body)
  assert.deepEqual(
    Object.entries(access_rights ?? {}).map(([key, right]) => [key, right.api_id]),
    [
      ['a', 'a'],
      ['b', 'b'],
      ['__proto__', '__proto__'],
    ],
  )
  assert.deepEqual(JSON.stringify(body), '{"access_rights":{"a":{},"b":{"api_id":""},"__proto__":{"versions":[]}}}')
})

test('ids of policies hold safe characters, unless that is allowed', () => {
  for (const id of ['a b', 'a/b', 'ä', 'a\n', '../x']) {
    assert.throws(() => checkPolicy({ id }), { code: 'policy_invalid' })
    assert.equal(checkPolicy({ id }, { allowUnsafeIds: true }).id, id)
  }
  assert.throws(() => checkPolicy({ id: 7 }, { allowUnsafeIds: true }), { code: 'policy_invalid' })
})

test('per_api with another partition is refused when it is saved', () => {
  for (const other of ['acl', 'quota', 'rate_limit', 'complexity']) {
    assert.throws(() => checkPolicy({ partitions: { per_api: true, [other]: true } }), {
      message: /^partitions: per_api .*together/,
    })
  }
  checkPolicy({ partitions: { per_api: true, acl: false, quota: false } })
})

test('a policy without flags controls every part, one with flags those parts', () => {
  assert.deepEqual(policyKind({}), {
    perApi: false,
    partitioned: false,
    acl: true,
    quota: true,
    rate: true,
    depth: true,
  })
  assert.deepEqual(policyKind({ partitions: { per_api: true } }), {
    perApi: true,
    partitioned: false,
    acl: true,
    quota: true,
    rate: true,
    depth: true,
  })
  assert.deepEqual(policyKind({ partitions: { quota: true } }), {
    perApi: false,
    partitioned: true,
    acl: false,
    quota: true,
    rate: false,
    depth: false,
  })
})
