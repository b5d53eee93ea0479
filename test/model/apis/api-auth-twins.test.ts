import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { getAt, pathOf, putAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/model/api-samples.ts'

const AUTHENTICATION = [EXTENSION, 'server', 'authentication']
const SOURCE = Buffer.alloc(32, 7).toString('base64')

/** Classic path and value, path below the scheme and value (the same when it is left out). */
const JWT: readonly [classic: string, value: Json, oas: string, value?: Json][] = [
  ['jwt_source', 'https://idp.example/jwks', 'source'],
  ['jwt_signing_method', 'rsa', 'signingMethod'],
  ['jwt_skip_kid', true, 'skipKid'],
  ['jwt_identity_base_field', 'email', 'identityBaseField'],
  ['jwt_subject_claims', ['mail', 'upn'], 'subjectClaims'],
  ['jwt_client_base_field', 'azp', 'clientBaseField'],
  ['jwt_policy_field_name', 'pol', 'policyFieldName'],
  ['jwt_base_policy_claims', ['pol', 'plan'], 'basePolicyClaims'],
  ['jwt_default_policies', ['a', 'b'], 'defaultPolicies'],
  ['scopes.jwt.scope_claim_name', 'scp', 'scopes.claimName'],
  ['scopes.jwt.scope_claims', ['scp', 'scope'], 'scopes.claims'],
  [
    'scopes.jwt.scope_to_policy',
    { read: 'p', write: 'q' },
    'scopes.scopeToPolicyMapping',
    [
      { scope: 'read', policyId: 'p' },
      { scope: 'write', policyId: 'q' },
    ],
  ],
  [
    'jwt_jwks_uris',
    [{ url: 'https://a.example/', cache_timeout: 120 }, { url: 'https://b.example/' }],
    'jwksURIs',
    [{ url: 'https://a.example/', cacheTimeout: '2m' }, { url: 'https://b.example/' }],
  ],
  ['jwt_issued_at_validation_skew', 1, 'issuedAtValidationSkew'],
  ['jwt_expires_at_validation_skew', 2, 'expiresAtValidationSkew'],
  ['jwt_not_before_validation_skew', 3, 'notBeforeValidationSkew'],
  ['jwt_allowed_issuers', ['i'], 'allowedIssuers'],
  ['jwt_allowed_audiences', ['a'], 'allowedAudiences'],
  ['jwt_allowed_subjects', ['s'], 'allowedSubjects'],
  ['jwt_disable_expires_at_validation', true, 'disableExpiresAtValidation'],
  ['jwt_allow_short_secrets', true, 'allowShortSecrets'],
]
const EXTERNAL: typeof JWT = [
  [
    'external_oauth.providers',
    [
      {
        jwt: {
          ...{ enabled: true, signing_method: 'rsa', source: 'https://idp.example/jwks', identity_base_field: 'mail' },
          ...{ issued_at_validation_skew: 1, not_before_validation_skew: 2, expires_at_validation_skew: 3 },
          ...{ disable_expires_at_validation: true, allow_short_secrets: true, 'x-note': 1 },
        },
      },
      {
        introspection: {
          ...{ enabled: true, url: 'https://idp.example/i', client_id: 'me', client_secret: 's' },
          ...{ identity_base_field: 'mail', cache: { enabled: true, timeout: 5 } },
        },
      },
    ],
    'providers',
    [
      {
        jwt: {
          ...{ enabled: true, signingMethod: 'rsa', source: 'https://idp.example/jwks', identityBaseField: 'mail' },
          ...{ issuedAtValidationSkew: 1, notBeforeValidationSkew: 2, expiresAtValidationSkew: 3 },
          ...{ disableExpiresAtValidation: true, allowShortSecrets: true, 'x-note': 1 },
        },
      },
      {
        introspection: {
          ...{ enabled: true, url: 'https://idp.example/i', clientId: 'me', clientSecret: 's' },
          ...{ identityBaseField: 'mail', cache: { enabled: true, timeout: 5 } },
        },
      },
    ],
  ],
]
const BASIC: typeof JWT = [
  ['basic_auth.disable_caching', true, 'disableCaching'],
  ['basic_auth.cache_ttl', 9, 'cacheTTL'],
]

function sameBothWays(definition: JsonObject, at: readonly string[], left: string, value: Json, twin: Json): void {
  const { document, carried } = toOas(definition)
  assert.deepEqual(getAt(document, at), twin)
  assert.deepEqual(carried, [])
  const back = toClassic(document)
  assert.deepEqual(getAt(back.definition, pathOf(left)), value)
  assert.deepEqual(back.carried, [])
  assert.deepEqual(back.definition, definition)
}

describe('settings of methods that both formats have', () => {
  for (const [on, name, members] of [
    ['enable_jwt', 'jwt', JWT],
    ['external_oauth.enabled', 'externalOAuth', EXTERNAL],
    ['use_basic_auth', 'basic', BASIC],
  ] as const) {
    for (const [left, value, right, twin = value] of members) {
      test(`${left} is ${right}`, () => {
        const definition = classic({ auth_configs: { [name]: { disable_header: false } } })
        putAt(definition, pathOf(on), true)
        putAt(definition, pathOf(left), value)
        sameBothWays(definition, [...AUTHENTICATION, 'securitySchemes', name, ...pathOf(right)], left, value, twin)
      })
    }
  }

  for (const [left, value, right] of [
    ['enable_signature_checking', true, 'enabled'],
    ['hmac_allowed_algorithms', ['hmac-sha512'], 'allowedAlgorithms'],
    ['hmac_allowed_clock_skew', 1000, 'allowedClockSkew'],
    ['hmac_coverage', 'path', 'coverage'],
    ['auth_configs.hmac.auth_header_name', 'X-Sig', 'header.name'],
  ] as const) {
    test(`${left} is hmac.${right}`, () => {
      const definition = classic({ use_standard_auth: true, enable_signature_checking: true })
      putAt(definition, pathOf(left), value as Json)
      const { document } = toOas(definition)
      assert.deepEqual(getAt(document, [...AUTHENTICATION, 'hmac', ...pathOf(right)]), value)
      assert.deepEqual(toClassic(document).definition, definition)
    })
  }
})

test('a choice between groups of methods is the same in both formats, signed requests among them', () => {
  const definition = classic({
    ...{ use_standard_auth: true, enable_jwt: true, enable_signature_checking: true },
    ...{ jwt_source: SOURCE, jwt_signing_method: 'hmac', jwt_default_policies: ['p'] },
    security_processing_mode: 'compliant',
    security_requirements: [['authToken'], ['jwt'], ['hmac', 'jwt']],
    auth_configs: { authToken: { auth_header_name: 'X-Key' }, jwt: { auth_header_name: 'X-Jwt' } },
  })
  const { document } = toOas(definition)
  assert.deepEqual(document.security, [{ authToken: [] }, { jwt: [] }])
  assert.deepEqual(getAt(document, [...AUTHENTICATION, 'security']), [['hmac', 'jwt']])
  assert.deepEqual(toClassic(document).definition, definition)
  const read = (format: 'classic' | 'oas', body: JsonObject) =>
    readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition: body }).auth
  const auth = read('classic', definition)
  assert.deepEqual(
    auth?.alternatives?.map((group) => group.map(({ method }) => method)),
    [['token'], ['jwt'], ['hmac', 'jwt']],
  )
  assert.deepEqual(read('oas', document), auth)
})
