import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { isEmpty, objectOf, textOf, textsOf } from '../definition/members.ts'
import { getAt, member, pathOf, putAt, setMember } from '../definition/tree.ts'
import { type Codec, copyPairs, DURATION, type Pair } from './convert-table.ts'

/** Addresses of key sets: seconds here, `4m` there. */
const KEY_SETS: Codec = {
  toOas: (value) => renamed(value, 'cache_timeout', 'cacheTimeout', DURATION.toOas),
  toClassic: (value) => renamed(value, 'cacheTimeout', 'cache_timeout', DURATION.toClassic),
}

function renamed(value: Json, from: string, to: string, write: (value: Json) => Json | undefined): Json | undefined {
  if (!Array.isArray(value)) return undefined
  return value.filter(isObject).map((entry) => {
    const { [from]: given, ...rest } = entry
    const written = given === undefined || given === null ? given : write(given)
    return written === undefined ? rest : { ...rest, [to]: written }
  })
}

/** `{scope: policy}` and `[{scope, policyId}]`. */
const SCOPES: Codec = {
  toOas: (value) => {
    if (!isObject(value)) return undefined
    return Object.keys(value).map((scope) => ({ scope, policyId: value[scope] ?? '' }))
  },
  toClassic: (value) => {
    if (!Array.isArray(value)) return undefined
    const map: JsonObject = {}
    for (const item of value) setMember(map, textOf(item, 'scope'), textOf(item, 'policyId'))
    return map
  },
}

function pair(classic: string, oas: string, as?: Codec): Pair {
  return { classic: pathOf(classic), oas: pathOf(oas), ...(as === undefined ? {} : { as }) }
}

/** Members of a classic definition, and of the security scheme that stands for the method. */
export const JWT_PAIRS: readonly Pair[] = [
  pair('jwt_source', 'source'),
  pair('jwt_jwks_uris', 'jwksURIs', KEY_SETS),
  pair('jwt_signing_method', 'signingMethod'),
  pair('jwt_skip_kid', 'skipKid'),
  pair('jwt_identity_base_field', 'identityBaseField'),
  pair('jwt_subject_claims', 'subjectClaims'),
  pair('jwt_client_base_field', 'clientBaseField'),
  pair('jwt_policy_field_name', 'policyFieldName'),
  pair('jwt_base_policy_claims', 'basePolicyClaims'),
  pair('jwt_default_policies', 'defaultPolicies'),
  pair('scopes.jwt.scope_claim_name', 'scopes.claimName'),
  pair('scopes.jwt.scope_claims', 'scopes.claims'),
  pair('scopes.jwt.scope_to_policy', 'scopes.scopeToPolicyMapping', SCOPES),
  pair('jwt_issued_at_validation_skew', 'issuedAtValidationSkew'),
  pair('jwt_expires_at_validation_skew', 'expiresAtValidationSkew'),
  pair('jwt_not_before_validation_skew', 'notBeforeValidationSkew'),
  pair('jwt_allowed_issuers', 'allowedIssuers'),
  pair('jwt_allowed_audiences', 'allowedAudiences'),
  pair('jwt_allowed_subjects', 'allowedSubjects'),
  pair('idp_client_id_mapping_disabled', 'idpClientIdMappingDisabled'),
]

const BASIC_PAIRS: readonly Pair[] = [
  pair('basic_auth.disable_caching', 'disableCaching'),
  pair('basic_auth.cache_ttl', 'cacheTTL'),
  pair('basic_auth.extract_from_body', 'extractCredentialsFromBody.enabled'),
]

const HMAC = ['server', 'authentication', 'hmac']

/** Members of a classic definition, and of the section of signed requests in the extension. */
export const HMAC_PAIRS: readonly Pair[] = [
  pair('hmac_allowed_algorithms', 'allowedAlgorithms'),
  pair('hmac_allowed_clock_skew', 'allowedClockSkew'),
  pair('enable_signature_checking', 'enabled'),
]

const HMAC_PLACES: readonly Pair[] = [
  pair('auth_header_name', 'header.name'),
  pair('use_param', 'query.enabled'),
  pair('param_name', 'query.name'),
  pair('use_cookie', 'cookie.enabled'),
  pair('cookie_name', 'cookie.name'),
]

/** Pairs between a classic definition and the scheme of one of its methods, by the name of the method's place in `auth_configs`. */
export const SCHEME_PAIRS: Readonly<Record<string, readonly Pair[]>> = { jwt: JWT_PAIRS, basic: BASIC_PAIRS }

/** Writes the section of signed requests, where the definition says something of them. */
export function hmacToOas(classic: JsonObject, extension: JsonObject): void {
  const config = objectOf(objectOf(classic, 'auth_configs'), 'hmac')
  const said = HMAC_PAIRS.some(({ classic: path }) => !isEmpty(getAt(classic, path)))
  if (!said && Object.values(config).every(isEmpty)) return
  const held: JsonObject = {}
  copyPairs(HMAC_PAIRS, classic, held, 'toOas')
  if (config.disable_header !== undefined) putAt(held, ['header', 'enabled'], config.disable_header !== true)
  copyPairs(HMAC_PLACES, config, held, 'toOas')
  putAt(extension, HMAC, held)
}

/** Reads the section of signed requests. */
export function hmacToClassic(extension: JsonObject, classic: JsonObject): void {
  const held = getAt(extension, HMAC)
  if (held === undefined || !isObject(held)) return
  copyPairs(HMAC_PAIRS, held, classic, 'toClassic')
  const config: JsonObject = {}
  const on = getAt(held, ['header', 'enabled'])
  if (typeof on === 'boolean') config.disable_header = !on
  copyPairs(HMAC_PLACES, held, config, 'toClassic')
  if (Object.keys(config).length > 0) putAt(classic, ['auth_configs', 'hmac'], config)
}

const EXTRA = ['server', 'authentication', 'security']

/** True when a document asks for one of several groups of schemes, as OpenAPI has it, and not for all schemes. */
export function offersChoice(extension: JsonObject): boolean {
  return textOf(objectOf(objectOf(extension, 'server'), 'authentication'), 'securityProcessingMode') === 'compliant'
}

/** The groups of a document in order: those of `security`, then those of the extension, which may name what OpenAPI cannot. */
export function groupsOf(document: JsonObject, extension: JsonObject): string[][] {
  const listed = member(document, 'security')
  const own = (Array.isArray(listed) ? listed : []).map((group) => (isObject(group) ? Object.keys(group) : []))
  const extra = getAt(extension, EXTRA)
  return [...own, ...(Array.isArray(extra) ? extra : []).map((group) => textsOf({ group }, 'group'))]
}

/** Writes groups of names: into `security` where all of a group are `declared` there, else into the extension. */
export function writeGroups(
  groups: readonly (readonly string[])[],
  declared: ReadonlySet<string>,
  document: JsonObject,
  extension: JsonObject,
): void {
  const open = groups.filter((group) => group.every((name) => declared.has(name)))
  const rest = groups.filter((group) => !group.every((name) => declared.has(name)))
  document.security = open.map((group) => {
    const asked: JsonObject = {}
    for (const name of group) setMember(asked, name, [])
    return asked
  })
  if (rest.length > 0) putAt(extension, EXTRA, rest as Json)
}
