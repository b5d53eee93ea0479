import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { PERMISSION_KEYS } from '../../../src/model/people/permission.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { addCertificate } from '../../../src/publish/certificates/certificates.ts'
import { createDeveloperKey, createKey } from '../../../src/publish/keys/keys.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { createPolicy } from '../../../src/publish/policies/policies.ts'
import { developerById } from '../../../src/publish/portal/developers/developer-change.ts'
import { issueAccess } from '../../../src/publish/portal/developers/developer-keys.ts'
import type { Change, SessionRow, StoredDocument } from '../../../src/store/ports/ports.ts'
import { classic, defined, rights } from '../base/definitions.ts'
import {
  startTestDashboard,
  type TestDashboard,
  type TestDashboardOptions,
  type TestUser,
} from '../dashboard/harness.ts'
import { makeCertificate } from '../wire/certificates.ts'
import { type ActorKind, type Expectation, ROLES, type Thing } from './expectations.ts'

/** In the names of everything of the first organisation: nobody of another one may read it. */
export const OURS = 'ours-3f9a'
/** In the names of what has owners: nobody else may read it. */
export const OWNED = 'owned-8c1e'

/** In every secret of the things of the first organisation: only users who may write its document read it. */
export const SECRET = 'secret-5b7d'

/** An organisation with one object of each type without an owner, and one of each with an owner. */
export interface World extends TestDashboard {
  readonly open: Readonly<Record<Thing, string>>
  readonly owned: Readonly<Record<Thing, string>>
  /** Texts that nobody but its owners reads. */
  readonly telltales: readonly string[]
  /** Who calls in a row; the credential goes where it belongs. */
  actor(kind: ActorKind, expected: Expectation): Promise<TestUser | 'installation' | undefined>
  /** Puts everything back as it was. */
  restore(): Promise<void>
  /** All of the first organisation, as text that is equal when nothing has changed. */
  fingerprint(): Promise<string>
}

/** Starts a dashboard with ownership on, and fills it. */
export async function startWorld(options: TestDashboardOptions = {}): Promise<World> {
  const dashboard = await startTestDashboard({
    ...options,
    env: { SVC_DB_ENABLEOWNERSHIP: 'true', ...options.env },
  })
  const people = await makePeople(dashboard)
  const open = await makeThings(dashboard, { name: `${OURS}-open`, beside: `${OURS}-one` }, {})
  const owned = await makeThings(
    dashboard,
    { name: `${OURS}-${OWNED}`, beside: `${OURS}-two`, certificate: open.certificate },
    {
      user_owners: [people.owner.id],
      user_group_owners: [people.owningGroup],
    },
  )
  const telltales = [OWNED, hashKey(owned.key).toString('hex'), owned.held_key]
  let kept = await everything(dashboard)
  return {
    ...dashboard,
    ...{ open, owned, telltales },
    async actor(kind, expected) {
      const revision = await dashboard.store.documents.revision()
      const found = await people.actor(kind, expected)
      if ((await dashboard.store.documents.revision()) !== revision) kept = await everything(dashboard)
      return found
    },
    async restore() {
      if ((await dashboard.store.documents.revision()) === kept.revision) return
      await restore(dashboard, kept)
      kept = { ...kept, revision: await dashboard.store.documents.revision() }
    },
    async fingerprint() {
      const { documents, sessions } = await everything(dashboard)
      const ours = documents.filter(({ body }) => body.org_id === dashboard.orgId || body.OrgID === dashboard.orgId)
      return JSON.stringify([ours, sessions.filter(({ orgId }) => orgId === dashboard.orgId)])
    },
  }
}

const OAUTH: JsonObject = {
  use_keyless: false,
  use_oauth2: true,
  use_standard_auth: false,
  oauth_meta: { allowed_access_types: ['client_credentials'], auth_login_redirect: '' },
}

/** Stores an API and says whose it is. */
async function makeApi(
  dashboard: TestDashboard,
  format: 'classic' | 'oas',
  definition: JsonObject,
  owners: JsonObject,
): Promise<void> {
  const { parts, store } = dashboard
  const { id } = await publishApi(parts, { format, definition, actor: 'test' })
  const stored = await store.documents.get('api', id)
  await store.documents.commit([{ op: 'put', kind: 'api', id, body: { ...stored!.body, ...owners } }], undefined)
}

/** `beside` goes into the names of what is based on no API, and so has no owners; `certificate` is one that the API names. */
async function makeThings(
  dashboard: TestDashboard,
  { name, beside, certificate: named }: { name: string; beside: string; certificate?: string },
  owners: JsonObject,
): Promise<Record<Thing, string>> {
  const { parts, orgId, store } = dashboard
  const actor = 'test'
  const oas = `${name}-oas`
  const secret = `${SECRET}-${name}`
  const add = [{ name: 'X-Backend-Pin', value: secret }]
  const open = `${SECRET}-${beside}`
  const document = defined({
    ...{ id: oas, url: 'http://127.0.0.1:1', info: { orgId } },
    global: { transformRequestHeaders: { enabled: true, add } },
    paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: '' } } } } },
    operations: { a: { transformRequestHeaders: { enabled: true, add } } },
  })
  const plain = classic(name, `/${name}/`, 'http://127.0.0.1:1', {
    ...OAUTH,
    uptime_tests: { disabled: true, check_list: [{ url: 'http://127.0.0.1:1/', headers: { 'X-Pin': secret } }] },
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', global_headers: { 'X-Backend-Pin': secret, Authorization: secret } } },
    },
  })
  const definition = { ...plain, org_id: orgId, client_certificates: named === undefined ? [] : [named] }
  const told = { ...owners, categories: [name], labels: [{ key: 'branch', value: name }] }
  await makeApi(dashboard, 'classic', definition, told)
  await makeApi(dashboard, 'oas', document, told)
  const access = { access_rights: rights(name), org_id: orgId }
  const policy = `policy-${name}`
  const meta_data = { api_token: secret }
  await createPolicy(parts, { ...access, id: policy, name: `Policy ${name}`, meta_data }, actor)
  const key = `key-of-${name}-of-the-matrix`
  await createKey(parts, {
    session: { ...access, alias: name, hmac_enabled: true, hmac_string: secret, meta_data },
    key,
    keepQuota: false,
    actor,
  })
  const client = `client-${name}`
  const body = { client_id: client, client_name: name, redirect_uri: 'https://app.test/cb', policy_id: policy, secret }
  await createClient(parts, { body, apiId: name, orgId, actor })
  const certify = async (host: string) =>
    (await addCertificate(parts, { pem: makeCertificate(host).cert, orgId, actor })).id
  const admin = await dashboard.admin()
  const made = async (path: string, sent: JsonObject) =>
    (await dashboard.call('POST', path, { as: admin, body: sent })).json as JsonObject
  await made('/api/hooks', {
    ...{ name: beside, method: 'POST', target_path: 'https://example.test/hook' },
    ...{ header_map: { 'X-Pin': open }, shared_secret: open },
  })
  const hooks = await store.documents.list('hook', { where: { name: beside }, limit: 1 })
  const asset = await made('/api/assets', {
    kind: 'oas-template',
    name: beside,
    data: templateOf([{ name: 'X-Pin', value: open }]),
  })
  const label = await made('/api/labels', { name: `Label ${beside}`, values: [] })
  const developer = await made('/api/portal/developers', { email: `${beside}@example.test`, fields: { Name: beside } })
  await dashboard.call('PUT', '/api/portal/configuration', { as: admin, body: { require_key_approval: true } })
  const held = await makeHeld(dashboard, String(developer.Message), policy)
  const request = await made('/api/portal/requests', {
    ...{ by_user: developer.Message!, for_plan: policy, fields: { name } },
    oauth_info: { redirect_uri: 'https://app.test/cb' },
  })
  const { apis = [] } = (await store.documents.find('catalogue', 'org_id', orgId))?.body ?? {}
  const entries = [...(apis as JsonObject[]), { name, policy_id: policy }]
  await dashboard.call('PUT', '/api/portal/catalogue', { as: admin, body: { apis: entries } })
  const page = await made('/api/portal/pages', { slug: beside, title: beside })
  const text = Buffer.from(name).toString('base64')
  const documentation = await made('/api/portal/documentation', { api_id: name, documentation: text })
  // The last thing, which can be undone.
  await made('/api/tib/profiles', {
    ...{ ...PROFILE, ID: `profile-${beside}`, Name: beside },
    ProviderConfig: { ...(PROFILE.ProviderConfig as JsonObject), LDAPAdminPassword: open },
  })
  const noted = await store.audit.list({ orgId, limit: 1 })
  return {
    ...{ api: name, oas, policy, key, client },
    certificate: await certify(`${beside}.test`),
    spare_certificate: await certify(`spare.${beside}.test`),
    user: (await dashboard.user({ apis: 'read' })).id,
    group: await dashboard.group({ apis: 'read' }),
    label: String(label.id),
    hook: hooks.rows[0]!.id,
    asset: String(asset.Meta),
    profile: `profile-${beside}`,
    developer: String(developer.Message),
    ...held,
    request: String(request.Message),
    page: String(page.Message),
    documentation: String(documentation.Message),
    organisation: orgId,
    audit: noted.rows[0]!.id,
    none: 'nothing-is-called-so',
  }
}

const templateOf = (add: JsonObject[]): JsonObject => ({
  'x-svc-api-gateway': { middleware: { global: { transformRequestHeaders: { enabled: true, add } } } },
})

/** A key and an OAuth app of a developer. */
async function makeHeld({ parts }: TestDashboard, id: string, policy: string) {
  const draft = { actor: 'test', action: 'test', detail: {}, expires: undefined }
  const developer = (await developerById(parts, id))!
  const session = { org_id: developer.body.org_id!, apply_policies: [policy] }
  const { keyHash } = await createDeveloperKey(parts, { ...draft, session, developer, alongside: () => [] })
  const oauth = { redirect_uri: 'https://app.test/cb' }
  const made = await issueAccess(parts, { developer, policies: [policy], oauth, actor: 'test', action: 'test' })
  return { held_key: keyHash, app: made.kind === 'oauth' ? made.clientId : '' }
}

const PROFILE: JsonObject = {
  ActionType: 'GenerateOrLoginUserProfile',
  ProviderName: 'ADProvider',
  Type: 'passthrough',
  ReturnURL: '/tap',
  ProviderConfig: { LDAPServer: 'ldap.example.test', LDAPPort: '389', LDAPUserDN: 'cn=*USERNAME*,dc=example,dc=test' },
}

interface People {
  readonly owner: TestUser
  readonly owningGroup: string
  /** Who calls in a row, made when it is first asked for. */
  actor(kind: ActorKind, expected: Expectation): Promise<TestUser | 'installation' | undefined>
}

const every = (value: string): JsonObject => Object.fromEntries(PERMISSION_KEYS.map((key) => [key, value]))
/** All rights but one. */
const others = (key: string): JsonObject => {
  const { [key]: _key, ...rest } = every('write')
  return { ...rest, IsAdmin: 'false' }
}

async function makePeople({ user, group, admin, organisation }: TestDashboard): Promise<People> {
  const cached = new Map<string, TestUser>()
  const foreignOrg = await organisation({ owner_name: 'Another organisation' })
  const owningGroup = await group(every('write'))
  const owner = await user(every('write'))
  const unknown: TestUser = { id: 'x', orgId: 'x', email: 'x', key: 'no-such-credential' }
  const makers: Record<Exclude<ActorKind, 'nobody' | 'installation'>, (key: string) => Promise<TestUser>> = {
    'unknown key': async () => unknown,
    'inactive user': () => user({ IsAdmin: 'admin' }, { active: false }),
    'inactive group': async () => user({}, { groupId: await group(every('write'), { active: false }) }),
    'other permission': (key) => user(others(key)),
    'read-only': () => user(every('read')),
    write: (key) => user({ [key]: 'write', IsAdmin: 'false' }),
    'group member': async (key) => user({ IsAdmin: 'false' }, { groupId: await group({ [key]: 'write' }) }),
    'member whose group lacks it': async (key) => user({ IsAdmin: 'admin' }, { groupId: await group(others(key)) }),
    'denied admin': (key) => user({ IsAdmin: 'admin', [key]: 'deny' }),
    admin: () => admin(),
    'unbounded reader': () => user(every('read'), { orgId: '' }),
    'unbounded writer': () => user({ IsAdmin: 'admin' }, { orgId: '' }),
    'admin of another organisation': () => admin(foreignOrg),
    self: () => user({ IsAdmin: 'false' }),
    'unbounded self': () => user({ IsAdmin: 'admin' }, { orgId: '' }),
    owner: async () => owner,
    'group owner': () => user({}, { groupId: owningGroup }),
    'non-owner': () => user(every('write')),
    'admin about what others own': () => admin(),
  }
  return {
    ...{ owner, owningGroup },
    async actor(kind, { who }) {
      if (kind === 'nobody') return undefined
      if (kind === 'installation') return 'installation'
      const key = ROLES.includes(who) ? 'apis' : who
      const name = `${kind} ${key}`
      const known = cached.get(name) ?? (await makers[kind](key))
      cached.set(name, known)
      return known
    },
  }
}

interface Kept {
  readonly revision: number
  readonly documents: readonly StoredDocument[]
  readonly sessions: readonly SessionRow[]
}

async function everything({ store }: TestDashboard): Promise<Kept> {
  const documents: StoredDocument[] = []
  for (const kind of Object.keys(DOCUMENT_KINDS))
    for await (const batch of store.documents.scan(kind)) documents.push(...batch)
  const { rows: sessions } = await store.tokens.listSessions({ limit: 1000 })
  return { revision: await store.documents.revision(), documents, sessions }
}

/** Writes the difference back. */
async function restore(dashboard: TestDashboard, kept: Kept): Promise<void> {
  const now = await everything(dashboard)
  const nameOf = ({ kind, id }: StoredDocument) => `${kind} ${id}`
  const before = new Map(kept.documents.map((document) => [nameOf(document), document]))
  const bodies = new Map(now.documents.map((document) => [nameOf(document), JSON.stringify(document.body)]))
  const hashOf = ({ hash }: SessionRow) => Buffer.from(hash).toString('hex')
  const hashes = new Set(kept.sessions.map(hashOf))
  const changes: Change[] = [
    ...now.documents
      .filter((document) => !before.has(nameOf(document)))
      .map(({ kind, id }): Change => ({ op: 'delete', kind, id })),
    ...now.sessions
      .filter((row) => !hashes.has(hashOf(row)))
      .map(({ hash }): Change => ({ op: 'deleteSession', hash })),
    ...kept.documents
      .filter((document) => bodies.get(nameOf(document)) !== JSON.stringify(document.body))
      .map(({ kind, id, body }): Change => ({ op: 'put', kind, id, body })),
    ...kept.sessions.map(({ hash, ...row }): Change => ({ op: 'putSession', hash, row })),
  ]
  await dashboard.store.documents.commit(changes, undefined)
}
