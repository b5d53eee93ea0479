import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { Compile, type Validator } from 'typebox/compile'
import { explainSettings } from '../../../src/config/explain.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { dashboardServices } from '../../../src/dashboard/server/compose-services.ts'
import type { DashboardInputs, DashboardParts } from '../../../src/dashboard/server/parts.ts'
import { type Dashboard, startDashboard } from '../../../src/dashboard/server/server.ts'
import { adminDocumentOf } from '../../../src/gateway/admin-openapi/admin-openapi.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import type { LogFields } from '../../../src/model/logs/log.ts'
import { NEVER } from '../../../src/model/people/user.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { storeCredential } from '../../../src/publish/people/credential.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'
import { type Answer, call } from '../base/client.ts'
import { ContractCheck } from '../base/contract-check.ts'

/** Module state: the published description of the calls, read once. */
const CONTRACT = new ContractCheck('openapi.json')

export const ADMIN_SECRET = 'admin-secret-of-the-test-dashboard'

export interface TestDashboardOptions {
  /** Environment names and values, as a person would set them. */
  readonly env?: Readonly<Record<string, string>>
  /** Shared with others; the dashboard then does not close it. */
  readonly store?: Store
  readonly clock?: FakeClock
  /** Differences from the ordinary parts. */
  readonly parts?: Partial<DashboardInputs>
  /** The served routes: the product's own table unless given. */
  readonly routes?: (parts: DashboardParts) => readonly Route[]
}

/** A user of the test dashboard, with the credential to call as. */
export interface TestUser {
  readonly id: string
  readonly orgId: string
  readonly email: string
  readonly key: string
}

export interface DashboardCall {
  /** Whose credential goes into `Authorization`; `installation` = the admin secret in `admin-auth`; absent = nobody. */
  readonly as?: TestUser | 'installation' | undefined
  /** JSON unless it is text, which goes as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** True: the body may be taken in part, as it is random, or holds what nobody may set. */
  readonly isRandom?: true
}

/** A whole dashboard in this process: real socket, the embedded memory store, a fake clock. */
export interface TestDashboard {
  readonly dashboard: Dashboard
  readonly port: number
  readonly parts: DashboardParts
  /** As it is stored: what the dashboard seals is sealed here. */
  readonly store: Store
  readonly clock: FakeClock
  readonly log: { level: string; fields: LogFields; message: string }[]
  /** Id of the organisation that `user` and `admin` belong to by default. */
  readonly orgId: string
  /**
   * Makes a call, and checks the answer against what its route declares, and against the OpenAPI document, where members that it does not
   * describe are flaws; what is accepted has a body as it is described.
   */
  call(method: string, path: string, options?: DashboardCall): Promise<Answer>
  organisation(body?: JsonObject): Promise<string>
  /** A user with these rights. `orgId` '' = unbounded. */
  user(permissions: JsonObject, more?: { orgId?: string; groupId?: string; active?: boolean }): Promise<TestUser>
  admin(orgId?: string): Promise<TestUser>
  group(permissions: JsonObject, more?: { orgId?: string; active?: boolean }): Promise<string>
  close(): Promise<void>
}

/** Starts a dashboard over the memory store at a free port of the loopback address. */
export async function startTestDashboard({
  env = {},
  store: given,
  clock = new FakeClock(),
  parts: own = {},
  routes,
}: TestDashboardOptions = {}): Promise<TestDashboard> {
  const loaded = loadConfig({ env: { SVC_SAMPLE: 'false', SVC_GW_WORKERS: '1', ...env }, cwd: import.meta.dirname })
  const { config } = loaded
  const log: TestDashboard['log'] = []
  const note = (level: string) => (fields: LogFields, message: string) => void log.push({ level, fields, message })
  const store = given ?? openMemoryStore({ clock })
  const orgId = newDocumentId(clock.wall())
  const sealKey = own.sealKey ?? randomBytes(32)
  const sealed = sealedStore(store, sealKey)
  const inputs: DashboardInputs = {
    store: sealed,
    documents: sealed.documents,
    tokens: sealed.tokens,
    counters: sealed.counters,
    clock,
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    config,
    sealKey,
    adminSecrets: () => [ADMIN_SECRET],
    version: '0.0.0-test',
    settings: explainSettings(loaded),
    defaultOrg: () => orgId,
    locks: new KeyedMutex(),
    settled: async () => {},
    adminDocument: async () => adminDocumentOf('0.0.0-test'),
    ...own,
  }
  const parts: DashboardParts = { ...inputs, ...dashboardServices(inputs) }
  const dashboard = await startDashboard(parts, { host: '127.0.0.1', port: 0, ...(routes && { routes }) })
  const check = answerChecks(dashboard.routes)
  const agent = new Agent({ keepAlive: true })
  let closed = false
  const put = async (kind: string, body: JsonObject, id = newDocumentId(clock.wall())) => {
    await store.documents.commit([{ op: 'put', kind, id, body }], undefined)
    return id as string
  }
  const organisation: TestDashboard['organisation'] = (body = {}) =>
    put('organisation', { owner_name: 'Test organisation', owner_slug: 'test', cname: '', ...body })
  await put('organisation', { owner_name: 'First organisation', owner_slug: 'first', cname: '' }, orgId)
  let number = 0
  const user: TestDashboard['user'] = async (permissions, more = {}) => {
    const key = randomBytes(16).toString('hex')
    const email = `user-${++number}@example.test`
    const org = more.orgId ?? orgId
    const id = newDocumentId(clock.wall())
    const body = {
      org_id: org,
      email_address: email,
      first_name: 'Test',
      last_name: `User ${number}`,
      active: more.active ?? true,
      group_id: more.groupId ?? '',
      user_permissions: permissions,
      password_max_days: 0,
      password_updated: NEVER,
      created_at: new Date(clock.wall()).toISOString(),
      last_login_date: NEVER,
      password_hash: '',
      PWHistory: [],
      ...storeCredential(parts, id, key),
    }
    await put('user', body, id)
    return { id, orgId: org, email, key }
  }
  return {
    ...{ dashboard, port: dashboard.port, parts, store, clock, log, orgId, organisation, user },
    admin: (org = orgId) => user({ IsAdmin: 'admin' }, { orgId: org }),
    group: (permissions, more = {}) =>
      put('user_group', {
        org_id: more.orgId ?? orgId,
        name: `Group ${++number}`,
        description: '',
        active: more.active ?? true,
        user_permissions: permissions,
        password_max_days: 0,
      }),
    async call(method, path, { as, body, headers = {}, isRandom } = {}) {
      // A test that ran into its timeout continues its walk: a call without a response would keep the process alive.
      if (closed) throw new Error(`${method} ${path} was called after the dashboard had closed`)
      const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await call(dashboard.port, path, {
        ...{ method, agent },
        headers: { ...credential(as), ...headers },
        ...(sent !== undefined && { body: sent }),
      })
      check(method, path, answer)
      if (routes === undefined && isDescribed(path, answer))
        CONTRACT.check({ method, path, body: isRandom || isOverTemplate(path) ? undefined : sent }, answer)
      return answer
    },
    async close() {
      closed = true
      agent.destroy()
      await dashboard.close()
      if (given === undefined) await store.close()
    },
  }
}

function credential(as: DashboardCall['as']): Record<string, string> {
  if (as === undefined) return {}
  return as === 'installation' ? { 'admin-auth': ADMIN_SECRET } : { authorization: as.key }
}

/** Calls of the document; pages of the console are answered beside them. A file to download is described by the page that it is made of. */
function isDescribed(path: string, { headers }: Answer): boolean {
  if (/[?&]download=true/.test(path)) return false
  return /^\/(?:api|admin|auth|portal|oauth-clients)\//.test(path) || !/^text\/html/.test(headers['content-type'] ?? '')
}

/** A document that is laid over a template need not be whole. */
const isOverTemplate = (path: string) => /[?&]templateID=[^&]/.test(path)

type Check = (method: string, path: string, answer: Answer) => void

/** Every answer must be what its route declares for the status; a refusal that it does not declare must be the envelope. */
function answerChecks(routes: readonly Route[]): Check {
  const compiled = new Map<Route, Map<number, Validator>>()
  return (method, path, { status, json, text, headers }) => {
    const where = `${method} ${path} answered ${status}: ${text.slice(0, 500)}`
    assert.ok(status < 500, where)
    // RFC 9110 section 15.5.6.
    assert.ok(status !== 405 || headers.allow !== undefined, `${where}\nwithout Allow`)
    const route = routeFor(routes, method, path)
    // Every refusal of the server itself is the envelope, also where a route has refusals of another form.
    if (status >= 400 && isObject(json) && Object.keys(json).join() === 'Status,Message,Meta') return
    const schema = route?.answers[status]
    if (route === undefined || schema === undefined) {
      assert.ok(status >= 300, `${where}\nwhich the route does not declare`)
      assert.ok(status < 400, `${where}\nwhich is not the envelope`)
      return
    }
    const known = compiled.get(route) ?? new Map<number, Validator>()
    compiled.set(route, known)
    const validator = known.get(status) ?? Compile(schema)
    known.set(status, validator)
    const value = json === undefined ? text : json
    assert.ok(validator.Check(value), `${where}\n${JSON.stringify(validator.Errors(value).slice(0, 3))}`)
  }
}

/** The declared route that a path leads to: word by word, a word before a placeholder. */
export function routeFor(routes: readonly Route[], method: string, path: string): Route | undefined {
  const asked = segmentsOf(path.split('?', 1)[0]!)
  const fitting = routes.filter((route) => {
    if (route.method !== method) return false
    const declared = segmentsOf(route.path)
    return (
      declared.length === asked.length &&
      declared.every((segment, i) => segment.startsWith('{') || segment === asked[i])
    )
  })
  const rank = (route: Route) =>
    segmentsOf(route.path)
      .map((segment) => (segment.startsWith('{') ? '1' : '0'))
      .join('')
  return fitting.sort((a, b) => rank(a).localeCompare(rank(b)))[0]
}

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '')
