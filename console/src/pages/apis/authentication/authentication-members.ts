import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { at, isObject, textAt, withAt } from '../editor/tree.ts'
import { DURATION } from '../settings/codec.ts'
import type { Proof } from './authentication-methods.ts'

/** A value of the form that the two formats write differently; it is read from the classic one. */
interface Shapes {
  readonly read: (written: Json | undefined) => FormValue
  readonly toClassic: (value: FormValue) => Json
  readonly toOas: (value: FormValue) => Json
}

/** A setting of one method: its field, its path in each format, and its default in the form. */
interface Member {
  readonly proof: Proof
  readonly name: string
  /** Below the scheme of the proof. */
  readonly oas: string
  readonly classic: string
  readonly empty: FormValue
  readonly as?: Shapes
}

/** Addresses of key sets, one an entry, perhaps with the seconds for which the keys are good: `https://id.example/keys 300`. */
const KEY_SETS: Shapes = {
  read: (written) =>
    (Array.isArray(written) ? written.filter(isObject) : []).map(({ url, cache_timeout: seconds }) =>
      typeof seconds === 'number' && seconds > 0 ? `${url} ${seconds}` : String(url ?? ''),
    ),
  toClassic: (value) => setsIn(value).map(([url, s]) => ({ url, ...(s > 0 && { cache_timeout: s }) })),
  toOas: (value) => setsIn(value).map(([url, s]) => ({ url, ...(s > 0 && { cacheTimeout: DURATION.write(s)! }) })),
}

function setsIn(value: FormValue): (readonly [url: string, seconds: number])[] {
  return (Array.isArray(value) ? value : []).map((each) => {
    const [url = '', seconds] = String(each).trim().split(/\s+/)
    return [url, Number(seconds) || 0] as const
  })
}

/** Scopes with the policies that they bring, one pair a line. */
const SCOPES: Shapes = {
  read: (written) =>
    isObject(written)
      ? Object.entries(written)
          .map(([scope, policy]) => `${scope} ${policy}`)
          .join('\n')
      : '',
  toClassic: (value) => Object.fromEntries(scopesIn(value)),
  toOas: (value) => scopesIn(value).map(([scope, policyId]) => ({ scope, policyId })),
}

function scopesIn(value: FormValue): (readonly [scope: string, policy: string])[] {
  const lines = String(value)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.map((line) => {
    const [scope = '', policy = ''] = line.split(/\s+/)
    return [scope, policy] as const
  })
}

type Row = readonly [name: string, oas: string, classic: string, empty: FormValue, as?: Shapes]

const member =
  (proof: Proof, classicRoot = '') =>
  ([name, oas, classic, empty, as]: Row): Member => ({
    ...{ proof, name, oas, empty, classic: `${classicRoot}${classic}` },
    ...(as !== undefined && { as }),
  })

const OAUTH: readonly Row[] = [
  ['loginRedirect', 'authLoginRedirect', 'auth_login_redirect', ''],
  ['authorizeTypes', 'allowedAuthorizeTypes', 'allowed_authorize_types', []],
  ['tokenFormat', 'accessTokenFormat', 'access_token_format', 'opaque'],
  ['signing', 'accessTokenSigningAlgorithm', 'access_token_signing_algorithm', 'ES256'],
  ['accessLife', 'accessTokenLifetime', 'access_token_lifetime', ''],
  ['refreshLife', 'refreshTokenLifetime', 'refresh_token_lifetime', ''],
  ['codeLife', 'authorizationCodeLifetime', 'authorization_code_lifetime', ''],
  ['grace', 'refreshReuseGraceSeconds', 'refresh_reuse_grace_seconds', ''],
  ['pkce', 'requirePkce', 'require_pkce', false],
  ['pushed', 'requirePushedAuthorizationRequests', 'require_pushed_authorization_requests', false],
  ['dpop', 'dpop', 'dpop', 'off'],
  ['mutualTls', 'mutualTls', 'mutual_tls', 'off'],
  ['device', 'deviceAuthorization', 'device_authorization', false],
]

const JWT: readonly Row[] = [
  ['jwtIdentity', 'identityBaseField', 'jwt_identity_base_field', ''],
  ['jwtClient', 'clientBaseField', 'jwt_client_base_field', ''],
  ['jwtPolicyClaim', 'policyFieldName', 'jwt_policy_field_name', ''],
  ['jwtPolicies', 'defaultPolicies', 'jwt_default_policies', []],
  ['jwtScopeClaim', 'scopes.claimName', 'scopes.jwt.scope_claim_name', ''],
  ['jwtScopes', 'scopes.scopeToPolicyMapping', 'scopes.jwt.scope_to_policy', '', SCOPES],
  ['jwtIssuers', 'allowedIssuers', 'jwt_allowed_issuers', []],
  ['jwtAudiences', 'allowedAudiences', 'jwt_allowed_audiences', []],
  ['jwtSubjects', 'allowedSubjects', 'jwt_allowed_subjects', []],
  ['jwtIssuedSkew', 'issuedAtValidationSkew', 'jwt_issued_at_validation_skew', ''],
  ['jwtExpiresSkew', 'expiresAtValidationSkew', 'jwt_expires_at_validation_skew', ''],
  ['jwtNotBeforeSkew', 'notBeforeValidationSkew', 'jwt_not_before_validation_skew', ''],
]

const BASIC: readonly Row[] = [
  ['basicUncached', 'disableCaching', 'disable_caching', false],
  ['basicCache', 'cacheTTL', 'cache_ttl', ''],
]

const HMAC: readonly Row[] = [
  ['hmacAlgorithms', 'allowedAlgorithms', 'hmac_allowed_algorithms', []],
  ['hmacSkew', 'allowedClockSkew', 'hmac_allowed_clock_skew', ''],
]

/** Settings of all proofs but what the key of a JSON Web Token is. */
const MEMBERS: readonly Member[] = [
  ...OAUTH.map(member('oauth', 'oauth_meta.')),
  ...JWT.map(member('jwt')),
  ...BASIC.map(member('basic', 'basic_auth.')),
  ...HMAC.map(member('hmac')),
]

const path = (words: string) => words.split('.')
const isSameValue = (a: FormValue | undefined, b: FormValue | undefined) => JSON.stringify(a) === JSON.stringify(b)

/** What the form shows of the settings of all proofs. */
export function memberValues(classic: Definition): FormValues {
  const read = ({ name, classic: words, empty, as }: Member) => {
    const written = at(classic, path(words))
    return [name, as === undefined ? plain(written, empty) : as.read(written)] as const
  }
  return { ...Object.fromEntries(MEMBERS.map(read)), ...keyValues(classic) }
}

function plain(written: Json | undefined, empty: FormValue): FormValue {
  if (Array.isArray(empty)) return Array.isArray(written) ? written.map(String) : empty
  // A bound of 0, and one of -1 in definitions of other products, is none.
  if (empty === '' && typeof written === 'number') return written <= 0 ? '' : written
  return (typeof written === 'string' && written !== '') || typeof written === 'boolean' ? written : empty
}

/**
 * The tree with what differs in the form of the settings of a proof: below `root` in OpenAPI, from the top in the classic format.
 * What is empty in the form is taken out, so that the default counts.
 */
export function withMembers(
  tree: Definition,
  proof: Proof,
  root: readonly string[] | 'classic',
  { before, values }: { readonly before: FormValues; readonly values: FormValues },
): Definition {
  let next = tree
  for (const { name, oas, classic, empty, as } of MEMBERS.filter((each) => each.proof === proof)) {
    const value = values[name]
    if (isSameValue(value, before[name])) continue
    const place = root === 'classic' ? path(classic) : [...root, ...path(oas)]
    const isEmpty = value === undefined || isSameValue(value, empty)
    const shaped = isEmpty || as === undefined ? value : root === 'classic' ? as.toClassic(value) : as.toOas(value)
    next = written(next, place, isEmpty ? undefined : (shaped as Json))
  }
  return proof === 'jwt' ? withKey(next, root, before, values) : next
}

/** A value in its place, or nothing; a place that is not there already stays away. */
export function written(tree: Definition, place: readonly string[], value: Json | undefined): Definition {
  if (value === undefined && at(tree, place) === undefined) return tree
  return withAt(tree, place, value)
}

/** Fields of the verification key of a JWT; each type of key has a separate field for the same member. */
const KEY_FIELDS = ['jwtKeys', 'jwtSets', 'jwtKey', 'jwtFamily', 'jwtSecret'] as const
const KEY_MEMBERS = {
  oas: { source: ['source'], sets: ['jwksURIs'], family: ['signingMethod'] },
  classic: { source: ['jwt_source'], sets: ['jwt_jwks_uris'], family: ['jwt_signing_method'] },
} as const

function keyValues(classic: Definition): FormValues {
  const source = textAt(classic, ['jwt_source'])
  const family = textAt(classic, ['jwt_signing_method'])
  const listed = KEY_SETS.read(classic.jwt_jwks_uris) as readonly string[]
  const isAddress = /^https?:\/\//i.test(source)
  const hasSets = listed.length > 0 || isAddress || source === ''
  const kind = hasSets ? 'sets' : family === 'hmac' ? 'secret' : 'key'
  return {
    jwtKeys: kind,
    jwtSets: listed.length > 0 || !isAddress ? listed : [source],
    jwtKey: kind === 'key' ? source : '',
    jwtFamily: family === 'hmac' ? '' : family,
    jwtSecret: kind === 'secret' ? source : '',
  }
}

function withKey(
  tree: Definition,
  root: readonly string[] | 'classic',
  before: FormValues,
  values: FormValues,
): Definition {
  if (KEY_FIELDS.every((name) => isSameValue(values[name], before[name]))) return tree
  const base = root === 'classic' ? [] : root
  const { source, sets, family } = KEY_MEMBERS[root === 'classic' ? 'classic' : 'oas']
  const kind = values.jwtKeys
  const key = String(values[kind === 'secret' ? 'jwtSecret' : 'jwtKey'] ?? '').trim()
  const addresses = KEY_SETS[root === 'classic' ? 'toClassic' : 'toOas'](values.jwtSets ?? [])
  const word = kind === 'secret' ? 'hmac' : String(values.jwtFamily ?? '')
  let next = written(tree, [...base, ...source], kind === 'sets' ? undefined : key)
  next = written(next, [...base, ...sets], kind === 'sets' ? addresses : undefined)
  return written(next, [...base, ...family], word === '' ? undefined : word)
}

/** Each field of a method with the path of its setting, below `root` in OpenAPI and from the top in the classic format. */
export function memberPlaces(
  proof: Proof,
  root: readonly string[] | 'classic',
  { jwtKeys }: FormValues,
): (readonly [field: string, place: readonly string[]])[] {
  const base = root === 'classic' ? [] : root
  const rows = MEMBERS.filter((each) => each.proof === proof).map(
    ({ name, oas, classic }) => [name, [...base, ...path(root === 'classic' ? classic : oas)]] as const,
  )
  if (proof !== 'jwt') return rows
  const { source, sets, family } = KEY_MEMBERS[root === 'classic' ? 'classic' : 'oas']
  const field = jwtKeys === 'sets' ? 'jwtSets' : jwtKeys === 'secret' ? 'jwtSecret' : 'jwtKey'
  return [
    ...rows,
    [field, [...base, ...source]],
    [field, [...base, ...sets]],
    [field === 'jwtKey' || field === 'jwtSets' ? 'jwtFamily' : field, [...base, ...family]],
  ]
}

/** The list of certificates that are let in at all, in the words of each format. */
const LET_IN = {
  oas: { on: ['server', 'clientCertificates', 'enabled'], ids: ['server', 'clientCertificates', 'allowlist'] },
  classic: { on: ['use_mutual_tls_auth'], ids: ['client_certificates'] },
} as const

/** What the form shows of the certificates that are let in. */
export function letInValues(classic: Definition): FormValues {
  const { on, ids } = LET_IN.classic
  return { letIn: at(classic, on) === true, letInIds: plain(at(classic, ids), []) }
}

/** The tree with the certificates that are let in: below `root` in OpenAPI, from the top in the classic format. */
export function withLetIn(tree: Definition, root: readonly string[] | 'classic', values: FormValues): Definition {
  const { on, ids } = LET_IN[root === 'classic' ? 'classic' : 'oas']
  const base = root === 'classic' ? [] : root
  const list = Array.isArray(values.letInIds) ? [...values.letInIds] : []
  const isOn = values.letIn === true
  const next = written(tree, [...base, ...on], isOn || at(tree, [...base, ...on]) !== undefined ? isOn : undefined)
  return written(next, [...base, ...ids], list.length > 0 ? list : undefined)
}
