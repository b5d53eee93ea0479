import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { checkPolicy, policyKind } from '../../../src/model/policies/policy.ts'
import { checkSession } from '../../../src/model/sessions/session.ts'
import { memberPaths, replaced, WHOLE_POLICY, WHOLE_SESSION, withoutNulls } from '../../worlds/model/whole-session.ts'

test('every field of a session and of a policy is kept as it came', () => {
  assert.deepEqual(checkSession(structuredClone(WHOLE_SESSION)), withoutNulls(WHOLE_SESSION))
  assert.deepEqual(checkPolicy(structuredClone(WHOLE_POLICY)), withoutNulls(WHOLE_POLICY))
})

test('null counts as absent in each member', () => {
  const needed = /\.(?:url|path|methods\[\d+\]\.(?:name|limit|limit\.(?:rate|per))|name): is missing$/
  for (const [body, check] of [
    [WHOLE_SESSION, checkSession],
    [WHOLE_POLICY, checkPolicy],
  ] as const) {
    for (const path of memberPaths(body)) {
      const sent = replaced(body, path, null)
      let checked: Json | undefined
      try {
        checked = check(sent) as Json
      } catch (error) {
        assert.match((error as Error).message, needed, path.join('.'))
        continue
      }
      const instead = path.at(-1) === 'methods' ? [] : path.at(-1) === 'api_id' ? path.at(-2) : undefined
      const expected = instead === undefined ? sent : replaced(body, path, instead)
      assert.deepEqual(checked, withoutNulls(expected), path.join('.'))
    }
  }
})

test('a wrong type anywhere is refused with its path', () => {
  for (const [body, check, code] of [
    [WHOLE_SESSION, checkSession, 'key_invalid'],
    [WHOLE_POLICY, checkPolicy, 'policy_invalid'],
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
    [[...right, 'endpoints', 0, 'methods', 0, 'limit', 'per'], null, /limit\.per: is missing/],
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
    assert.throws(() => checkSession(replaced(WHOLE_SESSION, path, value)), { message })
  assert.throws(() => checkSession({ rate: 'x', per: 'y', tags: 1, apply_policies: ['p'] }), {
    message: 'rate: must be a number; per: must be a number; tags: must be a list',
  })
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`api${i}`, 1]))
  assert.throws(() => checkSession({ access_rights: many }), /; and 20 more$/)
})

test('a method that no request has is refused wherever a right or a limit names one', () => {
  const right = ['access_rights', Object.keys(WHOLE_SESSION.access_rights as JsonObject)[0]!] as const
  const places = [
    [...right, 'allowed_urls', 0, 'methods', 0],
    [...right, 'endpoints', 0, 'methods', 0, 'name'],
  ]
  const isTaken = (body: JsonObject, check: (body: JsonObject) => unknown, path: (string | number)[], name: string) => {
    try {
      check(replaced(body, path, name) as JsonObject)
      return true
    } catch (error) {
      assert.match((error as Error).message, /must be (?:an HTTP method|in upper case)/)
      return false
    }
  }
  const printable = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code))
  const names = [
    '',
    '*',
    'GET',
    'PURGE',
    'get',
    'Post',
    'ANY ',
    'GET,POST',
    'GET POST',
    ...printable.map((c) => `X${c}`),
  ]
  for (const path of places)
    for (const name of names) {
      // Of this runtime: it takes every token.
      const isToken = (() => {
        try {
          new Headers([[name, '']])
          return true
        } catch {
          return false
        }
      })()
      const expected = isToken && name !== '*' && !['get', 'Post'].includes(name)
      assert.equal(
        isTaken(WHOLE_SESSION, checkSession, path, name),
        expected,
        `${path.join('.')} ${JSON.stringify(name)}`,
      )
      assert.equal(
        isTaken(WHOLE_POLICY, checkPolicy, path, name),
        expected,
        `${path.join('.')} ${JSON.stringify(name)}`,
      )
    }
})

test('a key without rights and without policies is refused; limits of an organisation need none', () => {
  for (const body of [
    {},
    { access_rights: {} },
    { access_rights: null, apply_policies: [], apply_policy_id: '' },
  ] as JsonObject[]) {
    assert.throws(() => checkSession(body), { code: 'rights_missing' })
    assert.deepEqual(checkSession(body, 'limits'), withoutNulls(body))
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
