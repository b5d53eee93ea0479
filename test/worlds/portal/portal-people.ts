import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import {
  startTestDashboard,
  type TestDashboard,
  type TestDashboardOptions,
  type TestUser,
} from '../dashboard/harness.ts'

export const DEVELOPERS = '/api/portal/developers'
export const PASSWORD = 'correct horse battery'

/** A dashboard with a user who may write developers. */
export interface PeopleWorld extends TestDashboard {
  readonly portal: TestUser
  /** A call as that user, whose answer must have this status. */
  asked(status: number, method: string, path: string, body?: unknown): Promise<JsonObject>
  /** A new developer; answers the id. */
  developer(record: JsonObject): Promise<string>
  /** The view of a developer. */
  read(id: string): Promise<JsonObject>
  /** The stored developer. */
  stored(id: string): Promise<JsonObject>
  /** Changes the configuration of the portal. */
  configure(configuration: JsonObject): Promise<void>
  /** Status of a check of a developer's credentials. */
  verify(username: string, password?: string): Promise<number>
}

export async function portalPeople(t: TestContext, options: TestDashboardOptions = {}): Promise<PeopleWorld> {
  const dashboard = await startTestDashboard(options)
  t.after(() => dashboard.close())
  const portal = await dashboard.user({ portal: 'write' })
  const asked: PeopleWorld['asked'] = async (status, method, path, body) => {
    const answer = await dashboard.call(method, path, { as: portal, ...(body !== undefined && { body }) })
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  return {
    ...dashboard,
    ...{ portal, asked },
    developer: async (record) => String((await asked(200, 'POST', DEVELOPERS, record)).Message),
    read: (id) => asked(200, 'GET', `${DEVELOPERS}/${id}`),
    async stored(id) {
      const found = await dashboard.store.documents.get('developer', id as DocumentId)
      assert.ok(found !== undefined)
      return found.body
    },
    configure: async (configuration) => void (await asked(200, 'PUT', '/api/portal/configuration', configuration)),
    async verify(username, password = PASSWORD) {
      const body = { username, password }
      return (await dashboard.call('POST', `${DEVELOPERS}/verify_credentials`, { as: portal, body })).status
    },
  }
}

/** A browser at the portal: keeps its cookie, and sends the token that goes with it. */
export class PortalBrowser {
  readonly world: TestDashboard
  cookie = ''
  csrf = ''
  setCookie = ''

  constructor(world: TestDashboard) {
    this.world = world
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.world.call(method, path, {
      ...(body !== undefined && { body }),
      headers: {
        ...(this.cookie !== '' && { cookie: `theme=dark; portal_session=${this.cookie}` }),
        ...(this.csrf !== '' && { authorization: this.csrf }),
        ...headers,
      },
    })
    const [set] = answer.headers['set-cookie'] ?? []
    if (set !== undefined) {
      this.setCookie = set
      this.cookie = /^portal_session=([^;]*)/.exec(set)?.[1] ?? ''
    }
    const { csrf_token: bare, Meta: meta } = (answer.json ?? {}) as { csrf_token?: string; Meta?: JsonObject | null }
    const token = bare ?? meta?.csrf_token
    if (typeof token === 'string') this.csrf = token
    return answer
  }

  login(email: string, password = PASSWORD): Promise<Answer> {
    return this.send('POST', '/portal/login', { email, password })
  }

  /** True when the session is open. */
  async isIn(): Promise<boolean> {
    return (await this.send('GET', '/portal/csrf')).status === 200
  }
}

/** A browser in which the developer is signed in. */
export async function atPortal(world: TestDashboard, email: string, password = PASSWORD): Promise<PortalBrowser> {
  const browser = new PortalBrowser(world)
  const answer = await browser.login(email, password)
  assert.equal(answer.status, 200, answer.text)
  return browser
}
