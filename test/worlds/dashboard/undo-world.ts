import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { userOf } from '../../../src/model/people/user.ts'
import { publishApi, removeApi } from '../../../src/publish/apis/apis.ts'
import { addCertificate, removeCertificate } from '../../../src/publish/certificates/certificates.ts'
import { createClient, deleteClient, updateClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { newGroup, updateGroup } from '../../../src/publish/people/groups.ts'
import { deleteUser, newUser, updateUser } from '../../../src/publish/people/users.ts'
import { createPolicy, removePolicy, updatePolicy } from '../../../src/publish/policies/policies.ts'
import { selfSigned } from '../wire/engine-certificate.ts'
import { startTestDashboard, type TestDashboardOptions, type TestUser } from './harness.ts'

/** A dashboard with an administrator, and ways to undo. */
export async function openUndoWorld(t: TestContext, options: TestDashboardOptions = {}) {
  const dashboard = await startTestDashboard(options)
  t.after(dashboard.close)
  const { call, parts, orgId, store } = dashboard
  const admin = await dashboard.admin()
  const last = async () => (await store.audit.list({ orgId, limit: 1 })).rows[0]!
  return {
    ...dashboard,
    admin,
    last,
    /** A call of the administrator that must succeed. */
    async sent(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
      const answer = await call(method, path, { as: admin, body })
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      return answer.json as JsonObject
    },
    /** Undoes the newest entry, or this one. */
    async undo(as: TestUser = admin, id?: string) {
      return call('POST', `/api/audit-logs/${id ?? (await last()).id}/undo`, { as })
    },
    /** The present content of the store, without its index values. */
    body: async (kind: string, id: string) => (await store.documents.get(kind, id as DocumentId))?.body,
    api: (apiId: string, more: JsonObject = {}) =>
      publishApi(parts, { format: 'classic', definition: { ...definition(apiId, orgId), ...more }, actor: 'test' }),
  }
}

export type UndoWorld = Awaited<ReturnType<typeof openUndoWorld>>

/** A classic API with the OAuth method. */
export function definition(apiId: string, orgId: string): JsonObject {
  return {
    ...{ api_id: apiId, name: apiId, org_id: orgId, active: true, use_oauth2: true, use_standard_auth: false },
    proxy: { listen_path: `/${apiId}/`, target_url: 'http://127.0.0.1:1/' },
    oauth_meta: { allowed_access_types: ['client_credentials'], auth_login_redirect: '' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  }
}

export interface Noun {
  readonly kind: string
  /** The permission that writes it; undefined where it takes an administrator. */
  readonly needs?: string | undefined
  /** Answers what it is found by in the store. */
  readonly make: (w: UndoWorld) => Promise<string>
  readonly change?: (w: UndoWorld, id: string) => Promise<unknown>
  readonly remove?: (w: UndoWorld, id: string) => Promise<unknown>
}

const PROFILE = {
  // Unknown members stay, and mean nothing.
  org_id: 'of-another',
  ...{ ID: 'ad', Name: 'Directory', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider' },
  ProviderConfig: { LDAPServer: 'ldap.test', LDAPUserDN: 'uid=*USERNAME*,dc=test' },
}
const ASSET = { kind: 'oas-template', name: 'Template', data: {} }

/** Each kind of document with the three ways in which it changes. */
export const NOUNS: readonly Noun[] = [
  {
    kind: 'api',
    needs: 'apis',
    make: async ({ api }) => (await api('orders')).id,
    change: ({ api, parts, orgId }) =>
      publishApi(parts, {
        format: 'classic',
        definition: { ...definition('orders', orgId), name: 'Other' },
        apiId: 'orders',
        actor: 'test',
      }).then(() => api),
    remove: ({ parts }) => removeApi(parts, { apiId: 'orders', actor: 'test' }),
  },
  {
    kind: 'policy',
    needs: 'policies',
    make: async ({ parts, orgId }) =>
      String(
        (await createPolicy(parts, { id: 'gold', name: 'Gold', org_id: orgId, rate: 5, per: 1 }, 'test')).policy._id,
      ),
    change: ({ parts }) => updatePolicy(parts, { id: 'gold' }, { name: 'Gold', rate: 9, per: 1 }, 'test'),
    remove: ({ parts }) => removePolicy(parts, { id: 'gold' }, 'test'),
  },
  {
    kind: 'oauth_client',
    needs: 'oauth',
    async make({ parts, api, store }) {
      await api('orders')
      const body = { client_id: 'c1', redirect_uri: 'https://app.test/cb' }
      await createClient(parts, { body, apiId: 'orders', actor: 'test' })
      return (await store.documents.find('oauth_client', 'client_id', 'c1'))!.id
    },
    change: ({ parts }) =>
      updateClient(
        parts,
        { client_id: 'c1' },
        { body: { redirect_uri: 'https://app.test/2', description: 'x' }, actor: 'test' },
      ),
    remove: ({ parts }) => deleteClient(parts, { client_id: 'c1' }, { actor: 'test' }),
  },
  {
    kind: 'certificate',
    needs: 'certs',
    async make({ parts, orgId, store }) {
      const { cert, key } = selfSigned('api.example.org')
      const { id } = await addCertificate(parts, { pem: cert + key, orgId, actor: 'test' })
      return (await store.documents.find('certificate', 'cert_id', id))!.id
    },
    remove: async ({ parts, body }, id) =>
      removeCertificate(parts, String((await body('certificate', id))!.cert_id), 'test'),
  },
  {
    kind: 'user',
    needs: 'users',
    make: async ({ parts, orgId }) => (await newUser(parts, draft(orgId), 'test')).user.id,
    change: async ({ parts, store }, id) => {
      const user = userOf((await store.documents.get('user', id as DocumentId))!)
      const rules = { actor: 'test', action: 'user.update', mayLeaveNoAdmin: false, sharedEmail: false }
      await updateUser(parts, user, { first_name: 'Eve', user_permissions: { keys: 'write' } }, rules)
    },
    remove: async ({ parts, store }, id) =>
      deleteUser(parts, userOf((await store.documents.get('user', id as DocumentId))!), 'test'),
  },
  {
    kind: 'user_group',
    needs: 'user_groups',
    make: async ({ parts, orgId }) => (await newGroup(parts, group(orgId), 'test')).group.id,
    change: async ({ parts, body }, id) => {
      const revision = (await parts.documents.get('user_group', id as DocumentId))!.revision
      const stored = { ...group(String((await body('user_group', id))!.org_id)), id: id as DocumentId, revision }
      await updateGroup(parts, stored, { user_permissions: { apis: 'write' } }, 'test')
    },
    remove: ({ call, admin }, id) => call('DELETE', `/api/usergroups/${id}`, { as: admin }),
  },
  {
    kind: 'label',
    make: async ({ call, admin }) =>
      ((await call('POST', '/api/labels', { as: admin, body: { name: 'Tier', values: ['1'] } })).json as { id: string })
        .id,
    change: ({ call, admin }, id) => call('PUT', `/api/labels/${id}`, { as: admin, body: { values: ['1', '2'] } }),
    remove: ({ call, admin }, id) => call('DELETE', `/api/labels/${id}`, { as: admin }),
  },
  {
    kind: 'asset',
    needs: 'api_assets',
    make: async ({ call, admin }) =>
      ((await call('POST', '/api/assets', { as: admin, body: ASSET })).json as { Meta: string }).Meta,
    change: ({ call, admin }, id) =>
      call('PUT', `/api/assets/${id}`, { as: admin, body: { ...ASSET, name: 'Another' } }),
    remove: ({ call, admin }, id) => call('DELETE', `/api/assets/${id}`, { as: admin }),
  },
  {
    kind: 'hook',
    needs: 'hooks',
    async make({ call, admin, store }) {
      await call('POST', '/api/hooks', {
        as: admin,
        body: { name: 'h', method: 'POST', target_path: 'https://h.test/' },
      })
      return (await store.documents.list('hook', { limit: 1 })).rows[0]!.id
    },
    change: ({ call, admin }, id) =>
      call('PUT', `/api/hooks/${id}`, {
        as: admin,
        body: { name: 'h', method: 'POST', target_path: 'https://h.test/2' },
      }),
    remove: ({ call, admin }, id) => call('DELETE', `/api/hooks/${id}`, { as: admin }),
  },
  {
    kind: 'idp_profile',
    needs: 'idm',
    make: async ({ sent, store }) => {
      await sent('POST', '/api/tib/profiles', PROFILE)
      return (await store.documents.find('idp_profile', 'id', 'ad'))!.id
    },
    change: ({ sent }) => sent('PUT', '/api/tib/profiles/ad', { ...PROFILE, Name: 'Other' }),
    remove: ({ sent }) => sent('DELETE', '/api/tib/profiles/ad'),
  },
  sole('portal_configuration', 'portal', '/api/portal/configuration', [
    { signup_fields: ['A'] },
    { signup_fields: [] },
  ]),
  sole('portal_look', 'portal', '/api/portal/css', [{ page_css: 'a {}' }, { page_css: 'b {}' }]),
  sole('portal_menu', 'portal', '/api/portal/menus', [{ menus: { Main: [] } }, { menus: { Main: [], Other: [] } }]),
  {
    ...sole('catalogue', '', '/api/portal/catalogue', [
      { email: 'a@b.test', apis: [] },
      { email: 'c@d.test', apis: [] },
    ]),
    needs: undefined,
  },
  {
    kind: 'portal_page',
    needs: 'portal',
    make: async ({ sent }) =>
      (await sent('POST', '/api/portal/pages', { slug: 'home', title: 'Home' })).Message as string,
    change: ({ sent }, id) => sent('PUT', `/api/portal/pages/${id}`, { slug: 'home', title: 'Another' }),
    remove: ({ sent }, id) => sent('DELETE', `/api/portal/pages/${id}`),
  },
  {
    kind: 'portal_documentation',
    needs: 'portal',
    make: async ({ sent, api }) => {
      await api('orders')
      const documentation = Buffer.from('{"openapi":"3.0.3"}').toString('base64')
      return (await sent('POST', '/api/portal/documentation', { api_id: 'orders', documentation })).Message as string
    },
    remove: ({ sent }, id) => sent('DELETE', `/api/portal/documentation/${id}`),
  },
]

/** One of which each organisation has one: written by `PUT`, and never deleted by a call. */
function sole(kind: string, needs: string, path: string, [first, second]: readonly [JsonObject, JsonObject]): Noun {
  return {
    ...{ kind, needs },
    async make({ sent, store, orgId }) {
      await sent('PUT', path, first)
      return (await store.documents.find(kind, 'org_id', orgId))!.id
    },
    change: ({ sent }) => sent('PUT', path, second),
  }
}

/** A user to be. */
export function draft(orgId: string) {
  return {
    ...{ orgId, email: 'ada@example.test', firstName: 'Ada', lastName: 'Byron', active: true, groupId: '' },
    ...{ permissions: { apis: 'read' }, password: '', passwordMaxDays: 0, sharedEmail: false, samePerson: false },
  }
}

/** A group to be. */
export function group(orgId: string) {
  return {
    org_id: orgId,
    name: 'g',
    description: '',
    active: true,
    user_permissions: { apis: 'read' },
    password_max_days: 0,
  }
}
