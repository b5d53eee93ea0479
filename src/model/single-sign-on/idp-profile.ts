import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { arrayOf, flag, oneOf, openObjectOf, said, text } from '../openapi/component-schemas.ts'

/** Implemented sign-in protocols; the names are those of the identity broker. */
const IDP_PROVIDERS = ['SocialProvider', 'SAMLProvider', 'ADProvider'] as const
export type IdpProviderName = (typeof IDP_PROVIDERS)[number]

/** The result of a sign-in. */
const IDP_ACTIONS = ['GenerateOrLoginUserProfile', 'GenerateTemporaryAuthToken'] as const
export type IdpAction = (typeof IDP_ACTIONS)[number]

/** An identity profile with all its members, given or default. */
export interface IdpProfile {
  readonly id: string
  readonly name: string
  readonly orgId: string
  /** Undefined: stored without one that is built; such a profile lets nobody in. */
  readonly action: IdpAction | undefined
  readonly provider: IdpProviderName | undefined
  readonly config: JsonObject
  /** Policy of the keys that sign-ins make. */
  readonly policyId: string
  readonly emailField: string
  readonly userIdField: string
  readonly groupField: string
  /** The separators of a text with several groups, which is also looked up whole. */
  readonly groupSeparator: string
  readonly groupMapping: ReadonlyMap<string, string>
  readonly defaultGroupId: string
  readonly onlyRegistered: boolean
  /** True: an address counts though the provider does not say that it is verified. */
  readonly trustUnverifiedEmail: boolean
  /** Domain of email addresses that may come; '' = all. */
  readonly domain: string
  /** Group of the identity provider that one must be in; '' = none. */
  readonly group: string
  readonly returnUrl: string
  /** Life of keys that sign-ins make, in seconds. */
  readonly keyLifeS: number
}

/** Members that the store keeps beside the profile, and nobody gets to see or to set. */
export const HIDDEN_MEMBERS = ['sealed_secrets', 'ceiling', 'voucher', 'epoch'] as const

const ID = /^[A-Za-z0-9][A-Za-z0-9_.~-]{0,63}$/
const LONGEST = 4096
const DAY_S = 86_400
const TYPES: Readonly<Record<IdpProviderName, string>> = {
  SocialProvider: 'redirect',
  SAMLProvider: 'redirect',
  ADProvider: 'passthrough',
}
/** Members that are text at the top of a profile. */
const TEXTS = [
  'Name',
  'MatchedPolicyID',
  'CustomEmailField',
  'CustomUserIDField',
  'ReturnURL',
  'DefaultUserGroupID',
  'CustomUserGroupField',
  'UserGroupSeparator',
] as const

/** The profile in a body as it is stored. Never fails: what is not there is blank. */
export function idpProfileOf(body: JsonObject): IdpProfile {
  const constraints = profileObject(body, 'ProviderConstraints')
  const token = profileObject(profileObject(body, 'IdentityHandlerConfig'), 'TokenAuth')
  const mapping = Object.entries(profileObject(body, 'UserGroupMapping'))
  const life = Number(token.Expires ?? 0)
  return {
    id: profileText(body, 'ID'),
    name: profileText(body, 'Name'),
    orgId: profileText(body, 'OrgID'),
    action: IDP_ACTIONS.find((action) => action === body.ActionType),
    provider: IDP_PROVIDERS.find((provider) => provider === body.ProviderName),
    config: profileObject(body, 'ProviderConfig'),
    policyId: profileText(body, 'MatchedPolicyID'),
    emailField: profileText(body, 'CustomEmailField'),
    userIdField: profileText(body, 'CustomUserIDField'),
    groupField: profileText(body, 'CustomUserGroupField'),
    groupSeparator: profileText(body, 'UserGroupSeparator') || ' ',
    groupMapping: new Map(mapping.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    defaultGroupId: profileText(body, 'DefaultUserGroupID'),
    onlyRegistered: body.SSOOnlyForRegisteredUsers === true,
    trustUnverifiedEmail: body.TrustUnverifiedEmail === true,
    domain: profileText(constraints, 'Domain').toLowerCase(),
    group: profileText(constraints, 'Group'),
    returnUrl: profileText(body, 'ReturnURL'),
    keyLifeS: Number.isSafeInteger(life) && life > 0 ? life : DAY_S,
  }
}

/** Changes whenever a profile lets in people whom it did not before, or on other proof: what it opened earlier has ended. */
export function epochOf(body: JsonObject): string {
  return profileText(body, 'epoch')
}

/** Members that say who is let in, on whose word, and by which policy keys are made; `UserGroupMapping` is read at each use. */
const PROOF = [
  ...['OrgID', 'ActionType', 'ProviderName', 'ProviderConfig', 'ProviderConstraints', 'TrustUnverifiedEmail'],
  ...['CustomEmailField', 'CustomUserIDField', 'CustomUserGroupField', 'UserGroupSeparator', 'MatchedPolicyID'],
]

/** True when both versions of a profile let in the same people on the same proof; secrets do not count. */
export function provesAlike(one: JsonObject, other: JsonObject): boolean {
  const given = (value: Json | undefined) => (value === null || value === '' || value === false ? undefined : value)
  return PROOF.every((name) => isDeepStrictEqual(given(one[name]), given(other[name])))
}

/** The family of the keys that sign-ins by a profile make. */
export function profileFamily(documentId: string): string {
  return `idp_profile:${documentId}`
}

/**
 * Checks a profile as it comes over the wire: what the product cannot do is refused by name, so that nobody relies on it. Unknown
 * members stay. @throws Fault `profile_invalid` (400) naming the member
 */
export function checkIdpProfile(body: JsonObject): void {
  if (typeof body.ID !== 'string' || !ID.test(body.ID))
    throw invalid('ID', 'must have 1 to 64 letters, digits, _ . ~ or -, and begin with a letter or digit')
  for (const name of TEXTS) if (body[name] !== undefined) checkText(name, body[name]!)
  for (const name of ['ProviderConfig', 'IdentityHandlerConfig', 'ProviderConstraints', 'UserGroupMapping'])
    if (body[name] !== undefined && body[name] !== null && !isObject(body[name]))
      throw invalid(name, 'must be an object')
  checkAction(body.ActionType)
  const provider = readProviderName(body.ProviderName)
  if (body.Type !== undefined && body.Type !== '' && body.Type !== TYPES[provider])
    throw invalid('Type', `must be ${TYPES[provider]} for ${provider}`)
  for (const [from, to] of Object.entries(profileObject(body, 'UserGroupMapping')))
    checkText(`UserGroupMapping.${from}`, to)
  // Read as something else it would let in whom it should keep out.
  for (const name of ['SSOOnlyForRegisteredUsers', 'TrustUnverifiedEmail'])
    if (body[name] !== undefined && typeof body[name] !== 'boolean') throw invalid(name, 'must be true or false')
  for (const name of ['Domain', 'Group']) {
    const value = profileObject(body, 'ProviderConstraints')[name]
    if (value !== undefined) checkText(`ProviderConstraints.${name}`, value)
  }
  if (body.ActionType === 'GenerateTemporaryAuthToken' && profileText(body, 'MatchedPolicyID') === '')
    throw invalid('MatchedPolicyID', 'is needed for GenerateTemporaryAuthToken')
  CHECKS[provider](profileObject(body, 'ProviderConfig'))
}

function checkAction(action: Json | undefined): void {
  if (IDP_ACTIONS.some((built) => built === action)) return
  if (action === 'GenerateOrLoginDeveloperProfile' || action === 'GenerateOAuthTokenForClient')
    throw invalid('ActionType', `${action} is not supported`)
  throw invalid('ActionType', `must be one of ${IDP_ACTIONS.join(', ')}`)
}

function readProviderName(given: Json | undefined): IdpProviderName {
  const provider = IDP_PROVIDERS.find((built) => built === given)
  if (provider !== undefined) return provider
  if (given === 'ProxyProvider') throw invalid('ProviderName', 'ProxyProvider is not supported')
  throw invalid('ProviderName', `must be one of ${IDP_PROVIDERS.join(', ')}`)
}

const CHECKS: Readonly<Record<IdpProviderName, (config: JsonObject) => void>> = {
  SocialProvider(config) {
    checkTexts(config, ['CallbackBaseURL', 'FailureRedirect'])
    if (profileObject(config, 'JWE').Enabled === true)
      throw invalid('ProviderConfig.JWE', 'encrypted tokens are not supported')
    const providers = Array.isArray(config.UseProviders) ? config.UseProviders : []
    if (providers.length === 0) throw invalid('ProviderConfig.UseProviders', 'must name a provider')
    const names = new Set<string>()
    for (const provider of providers) {
      if (!isObject(provider)) throw invalid('ProviderConfig.UseProviders', 'must hold objects')
      names.add(checkOpenId(provider))
    }
    if (names.size < providers.length) throw invalid('ProviderConfig.UseProviders', 'names a provider twice')
  },
  SAMLProvider(config) {
    checkTexts(config, ['IDPMetadataURL', 'IDPMetadata', 'CertLocation', 'SAMLBaseURL', 'SAMLBinding', 'EntityId'])
    checkTexts(config, ['SAMLEmailClaim', 'SAMLForenameClaim', 'SAMLSurnameClaim', 'FailureRedirect'])
    if (profileText(config, 'IDPMetadataURL') === '' && profileText(config, 'IDPMetadata') === '')
      throw invalid('ProviderConfig', 'needs IDPMetadataURL, or IDPMetadata with the document itself')
    if (!/^(?:|urn:oasis:names:tc:SAML:2\.0:bindings:HTTP-Redirect)$/.test(profileText(config, 'SAMLBinding')))
      throw invalid('ProviderConfig.SAMLBinding', 'requests go by HTTP-Redirect alone')
    if (!/^[0-9a-f]*$/.test(profileText(config, 'CertLocation')))
      throw invalid('ProviderConfig.CertLocation', 'must be the id of a stored certificate; files are not read')
  },
  ADProvider(config) {
    checkTexts(config, ['LDAPServer', 'LDAPUserDN', 'LDAPBaseDN', 'LDAPFilter', 'LDAPAdminUser', 'LDAPAdminPassword'])
    checkTexts(config, ['LDAPEmailAttribute', 'LDAPFirstNameAttribute', 'LDAPLastNameAttribute', 'DefaultDomain'])
    if (!/^[A-Za-z0-9_.:[\]-]+$/.test(profileText(config, 'LDAPServer')))
      throw invalid('ProviderConfig.LDAPServer', 'must be a host name or address')
    const port = Number(config.LDAPPort ?? 389)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid('ProviderConfig.LDAPPort', 'must be a port')
    // Read as false it would send passwords in the clear.
    if (![undefined, false, true].includes(config.LDAPStartTLS as boolean | undefined))
      throw invalid('ProviderConfig.LDAPStartTLS', 'must be true or false')
    if (config.LDAPStartTLS === true && config.LDAPUseSSL === true)
      throw invalid('ProviderConfig.LDAPStartTLS', 'and LDAPUseSSL are two ways: choose one')
    const admin = profileText(config, 'LDAPAdminUser') !== ''
    if (!admin && !profileText(config, 'LDAPUserDN').includes('*USERNAME*'))
      throw invalid('ProviderConfig.LDAPUserDN', 'must hold *USERNAME* where there is no LDAPAdminUser')
    if (admin && !profileText(config, 'LDAPFilter').includes('*USERNAME*'))
      throw invalid('ProviderConfig.LDAPFilter', 'must hold *USERNAME*')
    const scope = Number(config.LDAPSearchScope ?? 2)
    if (![0, 1, 2].includes(scope)) throw invalid('ProviderConfig.LDAPSearchScope', 'must be 0, 1 or 2')
  },
}

/** Checks a provider of tokens: plain OpenID Connect under any name; others use their own protocols. */
function checkOpenId(provider: JsonObject): string {
  const where = 'ProviderConfig.UseProviders'
  checkTexts(provider, ['Name', 'Key', 'Secret', 'DiscoverURL'])
  const name = profileText(provider, 'Name')
  if (name !== 'openid-connect')
    throw invalid(
      where,
      `${name || 'a provider without Name'} is not supported: give openid-connect and its DiscoverURL`,
    )
  if (profileText(provider, 'Key') === '') throw invalid(`${where}.Key`, 'is needed: the client id')
  if (!URL.canParse(profileText(provider, 'DiscoverURL'))) throw invalid(`${where}.DiscoverURL`, 'must be a URL')
  const { Scopes: scopes = null } = provider
  if (scopes !== null && !(Array.isArray(scopes) && scopes.every((scope) => /^[!#-[\]-~]+$/.test(String(scope)))))
    throw invalid(`${where}.Scopes`, 'must be a list of scopes')
  return name
}

function checkTexts(object: JsonObject, names: readonly string[]): void {
  for (const name of names) if (object[name] !== undefined) checkText(`ProviderConfig.${name}`, object[name]!)
}

function checkText(where: string, value: Json): void {
  const longest = where.endsWith('.IDPMetadata') ? 1_000_000 : LONGEST
  if (typeof value !== 'string' || value.length > longest) throw invalid(where, 'must be a text')
  if (!where.endsWith('.IDPMetadata') && /[\x00-\x1f\x7f]/.test(value))
    throw invalid(where, 'must not hold control characters')
}

const invalid = (where: string, why: string) => fault('profile_invalid', `${where}: ${why}`)

/** A member that is an object; an empty one for anything else. */
export function profileObject(body: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  return isObject(value) ? value : {}
}

/** A member that is a text; '' for anything else. */
export function profileText(body: JsonObject, name: string): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  return typeof value === 'string' ? value : ''
}

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
