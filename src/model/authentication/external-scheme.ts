import { type Codec, pair } from '../apis/convert/convert-pairs.ts'
import { flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf, textsOf } from '../apis/definition/members.ts'
import { type Flaw, setMember } from '../apis/definition/tree.ts'
import { bool, list, MAX_SKEW_S, object, oneOf, text, whole } from '../apis/schema/schema.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { KEY_FAMILIES, type KeyFamily, readKeyAddress } from './jwt-key.ts'
import { FRESH_S, JWT_TEXTS, type JwtRules, keyFlaws, weakChoices } from './jwt-scheme.ts'
import { PROOF_FIELD, type Scheme } from './scheme.ts'

/** Longest time for which an answer of an issuer may be kept, in seconds. */
const MAX_CACHE_S = 86_400

/** How tokens are asked about at their issuer (RFC 7662). */
export interface IntrospectionRules {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** Members of the answer that say who calls; the first that is there counts. */
  readonly identityClaims: readonly string[]
  /** How long an answer is kept; 0 = it is asked for with every request. */
  readonly cacheMs: number
}

/** How tokens of another issuer are checked: by their signature, or by asking the issuer. */
export type ExternalRules = {
  /** Issuers of the tokens, as the metadata of the API names them to clients (RFC 9728). */
  readonly issuers: readonly string[]
} & (
  | { readonly jwt: JwtRules; readonly introspection?: undefined }
  | { readonly introspection: IntrospectionRules; readonly jwt?: undefined }
)

const JWT_NAMES: readonly (readonly [classic: string, oas: string])[] = [
  ['signing_method', 'signingMethod'],
  ['identity_base_field', 'identityBaseField'],
  ['issued_at_validation_skew', 'issuedAtValidationSkew'],
  ['not_before_validation_skew', 'notBeforeValidationSkew'],
  ['expires_at_validation_skew', 'expiresAtValidationSkew'],
  ['disable_expires_at_validation', 'disableExpiresAtValidation'],
  ['allow_short_secrets', 'allowShortSecrets'],
]
const INTROSPECTION_NAMES: readonly (readonly [classic: string, oas: string])[] = [
  ['client_id', 'clientId'],
  ['client_secret', 'clientSecret'],
  ['identity_base_field', 'identityBaseField'],
]

/** Providers differ by the spelling of their members alone. */
const PROVIDERS: Codec = {
  toOas: (value) => renamedProviders(value, (name, names) => names.find(([classic]) => classic === name)?.[1]),
  toClassic: (value) => renamedProviders(value, (name, names) => names.find(([, oas]) => oas === name)?.[0]),
  below: (path) =>
    path.map((step) => [...JWT_NAMES, ...INTROSPECTION_NAMES].find(([name]) => name === step)?.[1] ?? step),
}

type Rename = (name: string, names: typeof JWT_NAMES) => string | undefined

function renamedProviders(value: Json, rename: Rename): Json | undefined {
  if (!Array.isArray(value)) return undefined
  return value.map((provider) => {
    if (!isObject(provider)) return provider
    const written: JsonObject = { ...provider }
    for (const [section, names] of [
      ['jwt', JWT_NAMES],
      ['introspection', INTROSPECTION_NAMES],
    ] as const) {
      const held = provider[section]
      if (held === undefined || !isObject(held)) continue
      const members: JsonObject = {}
      for (const [name, each] of Object.entries(held)) setMember(members, rename(name, names) ?? name, each)
      written[section] = members
    }
    return written
  })
}

const skew = () => whole(MAX_SKEW_S)
const servers = () => list(text('optionalHttpUrl'), 10)

function providers(at: 0 | 1) {
  const named = (names: typeof JWT_NAMES, schemas: Readonly<Record<string, ReturnType<typeof text>>>) =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [spelled(names, name)[at], schema]))
  const spelled = (names: typeof JWT_NAMES, name: string) => names.find(([, oas]) => oas === name) ?? [name, name]
  return list(
    object({
      jwt: object(
        named(JWT_NAMES, {
          enabled: bool(),
          signingMethod: oneOf('', ...KEY_FAMILIES),
          source: text(),
          identityBaseField: text(),
          issuedAtValidationSkew: skew(),
          notBeforeValidationSkew: skew(),
          expiresAtValidationSkew: skew(),
          disableExpiresAtValidation: bool(),
          allowShortSecrets: bool(),
        }),
      ),
      introspection: object(
        named(INTROSPECTION_NAMES, {
          enabled: bool(),
          url: text('optionalHttpUrl'),
          clientId: text(),
          clientSecret: text(),
          identityBaseField: text(),
          cache: object({ enabled: bool(), timeout: whole(MAX_CACHE_S) }),
        }),
      ),
    }),
    10,
  )
}

/** An access token of another authorization server: a JSON Web Token, or one that its issuer is asked about (RFC 7662). */
export const EXTERNAL_SCHEME: Scheme<'external', ExternalRules> = {
  method: 'external',
  accessTokens: 'foreign',
  type: 'externalOAuth',
  on: 'external_oauth.enabled',
  config: 'externalOAuth',
  identity: 'external_oauth',
  rank: 2,
  declaration: {
    matches: ({ type }) => type === 'oauth2',
    settles: ({ providers }) => !isEmpty(providers),
    declare: () => ({ type: 'oauth2', flows: {} }),
  },
  classicSchema: {
    external_oauth: object({ enabled: bool(), providers: providers(0), authorization_servers: servers() }),
  },
  oasSchema: { providers: providers(1), authorizationServers: servers() },
  classicTexts: {
    external_oauth: 'Access tokens of another authorization server.',
    'external_oauth.providers': 'The first entry counts.',
    'external_oauth.providers[].jwt': 'Verifies tokens by their signature.',
    'external_oauth.providers[].introspection': 'Asks the issuer about each token (RFC 7662).',
    'external_oauth.providers[].introspection.url': 'Introspection endpoint.',
    'external_oauth.providers[].introspection.client_id': 'Client id of the gateway at the issuer.',
    'external_oauth.providers[].introspection.client_secret':
      'Client secret of the gateway at the issuer. Stored sealed.',
    'external_oauth.providers[].introspection.cache': 'Stores answers of the issuer.',
    'external_oauth.providers[].introspection.cache.timeout': 'Seconds for which an answer is used, at most a day.',
    'external_oauth.providers[].jwt.signing_method': 'Kind of key of JWTs: `hmac`, `rsa`, `ecdsa` or `eddsa`.',
    'external_oauth.providers[].jwt.source':
      'Key that verifies JWTs: a secret or a public key (PEM), in base64; or the URL of a key set (JWKS). Stored sealed.',
    'external_oauth.providers[].jwt.identity_base_field':
      'Claim that identifies the caller. Absent, or not in the token: `sub`.',
    'external_oauth.providers[].jwt.issued_at_validation_skew': 'Clock skew allowed for `iat`, in seconds.',
    'external_oauth.providers[].jwt.not_before_validation_skew': 'Clock skew allowed for `nbf`, in seconds.',
    'external_oauth.providers[].jwt.expires_at_validation_skew': 'Clock skew allowed for `exp`, in seconds.',
    'external_oauth.providers[].jwt.disable_expires_at_validation':
      'true: tokens without `exp` are accepted. A token with `exp` still expires.',
    'external_oauth.providers[].jwt.allow_short_secrets': 'true: secrets of less than 32 bytes are accepted.',
    'external_oauth.providers[].introspection.identity_base_field':
      'Claim that identifies the caller. Absent, or not in the token: `sub`.',
  },
  oasTexts: {
    ...JWT_TEXTS,
    providers: 'Scheme `oauth2`. Accepts access tokens of another authorization server. The first entry counts.',
    'providers[].jwt': 'Verifies tokens by their signature.',
    'providers[].introspection': 'Asks the issuer about each token (RFC 7662).',
    'providers[].introspection.url': 'Introspection endpoint.',
    'providers[].introspection.clientId': 'Client id of the gateway at the issuer.',
    'providers[].introspection.clientSecret': 'Client secret of the gateway at the issuer. Stored sealed.',
    'providers[].introspection.identityBaseField': 'Member of the answer that identifies the caller. Absent: `sub`.',
    'providers[].introspection.cache': 'Stores answers of the issuer.',
    'providers[].introspection.cache.timeout': 'Seconds for which an answer is used, at most a day.',
    authorizationServers:
      'Scheme `oauth2` with `providers`. Issuers that the metadata of the protected resource names.',
  },
  pairs: [
    pair('external_oauth.providers', 'providers', PROVIDERS),
    pair('external_oauth.authorization_servers', 'authorizationServers'),
  ],
  closed: { prefix: 'external_oauth', sections: [] },
  extraFields: [PROOF_FIELD],
  identifies: false,
  read: readExternalRules,
  flaws: externalFlaws,
  warnings: externalWarnings,
}

/** The first provider counts, as in other products, and of its two ways the signature. */
function firstIssuer(classic: JsonObject): JsonObject {
  return objectsOf(objectOf(classic, 'external_oauth'), 'providers')[0] ?? {}
}

function readExternalRules(classic: JsonObject): ExternalRules {
  const provider = firstIssuer(classic)
  const issuers = textsOf(objectOf(classic, 'external_oauth'), 'authorization_servers')
  const jwt = objectOf(provider, 'jwt')
  if (flagOf(jwt, 'enabled')) return { issuers, jwt: readIssuedJwt(jwt) }
  const held = objectOf(provider, 'introspection')
  const cache = objectOf(held, 'cache')
  return {
    issuers,
    introspection: {
      url: textOf(held, 'url'),
      clientId: textOf(held, 'client_id'),
      clientSecret: textOf(held, 'client_secret'),
      identityClaims: identityClaimsOf(held),
      cacheMs: flagOf(cache, 'enabled') ? 1000 * numberOf(cache, 'timeout') : 0,
    },
  }
}

function identityClaimsOf(section: JsonObject): readonly string[] {
  return [...new Set([textOf(section, 'identity_base_field') || 'sub', 'sub'])]
}

function readIssuedJwt(section: JsonObject): JwtRules {
  const source = textOf(section, 'source')
  const address = readKeyAddress(source)
  const skewMs = (name: string) => 1000 * numberOf(section, `${name}_validation_skew`)
  return {
    // A key without a kind is a secret in other products.
    family: (textOf(section, 'signing_method') || (address === undefined ? 'hmac' : '')) as KeyFamily | '',
    key: address === undefined ? source : '',
    keySets: address === undefined ? [] : [{ url: address, freshMs: 1000 * FRESH_S }],
    identityClaims: identityClaimsOf(section),
    ...{ clientClaim: '', policyClaims: [], scopeClaims: [], scopePolicies: new Map(), defaultPolicies: [] },
    skewMs: { issuedAt: skewMs('issued_at'), expiresAt: skewMs('expires_at'), notBefore: skewMs('not_before') },
    ...{ issuers: [], audiences: [], subjects: [] },
    takesEndless: flagOf(section, 'disable_expires_at_validation'),
    takesShortSecrets: flagOf(section, 'allow_short_secrets'),
  }
}

const FIRST = ['external_oauth', 'providers', '0']
const JWT_PLACES = {
  source: [...FIRST, 'jwt', 'source'],
  method: [...FIRST, 'jwt', 'signing_method'],
  endless: [...FIRST, 'jwt', 'disable_expires_at_validation'],
}

function externalFlaws(classic: JsonObject): Flaw[] {
  const provider = firstIssuer(classic)
  if (isEmpty(provider)) return [{ at: FIRST.slice(0, 2), reason: 'must hold the issuer of the tokens' }]
  const { jwt, introspection } = readExternalRules(classic)
  if (jwt !== undefined) return keyFlaws(jwt, JWT_PLACES)
  if (!flagOf(objectOf(provider, 'introspection'), 'enabled'))
    return [{ at: FIRST, reason: 'must enable "jwt" or "introspection"' }]
  return introspection.url === '' ? [{ at: [...FIRST, 'introspection', 'url'], reason: 'is missing' }] : []
}

function externalWarnings(classic: JsonObject): Flaw[] {
  const { jwt, introspection } = readExternalRules(classic)
  const all = objectsOf(objectOf(classic, 'external_oauth'), 'providers')
  const warnings: Flaw[] =
    all.length > 1 ? [{ at: [...FIRST.slice(0, 2), '1'], reason: 'has no effect: the first provider counts' }] : []
  if (jwt !== undefined) {
    warnings.push(...weakChoices(jwt, JWT_PLACES))
    if (flagOf(objectOf(all[0], 'introspection'), 'enabled'))
      warnings.push({ at: [...FIRST, 'introspection'], reason: 'has no effect where "jwt" is enabled' })
  }
  const cache = objectOf(objectOf(all[0], 'introspection'), 'cache')
  if (introspection !== undefined && flagOf(cache, 'enabled') && introspection.cacheMs === 0)
    warnings.push({ at: [...FIRST, 'introspection', 'cache', 'timeout'], reason: 'keeps nothing: it is 0' })
  return warnings
}
