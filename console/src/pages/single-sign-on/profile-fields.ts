import type { UserGroup } from '../../api/people/groups.ts'
import type { Field } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import type { Kind } from './profile-values.ts'

/** A line of a form: a field or a heading. */
export type Line = Field | { readonly heading: string; readonly hint?: string }

const text = (
  name: string,
  label: string,
  hint?: string,
  more: { required?: boolean; placeholder?: string } = {},
): Field => ({
  name,
  label,
  kind: 'text',
  autoComplete: 'off',
  ...(hint !== undefined && { hint }),
  ...more,
})

/** Fields that every profile has, before those of its provider. */
export function generalFields(isNew: boolean): readonly Line[] {
  return [
    { heading: say('identity.general') },
    text('Name', say('identity.name'), say('identity.nameHint'), { required: true }),
    ...(isNew ? [text('ID', say('identity.id'), say('identity.idHint'))] : []),
    {
      name: 'ActionType',
      label: say('identity.action'),
      kind: 'choice',
      choices: [
        { value: 'GenerateOrLoginUserProfile', label: say('identity.actionSession') },
        { value: 'GenerateTemporaryAuthToken', label: say('identity.actionKey') },
      ],
    },
    {
      ...text('MatchedPolicyID', say('identity.policy'), say('identity.policyHint'), { required: true }),
      when: ({ ActionType }) => ActionType === 'GenerateTemporaryAuthToken',
    },
    text('ReturnURL', say('identity.returnUrl'), say('identity.returnUrlHint')),
  ]
}

/** Fields of a kind of provider. */
export function providerFields(kind: Kind, filled: ReadonlySet<string>): readonly Line[] {
  const lines = { oidc: OIDC, saml: SAML, ldap: LDAP }[kind]
  const rare: Field = { name: 'more', label: say('identity.more'), kind: 'switch' }
  return [{ heading: say('identity.provider') }, ...seldom(lines, filled), rare]
}

const RARE: ReadonlySet<string> = new Set([
  ...['Scopes', 'CallbackBaseURL', 'FailureRedirect', 'EntityId', 'CertLocation', 'SAMLBaseURL', 'SAMLEmailClaim'],
  ...['SAMLForenameClaim', 'SAMLSurnameClaim', 'LDAPSearchScope', 'LDAPEmailAttribute', 'LDAPFirstNameAttribute'],
  ...['LDAPLastNameAttribute', 'DefaultDomain', 'Group', 'CustomEmailField', 'CustomUserIDField'],
  ...['UserGroupSeparator'],
])

/** Hides advanced fields until they are requested; filled ones are always shown. */
function seldom(lines: readonly Line[], filled: ReadonlySet<string>): readonly Line[] {
  return lines.map((line) => {
    if (!('name' in line) || !RARE.has(line.name) || filled.has(line.name)) return line
    return { ...line, when: ({ more }) => more === true }
  })
}

const FAILURE = text('FailureRedirect', say('identity.failure'), say('identity.failureHint'))

const OIDC: readonly Line[] = [
  {
    ...text('DiscoverURL', say('identity.discover'), say('identity.discoverHint'), {
      required: true,
      placeholder: 'https://login.example.org/.well-known/openid-configuration',
    }),
    kind: 'url',
  },
  text('Key', say('identity.clientId'), say('identity.clientIdHint'), { required: true }),
  {
    name: 'Secret',
    label: say('identity.clientSecret'),
    hint: say('identity.secretKept'),
    kind: 'password',
    autoComplete: 'new-password',
  },
  { name: 'Scopes', label: say('identity.scopes'), hint: say('identity.scopesHint'), kind: 'list' },
  text('CallbackBaseURL', say('identity.base'), say('identity.baseHint')),
  FAILURE,
]

const SAML: readonly Line[] = [
  text('IDPMetadataURL', say('identity.metadataUrl'), say('identity.metadataUrlHint')),
  { name: 'IDPMetadata', label: say('identity.metadata'), hint: say('identity.metadataHint'), kind: 'area', rows: 4 },
  text('EntityId', say('identity.entityId'), say('identity.entityIdHint')),
  text('CertLocation', say('identity.certificate'), say('identity.certificateHint')),
  text('SAMLEmailClaim', say('identity.emailClaim'), say('identity.usualName')),
  text('SAMLForenameClaim', say('identity.forenameClaim'), say('identity.usualName')),
  text('SAMLSurnameClaim', say('identity.surnameClaim'), say('identity.usualName')),
  text('SAMLBaseURL', say('identity.base'), say('identity.baseHint')),
  FAILURE,
]

const LDAP: readonly Line[] = [
  text('LDAPServer', say('identity.server'), say('identity.serverHint'), { required: true }),
  { name: 'LDAPPort', label: say('identity.port'), kind: 'number', min: 1, max: 65_535 },
  {
    name: 'encryption',
    label: say('identity.encryption'),
    kind: 'choice',
    choices: [
      { value: 'start', label: say('identity.encryptionStart') },
      { value: 'tls', label: say('identity.encryptionTls') },
      { value: 'none', label: say('identity.encryptionNone') },
    ],
  },
  text('LDAPUserDN', say('identity.userDn'), say('identity.userDnHint')),
  text('LDAPAdminUser', say('identity.adminUser'), say('identity.adminUserHint')),
  {
    name: 'LDAPAdminPassword',
    label: say('identity.adminPassword'),
    hint: say('identity.secretKept'),
    kind: 'password',
    autoComplete: 'new-password',
    when: ({ LDAPAdminUser }) => LDAPAdminUser !== '',
  },
  text('LDAPBaseDN', say('identity.baseDn')),
  text('LDAPFilter', say('identity.filter'), say('identity.filterHint')),
  {
    name: 'LDAPSearchScope',
    label: say('identity.scope'),
    kind: 'choice',
    choices: [
      { value: '2', label: say('identity.scopeSub') },
      { value: '1', label: say('identity.scopeOne') },
      { value: '0', label: say('identity.scopeBase') },
    ],
  },
  text('LDAPEmailAttribute', say('identity.emailClaim'), say('identity.usualName')),
  text('LDAPFirstNameAttribute', say('identity.forenameClaim')),
  text('LDAPLastNameAttribute', say('identity.surnameClaim')),
  text('DefaultDomain', say('identity.domain'), say('identity.domainHint')),
  FAILURE,
]

/** Who may come in by a profile, and what they may do. `mapping` draws the table of groups. */
export function peopleFields(
  groups: readonly UserGroup[],
  filled: ReadonlySet<string>,
  mapping: Field,
): readonly Line[] {
  const lines: readonly Line[] = [
    { heading: say('identity.who') },
    text('Domain', say('identity.constraintDomain'), say('identity.constraintDomainHint')),
    text('Group', say('identity.constraintGroup'), say('identity.constraintGroupHint')),
    {
      name: 'SSOOnlyForRegisteredUsers',
      label: say('identity.onlyRegistered'),
      hint: say('identity.onlyRegisteredHint'),
      kind: 'switch',
    },
    text('CustomEmailField', say('identity.emailField'), say('identity.emailFieldHint')),
    text('CustomUserIDField', say('identity.userIdField'), say('identity.userIdFieldHint')),
    { heading: say('identity.groups'), hint: say('identity.groupsHint') },
    text('CustomUserGroupField', say('identity.groupField'), say('identity.groupFieldHint')),
    text('UserGroupSeparator', say('identity.separator'), say('identity.separatorHint')),
    mapping,
    {
      name: 'DefaultUserGroupID',
      label: say('identity.defaultGroup'),
      hint: say('identity.defaultGroupHint'),
      kind: 'choice',
      choices: [
        { value: '', label: say('identity.defaultGroupNone') },
        ...groups.map(({ id, name }) => ({ value: id, label: name })),
      ],
    },
  ]
  return seldom(lines, filled)
}
