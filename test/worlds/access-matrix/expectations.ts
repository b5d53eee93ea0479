// Written by hand from the rules, and importing nothing from the product: what the access matrix is computed from.

import { analyticsCalls } from './expected-analytics.ts'
import { MOVE_CALLS } from './expected-moves.ts'
import { portalCalls } from './expected-portal.ts'

/** The kind of thing that a placeholder of a path names. */
export type Thing =
  | 'api'
  | 'oas'
  | 'policy'
  | 'key'
  | 'client'
  | 'user'
  | 'group'
  | 'label'
  | 'certificate'
  | 'spare_certificate'
  | 'hook'
  | 'asset'
  | 'profile'
  | 'developer'
  | 'held_key'
  | 'app'
  | 'documentation'
  | 'page'
  | 'request'
  | 'organisation'
  | 'audit'
  | 'none'

export interface Expectation {
  /** A permission key, or who else may. */
  readonly who: string
  /** The things that the placeholders name, in order; those that are left out name nothing that exists. */
  readonly names: readonly Thing[]
  /** With ownership on, callers who do not own the object of this placeholder (by number) are refused. */
  readonly owned?: number
  /** Callers may always use their own record, named by this placeholder (by number). */
  readonly own?: number
  /** The route itself refuses, with its own text, callers who name a record other than their own (placeholder by number). */
  readonly onlyOwn?: number
  /** A call that only reads although its method does not say so. */
  readonly reads?: boolean
  /** A call that writes although its method does not say so. */
  readonly writes?: boolean
  /** Besides this permission others are needed, which depend on what is there: the route itself may refuse. */
  readonly looks?: boolean
  /** Invisible objects are answered like this, instead of a refusal from 400 on: a deletion that is done either way. */
  readonly hiddenIs?: number
  /** Things that others own may be named in the answer. */
  readonly namesOwned?: boolean
  /** Behind the path, for a call that would not end by itself. */
  readonly query?: string
  /** Sent as the body; `{}` unless given. */
  readonly body?: unknown
}

/** Who may where no permission key says so. */
export const ROLES: readonly string[] = ['public', 'signed-in', 'admin', 'installation']

type Rest = Omit<Expectation, 'who' | 'names'>

const TABLE = new Map<string, Expectation>()

/** `says('GET,PUT /api/users/{}', 'users', ['user'])`: these methods of this path, placeholders without their names. */
function says(calls: string, who: string, names: readonly Thing[] = [], rest: Rest = {}): void {
  const [methods = '', path = ''] = calls.split(' ')
  for (const method of methods.split(',')) TABLE.set(`${method} ${path}`, { who, names, ...rest })
}

// Health and documents about the API.
says('GET /hello', 'public')
says('GET /health', 'public')
says('GET /ready', 'public')
says('GET /metrics', 'installation')
says('GET /api/openapi.json', 'public')
says('GET /api/svc-openapi.json', 'public')
says('GET /api/docs', 'public')
says('GET /api/docs/reader.js', 'public')

// Sign-in. What the signed-in may do there is about their own session and factors.
says('GET /api/login/doors', 'public')
says('GET /api/login/options', 'public')
says('POST /api/login', 'public')
says('POST /api/login/continue', 'public')
says('POST /api/login/passkey/options', 'public')
says('POST /api/login/passkey', 'public')
says('POST /api/password/forgot', 'public', [], { body: { email: 'nobody@example.test' } })
says('POST /api/password/reset', 'public')
says('GET /api/session', 'signed-in')
says('GET /api/sessions', 'signed-in')
says('DELETE /api/sessions/{}', 'signed-in', ['none'])
// Views one organisation: for sessions, and refused with a text to users of an organisation.
says('PUT /api/session/organisation', 'signed-in', [], { body: { org_id: '' } })
says('POST /api/logout', 'signed-in')
says('POST /api/logout/everywhere', 'signed-in')
says('POST /api/session/verify', 'signed-in')
says('POST /api/session/verify/options', 'signed-in')
says('GET /api/second-factor', 'signed-in')
says('POST /api/second-factor/totp', 'signed-in')
says('POST /api/second-factor/totp/confirm', 'signed-in')
says('POST /api/second-factor/totp/disable', 'signed-in')
says('POST /api/second-factor/recovery-codes', 'signed-in')
says('DELETE /api/users/{}/second-factor', 'admin', ['user'])
says('DELETE /api/users/{}/sso-identity', 'admin', ['user'])
says('PUT /api/org/second-factor', 'admin')
says('GET,POST /api/passkeys', 'signed-in')
says('POST /api/passkeys/options', 'signed-in')
says('PUT,DELETE /api/passkeys/{}', 'signed-in')
// Rule 6: everybody the own password; administrators others' by a setting that is off.
says('POST /api/users/{}/actions/reset', 'signed-in', ['user'], {
  onlyOwn: 0,
  body: { new_password: 'a-Long-enough-1' },
})

// The installation: the admin secret alone.
says('GET,POST /api/bootstrap', 'public')
says('GET,POST /admin/organisations', 'installation')
says('POST /admin/organisations/import', 'installation')
says('GET,PUT,DELETE /admin/organisations/{}', 'installation', ['organisation'])
says('POST /admin/organisations/{}/generate-portals', 'installation', ['organisation'], { body: 'domain=portal.test' })
says('GET,POST /admin/organisations/{}/permissions', 'installation', ['organisation'])
says('GET,PUT,DELETE /admin/organisations/{}/permissions/{}', 'installation', ['organisation'])
says('POST /admin/users', 'installation')
says('GET,PUT /admin/users/{}', 'installation', ['user'])
says('PUT /admin/users/{}/actions/allow_reset_passwords', 'installation', ['user'])
says('PUT /admin/users/{}/actions/disallow_reset_passwords', 'installation', ['user'])
says('POST /admin/apis/import', 'installation')
says('POST /admin/policies/import', 'installation')
says('GET,POST /admin/org/keys', 'installation')
says('GET,PUT,DELETE /admin/org/keys/{}', 'installation', ['organisation'])
says('DELETE /admin/oauth/tokens', 'installation')
says('GET /admin/system/reload', 'installation')
says('POST /admin/sso', 'installation')

// Users (permission rules 4 to 6): users can see, delete and re-key their own record with any permissions.
says('GET,POST /api/users', 'users')
says('GET /api/users/me', 'signed-in')
says('GET /api/users/search', 'users')
says('POST /api/users/search', 'users', [], { reads: true, body: { filters: { query: 'a' } } })
says('PUT /api/users/{}', 'users', ['user'], { body: { first_name: 'Changed' } })
says('GET,DELETE /api/users/{}', 'users', ['user'], { own: 0 })
says('PUT /api/users/{}/actions/key/reset', 'users', ['user'], { own: 0 })
says('PUT /api/users/{}/actions/revoke', 'users', ['user'])
says('GET,POST /api/usergroups', 'user_groups')
says('GET,DELETE /api/usergroups/{}', 'user_groups', ['group'])
says('PUT /api/usergroups/{}', 'user_groups', ['group'], {
  body: { name: 'Changed', user_permissions: { apis: 'read' } },
})
says('GET,PUT /api/org/permissions', 'admin')

// Policies.
says('GET,POST /api/portal/policies', 'policies')
says('GET /api/portal/policies/search', 'policies')
says('GET,DELETE /api/portal/policies/{}', 'policies', ['policy'], { owned: 0 })
says('PUT,PATCH /api/portal/policies/{}', 'policies', ['policy'], { owned: 0, body: { name: 'Changed' } })

const SESSION = { alias: 'changed', apply_policies: ['policy-ours-3f9a-open'] }

// Developers of the portal. Their sessions are their own: no right of a dashboard user opens or closes anything there.
for (const base of ['/api/portal', '/portal'])
  for (const [calls, names, rest] of portalCalls(base, SESSION)) says(calls, 'portal', names, rest)
says('GET,POST /portal/requests/{}/collect', 'public', ['request'])
says('POST /portal/login', 'public')
says('GET /portal/csrf', 'public')
says('POST /portal/logout', 'public')
says('POST /portal/register', 'public')
says('GET /portal/sso', 'public')
says('POST /portal/password/forgot', 'public', [], { body: { email: 'nobody@example.test' } })
says('POST /portal/password/reset', 'public')
says('POST /oauth-clients/{}/revoke', 'public', ['client'])
says('POST /oauth-clients/{}/revoke_all', 'public', ['client'])

// Labels: definitions by administrators, on an API by users who may change it.
says('GET /api/labels', 'apis')
says('POST /api/labels', 'admin')
says('GET /api/labels/{}', 'apis', ['label'])
says('PUT,DELETE /api/labels/{}', 'admin', ['label'], { body: { name: 'Changed' } })
says('GET /api/apis/labels', 'apis')
for (const path of ['/api/{}/labels', '/api/apis/{}/labels']) {
  says(`GET ${path}`, 'apis', ['api'], { owned: 0 })
  says(`POST ${path}`, 'apis', ['api'], { owned: 0, body: { key: 'tier', value: 'one' } })
  says(`DELETE ${path}/{}`, 'apis', ['api'], { owned: 0 })
}

// APIs. Classic paths take every API; those of OpenAPI documents only such.
const CLASSIC = {
  api_definition: {
    name: 'Changed',
    api_id: 'changed',
    proxy: { listen_path: '/changed/', target_url: 'http://127.0.0.1:1' },
  },
}
const PLAIN = { openapi: '3.0.3', info: { title: 'Plain', version: '1' }, paths: {} }
says('GET,POST /api/apis', 'apis', [], { body: CLASSIC })
says('GET /api/apis/search', 'apis')
says('GET /api/apis/categories', 'apis')
says('GET /api/apis/groups', 'apis')
says('POST /api/apis/migrate', 'apis')
says('GET,PUT,DELETE /api/apis/{}', 'apis', ['api'], { owned: 0, body: CLASSIC })
says('POST /api/apis/{}/try', 'apis', ['api'], { owned: 0, body: { method: 'BREW', path: '/' } })
says('GET /api/apis/{}/url', 'apis', ['api'], { owned: 0 })
says('GET /api/apis/{}/urls', 'apis', ['api'], { owned: 0 })
says('GET /api/apis/{}/nodes', 'apis', ['api'], { owned: 0 })
says('GET /api/apis/{}/warnings', 'apis', ['api'], { owned: 0 })
says('GET /api/apis/{}/versions', 'apis', ['api'], { owned: 0 })
says('GET,PUT /api/apis/{}/access', 'apis', ['api'], { owned: 0, body: { userIds: [], userGroupIds: [] } })
says('GET,PUT /api/apis/{}/webhooks', 'apis', ['api'], { owned: 0, body: { hook_references: [] } })
says('POST /api/apis/oas', 'apis', [], { body: PLAIN })
says('POST /api/apis/oas/import', 'apis', [], { body: PLAIN })
says('POST /api/apis/oas/dry-run', 'apis', [], { body: PLAIN })
says('GET,PUT,PATCH,DELETE /api/apis/oas/{}', 'apis', ['oas'], { owned: 0, body: PLAIN })
says('GET /api/apis/oas/{}/export', 'apis', ['oas'], { owned: 0 })
says('GET /api/apis/oas/{}/urls', 'apis', ['oas'], { owned: 0 })
says('GET /api/apis/oas/{}/versions', 'apis', ['oas'], { owned: 0 })
says('PATCH /api/apis/oas/{}/rebase/{}', 'apis', ['oas', 'oas'], { owned: 0 })
says('GET,PUT /api/apis/oas/{}/categories', 'apis', ['oas'], { owned: 0, body: { categories: ['changed'] } })
says('GET /api/schemas/apidefs', 'apis')
says('GET /api/schemas/apidefs/oas', 'apis')
says('GET /api/schema', 'apis')

// Keys.
says('GET /api/apis/keys', 'keys')
says('GET /api/apis/{}/keys', 'keys', ['api'], { owned: 0 })
says('GET /api/apis/{}/keys/search', 'keys', ['api'], { owned: 0 })
says('GET,PUT,DELETE /api/apis/{}/keys/{}', 'keys', ['api', 'key'], { owned: 1, body: SESSION })
says('GET /api/keys/detailed', 'keys')
says('POST /api/keys', 'keys', [], { body: { alias: 'new' } })
says('POST /api/keys/preview', 'keys', [], { reads: true, body: { alias: 'new' } })
says('GET,POST,PUT,DELETE /api/keys/{}', 'keys', ['key'], { owned: 0, body: SESSION })
says('POST /api/keys/{}/rotate', 'keys', ['key'], { owned: 0 })
says('POST /api/keys/{}/reset_quota', 'keys', ['key'], { owned: 0 })
says('POST /api/apis/keys/basic/{}', 'keys')

// OAuth clients and tokens.
says('GET,POST /api/apis/oauth/{}', 'oauth', ['api'], { owned: 0, body: { redirect_uri: 'https://app.test/cb' } })
says('GET,PUT,DELETE /api/apis/oauth/{}/{}', 'oauth', ['api', 'client'], { owned: 0, body: { client_name: 'Changed' } })
says('POST /api/apis/oauth/{}/{}/rotate', 'oauth', ['api', 'client'], { owned: 0 })
says('GET,DELETE /api/apis/oauth/{}/{}/tokens', 'oauth', ['api', 'client'], { owned: 0 })
says('GET /api/apis/oauth/{}/tokens', 'oauth', ['client'], { owned: 0 })
says('GET /api/apis/{}/notifications', 'oauth', ['api'], { owned: 0 })
says('POST /api/apis/{}/notifications/{}/resend', 'oauth', ['api', 'none'], { owned: 0 })
says('POST /api/apis/oauth/{}/revoke', 'oauth', ['client'], { owned: 0, body: { token: 'some-token' } })
says('POST /api/apis/oauth/{}/revoke_all', 'oauth', ['client'], { owned: 0 })
says('POST /api/apis/oauth/{}/authorize-client', 'oauth', ['api'], { owned: 0 })
says('POST /api/apis/{}/authorize-client', 'oauth', ['api'], { owned: 0 })
// Signing keys are the organisation's: what ends tokens of all owners is for administrators.
says('GET /api/oauth/signing-keys', 'oauth')
says('POST /api/oauth/signing-keys/rotate', 'admin')
says('DELETE /api/oauth/signing-keys/{}', 'admin', ['none'])

for (const [calls, who, names, rest] of MOVE_CALLS) says(calls, who, names, rest)

says('DELETE /api/cache/jwks/{}', 'apis', ['api'], { owned: 0 })
says('DELETE /api/cache/responses/{}', 'apis', ['api'], { owned: 0 })

// Templates.
const ASSET = { kind: 'oas-template', name: 'changed', data: {} }
says('GET,POST /api/assets', 'api_assets', [], { body: ASSET })
says('GET,PUT,DELETE /api/assets/{}', 'api_assets', ['asset'], { body: ASSET })

// Certificates and webhooks.
says('GET,POST /api/certs', 'certs')
says('GET /api/certs/details', 'certs')
says('GET,DELETE /api/certs/{}', 'certs', ['certificate'])
says('GET /api/certs/{}/apis', 'certs', ['certificate'])
says('GET /api/certs/dependencies/{}', 'certs', ['certificate'])
// Of one that an API of others names it would be refused.
says('DELETE /api/certs/dependencies/{}', 'certs', ['spare_certificate'])
const HOOK = { name: 'changed', method: 'POST', target_path: 'https://example.test/changed' }
says('GET,POST /api/hooks', 'hooks', [], { body: HOOK })
says('GET,PUT,DELETE /api/hooks/{}', 'hooks', ['hook'], { body: HOOK })
says('POST /api/hooks/{}/test', 'hooks', ['hook'])
says('GET /api/hooks/{}/deliveries', 'hooks', ['hook'])
says('POST /api/hooks/{}/deliveries/{}/resend', 'hooks', ['hook', 'none'])

// Single sign-on.
says('GET,POST /api/tib/profiles', 'idm')
says('GET,PUT,DELETE /api/tib/profiles/{}', 'idm', ['profile'], { body: { Name: 'Changed' } })
says('POST /api/sso', 'users')
says('GET /api/sso/settings', 'idm')
says('GET /tap', 'public')
for (const path of ['', '/callback']) says(`GET /auth/{}/{}${path}`, 'public')
says('POST /auth/{}/{}', 'public')
says('POST /auth/{}/saml/callback', 'public')
says('GET /auth/{}/saml/finish', 'public')
says('GET /auth/{}/saml/logout', 'public')
says('GET /auth/{}/saml/metadata', 'public')

// The system. Any signed-in user may read their organisation and the licence: the screens of all users need them.
says('GET /api/org', 'signed-in')
says('GET /api/organisations', 'signed-in')
says('GET /api/organisations/list', 'signed-in')
says('GET /api/licence', 'signed-in')
says('GET /api/license', 'signed-in')
says('POST /license', 'public')
says('GET /api/org/notifications', 'system')
says('GET,PUT /api/org/opa', 'system')
says('GET /api/system/stats', 'system')
says('GET /api/system/address', 'signed-in')
says('GET /api/system/nodes', 'system')
says('GET /api/system/placement', 'system')
says('GET /api/system/settings', 'system')
says('GET /api/system/standings', 'apis')
says('GET /api/system/sync-status', 'apis')
says('GET /api/system/node/{}/{}', 'system')

// The audit log. Undoing needs the rights that the change needed, which the route finds out.
says('GET /api/logs', 'log')
says('GET /api/logs/live', 'log', [], { query: '?seconds=0' })
// It names addresses that were called, with the ids in them; what others own is shown no further: audit-ownership.test.ts.
says('GET /api/audit-logs', 'audit_logs', [], { namesOwned: true })
says('GET /api/audit-logs/{}', 'audit_logs', ['audit'])
says('DELETE /api/deleted-ids/{}/{}', 'admin', ['none', 'none'])
says('DELETE /admin/deleted-ids/{}/{}', 'installation', ['none', 'none'])
says('POST /api/audit-logs/{}/undo', 'audit_logs', ['audit'], { reads: true, looks: true })

// Analytics.
for (const [calls, names, rest] of analyticsCalls()) says(calls, 'analytics', names, rest)

/** By method and path, placeholders without their names: `GET /api/users/{}`. */
export const EXPECTED: ReadonlyMap<string, Expectation> = TABLE

/** The expected outcome of a row of the matrix. */
export type Outcome =
  /** The route itself answers. */
  | 'admitted'
  /** 401 `Not authorised`. */
  | 'stranger'
  /** 403 with the path. */
  | 'forbidden'
  /** 401 `Not authorised`, because others own it. */
  | 'others'
  /** As if it were not there. */
  | 'hidden'
  /** By the route itself, from 400 on, and nothing changes. */
  | 'refused'
  /** By the route itself, which may refuse for other reasons. */
  | 'looked at'

/** Who calls. All but the last four call about what nobody owns. */
export const ACTORS = [
  'nobody',
  'unknown key',
  'inactive user',
  'inactive group',
  'other permission',
  'read-only',
  'write',
  'group member',
  'member whose group lacks it',
  'denied admin',
  'admin',
  'unbounded reader',
  'unbounded writer',
  'admin of another organisation',
  'installation',
  'self',
  'unbounded self',
  'owner',
  'group owner',
  'non-owner',
  'admin about what others own',
] as const

export type ActorKind = (typeof ACTORS)[number]

const WITHOUT_CREDENTIAL: readonly ActorKind[] = [
  'nobody',
  'unknown key',
  'inactive user',
  'inactive group',
  'installation',
]
const ADMINS: readonly ActorKind[] = ['admin', 'admin of another organisation', 'admin about what others own']
const UNBOUNDED: readonly ActorKind[] = ['unbounded reader', 'unbounded writer', 'unbounded self']
/** Those who have the permission of the row, with `write`. */
const WRITERS: readonly ActorKind[] = ['write', 'group member', 'unbounded writer', 'owner', 'group owner', 'non-owner']

/** Computes from the rules what a row must come out as; undefined where the row says nothing. */
export function outcomeOf(method: string, expected: Expectation, kind: ActorKind): Outcome | undefined {
  const { who } = expected
  const aboutOwn = kind === 'self' || kind === 'unbounded self'
  const aboutOwned =
    kind === 'owner' || kind === 'group owner' || kind === 'non-owner' || kind === 'admin about what others own'
  if (aboutOwn && expected.own === undefined && expected.onlyOwn === undefined) return undefined
  if (aboutOwned && expected.owned === undefined) return undefined
  if (who === 'public') return 'admitted'
  if (who === 'installation') return kind === 'installation' ? 'admitted' : 'stranger'
  if (WITHOUT_CREDENTIAL.includes(kind)) return 'stranger'
  if (aboutOwn) return 'admitted'
  if (expected.onlyOwn !== undefined) return 'refused'
  if (who === 'signed-in') return 'admitted'
  const writes = expected.writes === true || (method !== 'GET' && expected.reads !== true)
  if (!mayByRole(who, writes, kind)) return 'forbidden'
  if (kind === 'non-owner') return 'others'
  const foreign = kind === 'admin of another organisation' && expected.names.some((thing) => thing !== 'none')
  if (foreign) return 'hidden'
  return expected.looks === true && !ADMINS.includes(kind) ? 'looked at' : 'admitted'
}

function mayByRole(who: string, writes: boolean, kind: ActorKind): boolean {
  if (UNBOUNDED.includes(kind) && writes) return false
  if (ADMINS.includes(kind)) return true
  if (who === 'admin') return kind === 'denied admin' || (kind === 'unbounded writer' && !writes)
  if (WRITERS.includes(kind)) return true
  return !writes && (kind === 'read-only' || kind === 'unbounded reader')
}
