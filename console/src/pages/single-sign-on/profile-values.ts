import { isRecord } from '../../api/calls/call.ts'
import type { IdentityProfile } from '../../api/people/single-sign-on.ts'
import type { FormValues } from '../../parts/forms/record-form.tsx'

export type Kind = 'oidc' | 'saml' | 'ldap'
type Part = Readonly<Record<string, unknown>>

const PROVIDERS: Readonly<Record<Kind, { name: string; type: string; path: string }>> = {
  oidc: { name: 'SocialProvider', type: 'redirect', path: 'openid-connect' },
  saml: { name: 'SAMLProvider', type: 'redirect', path: 'saml' },
  ldap: { name: 'ADProvider', type: 'passthrough', path: 'ADProvider' },
}
export const KINDS = ['oidc', 'saml', 'ldap'] as const

const TOP = [
  'Name',
  'ActionType',
  'MatchedPolicyID',
  'ReturnURL',
  'CustomEmailField',
  'CustomUserIDField',
  'CustomUserGroupField',
  'UserGroupSeparator',
  'DefaultUserGroupID',
] as const
const CONFIG: Readonly<Record<Kind, readonly string[]>> = {
  oidc: ['CallbackBaseURL', 'FailureRedirect'],
  saml: [
    ...['IDPMetadataURL', 'IDPMetadata', 'EntityId', 'CertLocation', 'SAMLEmailClaim', 'SAMLForenameClaim'],
    ...['SAMLSurnameClaim', 'SAMLBaseURL', 'FailureRedirect'],
  ],
  ldap: [
    ...['LDAPServer', 'LDAPUserDN', 'LDAPAdminUser', 'LDAPAdminPassword', 'LDAPBaseDN', 'LDAPFilter'],
    ...['LDAPEmailAttribute', 'LDAPFirstNameAttribute', 'LDAPLastNameAttribute', 'DefaultDomain', 'FailureRedirect'],
  ],
}
const CONSTRAINTS = ['Domain', 'Group'] as const
const OPENID = 'openid-connect'
const USUAL_PORT = 389

/** The kind of a profile; undefined for one that this page has no form for. */
export function kindOf({ ProviderName }: Pick<IdentityProfile, 'ProviderName'>): Kind | undefined {
  return KINDS.find((kind) => PROVIDERS[kind].name === ProviderName)
}

/** Where people begin to sign in, below the address of the dashboard. */
export function signInPath(id: string, kind: Kind): string {
  return `/auth/${encodeURIComponent(id)}/${PROVIDERS[kind].path}`
}

/** The address that a profile says browsers come back to; '' = the dashboard's own. */
export function baseOf(profile: IdentityProfile): string {
  const config = partAt(profile, 'ProviderConfig')
  return (textAt(config, 'CallbackBaseURL') || textAt(config, 'SAMLBaseURL')).replace(/\/+$/, '')
}

/** The initial form values. */
export function profileValues(profile: Part, kind: Kind): FormValues {
  const config = partAt(profile, 'ProviderConfig')
  const openId = openIdOf(config)
  return {
    ID: '',
    ...texts(profile, TOP),
    ActionType: textAt(profile, 'ActionType') || 'GenerateOrLoginUserProfile',
    ...texts(config, CONFIG[kind]),
    ...texts(openId, ['DiscoverURL', 'Key', 'Secret']),
    Scopes: Array.isArray(openId.Scopes) ? openId.Scopes.map(String) : [],
    LDAPPort: Number(config.LDAPPort ?? USUAL_PORT),
    encryption: encryptionOf(config, profile),
    LDAPSearchScope: String(config.LDAPSearchScope ?? 2),
    ...texts(partAt(profile, 'ProviderConstraints'), CONSTRAINTS),
    SSOOnlyForRegisteredUsers: profile.SSOOnlyForRegisteredUsers === true,
    UserGroupMapping: JSON.stringify(partAt(profile, 'UserGroupMapping')),
  }
}

/** A new directory defaults to StartTLS. */
function encryptionOf(config: Part, profile: Part): string {
  if (config.LDAPUseSSL === true) return 'tls'
  return config.LDAPStartTLS === true || profile.ProviderName === undefined ? 'start' : 'none'
}

/** The profile that the form makes of the stored one: members that it does not know stay. */
export function profileIn(values: FormValues, stored: Part, kind: Kind): Part {
  const text = (name: string) => String(values[name] ?? '').trim()
  const given = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, text(name)]))
  const { name, type } = PROVIDERS[kind]
  const config = { ...partAt(stored, 'ProviderConfig'), ...given(CONFIG[kind]) }
  return {
    ...stored,
    ...(text('ID') !== '' && { ID: text('ID') }),
    ...given(TOP),
    Type: type,
    ProviderName: name,
    ProviderConfig: {
      ...config,
      ...(kind === 'oidc' && openIdIn(config, values)),
      ...(kind === 'ldap' && ldapIn(values)),
    },
    ProviderConstraints: { ...partAt(stored, 'ProviderConstraints'), ...given(CONSTRAINTS) },
    SSOOnlyForRegisteredUsers: values.SSOOnlyForRegisteredUsers === true,
    UserGroupMapping: mappingIn(values),
  }
}

/** Groups of the provider to groups here, as form values. */
export function mappingIn(values: FormValues): Readonly<Record<string, string>> {
  return JSON.parse(String(values.UserGroupMapping)) as Record<string, string>
}

function openIdIn(config: Part, values: FormValues): Part {
  const others = listOf(config).filter((provider) => provider.Name !== OPENID)
  const provider = {
    ...openIdOf(config),
    Name: OPENID,
    Key: String(values.Key).trim(),
    Secret: String(values.Secret ?? ''),
    DiscoverURL: String(values.DiscoverURL).trim(),
    Scopes: Array.isArray(values.Scopes) && values.Scopes.length > 0 ? values.Scopes : null,
  }
  return { UseProviders: [provider, ...others] }
}

function ldapIn(values: FormValues): Part {
  return {
    LDAPPort: String(values.LDAPPort || USUAL_PORT),
    LDAPUseSSL: values.encryption === 'tls',
    LDAPStartTLS: values.encryption === 'start',
    LDAPSearchScope: Number(values.LDAPSearchScope),
  }
}

function openIdOf(config: Part): Part {
  return listOf(config).find(({ Name }) => Name === OPENID) ?? {}
}

function listOf({ UseProviders: list }: Part): readonly Part[] {
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function texts(part: Part, names: readonly string[]): FormValues {
  return Object.fromEntries(names.map((name) => [name, textAt(part, name)]))
}

function partAt(part: Part, name: string): Part {
  const value = part[name]
  return isRecord(value) ? value : {}
}

function textAt(part: Part, name: string): string {
  const value = part[name]
  return typeof value === 'string' ? value : ''
}
