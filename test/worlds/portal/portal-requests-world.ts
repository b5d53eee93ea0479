import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { TestDashboardOptions, TestUser } from '../dashboard/harness.ts'
import { type KeyWorld, keyWorld } from '../dashboard/key-world.ts'

export const REQUESTS = '/api/portal/requests'
export const CONFIGURATION = '/api/portal/configuration'
export const CATALOGUE = '/api/portal/catalogue'
export const APPROVE = '/api/portal/requests/approve'

/** The usual calls in tests of key requests, on top of a world with APIs and policies. */
export interface RequestCalls {
  /** A developer; answers the id. */
  developer(email: string, more?: JsonObject): Promise<string>
  configure(configuration: JsonObject): Promise<void>
  catalogue(...apis: JsonObject[]): Promise<void>
  /** A request that must be taken; answers the envelope. */
  request(body: JsonObject): Promise<JsonObject>
  read(id: string): Promise<JsonObject>
  /** A call that must be refused with this status and change nothing; answers its message. */
  refused(status: number, method: string, path: string, body?: unknown, as?: TestUser): Promise<string>
  /** Subscriptions of a developer, policy to key hash. */
  subscriptions(id: string): Promise<JsonObject>
}

export function requestCalls(world: Pick<KeyWorld, 'asked' | 'call' | 'root' | 'store' | 'orgId'>): RequestCalls {
  const { asked, call, root, store, orgId } = world
  return {
    developer: async (email, more = {}) => {
      const body = { email, password: 'correct horse battery', fields: { Name: 'Dev' }, ...more }
      return String((await asked(200, 'POST', '/api/portal/developers', root, body)).Message)
    },
    configure: async (configuration) => void (await asked(200, 'PUT', CONFIGURATION, root, configuration)),
    async catalogue(...apis) {
      await asked(200, 'POST', CATALOGUE, root, { org_id: orgId })
      await asked(200, 'PUT', CATALOGUE, root, { apis })
    },
    request: (body) => asked(200, 'POST', REQUESTS, root, body),
    read: (id) => asked(200, 'GET', `${REQUESTS}/${id}`, root),
    async refused(status, method, path, body, as = root) {
      const before = await store.documents.revision()
      const answer = await call(method, path, { as, ...(body !== undefined && { body }) })
      assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body)?.slice(0, 300)}: ${answer.text}`)
      assert.equal(await store.documents.revision(), before, `${method} ${path} changed something`)
      return String((answer.json as JsonObject).Message)
    },
    subscriptions: async (id) =>
      (await asked(200, 'GET', `/api/portal/developers/${id}`, root)).subscriptions as JsonObject,
  }
}

/** One API that asks for a key, the policy `gold` on it, and a developer. */
export async function requestWorld(t: TestContext, options: TestDashboardOptions = {}) {
  const world = await keyWorld(t, options)
  await world.api('one')
  await world.policy('gold', ['one'])
  const calls = requestCalls(world)
  return { ...world, ...calls, dev: await calls.developer('dev@example.test') }
}

export const hashOf = (rawKey: unknown): string => hashKey(String(rawKey)).toString('hex')

export const PROCESSED = 'Key request has already been processed.'
