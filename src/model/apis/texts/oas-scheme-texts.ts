import type { MemberTexts } from './member-texts.ts'

const SCHEME = 'server.authentication.securitySchemes.*'
const HMAC = 'server.authentication.hmac'
const NOT_SERVED = 'Refused where it is asked for.'

/** Descriptions of `server.authentication`. */
export const OAS_SCHEME_TEXTS: MemberTexts = {
  'server.authentication': 'How callers prove who they are.',
  'server.authentication.enabled': 'false or absent: the API asks for no credential.',
  'server.authentication.stripAuthorizationData':
    'true: the credential is removed before the request goes to the upstream.',
  'server.authentication.baseIdentityProvider':
    'With several methods that must all be met: the one whose session applies.',
  'server.authentication.securitySchemes':
    'Settings of the security schemes of the document, by their names in `components.securitySchemes`.',
  [`${SCHEME}.enabled`]: 'true: the API accepts this scheme.',
  '.header': 'Header with the credential. Absent: `Authorization`.',
  '.query': 'Query parameter with the credential.',
  '.cookie': 'Cookie with the credential.',
  '.header.name': 'Name of the header.',
  '.query.name': 'Name of the query parameter.',
  '.cookie.name': 'Name of the cookie.',
  [`${SCHEME}.enableClientCertificate`]:
    'Scheme `apiKey`. true: a client certificate is accepted in place of the key, if a key has it as its `certificate`.',
  [`${SCHEME}.signatureValidation`]: `Signature besides the key. ${NOT_SERVED}`,
  [`${SCHEME}.signature`]: `Signature besides the key. ${NOT_SERVED}`,
  [`${SCHEME}.allowedAuthorizeTypes`]:
    'Scheme `oauth2`. Response types of the authorization endpoint: `code`. `token` (implicit) is always refused.',
  [`${SCHEME}.refreshToken`]: 'Scheme `oauth2`. true: refresh tokens are issued and accepted.',
  [`${SCHEME}.deviceAuthorization`]: 'Scheme `oauth2`. true: device authorization grant (RFC 8628).',
  [`${SCHEME}.authLoginRedirect`]: 'Scheme `oauth2`. URL of the login page that browsers are sent to.',
  [`${SCHEME}.notifications`]: 'Scheme `oauth2`. Notifications of issued and refreshed tokens.',
  [`${SCHEME}.notifications.sharedSecret`]:
    'Secret that notifications carry (`X-Svc-Shared-Secret`) and are signed with.',
  [`${SCHEME}.notifications.onKeyChangeUrl`]: 'URL that is notified.',
  [`${SCHEME}.allowedResources`]:
    'Scheme `oauth2`. URIs that clients can ask tokens for (`resource`, RFC 8707), besides the API itself.',
  [`${SCHEME}.openRegistration`]:
    'Scheme `oauth2`. true: clients register themselves without an initial access token (RFC 7591).',
  [`${SCHEME}.clientIdMetadata`]:
    'Scheme `oauth2`. true: a client can name itself by the URL of its metadata document.',
  [`${SCHEME}.registrationPolicies`]: 'Scheme `oauth2`. Ids of policies that registered clients get.',
  [`${SCHEME}.accessTokenFormat`]: 'Scheme `oauth2`. `opaque` (default) or `jwt` (RFC 9068).',
  [`${SCHEME}.accessTokenType`]: 'Scheme `oauth2`. Header `typ` of JWT access tokens: `at+jwt` (default) or `JWT`.',
  [`${SCHEME}.accessTokenSigningAlgorithm`]:
    'Scheme `oauth2`. Algorithm of JWT access tokens: `ES256` (default) or `RS256`.',
  [`${SCHEME}.accessTokenLifetime`]:
    'Scheme `oauth2`. Lifetime of access tokens in seconds. 0: the setting `gateway.oauth_token_expire`.',
  [`${SCHEME}.refreshTokenLifetime`]:
    'Scheme `oauth2`. Lifetime of refresh tokens in seconds. 0: the setting `gateway.oauth_refresh_token_expire`.',
  [`${SCHEME}.authorizationCodeLifetime`]:
    'Scheme `oauth2`. Lifetime of authorization codes in seconds, at most 600. 0: the setting `gateway.oauth_code_expire`.',
  [`${SCHEME}.refreshReuseGraceSeconds`]:
    'Scheme `oauth2`. Seconds in which a used refresh token is answered once more. 0: a second use ends all tokens of the grant.',
  [`${SCHEME}.requirePkce`]: 'Scheme `oauth2`. true: every client must use PKCE. Public clients always must.',
  [`${SCHEME}.requirePushedAuthorizationRequests`]:
    'Scheme `oauth2`. true: authorization requests must be pushed (RFC 9126).',
  [`${SCHEME}.dpop`]:
    'Scheme `oauth2`. Tokens bound to a key of the client (DPoP, RFC 9449): `off`, `allowed` or `required`.',
  [`${SCHEME}.mutualTls`]:
    'Scheme `oauth2`. Tokens bound to a client certificate (RFC 8705): `off`, `allowed` or `required`.',
  [`${SCHEME}.providers`]:
    'Scheme `oauth2`. Accepts access tokens of another authorization server. The first entry counts.',
  [`${SCHEME}.providers[].jwt`]: 'Verifies tokens by their signature.',
  [`${SCHEME}.providers[].introspection`]: 'Asks the issuer about each token (RFC 7662).',
  [`${SCHEME}.providers[].introspection.url`]: 'Introspection endpoint.',
  [`${SCHEME}.providers[].introspection.clientId`]: 'Client id of the gateway at the issuer.',
  [`${SCHEME}.providers[].introspection.clientSecret`]: 'Client secret of the gateway at the issuer. Stored sealed.',
  [`${SCHEME}.providers[].introspection.identityBaseField`]:
    'Member of the answer that identifies the caller. Absent: `sub`.',
  [`${SCHEME}.providers[].introspection.cache`]: 'Stores answers of the issuer.',
  [`${SCHEME}.providers[].introspection.cache.timeout`]: 'Seconds for which an answer is used, at most a day.',
  [`${SCHEME}.authorizationServers`]:
    'Scheme `oauth2` with `providers`. Issuers that the metadata of the protected resource names.',
  '.source':
    'Key that verifies JWTs: a secret or a public key (PEM), in base64; or the URL of a key set (JWKS). Stored sealed. Empty: that of the key that a token names (`jwt_data.secret`).',
  [`${SCHEME}.jwksURIs`]: 'Scheme `http` `bearer`. Key sets (JWKS), in place of `source`.',
  [`${SCHEME}.jwksURIs[].url`]: 'URL of the key set.',
  [`${SCHEME}.jwksURIs[].cacheTimeout`]: 'Time for which the key set is used, a duration. Absent: 4 minutes.',
  '.signingMethod': 'Kind of key of JWTs: `hmac`, `rsa`, `ecdsa` or `eddsa`. Optional with key sets.',
  [`${SCHEME}.skipKid`]: 'Where `source` is empty: `kid` does not name the key of the caller, the identity claim does.',
  '.identityBaseField': 'Claim that identifies the caller. Absent, or not in the token: `sub`.',
  [`${SCHEME}.subjectClaims`]: 'Claims that identify the caller: the first that the token has counts.',
  [`${SCHEME}.clientBaseField`]:
    'Claim with the client, for records. Without policy claims, the first policy of the key of this name applies.',
  [`${SCHEME}.policyFieldName`]: 'Claim with ids of policies.',
  [`${SCHEME}.basePolicyClaims`]: 'Claims with ids of policies: the first that the token has counts.',
  [`${SCHEME}.defaultPolicies`]: 'Ids of policies of tokens with neither a policy claim nor a scope claim.',
  [`${SCHEME}.scopes`]: 'Scopes that give policies.',
  [`${SCHEME}.scopes.claimName`]: 'Claim with the scopes. Absent: `scope`.',
  [`${SCHEME}.scopes.claims`]: 'Claims with the scopes: the first that the token has counts.',
  [`${SCHEME}.scopes.scopeToPolicyMapping`]: 'The policy of each scope.',
  [`${SCHEME}.scopes.scopeToPolicyMapping[].scope`]: 'Scope.',
  [`${SCHEME}.scopes.scopeToPolicyMapping[].policyId`]: 'Id of the policy.',
  '.issuedAtValidationSkew': 'Clock skew allowed for `iat`, in seconds.',
  '.expiresAtValidationSkew': 'Clock skew allowed for `exp`, in seconds.',
  '.notBeforeValidationSkew': 'Clock skew allowed for `nbf`, in seconds.',
  [`${SCHEME}.allowedIssuers`]: 'Accepted values of `iss`. Empty: any.',
  [`${SCHEME}.allowedAudiences`]: 'Accepted values of `aud`. Empty: any, also tokens for other APIs of the issuer.',
  [`${SCHEME}.allowedSubjects`]: 'Accepted values of `sub`. Empty: any.',
  [`${SCHEME}.idpClientIdMappingDisabled`]: 'Without effect. Accepted from definitions of the incumbent.',
  [`${SCHEME}.jtiValidation`]: `Check of \`jti\`. ${NOT_SERVED}`,
  '.disableExpiresAtValidation': 'true: tokens without `exp` are accepted. A token with `exp` still expires.',
  '.allowShortSecrets': 'true: secrets of less than 32 bytes are accepted.',
  [`${SCHEME}.disableCaching`]:
    'Scheme `http` `basic`. true: a verified password is verified again with every request.',
  [`${SCHEME}.cacheTTL`]: 'Scheme `http` `basic`. Seconds for which a verified password is remembered. 0: 60.',
  [`${SCHEME}.extractCredentialsFromBody`]: `Name and password from the body. ${NOT_SERVED}`,
  [HMAC]: 'Signed requests (HMAC): draft-cavage-http-signatures-12, or HTTP Message Signatures (RFC 9421).',
  [`${HMAC}.allowedAlgorithms`]:
    'Accepted algorithms: `hmac-sha256`, `hmac-sha384`, `hmac-sha512`, `hmac-sha1`. Empty: the first three.',
  [`${HMAC}.allowedClockSkew`]:
    'Largest difference between the date of the request and the clock, in milliseconds. 0: 5 minutes. -1: not checked.',
  [`${HMAC}.coverage`]:
    'Parts that a signature must cover besides the date: `target` (method, path and query, default), `path` (without the query) or `date` (nothing else).',
  'server.authentication.securityProcessingMode':
    '`compliant`: a request must meet one of the combinations of `security`. `legacy`: it must meet every scheme that is on.',
  'server.authentication.security':
    'Combinations of schemes by their names. A request must meet all schemes of one list.',
  'server.authentication.customKeyLifetime': 'Time after which the store deletes keys of this API.',
  'server.authentication.customKeyLifetime.value': 'The time: a duration, or seconds.',
  'server.authentication.customKeyLifetime.respectValidity': 'true: never before the key expires.',
}
