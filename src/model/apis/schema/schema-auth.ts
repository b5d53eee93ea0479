import { KEY_FAMILIES } from '../../authentication/jwt-key.ts'
import { bool, list, map, number, object, oneOf, type Schema, text, whole } from './schema.ts'

/** Furthest that clocks may be said to differ, in seconds. */
const MAX_SKEW_S = 86_400
/** Longest time in which what was checked is not checked again, in seconds. */
const MAX_CACHE_S = 86_400
/** Longest duration that the other format can write, in seconds. */
const MAX_TIMEOUT_S = 31_622_400
const MOST_WORDS = 100

const words = () => list(text(), MOST_WORDS)
const skew = () => whole(MAX_SKEW_S)

/** Members of a classic definition that say how callers prove who they are. */
export const CLASSIC_AUTH: Readonly<Record<string, Schema>> = {
  security_processing_mode: oneOf('', 'legacy', 'compliant'),
  security_requirements: list(words(), MOST_WORDS),
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
  basic_auth: object({ disable_caching: bool(), cache_ttl: whole(MAX_CACHE_S), extract_from_body: bool() }),
  hmac_allowed_algorithms: words(),
  // Exporters of other products write -1 for "not checked".
  hmac_allowed_clock_skew: number(MAX_SKEW_S * 1000, -1),
}

/** Members of a security scheme of the extension besides places and those of OAuth. */
export const OAS_SCHEME_AUTH: Readonly<Record<string, Schema>> = {
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
  disableCaching: bool(),
  cacheTTL: whole(MAX_CACHE_S),
  extractCredentialsFromBody: object({ enabled: bool() }),
}

/** The section of signed requests: no scheme that OpenAPI could declare. */
export const OAS_HMAC = (place: (name: Schema) => Schema): Schema =>
  object({
    enabled: bool(),
    header: place(text('optionalFieldName')),
    query: place(text()),
    cookie: place(text('optionalFieldName')),
    allowedAlgorithms: words(),
    allowedClockSkew: number(MAX_SKEW_S * 1000, -1),
  })
