import { type KeyFamily, readKeyAddress } from '../../authentication/jwt-key.ts'
import type { BasicRules, HmacRules, JwtRules } from '../../authentication/scheme-rules.ts'
import type { JsonObject } from '../../json/json.ts'
import { flagOf, numberOf, objectOf, objectsOf, textOf, textsOf } from '../definition/members.ts'

const FRESH_S = 240
/** A revoked key must become invalid at some point. */
const LONGEST_FRESH_S = 86_400
const PASSWORD_S = 60
const SIGNATURE_SKEW_MS = 300_000

/** Signature algorithms that requests may use unless the definition lists others. */
const HMAC_DEFAULTS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const
/** All that a definition may list. */
export const HMAC_ALGORITHMS: readonly string[] = ['hmac-sha1', ...HMAC_DEFAULTS]

/** What a definition says of JSON Web Tokens. */
export function readJwtRules(classic: JsonObject): JwtRules {
  const source = textOf(classic, 'jwt_source')
  const address = readKeyAddress(source)
  const listed = objectsOf(classic, 'jwt_jwks_uris').filter(({ url }) => typeof url === 'string' && url !== '')
  const sets = listed.map((entry) => ({
    url: textOf(entry, 'url'),
    freshMs: 1000 * Math.min(numberOf(entry, 'cache_timeout') || FRESH_S, LONGEST_FRESH_S),
  }))
  const skewMs = (name: string) => 1000 * numberOf(classic, `jwt_${name}_validation_skew`)
  const policies = scopePoliciesOf(classic)
  return {
    family: textOf(classic, 'jwt_signing_method') as KeyFamily | '',
    // As in other products, a list of URLs replaces the single source.
    key: sets.length > 0 || address !== undefined ? '' : source,
    keySets: sets.length > 0 || address === undefined ? sets : [{ url: address, freshMs: 1000 * FRESH_S }],
    identityClaims: claimNames(
      textOf(classic, 'jwt_identity_base_field'),
      textsOf(classic, 'jwt_subject_claims'),
      'sub',
    ),
    clientClaim: textOf(classic, 'jwt_client_base_field'),
    policyClaims: claimNames(textOf(classic, 'jwt_policy_field_name'), textsOf(classic, 'jwt_base_policy_claims')),
    scopeClaims: scopeClaimsOf(classic),
    scopePolicies: new Map(Object.entries(policies).filter((entry): entry is [string, string] => isText(entry[1]))),
    defaultPolicies: textsOf(classic, 'jwt_default_policies'),
    skewMs: { issuedAt: skewMs('issued_at'), expiresAt: skewMs('expires_at'), notBefore: skewMs('not_before') },
    issuers: textsOf(classic, 'jwt_allowed_issuers'),
    audiences: textsOf(classic, 'jwt_allowed_audiences'),
    subjects: textsOf(classic, 'jwt_allowed_subjects'),
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Scope to policy, from the section or from the older member. */
export function scopePoliciesOf(classic: JsonObject): JsonObject {
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

/** What a definition says of names and passwords. */
export function readBasicRules(classic: JsonObject): BasicRules {
  const section = objectOf(classic, 'basic_auth')
  if (flagOf(section, 'disable_caching')) return { cacheMs: 0 }
  return { cacheMs: 1000 * (numberOf(section, 'cache_ttl') || PASSWORD_S) }
}

/** What a definition says of signed requests. */
export function readHmacRules(classic: JsonObject): HmacRules {
  const listed = textsOf(classic, 'hmac_allowed_algorithms').map((name) => name.toLowerCase())
  const skewMs = numberOf(classic, 'hmac_allowed_clock_skew')
  return {
    algorithms: listed.length === 0 ? HMAC_DEFAULTS : listed,
    skewMs: skewMs > 0 ? skewMs : SIGNATURE_SKEW_MS,
  }
}
