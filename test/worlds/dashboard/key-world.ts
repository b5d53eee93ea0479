import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import type { Answer } from '../base/client.ts'
import { startTestDashboard, type TestDashboard, type TestDashboardOptions, type TestUser } from './harness.ts'

/** A dashboard with an administrator, and what tests of policies, keys and clients do all the time. */
export interface KeyWorld extends TestDashboard {
  readonly root: TestUser
  /** An API that asks for keys, with these owners. */
  api(
    apiId: string,
    more?: { definition?: JsonObject; orgId?: string; users?: string[]; groups?: string[] },
  ): Promise<void>
  /** A policy with rights on these APIs; answers its `_id`. */
  policy(id: string, apiIds: readonly string[], more?: JsonObject, as?: TestUser): Promise<string>
  /** A key by policies; answers itself and its hash. */
  key(session: JsonObject, as?: TestUser): Promise<{ key: string; hash: string }>
  /** A call whose answer must have this status. */
  asked(status: number, method: string, path: string, as: TestUser, body?: unknown): Promise<JsonObject>
}

export const POLICIES = '/api/portal/policies'

export async function keyWorld(t: TestContext, options: TestDashboardOptions = {}): Promise<KeyWorld> {
  const dashboard = await startTestDashboard(options)
  t.after(() => dashboard.close())
  const root = await dashboard.admin()
  const asked: KeyWorld['asked'] = async (status, method, path, as, body) => {
    const answer = await dashboard.call(method, path, { as, ...(body !== undefined && { body }) })
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  return {
    ...dashboard,
    root,
    asked,
    async api(apiId, { definition = {}, orgId = dashboard.orgId, users = [], groups = [] } = {}) {
      await publishApi(dashboard.parts, {
        format: 'classic',
        definition: { ...keyedApi(apiId), ...definition },
        orgId,
        metadata: { user_owners: users, user_group_owners: groups },
        actor: 'test',
      })
    },
    async policy(id, apiIds, more = {}, as = root) {
      // Lists are in the order of storage ids, which begin with the second.
      dashboard.clock.advance(1000)
      return String((await asked(200, 'POST', POLICIES, as, policyOf(id, apiIds, more))).Message)
    },
    async key(session, as = root) {
      const made = await asked(200, 'POST', '/api/keys', as, session)
      return { key: String(made.key_id), hash: String(made.key_hash) }
    },
  }
}

/** A classic definition that asks for a key. */
export function keyedApi(apiId: string): JsonObject {
  return {
    ...{ api_id: apiId, name: apiId, active: true, use_keyless: false },
    auth: { auth_header_name: 'Authorization' },
    proxy: { listen_path: `/${apiId}/`, target_url: 'http://127.0.0.1:1/', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  }
}

export function policyOf(id: string, apiIds: readonly string[], more: JsonObject = {}): JsonObject {
  return { id, name: `Policy ${id}`, active: true, rate: 100, per: 60, access_rights: rightsOn(...apiIds), ...more }
}

export function rightsOn(...apiIds: string[]): JsonObject {
  return Object.fromEntries(
    apiIds.map((id) => [id, { api_id: id, api_name: id, versions: ['Default'], allowed_urls: [], limit: null }]),
  )
}

/** Message of a refusal, with its status. */
export function refusal({ status, json }: Answer): [number, unknown] {
  return [status, (json as JsonObject).Message]
}
