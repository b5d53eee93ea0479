import assert from 'node:assert/strict'
import { argon2Sync, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { startTestDashboard, type TestDashboard, type TestDashboardOptions } from './harness.ts'

export const PASSWORD = 'correct horse battery'

/** A dashboard that ends with the test. */
export async function signInWorld(t: TestContext, options: TestDashboardOptions = {}): Promise<TestDashboard> {
  const world = await startTestDashboard(options)
  t.after(() => world.close())
  return world
}

/** An argon2id hash that costs a millisecond: what the product makes costs eighty. */
export function cheapHash(password: string): string {
  const nonce = randomBytes(16)
  const tag = argon2Sync('argon2id', { memory: 64, passes: 1, parallelism: 1, message: password, nonce, tagLength: 32 })
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=64,t=1,p=1$${text(nonce)}$${text(tag)}`
}

export interface Person {
  readonly id: string
  readonly email: string
}

let number = 0

/** A user who can sign in. */
export async function person(world: TestDashboard, more: JsonObject = {}): Promise<Person> {
  const id = newDocumentId(world.clock.wall())
  const body: JsonObject = {
    id,
    org_id: world.orgId,
    email_address: `person-${++number}@example.test`,
    first_name: 'Ada',
    last_name: 'Byron',
    active: true,
    group_id: '',
    user_permissions: { IsAdmin: 'admin' },
    password_max_days: 0,
    password_hash: cheapHash(PASSWORD),
    password_updated: new Date(world.clock.wall()).toISOString(),
    last_login_date: '0001-01-01T00:00:00Z',
    PWHistory: [],
    access_hmac: randomBytes(32).toString('hex'),
    access_sealed: '',
    ...more,
  }
  await world.store.documents.commit([{ op: 'put', kind: 'user', id, body }], undefined)
  return { id, email: String(body.email_address) }
}

/** The stored body of a user. */
export async function stored(world: TestDashboard, id: string): Promise<JsonObject> {
  const user = await world.store.documents.get('user', id as Parameters<typeof world.store.documents.get>[1])
  assert.ok(user !== undefined)
  return user.body
}

/** Changes some members of a user behind the back of the product. */
export async function rewrite(world: TestDashboard, id: string, more: JsonObject): Promise<void> {
  const body = { ...(await stored(world, id)), ...more }
  await world.store.documents.commit([{ op: 'put', kind: 'user', id: id as never, body }], undefined)
}

/** The `Meta` of an answer. */
export function meta(answer: Answer): JsonObject {
  const found = isObject(answer.json) ? answer.json.Meta : undefined
  return isObject(found) ? found : {}
}

export function message(answer: Answer): string {
  return isObject(answer.json) ? String(answer.json.Message) : ''
}

/** A browser: keeps its cookie, and sends the token that goes with it. */
export class Browser {
  readonly world: TestDashboard
  cookie = ''
  csrf = ''
  /** The last `Set-Cookie` field. */
  setCookie = ''

  constructor(world: TestDashboard) {
    this.world = world
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.world.call(method, path, {
      ...(body !== undefined && { body }),
      headers: {
        ...(this.cookie !== '' && { cookie: `theme=dark; authorisation=${this.cookie}` }),
        ...(this.csrf !== '' && { 'x-csrf-token': this.csrf }),
        ...headers,
      },
    })
    const [set] = answer.headers['set-cookie'] ?? []
    if (set !== undefined) {
      this.setCookie = set
      this.cookie = /^authorisation=([^;]*)/.exec(set)?.[1] ?? ''
      this.csrf = ''
    }
    const { csrf_token: token } = meta(answer)
    if (typeof token === 'string') this.csrf = token
    return answer
  }

  /** Signs in with email and password; further steps are for the test. */
  login(email: string, password = PASSWORD, more: JsonObject = {}): Promise<Answer> {
    return this.send('POST', '/api/login', { email, password, ...more })
  }

  /** True when the session opens calls. */
  async isIn(): Promise<boolean> {
    return (await this.send('GET', '/api/session')).status === 200
  }
}

/** A browser in which the person is signed in. */
export async function signedIn(world: TestDashboard, { email }: Person, password = PASSWORD): Promise<Browser> {
  const browser = new Browser(world)
  const answer = await browser.login(email, password)
  assert.equal(answer.status, 200, answer.text)
  assert.notEqual(browser.cookie, '', answer.text)
  return browser
}
