import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonName, goName } from '../../../src/model/certificates/certificate-names.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

/**
 * The members of an answer: `?` behind a name that may be missing, `[]` around the entries of a list, `{ '*': ... }` for any names, and what a value
 * is: text, number, flag, or `list?` for one that may be null.
 */
type Shape = 'text' | 'number' | 'flag' | 'list?' | 'any' | readonly [Shape] | Members
interface Members {
  readonly [name: string]: Shape
}

/** Members that are there and should not be, or the other way round. */
function differences(value: Json | undefined, shape: Shape, at = ''): string[] {
  if (shape === 'any') return []
  if (shape === 'list?') return value === null || Array.isArray(value) ? [] : [`${at}: is no list`]
  if (typeof shape === 'string') {
    const wanted = { text: 'string', number: 'number', flag: 'boolean' }[shape]
    return typeof value === wanted ? [] : [`${at}: is no ${shape} but ${JSON.stringify(value)}`]
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${at}: is no list`]
    return value.flatMap((each, index) => differences(each, shape[0] as Shape, `${at}/${index}`))
  }
  if (!isObject(value ?? null)) return [`${at}: is no object`]
  const members = shape as Members
  const names = Object.keys(value as JsonObject)
  const missing = Object.keys(members).filter((name) => !/[?*]$/.test(name) && !names.includes(name))
  return [
    ...missing.map((name) => `${at}/${name}: is missing`),
    ...names.flatMap((name) => {
      const own = members[name] ?? members[`${name}?`] ?? members['*']
      if (own === undefined) return [`${at}/${name}: is not described`]
      return differences((value as JsonObject)[name], own, `${at}/${name}`)
    }),
  ]
}

const CHANGED: Members = { key: 'text', status: 'text', action: 'text', 'key_hash?': 'text', 'warnings?': 'any' }
const DONE: Members = { status: 'text', message: 'text' }
const LIMIT: Members = {
  ...{ rate: 'number', per: 'number', throttle_interval: 'number', throttle_retry_limit: 'number' },
  ...{ max_query_depth: 'number', quota_max: 'number', quota_renewal_rate: 'number' },
}
const USED: Members = { quota_renews: 'number', quota_remaining: 'number' }
const RIGHT: Members = {
  ...{ api_id: 'text', api_name: 'text', versions: ['text'], allowed_urls: 'list?', restricted_types: 'list?' },
  ...{ allowed_types: 'list?', field_access_rights: 'list?', disable_introspection: 'flag', allowance_scope: 'text' },
  ...{ endpoints: 'list?', limit: { ...LIMIT, ...USED } },
}
const SHARED: Members = {
  ...{ org_id: 'text', is_inactive: 'flag', access_rights: { '*': RIGHT }, tags: ['text'], meta_data: 'any' },
  ...{ last_updated: 'text', hmac_enabled: 'flag', enable_http_signature_validation: 'flag' },
  ...{ 'post_expiry_action?': 'text', post_expiry_grace_period: 'number' },
}
const SESSION: Members = {
  ...{ ...SHARED, ...LIMIT, ...USED },
  ...{ last_check: 'number', allowance: 'number', date_created: 'text', expires: 'number', data_expires: 'number' },
  ...{ session_lifetime: 'number', oauth_client_id: 'text', oauth_keys: 'any', certificate: 'text', alias: 'text' },
  ...{ basic_auth_data: { password: 'text', hash_type: 'text', 'user?': 'text' }, jwt_data: { secret: 'text' } },
  ...{ hmac_string: 'text', rsa_certificate_id: 'text', apply_policy_id: 'text', apply_policies: ['text'] },
  ...{ monitor: { trigger_limits: 'list?' }, enable_detail_recording: 'flag', enable_detailed_recording: 'flag' },
  ...{ id_extractor_deadline: 'number', 'key_hash?': 'text', 'mtls_static_certificate_bindings?': ['text'] },
}
const POLICY: Members = {
  ...{ ...SHARED, ...LIMIT, _id: 'text', id: 'text', name: 'text', active: 'flag', key_expires_in: 'number' },
  ...{ partitions: { '*': 'flag' }, graphql_access_rights: 'any', 'date_created?': 'text' },
}
const NAME: Members = {
  ...{ Country: 'list?', Organization: 'list?', OrganizationalUnit: 'list?', Locality: 'list?', Province: 'list?' },
  ...{ StreetAddress: 'list?', PostalCode: 'list?', SerialNumber: 'text', CommonName: 'text', ExtraNames: 'list?' },
  Names: [{ Type: ['number'], Value: 'text' }],
}
const VALIDITY: Members = { not_before: 'text', not_after: 'text', dns_names: ['text'], is_ca: 'flag' }
const CERTIFICATE: Members = {
  ...{ id: 'text', fingerprint: 'text', has_private: 'flag', issuer: NAME, subject: NAME, ...VALIDITY },
}
const LISTED: Members = { id: 'text', has_private: 'flag', issuer_cn: 'text', subject_cn: 'text', ...VALIDITY }

test('answers under the path of an alias have the members that programs of the incumbent decode', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const ask = async (method: string, path: string, shape: Shape, body?: Json): Promise<JsonObject> => {
    const answer = await gateway.svc(method, `/inc${path}`, body)
    assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
    assert.deepEqual(differences(answer.json as Json, shape), [], `${method} ${path}`)
    return answer.json as JsonObject
  }
  const keyed = { use_keyless: false, use_standard_auth: true, auth: { auth_header_name: 'authorization' } }
  const rights = { access_rights: { a: { api_id: 'a', versions: ['Default'] } } }
  await ask('POST', '/apis', CHANGED, classic('a', '/a/', origin.url, keyed))
  await ask('PUT', '/apis/a', CHANGED, classic('a', '/a/', origin.url, keyed))

  const { key, key_hash: hash } = await ask('POST', '/keys', CHANGED, { ...rights, rate: 1, per: 1 })
  await ask('POST', '/keys/a-key-of-many-letters', CHANGED, { ...rights, post_expiry_action: 'retain' })
  await ask('POST', '/keys/create', CHANGED, rights)
  await ask('PUT', `/keys/${hash}?hashed=true`, CHANGED, rights)
  for (const path of [`/keys/${key}`, `/keys/${hash}?hashed=true`, '/keys/a-key-of-many-letters'])
    await ask('GET', path, SESSION)
  await ask('GET', '/keys', { keys: ['text'] })

  await ask('POST', '/policies', CHANGED, { id: 'p', name: 'p', active: true, ...rights })
  await ask('GET', '/policies', [POLICY])
  await ask('PUT', '/policies/p', CHANGED, await ask('GET', '/policies/p', POLICY))
  await ask('POST', '/org/keys/default', CHANGED, { quota_max: 5, quota_renewal_rate: 60 })
  await ask('GET', '/org/keys/default', SESSION)

  const { cert: certificate } = makeCertificate('a.example')
  const sent = await gateway.call('/inc/certs', {
    method: 'POST',
    headers: { 'x-inc-authorization': TEST_SECRET },
    body: certificate,
  })
  const id = (sent.json as { id: string }).id
  assert.deepEqual(differences(sent.json as Json, { id: 'text', ...DONE }), [], sent.text)
  await ask('GET', '/certs', { certs: ['text'] })
  const { certs } = await ask('GET', '/certs?mode=detailed', { certs: [LISTED] })
  assert.equal((certs as JsonObject[])[0]!.subject_cn, 'a.example')
  const { subject } = await ask('GET', `/certs/${id}`, CERTIFICATE)
  assert.equal((subject as JsonObject).CommonName, 'a.example')
  for (const path of [`/certs/${id}`, `/keys/${hash}?hashed=true`, '/policies/p', '/apis/a'])
    await ask('DELETE', path, path.startsWith('/certs') ? DONE : CHANGED)
})

test('names of certificates are taken apart as Go does', () => {
  const name = 'C=DE\nST=Baden\nO=A\\, B\nO=C\nOU=x\nserialNumber=7\nCN=a.example\nDC=unknown'
  const { Names, ...members } = goName(name)
  assert.deepEqual(members, {
    ...{ Country: ['DE'], Organization: ['A, B', 'C'], OrganizationalUnit: ['x'], Locality: null, Province: ['Baden'] },
    ...{ StreetAddress: null, PostalCode: null, SerialNumber: '7', CommonName: 'a.example', ExtraNames: null },
  })
  assert.deepEqual((Names as JsonObject[])[6], { Type: [2, 5, 4, 3], Value: 'a.example' })
  assert.deepEqual([commonName(name), commonName('O=x'), commonName('')], ['a.example', '', ''])
})
