import type { JsonObject } from '../json/json.ts'
import { arrayOf, flag, oneOf, openObjectOf, said, text } from '../openapi/plain-schemas.ts'

const nullable = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] })

/** Programs of the incumbent write numbers of LDAP as texts. */
const numberOrText: JsonObject = { anyOf: [{ type: 'integer' }, text, { type: 'null' }] }

const OpenIdClient = openObjectOf(
  'OpenidProvider',
  {},
  {
    Name: said(text, '`openid-connect`.'),
    Key: said(text, 'The client id.'),
    Secret: said(text, 'Written, never shown; blank keeps the stored one.'),
    DiscoverURL: text,
    Scopes: nullable(arrayOf(text)),
  },
)

const ProviderConfig = openObjectOf(
  'IdentityProviderConfig',
  {},
  {
    FailureRedirect: text,
    CallbackBaseURL: text,
    UseProviders: nullable(arrayOf(OpenIdClient)),
    IDPMetadataURL: text,
    IDPMetadata: said(text, 'The document itself.'),
    CertLocation: said(text, 'Id of a stored certificate.'),
    SAMLBaseURL: text,
    SAMLBinding: text,
    EntityId: text,
    SAMLEmailClaim: text,
    SAMLForenameClaim: text,
    SAMLSurnameClaim: text,
    LDAPServer: text,
    LDAPPort: numberOrText,
    LDAPUserDN: text,
    LDAPBaseDN: text,
    LDAPFilter: text,
    LDAPAdminUser: text,
    LDAPAdminPassword: said(text, 'Written, never shown; blank keeps the stored one.'),
    LDAPEmailAttribute: text,
    LDAPFirstNameAttribute: text,
    LDAPLastNameAttribute: text,
    LDAPSearchScope: numberOrText,
    LDAPStartTLS: flag,
    DefaultDomain: text,
  },
)

/** Members of an identity profile as it is sent and answered; further ones are kept. `checkIdpProfile` says what they must be. */
const MEMBERS = {
  Name: text,
  ActionType: oneOf('GenerateOrLoginUserProfile', 'GenerateTemporaryAuthToken'),
  MatchedPolicyID: said(text, 'Policy of the keys that sign-ins make.'),
  Type: said(text, '`redirect`, or `passthrough` of a directory.'),
  ProviderName: oneOf('SocialProvider', 'SAMLProvider', 'ADProvider'),
  CustomEmailField: text,
  CustomUserIDField: text,
  CustomUserGroupField: text,
  UserGroupSeparator: text,
  UserGroupMapping: nullable({ type: 'object', additionalProperties: text }),
  DefaultUserGroupID: text,
  SSOOnlyForRegisteredUsers: flag,
  TrustUnverifiedEmail: flag,
  ReturnURL: text,
  ProviderConfig: nullable(ProviderConfig),
  ProviderConstraints: nullable(openObjectOf('IdentityConstraints', {}, { Domain: text, Group: text })),
  IdentityHandlerConfig: nullable(openObjectOf('IdentityHandlerConfig', {})),
}

/** Names of the members that callers choose. */
export const IDP_MEMBERS: ReadonlySet<string> = new Set(Object.keys(MEMBERS))

/** An identity profile as it is answered. */
export const IDP_PROFILE_SHAPE = openObjectOf('IdentityProfile', { ID: text, OrgID: text }, MEMBERS)

/** The same as it is sent: the organisation is the caller's. */
export const IDP_PROFILE_INPUT = openObjectOf('IdentityProfileInput', {}, { ID: text, OrgID: text, ...MEMBERS })

/** A read of an identity profile. */
export const IDP_PROFILE_READ = said(
  openObjectOf('IdentityProfileRead', { Status: oneOf('ok'), Data: IDP_PROFILE_SHAPE, ID: text, OrgID: text }, MEMBERS),
  'The profile, and the same under `Data`, where the broker has it.',
)
