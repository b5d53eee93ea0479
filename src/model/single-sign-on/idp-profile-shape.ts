import type { JsonObject } from '../json/json.ts'
import { arrayOf, flag, oneOf, openObjectOf, said, text } from '../openapi/component-schemas.ts'

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
    DiscoverURL: said(text, 'Address of the metadata of the provider.'),
    Scopes: said(nullable(arrayOf(text)), 'Scopes that are asked for. Absent: `openid`, `profile` and `email`.'),
  },
)

const ProviderConfig = said(
  openObjectOf(
    'IdentityProviderConfig',
    {},
    {
      FailureRedirect: said(text, 'Address to which the browser is sent when a sign-in fails.'),
      CallbackBaseURL: said(text, 'Address of this dashboard for the provider. Blank: `dashboard.public_url`.'),
      UseProviders: said(nullable(arrayOf(OpenIdClient)), 'OpenID Connect providers.'),
      IDPMetadataURL: said(text, 'Address of the SAML metadata of the identity provider.'),
      IDPMetadata: said({ ...text, maxLength: 1_000_000 }, 'The document itself.'),
      CertLocation: said(text, 'Id of a stored certificate.'),
      SAMLBaseURL: said(text, 'Address of this dashboard for the identity provider. Blank: `dashboard.public_url`.'),
      SAMLBinding: said(text, 'Binding of requests: HTTP-Redirect, or blank for it.'),
      EntityId: said(text, 'Entity id of this service provider. Blank: the address of its metadata.'),
      SAMLEmailClaim: said(text, 'Attribute that holds the email address. Blank: the usual ones.'),
      SAMLForenameClaim: said(text, 'Attribute that holds the first name. Blank: the usual ones.'),
      SAMLSurnameClaim: said(text, 'Attribute that holds the last name. Blank: the usual ones.'),
      LDAPServer: said(text, 'Host name or address of the directory.'),
      LDAPPort: said(numberOrText, 'Port of the directory. Absent: 389.'),
      LDAPUserDN: said(text, 'Distinguished name of a user, with `*USERNAME*` in place of the name.'),
      LDAPBaseDN: said(text, 'Where a search begins. Blank: at `LDAPUserDN`.'),
      LDAPFilter: said(text, 'Filter that finds the user, with `*USERNAME*` in place of the name.'),
      LDAPAdminUser: said(text, 'Distinguished name that may search. Blank: the user binds alone.'),
      LDAPAdminPassword: said(text, 'Written, never shown; blank keeps the stored one.'),
      LDAPEmailAttribute: said(text, 'Attribute that holds the email address. Blank: `mail`.'),
      LDAPFirstNameAttribute: said(text, 'Attribute that holds the first name.'),
      LDAPLastNameAttribute: said(text, 'Attribute that holds the last name.'),
      LDAPSearchScope: said(numberOrText, '0: the base alone; 1: one level below; 2: everything below. Absent: 2.'),
      LDAPStartTLS: said(flag, 'true: the connection is encrypted before anything is sent.'),
      DefaultDomain: said(text, 'Domain that makes an email address of a name, where the directory has none.'),
    },
  ),
  'How the identity provider is asked: members of its protocol.',
)

/** Members of an identity profile as it is sent and answered; further ones are kept. `checkIdpProfile` says what they must be. */
const MEMBERS = {
  Name: said(text, 'Name for the sign-in page.'),
  ActionType: said(
    oneOf('GenerateOrLoginUserProfile', 'GenerateTemporaryAuthToken'),
    '`GenerateOrLoginUserProfile`: a session. `GenerateTemporaryAuthToken`: a key with the policy `MatchedPolicyID`.',
  ),
  MatchedPolicyID: said(text, 'Policy of the keys that sign-ins make.'),
  Type: said(text, '`redirect`, or `passthrough` of a directory.'),
  ProviderName: said(
    oneOf('SocialProvider', 'SAMLProvider', 'ADProvider'),
    '`SocialProvider`: OpenID Connect. `SAMLProvider`: SAML. `ADProvider`: LDAP.',
  ),
  CustomEmailField: said(text, 'Claim that holds the email address. Blank: the usual one.'),
  CustomUserIDField: said(text, 'Claim that names the person, for keys. Blank: the usual one.'),
  CustomUserGroupField: said(text, 'Claim that holds the groups of the person.'),
  UserGroupSeparator: said(text, 'Separator of a text with several groups. Blank: a space.'),
  UserGroupMapping: said(
    nullable({ type: 'object', additionalProperties: text }),
    'Id of a user group by the group of the identity provider.',
  ),
  DefaultUserGroupID: said(text, 'Id of the user group of people whose groups are not mapped.'),
  SSOOnlyForRegisteredUsers: said(flag, 'true: people without a user of the organisation are refused.'),
  TrustUnverifiedEmail: said(flag, 'true: email addresses count that the provider has not verified.'),
  ReturnURL: said(text, 'Address to which the browser is sent after the sign-in.'),
  ProviderConfig: nullable(ProviderConfig),
  ProviderConstraints: nullable(
    said(
      openObjectOf(
        'IdentityConstraints',
        {},
        {
          Domain: said(text, 'Domain of email addresses that may sign in. Blank: all.'),
          Group: said(text, 'Group of the identity provider that people must be in. Blank: none.'),
        },
      ),
      'Who may sign in.',
    ),
  ),
  IdentityHandlerConfig: nullable(
    said(
      openObjectOf('IdentityHandlerConfig', {}),
      'Options of keys that sign-ins make; `TokenAuth.Expires` is their life in seconds.',
    ),
  ),
}

const IDS = {
  ID: said(text, 'Id of the identity profile: letters, digits, `_`, `.`, `~` or `-`.'),
  OrgID: said(text, 'Id of the organisation. It is not set by a body.'),
}

/** Names of the members that callers choose. */
export const IDP_MEMBERS: ReadonlySet<string> = new Set(Object.keys(MEMBERS))

/** An identity profile as it is answered. */
export const IDP_PROFILE_SHAPE = said(openObjectOf('IdentityProfile', IDS, MEMBERS), 'An identity profile.')

/** The same as it is sent: the organisation is the caller's. */
export const IDP_PROFILE_INPUT = openObjectOf('IdentityProfileInput', {}, { ...IDS, ...MEMBERS })

/** A read of an identity profile. */
export const IDP_PROFILE_READ = said(
  openObjectOf(
    'IdentityProfileRead',
    { Status: said(oneOf('ok'), 'Always `ok`.'), Data: IDP_PROFILE_SHAPE, ...IDS },
    MEMBERS,
  ),
  'The profile, and the same under `Data`, where the broker has it.',
)
