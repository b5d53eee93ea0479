import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

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
