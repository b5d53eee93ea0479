import type { FormValue } from '../../../parts/forms/form-values.ts'
import { isObject } from '../editor/tree.ts'
import { JWT_KEY } from './jwt-key-settings.ts'
import type { SchemeForm, Setting, Shapes } from './scheme-setting.ts'

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

const setting = ([name, oas, classic, empty, as]: Row): Setting => ({
  ...{ name, oas, classic, empty },
  ...(as !== undefined && { as }),
})

const OAUTH_ROWS: readonly Row[] = [
  ['loginRedirect', 'authLoginRedirect', 'oauth_meta.auth_login_redirect', ''],
  ['authorizeTypes', 'allowedAuthorizeTypes', 'oauth_meta.allowed_authorize_types', []],
  ['resources', 'allowedResources', 'oauth_meta.allowed_resources', []],
  ['openRegistration', 'openRegistration', 'oauth_meta.open_registration', false],
  ['clientIdMetadata', 'clientIdMetadata', 'oauth_meta.client_id_metadata', false],
  ['registrationPolicies', 'registrationPolicies', 'oauth_meta.registration_policies', []],
  ['tokenFormat', 'accessTokenFormat', 'oauth_meta.access_token_format', 'opaque'],
  ['tokenType', 'accessTokenType', 'oauth_meta.access_token_type', 'at+jwt'],
  ['signing', 'accessTokenSigningAlgorithm', 'oauth_meta.access_token_signing_algorithm', 'ES256'],
  ['accessLife', 'accessTokenLifetime', 'oauth_meta.access_token_lifetime', ''],
  ['refreshLife', 'refreshTokenLifetime', 'oauth_meta.refresh_token_lifetime', ''],
  ['codeLife', 'authorizationCodeLifetime', 'oauth_meta.authorization_code_lifetime', ''],
  ['grace', 'refreshReuseGraceSeconds', 'oauth_meta.refresh_reuse_grace_seconds', ''],
  ['pkce', 'requirePkce', 'oauth_meta.require_pkce', false],
  ['pushed', 'requirePushedAuthorizationRequests', 'oauth_meta.require_pushed_authorization_requests', false],
  ['dpop', 'dpop', 'oauth_meta.dpop', 'off'],
  ['mutualTls', 'mutualTls', 'oauth_meta.mutual_tls', 'off'],
  ['device', 'deviceAuthorization', 'oauth_meta.device_authorization', false],
]

const JWT_ROWS: readonly Row[] = [
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

const AUTHORIZE = { authorizationUrl: '/oauth/authorize' }
const TOKEN = { tokenUrl: '/oauth/token' }

/** The authentication schemes of the console, by method: those of `src/model/authentication/schemes.ts`, in that order, without `external`. */
const SCHEME_FORMS = {
  token: {
    on: 'use_standard_auth',
    config: 'authToken',
    identity: 'auth_token',
    word: 'key',
    declared: { type: 'apiKey' },
    takesCertificates: true,
    sent: { prefix: '' },
    offer: { declared: { type: 'apiKey', in: 'header', name: 'Authorization' } },
    settings: [],
  },
  oauth: {
    on: 'use_oauth2',
    config: 'oauth',
    identity: 'oauth_key',
    word: 'oauth',
    declared: { type: 'oauth2' },
    sent: { prefix: 'Bearer ' },
    offer: {
      declared: {
        type: 'oauth2',
        flows: {
          authorizationCode: { ...AUTHORIZE, ...TOKEN, scopes: {} },
          clientCredentials: { ...TOKEN, scopes: {} },
        },
      },
      settings: { refreshToken: true },
    },
    settings: OAUTH_ROWS.map(setting),
  },
  jwt: {
    on: 'enable_jwt',
    config: 'jwt',
    identity: 'jwt_claim',
    word: 'jwt',
    declared: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    sent: { prefix: 'Bearer ' },
    settings: JWT_ROWS.map(setting),
    group: JWT_KEY,
  },
  basic: {
    on: 'use_basic_auth',
    config: 'basic',
    identity: 'basic_auth_user',
    word: 'basic',
    declared: { type: 'http', scheme: 'basic' },
    sent: { prefix: 'Basic ', isLogin: true },
    offer: { declared: { type: 'http', scheme: 'basic' } },
    settings: [
      {
        name: 'basicUncached',
        oas: 'disableCaching',
        classic: 'basic_auth.disable_caching',
        empty: false,
        field: { kind: 'switch' },
      },
      {
        name: 'basicCache',
        oas: 'cacheTTL',
        classic: 'basic_auth.cache_ttl',
        empty: '',
        field: {
          kind: 'number',
          min: 0,
          unit: 's',
          placeholder: '60 s',
          when: ({ basicUncached }) => basicUncached !== true,
        },
      },
    ],
  },
  hmac: {
    on: 'enable_signature_checking',
    config: 'hmac',
    identity: 'hmac_key',
    word: 'hmac',
    offer: {},
    settings: [
      {
        name: 'hmacAlgorithms',
        oas: 'allowedAlgorithms',
        classic: 'hmac_allowed_algorithms',
        empty: [],
        field: {
          kind: 'choices',
          choices: ['hmac-sha256', 'hmac-sha384', 'hmac-sha512', 'hmac-sha1'].map((value) => ({ value, label: value })),
        },
      },
      {
        name: 'hmacSkew',
        oas: 'allowedClockSkew',
        classic: 'hmac_allowed_clock_skew',
        empty: '',
        field: { kind: 'number', min: 0, unit: 'ms', placeholder: '300 000 ms' },
      },
    ],
  },
} as const satisfies Readonly<Record<string, SchemeForm>>

/** An authentication scheme that the form can set up. */
export type Proof = keyof typeof SCHEME_FORMS

export const PROOFS = Object.keys(SCHEME_FORMS) as readonly Proof[]

/** The form of a scheme. */
export function schemeForm(proof: Proof): SchemeForm {
  return SCHEME_FORMS[proof]
}
