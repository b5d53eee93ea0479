import { type Codec, DURATION, pair } from '../apis/convert/convert-pairs.ts'
import { flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf, textsOf } from '../apis/definition/members.ts'
import { type Flaw, setMember, type TreePath } from '../apis/definition/tree.ts'
import { bool, list, MAX_SKEW_S, map, number, object, oneOf, text, whole } from '../apis/schema/schema.ts'
import type { MemberTexts } from '../apis/texts/member-texts.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { KEY_FAMILIES, type KeyFamily, LEAST_SECRET_BYTES, readKeyAddress, readStaticKey } from './jwt-key.ts'
import { httpScheme, PROOF_FIELD, type Scheme } from './scheme.ts'

/** How long a key set counts where nothing else is said, in seconds. */
export const FRESH_S = 240
/** A revoked key must become invalid at some point. */
const LONGEST_FRESH_S = 86_400
/** Longest duration that the other format can write, in seconds. */
const MAX_TIMEOUT_S = 31_622_400

/** The rules for a JSON Web Token, and its meaning. Claims are named as in the token, or by a path with dots. */
export interface JwtRules {
  /** Kind of the key; '' = whatever the key set holds, shared secrets excepted. */
  readonly family: KeyFamily | ''
  /** The key itself as the definition writes it; '' = keys come from addresses, or from callers. */
  readonly key: string
  /** The caller is the key of this gateway that a token names, whose `jwt_data` verifies it; undefined = tokens of one issuer. */
  readonly ofCallers?: { readonly byKid: boolean }
  /** Addresses of key sets (RFC 7517 section 5), and how long one is taken for true. */
  readonly keySets: readonly { readonly url: string; readonly freshMs: number }[]
  /** Of these and the next two lists, the first claim that the token has counts, whatever it holds. `sub` is always among these. */
  readonly identityClaims: readonly string[]
  /** '' = none. Where no claim names policies, the key that is called as the client says which one it has. */
  readonly clientClaim: string
  readonly policyClaims: readonly string[]
  readonly scopeClaims: readonly string[]
  /** Scope to id of the policy that it brings. */
  readonly scopePolicies: ReadonlyMap<string, string>
  /** Of tokens that name none. */
  readonly defaultPolicies: readonly string[]
  /** How far clocks may differ, in milliseconds. */
  readonly skewMs: { readonly issuedAt: number; readonly expiresAt: number; readonly notBefore: number }
  /** Empty = any. */
  readonly issuers: readonly string[]
  readonly audiences: readonly string[]
  readonly subjects: readonly string[]
  /** True = a token may have no `exp`; one that has it ends with it all the same. */
  readonly takesEndless: boolean
  /** True = a shared secret may be shorter than 32 bytes. */
  readonly takesShortSecrets: boolean
}

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

const words = () => list(text(), 100)
const skew = () => whole(MAX_SKEW_S)

/** Descriptions of members that tokens of another authorization server have under the same names. */
export const JWT_TEXTS: MemberTexts = {
  '.source':
    'Key that verifies JWTs: a secret or a public key (PEM), in base64; or the URL of a key set (JWKS). Stored sealed. Empty: that of the key that a token names (`jwt_data.secret`).',
  '.signingMethod': 'Kind of key of JWTs: `hmac`, `rsa`, `ecdsa` or `eddsa`. Optional with key sets.',
  '.identityBaseField': 'Claim that identifies the caller. Absent, or not in the token: `sub`.',
  '.issuedAtValidationSkew': 'Clock skew allowed for `iat`, in seconds.',
  '.expiresAtValidationSkew': 'Clock skew allowed for `exp`, in seconds.',
  '.notBeforeValidationSkew': 'Clock skew allowed for `nbf`, in seconds.',
  '.disableExpiresAtValidation': 'true: tokens without `exp` are accepted. A token with `exp` still expires.',
  '.allowShortSecrets': 'true: secrets of less than 32 bytes are accepted.',
}

/** A JSON Web Token that another issuer signed (RFC 7519, RFC 8725). */
export const JWT_SCHEME: Scheme<'jwt', JwtRules> = {
  method: 'jwt',
  accessTokens: 'foreign',
  type: 'jwt',
  on: 'enable_jwt',
  config: 'jwt',
  identity: 'jwt_claim',
  rank: 5,
  declaration: httpScheme('bearer', { bearerFormat: 'JWT' }),
  classicSchema: {
    jwt_source: text(),
    jwt_jwks_uris: list(object({ url: text('optionalHttpUrl'), cache_timeout: number(MAX_TIMEOUT_S) }, ['url']), 10),
    jwt_signing_method: oneOf('', ...KEY_FAMILIES),
    jwt_skip_kid: bool(),
    jwt_identity_base_field: text(),
    jwt_subject_claims: words(),
    jwt_client_base_field: text(),
    jwt_policy_field_name: text(),
    jwt_base_policy_claims: words(),
    jwt_default_policies: words(),
    jwt_scope_claim_name: text(),
    jwt_scope_to_policy_mapping: map(text()),
    scopes: object({ jwt: object({ scope_claim_name: text(), scope_claims: words(), scope_to_policy: map(text()) }) }),
    jwt_issued_at_validation_skew: skew(),
    jwt_expires_at_validation_skew: skew(),
    jwt_not_before_validation_skew: skew(),
    jwt_allowed_issuers: words(),
    jwt_allowed_audiences: words(),
    jwt_allowed_subjects: words(),
    idp_client_id_mapping_disabled: bool(),
    jwt_disable_expires_at_validation: bool(),
    jwt_disable_issued_at_validation: bool(),
    jwt_disable_not_before_validation: bool(),
    jwt_allow_short_secrets: bool(),
  },
  oasSchema: {
    source: text(),
    jwksURIs: list(object({ url: text('optionalHttpUrl'), cacheTimeout: text('duration') }, ['url']), 10),
    signingMethod: oneOf('', ...KEY_FAMILIES),
    skipKid: bool(),
    identityBaseField: text(),
    subjectClaims: words(),
    clientBaseField: text(),
    policyFieldName: text(),
    basePolicyClaims: words(),
    defaultPolicies: words(),
    scopes: object({
      claimName: text(),
      claims: words(),
      scopeToPolicyMapping: list(object({ scope: text(), policyId: text() }, ['scope', 'policyId']), 1000),
    }),
    issuedAtValidationSkew: skew(),
    expiresAtValidationSkew: skew(),
    notBeforeValidationSkew: skew(),
    allowedIssuers: words(),
    allowedAudiences: words(),
    allowedSubjects: words(),
    idpClientIdMappingDisabled: bool(),
    jtiValidation: object({ enabled: bool() }),
    disableExpiresAtValidation: bool(),
    allowShortSecrets: bool(),
  },
  classicTexts: {
    enable_jwt: 'true: JSON Web Tokens of other issuers.',
    jwt_jwks_uris: 'Key sets (JWKS), in place of `jwt_source`.',
    'jwt_jwks_uris[].url': 'URL of the key set.',
    'jwt_jwks_uris[].cache_timeout': 'Seconds for which the key set is used. Absent: 240.',
    jwt_scope_claim_name: 'Older form of `scopes.jwt.scope_claim_name`.',
    jwt_scope_to_policy_mapping: 'Older form of `scopes.jwt.scope_to_policy`.',
    scopes: 'Scopes that give policies.',
    'scopes.jwt': 'Of JSON Web Tokens.',
    'scopes.jwt.scope_to_policy': 'Id of the policy of each scope.',
    jwt_disable_issued_at_validation: 'Without effect: `iat` is checked where a token has it.',
    jwt_disable_not_before_validation: 'Without effect: `nbf` is checked where a token has it.',
  },
  oasTexts: {
    ...JWT_TEXTS,
    jwksURIs: 'Scheme `http` `bearer`. Key sets (JWKS), in place of `source`.',
    'jwksURIs[].url': 'URL of the key set.',
    'jwksURIs[].cacheTimeout': 'Time for which the key set is used, a duration. Absent: 4 minutes.',
    skipKid: 'Where `source` is empty: `kid` does not name the key of the caller, the identity claim does.',
    subjectClaims: 'Claims that identify the caller: the first that the token has counts.',
    clientBaseField:
      'Claim with the client, for records. Without policy claims, the first policy of the key of this name applies.',
    policyFieldName: 'Claim with ids of policies.',
    basePolicyClaims: 'Claims with ids of policies: the first that the token has counts.',
    defaultPolicies: 'Ids of policies of tokens with neither a policy claim nor a scope claim.',
    scopes: 'Scopes that give policies.',
    'scopes.claimName': 'Claim with the scopes. Absent: `scope`.',
    'scopes.claims': 'Claims with the scopes: the first that the token has counts.',
    'scopes.scopeToPolicyMapping': 'The policy of each scope.',
    'scopes.scopeToPolicyMapping[].scope': 'Scope.',
    'scopes.scopeToPolicyMapping[].policyId': 'Id of the policy.',
    allowedIssuers: 'Accepted values of `iss`. Empty: any.',
    allowedAudiences: 'Accepted values of `aud`. Empty: any, also tokens for other APIs of the issuer.',
    allowedSubjects: 'Accepted values of `sub`. Empty: any.',
    idpClientIdMappingDisabled: 'Without effect. Accepted from definitions of the incumbent.',
    jtiValidation: 'Check of `jti`. Refused where it is asked for.',
  },
  pairs: [
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
    pair('jwt_disable_expires_at_validation', 'disableExpiresAtValidation'),
    pair('jwt_allow_short_secrets', 'allowShortSecrets'),
  ],
  closed: { prefix: 'jwt_', sections: [['scopes', 'jwt']] },
  extraFields: [PROOF_FIELD],
  identifies: false,
  read: readJwtRules,
  flaws: jwtFlaws,
  warnings: jwtWarnings,
}

function readJwtRules(classic: JsonObject): JwtRules {
  const source = textOf(classic, 'jwt_source')
  const address = readKeyAddress(source)
  const listed = objectsOf(classic, 'jwt_jwks_uris').filter(({ url }) => typeof url === 'string' && url !== '')
  const sets = listed.map((entry) => ({
    url: textOf(entry, 'url'),
    freshMs: 1000 * Math.min(numberOf(entry, 'cache_timeout') || FRESH_S, LONGEST_FRESH_S),
  }))
  const skewMs = (name: string) => 1000 * numberOf(classic, `jwt_${name}_validation_skew`)
  const policies = scopePoliciesOf(classic)
  const ofCallers = sets.length === 0 && source === '' && { byKid: !flagOf(classic, 'jwt_skip_kid') }
  return {
    ...(ofCallers && { ofCallers }),
    family: textOf(classic, 'jwt_signing_method') as KeyFamily | '',
    // As in other products, a list of URLs replaces the single source.
    key: sets.length > 0 || address !== undefined ? '' : source,
    keySets: sets.length > 0 || address === undefined ? sets : [{ url: address, freshMs: 1000 * FRESH_S }],
    identityClaims: [...new Set([...identityClaimsOf(classic), 'sub'])],
    clientClaim: textOf(classic, 'jwt_client_base_field'),
    policyClaims: claimNames(textOf(classic, 'jwt_policy_field_name'), textsOf(classic, 'jwt_base_policy_claims')),
    scopeClaims: scopeClaimsOf(classic),
    scopePolicies: new Map(Object.entries(policies).filter((entry): entry is [string, string] => isText(entry[1]))),
    defaultPolicies: textsOf(classic, 'jwt_default_policies'),
    skewMs: { issuedAt: skewMs('issued_at'), expiresAt: skewMs('expires_at'), notBefore: skewMs('not_before') },
    issuers: textsOf(classic, 'jwt_allowed_issuers'),
    audiences: textsOf(classic, 'jwt_allowed_audiences'),
    subjects: textsOf(classic, 'jwt_allowed_subjects'),
    takesEndless: flagOf(classic, 'jwt_disable_expires_at_validation'),
    takesShortSecrets: flagOf(classic, 'jwt_allow_short_secrets'),
  }
}

function identityClaimsOf(classic: JsonObject): readonly string[] {
  return claimNames(textOf(classic, 'jwt_identity_base_field'), textsOf(classic, 'jwt_subject_claims'))
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Scope to policy, from the section or from the older member. */
function scopePoliciesOf(classic: JsonObject): JsonObject {
  const own = objectOf(objectOf(objectOf(classic, 'scopes'), 'jwt'), 'scope_to_policy')
  return Object.keys(own).length > 0 ? own : objectOf(classic, 'jwt_scope_to_policy_mapping')
}

function scopeClaimsOf(classic: JsonObject): readonly string[] {
  const own = objectOf(objectOf(classic, 'scopes'), 'jwt')
  const first = textOf(own, 'scope_claim_name') || textOf(classic, 'jwt_scope_claim_name')
  return claimNames(first, textsOf(own, 'scope_claims'), 'scope')
}

/** The claim that is named alone, then those of the list; `usual` where the definition names none. */
function claimNames(first: string, list: readonly string[], usual = ''): readonly string[] {
  const named = [first, ...list].filter((name) => name !== '')
  return named.length > 0 || usual === '' ? named : [usual]
}

/** Where a definition has the members about keys. */
interface KeyPlaces {
  readonly source: TreePath
  readonly method: TreePath
  readonly endless: TreePath
}

const JWT_PLACES: KeyPlaces = {
  source: ['jwt_source'],
  method: ['jwt_signing_method'],
  endless: ['jwt_disable_expires_at_validation'],
}

/** The flaw of the key that tokens are checked with; none when it can be used. */
export function keyFlaws({ key, keySets, family, takesShortSecrets }: JwtRules, at: KeyPlaces): Flaw[] {
  if (keySets.length > 0)
    return family === 'hmac' ? [{ at: at.method, reason: 'must not be "hmac" where keys come from an address' }] : []
  const wrong =
    key === ''
      ? 'must hold a key in base64, or the address of a key set'
      : readStaticKey(key, family, { takesShortSecrets })
  if (typeof wrong !== 'string') return []
  return [{ at: key !== '' && family === '' ? at.method : at.source, reason: wrong }]
}

function jwtFlaws(classic: JsonObject): Flaw[] {
  const rules = readJwtRules(classic)
  const { policyClaims, clientClaim, defaultPolicies } = rules
  if (rules.ofCallers !== undefined) return []
  const flaws = keyFlaws(rules, JWT_PLACES)
  for (const [index, { url }] of objectsOf(classic, 'jwt_jwks_uris').entries()) {
    if (typeof url !== 'string' || readKeyAddress(url) !== url)
      flaws.push({ at: ['jwt_jwks_uris', String(index), 'url'], reason: 'must be an http or https address' })
  }
  const scopes = scopePoliciesOf(classic)
  const named = policyClaims.length > 0 || clientClaim !== '' || defaultPolicies.length > 0
  if (!named && isEmpty(scopes))
    flaws.push({ at: ['jwt_default_policies'], reason: 'must name a policy, unless a claim or scopes of the token do' })
  if (Object.values(scopes).some((id) => id === ''))
    flaws.push({ at: ['scopes', 'jwt', 'scope_to_policy'], reason: 'must name a policy for each scope' })
  return flaws
}

/** Choices of a definition that are weaker than the usual ones, and switches that change nothing. */
function jwtWarnings(classic: JsonObject): Flaw[] {
  const warnings: Flaw[] = []
  for (const [name, claim] of [
    ['jwt_disable_issued_at_validation', 'iat'],
    ['jwt_disable_not_before_validation', 'nbf'],
  ] as const)
    if (flagOf(classic, name))
      warnings.push({ at: [name], reason: `has no effect: "${claim}" is checked where a token has it` })
  const named = identityClaimsOf(classic)
  if (named.length > 0 && !named.includes('sub'))
    warnings.push({
      at: [textOf(classic, 'jwt_identity_base_field') === '' ? 'jwt_subject_claims' : 'jwt_identity_base_field'],
      reason: 'a token without this claim is identified by its "sub"',
    })
  const rules = readJwtRules(classic)
  if (rules.ofCallers !== undefined) warnings.push(...callerWarnings(classic, rules.ofCallers.byKid))
  return [...warnings, ...weakChoices(rules, JWT_PLACES)]
}

/** Members about policies, which tokens of callers do not bring. */
const POLICY_MEMBERS = [
  ...['jwt_policy_field_name', 'jwt_base_policy_claims', 'jwt_client_base_field', 'jwt_default_policies'],
  ...['jwt_scope_to_policy_mapping'],
]

/** The source is empty: in definitions of other products that is a choice, elsewhere it may have been forgotten. */
function callerWarnings(classic: JsonObject, byKid: boolean): Flaw[] {
  const place = byKid ? '"kid", else its identity claim,' : 'identity claim'
  const reason = `is empty: a token is verified with the "jwt_data.secret" of the key that its ${place} names`
  const idle = POLICY_MEMBERS.filter((name) => !isEmpty(classic[name]))
  return [
    { at: JWT_PLACES.source, reason },
    ...idle.map((name) => ({
      at: [name],
      reason: 'has no effect: a token has the rights of the key that it names',
    })),
  ]
}

/** Weaker choices about the keys and the life of tokens. */
export function weakChoices({ key, family, takesEndless, takesShortSecrets }: JwtRules, at: KeyPlaces): Flaw[] {
  const weak: Flaw[] = []
  if (takesEndless)
    weak.push({ at: at.endless, reason: 'accepts tokens without "exp", which end only when the key changes' })
  const bytes = key === '' || family !== 'hmac' ? undefined : secretLength(key, takesShortSecrets)
  if (bytes !== undefined && bytes < LONGEST_HASH_BYTES) weak.push({ at: at.source, reason: weaknessOf(bytes) })
  return weak
}

/** RFC 7518 section 3.2: a secret is as long as the hash, or longer. */
const LONGEST_HASH_BYTES = 64

function weaknessOf(bytes: number): string {
  return bytes < LEAST_SECRET_BYTES
    ? `is a secret of ${bytes} bytes: anyone with one token may find it by trying`
    : `is a secret of ${bytes} bytes: it is also accepted for HS384 and HS512, for which RFC 7518 requires 48 and 64 bytes`
}

function secretLength(key: string, takesShortSecrets: boolean): number | undefined {
  const read = readStaticKey(key, 'hmac', { takesShortSecrets })
  return typeof read === 'string' ? undefined : read.key.symmetricKeySize
}
