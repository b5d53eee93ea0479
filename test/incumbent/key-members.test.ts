import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/model/json/json.ts'
import { POLICY_SCHEMA } from '../../src/model/policies/policy.ts'
import { WITHOUT_EFFECT } from '../../src/model/sessions/member-warnings.ts'
import { SESSION_SCHEMA } from '../../src/model/sessions/session.ts'
import { startTestGateway } from '../worlds/base/harness.ts'
import { keyWorld } from '../worlds/dashboard/key-world.ts'
import { folderFor, runLine } from '../worlds/flows/moves-world.ts'
import { oasApi } from '../worlds/gateway/admin-fixtures.ts'

/** A member of the incumbent's objects: where it is, and a value that asks for something. */
type Member = readonly [path: string, value: Json]

const LIMITS: readonly Member[] = [
  ...([
    ['rate', 5],
    ['per', 60],
    ['quota_max', 9],
    ['quota_renewal_rate', 60],
    ['max_query_depth', 3],
  ] as Member[]),
  ...([
    ['throttle_interval', 1],
    ['throttle_retry_limit', 2],
    ['smoothing', { enabled: true, threshold: 5 }],
  ] as Member[]),
]
const BOTH: readonly Member[] = [
  ...LIMITS,
  ...LIMITS.map(([name, value]): Member => [`access_rights.*.limit.${name}`, value]),
  ['access_rights.*.limit.quota_renews', 1],
  ['access_rights.*.limit.quota_remaining', 1],
  ['access_rights.*.allowed_urls', [{ url: '/a', methods: ['GET'] }]],
  ['access_rights.*.restricted_types', [{ name: 'Query', fields: ['a'] }]],
  ['access_rights.*.allowed_types', [{ name: 'Query', fields: ['a'] }]],
  ['access_rights.*.field_access_rights', [{ type_name: 'Query', field_name: 'a', limits: { max_query_depth: 1 } }]],
  ['access_rights.*.disable_introspection', true],
  ['access_rights.*.allowance_scope', 's'],
  ['access_rights.*.endpoints', [{ path: '/a', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] }]],
  ['access_rights.*.api_name', 'orders'],
  ['access_rights.*.versions', ['Default']],
  ['hmac_enabled', true],
  ['enable_http_signature_validation', true],
  ['is_inactive', true],
  ['tags', ['t']],
  ['meta_data', { a: 1 }],
  ['last_updated', '1700000000'],
  ['post_expiry_action', 'retain'],
  ['post_expiry_grace_period', 5],
]
const OF_KEYS: readonly Member[] = [
  ...BOTH,
  ...([
    ['allowance', 5],
    ['last_check', 5],
    ['quota_renews', 5],
    ['quota_remaining', 5],
  ] as Member[]),
  ['date_created', '2024-01-02T03:04:05.678Z'],
  ['expires', 4_102_444_800],
  ['oauth_client_id', 'c'],
  ['oauth_keys', { a: 'b' }],
  ['certificate', 'abc'],
  ['basic_auth_data', { password: 'a-long-password' }],
  ['jwt_data', { secret: 'x' }],
  ['hmac_string', 'x'],
  ['rsa_certificate_id', 'abc'],
  ['mtls_static_certificate_bindings', ['abc']],
  ['apply_policy_id', 'p'],
  ['apply_policies', ['p']],
  ['data_expires', 5],
  ['monitor', { trigger_limits: [80] }],
  ['enable_detail_recording', true],
  ['enable_detailed_recording', true],
  ['alias', 'me'],
  ['id_extractor_deadline', 5],
  ['session_lifetime', 5],
]
const OF_POLICIES: readonly Member[] = [
  ...BOTH,
  ['name', 'other'],
  ['active', true],
  ['key_expires_in', 60],
  ...['quota', 'rate_limit', 'complexity', 'acl', 'per_api'].map((each): Member => ['partitions', { [each]: true }]),
  ['graphql_access_rights', { orders: {}, users: { a: 1 } }],
]
/** Written by programs of the incumbent of themselves: no warning each time. */
const BOOKKEEPING = new Set(['allowance', 'last_check', 'oauth_keys'])
/** Written by each save, whatever was sent. */
const OF_SERVER = new Set(['last_updated', 'oauth_client_id'])

const RIGHTS = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }
const KEY: JsonObject = { access_rights: RIGHTS }
const POLICY: JsonObject = { id: 'p', name: 'p', active: true, rate: 5, per: 1, access_rights: RIGHTS }

const placeOf = (path: string) => path.replaceAll('*', 'orders')

/** The body with one member more. */
function withMember(body: JsonObject, [path, value]: Member): JsonObject {
  const copy = structuredClone(body) as JsonObject
  const names = placeOf(path).split('.')
  let at = copy
  for (const name of names.slice(0, -1)) {
    at[name] ??= {}
    at = at[name] as JsonObject
  }
  at[names.at(-1)!] = value
  return copy
}

/** The member's own schema; undefined where the schema does not know it. */
function schemaOf(schema: JsonObject, path: string): JsonObject | undefined {
  let at: JsonObject | undefined = schema
  for (const name of path.split('.')) {
    // One that null passes too has its members in an alternative.
    const alternatives = Array.isArray(at!.anyOf) ? (at!.anyOf as JsonObject[]) : [at!]
    const { properties = {}, additionalProperties = null } = Object.assign({}, ...alternatives) as JsonObject
    const next: Json | undefined = name === '*' ? additionalProperties : (properties as JsonObject)[name]
    if (next === undefined || !isObject(next)) return undefined
    at = next
  }
  return at
}
const isUnenforced = (schema: JsonObject) => /without effect\.|not enforced\./.test(String(schema.description ?? ''))

const KINDS = [
  ['key', SESSION_SCHEMA, OF_KEYS, KEY],
  ['policy', POLICY_SCHEMA, OF_POLICIES, POLICY],
] as const

for (const [kind, schema, members, body] of KINDS) {
  test(`a member of a ${kind} is without effect by its description where saves warn`, () => {
    const described = members.map(([path]) => [path, schemaOf(schema, path)] as const)
    assert.deepEqual(
      described.filter(([, own]) => own === undefined).map(([path]) => path),
      [],
      'members that nothing describes',
    )
    const unenforced = described.filter(([path, own]) => isUnenforced(own!) && !BOOKKEEPING.has(path))
    const warned = described.filter(([path]) => Object.hasOwn(WITHOUT_EFFECT, path))
    assert.deepEqual(unenforced, warned)
  })

  test(`each member of a ${kind} is served, refused or warned of`, async (t) => {
    const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
    t.after(() => gate.close())
    await gate.svc('POST', '/svc/apis/oas', oasApi('orders', '/orders/', { id: 'orders', guarded: true }))
    const { call, api, root } = await keyWorld(t)
    await api('orders')
    const send = async (where: 'svc' | 'inc' | 'dashboard', sent: JsonObject) => {
      if (where !== 'dashboard') return gate.svc('POST', `/${where}/${kind === 'key' ? 'keys' : 'policies'}`, sent)
      const isUser = 'basic_auth_data' in sent
      const path = kind === 'key' ? `/api/keys${isUser ? '/ann' : ''}` : '/api/portal/policies'
      return call('POST', path, { as: root, body: sent })
    }
    const failures: string[] = []
    for (const where of ['svc', 'inc', 'dashboard'] as const) {
      for (const [at, member] of members.entries()) {
        const [path, value] = member
        const base = kind === 'policy' ? { ...body, id: `p${at}`, name: `p${at}` } : body
        const { status, text, json } = await send(where, withMember(base, member))
        const { warnings = [], Warnings = [] } = (status === 200 ? json : {}) as Record<string, { path: string }[]>
        const isWarned = [...warnings!, ...Warnings!].some((each) => each.path === placeOf(path))
        const name = path.split('.').at(-1)!
        // Both spellings are one list by the time that a policy is looked for.
        const named = status === 400 && text.includes('no such policy') ? 'apply_polic' : name
        if (status === 400 && !text.includes(named)) failures.push(`${where} ${path}: ${text}`)
        else if (status !== 200 && status !== 400) failures.push(`${where} ${path}: ${status} ${text}`)
        else if (status === 200 && isWarned !== Object.hasOwn(WITHOUT_EFFECT, path))
          failures.push(`${where} ${path}: warned ${isWarned}`)
        if (OF_SERVER.has(path)) continue
        const wrong: Json = typeof value === 'string' ? 7 : 'no'
        const refused = await send(where, withMember(base, [path, wrong]))
        if (refused.status !== 400 || !refused.text.includes(name))
          failures.push(`${where} ${path} of a wrong type: ${refused.status} ${refused.text}`)
      }
    }
    assert.deepEqual(failures, [])
  })
}

test('a misspelt member of a key or policy is warned of with the member that was meant', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  await gate.svc('POST', '/svc/apis/oas', oasApi('orders', '/orders/', { id: 'orders', guarded: true }))
  for (const [path, meant] of [
    ['aply_policies', 'apply_policies'],
    ['is_inactiv', 'is_inactive'],
    ['quotamax', 'quota_max'],
    ['access_rights.*.allowed_url', 'allowed_urls'],
    ['access_rights.*.limit.quota_maxx', 'quota_max'],
  ] as const)
    for (const [where, body] of [
      ['keys', KEY],
      ['policies', POLICY],
    ] as const) {
      if (where === 'policies' && path === 'aply_policies') continue
      const { json, text } = await gate.svc(
        'POST',
        `/svc/${where}`,
        withMember({ ...body, id: placeOf(path), name: path }, [path, 7]),
      )
      const { warnings = [] } = json as { warnings?: { path: string; message: string }[] }
      const found = warnings.find((warning) => warning.path === placeOf(path))
      assert.equal(found?.message, `is a member that nothing here knows: did you mean "${meant}"?`, text)
    }
})

test('limits of an organisation are saved with warnings of members without effect', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  for (const method of ['POST', 'PUT']) {
    const sent = { rate: 5, per: 1, data_expires: 5, quotamax: 7 }
    const { json } = await gate.svc(method, '/svc/org/keys/o', sent)
    const { warnings = [] } = json as { warnings?: { path: string }[] }
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['data_expires', 'quotamax'],
      method,
    )
  }
})

test('a folder of keys and policies with a member each is validated with the same warnings', async (t) => {
  const dir = folderFor(t)
  const expected: string[] = []
  const write = (file: string, body: JsonObject) => {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), JSON.stringify(body))
  }
  for (const [at, member] of OF_POLICIES.entries()) {
    write(`policies/p${at}.json`, withMember({ ...POLICY, id: `p${at}`, name: `p${at}` }, member))
    if (Object.hasOwn(WITHOUT_EFFECT, member[0])) expected.push(`policies/p${at}.json: ${placeOf(member[0])}`)
  }
  for (const [at, member] of OF_KEYS.entries()) {
    const key_hash = at.toString(16).padStart(64, '0')
    write(`keys/${key_hash}.json`, { key_hash, session: withMember(KEY, member) })
    if (Object.hasOwn(WITHOUT_EFFECT, member[0]) && member[0] !== 'id_extractor_deadline')
      expected.push(`keys/${key_hash}.json: session.${placeOf(member[0])}`)
  }
  const { out } = await runLine(['validate', '-p', dir])
  const told = out.split('\n').flatMap((line) => /^warning: (\S+: \S+): has no effect/.exec(line)?.[1] ?? [])
  assert.deepEqual(told.sort(), expected.sort(), out)
})
