import {
  type Dashboard,
  DashboardRefusal,
  type Json,
  objectIn,
  objectsIn,
  orNothing,
  type PortalSession,
  part,
  textIn,
} from './dashboard.ts'
import type { App, Developer, Entry, Key, Rules, Wish } from './shapes.ts'
import { appOf, developerOf, entryOf, keyOf, rulesOf, wishOf } from './shapes.ts'

const DEVELOPERS = '/api/portal/developers'
const REQUESTS = '/api/portal/requests'

/** Every call that this portal makes, and no other. Its user needs the permissions `portal: write` and `analytics: read`. */
export class PortalCalls {
  readonly #dashboard: Dashboard

  constructor(dashboard: Dashboard) {
    this.#dashboard = dashboard
  }

  async rules(): Promise<Rules> {
    return rulesOf(await this.#ask('GET', '/api/portal/configuration'))
  }

  /** The entries that the catalogue offers to everybody, in order. */
  async entries(): Promise<Entry[]> {
    const [rules, catalogue] = await Promise.all([this.rules(), orNothing(this.#ask('GET', '/api/portal/catalogue'))])
    const listed = objectsIn(catalogue ?? {}, 'apis').filter(({ show }) => show === true)
    return listed.map((entry) => entryOf(entry, rules))
  }

  /** Documentation, decoded; undefined when it is gone. */
  async documentation(id: string): Promise<{ readonly type: string; readonly text: string } | undefined> {
    const found = await orNothing(this.#ask('GET', `/api/portal/documentation/${part(id)}`))
    if (found === undefined) return undefined
    const text = Buffer.from(textIn(found, 'documentation'), 'base64').toString('utf8')
    return { type: textIn(found, 'doc_type'), text }
  }

  // Sessions. These calls count by the visitor's address, and need no credential.

  async signIn(visitor: string, who: { email: string; password: string; orgId: string }): Promise<PortalSession> {
    const body = { email: who.email, password: who.password, org_id: who.orgId }
    const { json, cookie } = await this.#dashboard.open({ visitor }, 'POST', '/portal/login', body)
    return { cookie, csrf: textIn(json, 'csrf_token') }
  }

  /** `session` is absent where the portal signs nobody in by itself. */
  async signUp(visitor: string, who: Json): Promise<{ developerId: string; session: PortalSession | undefined }> {
    const { json, cookie } = await this.#dashboard.open({ visitor }, 'POST', '/portal/register', who)
    const csrf = textIn(objectIn(json, 'Meta'), 'csrf_token')
    return { developerId: textIn(json, 'Message'), session: cookie === '' ? undefined : { cookie, csrf } }
  }

  /** False once the session has ended: by time, by another password, with the account. */
  async isOpen(session: PortalSession): Promise<boolean> {
    try {
      await this.#dashboard.call(session, 'GET', '/portal/csrf')
      return true
    } catch (error) {
      if (error instanceof DashboardRefusal && error.status === 401) return false
      throw error
    }
  }

  async signOut(session: PortalSession): Promise<void> {
    await this.#dashboard.call(session, 'POST', '/portal/logout')
  }

  async forgot(visitor: string, email: string, orgId: string): Promise<void> {
    await this.#dashboard.call({ visitor }, 'POST', '/portal/password/forgot', { email, org_id: orgId })
  }

  async resetPassword(visitor: string, token: string, password: string): Promise<void> {
    await this.#dashboard.call({ visitor }, 'POST', '/portal/password/reset', { token, new_password: password })
  }

  // Developers.

  async developer(id: string): Promise<Developer> {
    return developerOf(await this.#ask('GET', `${DEVELOPERS}/${part(id)}`))
  }

  async developerByEmail(email: string): Promise<Developer> {
    return developerOf(await this.#ask('GET', `${DEVELOPERS}/email/${part(email)}`))
  }

  /** @throws DashboardRefusal 401 when it is not the password */
  async checkPassword(email: string, password: string): Promise<void> {
    await this.#ask('POST', `${DEVELOPERS}/verify_credentials`, { username: email, password })
  }

  async setPassword(id: string, password: string): Promise<void> {
    await this.#ask('POST', `${DEVELOPERS}/password/${part(id)}`, { password })
  }

  async removeDeveloper(id: string): Promise<void> {
    await this.#ask('DELETE', `${DEVELOPERS}/${part(id)}`)
  }

  // Requests. What is approved at once is answered with the key or the app.

  async submit(wish: Json): Promise<Json> {
    return objectIn(await this.#ask('POST', REQUESTS, wish), 'Meta')
  }

  /** Requests of a developer that wait. */
  async waiting(developerId: string): Promise<Wish[]> {
    const list = await this.#ask('GET', `${REQUESTS}?approved=false&p=-1&by_user=${part(developerId)}`)
    return objectsIn(list, 'Data').map(wishOf)
  }

  async wish(id: string): Promise<Wish | undefined> {
    const found = await orNothing(this.#ask('GET', `${REQUESTS}/${part(id)}`))
    return found === undefined ? undefined : wishOf(found)
  }

  async withdraw(id: string): Promise<void> {
    await this.#ask('DELETE', `${REQUESTS}/${part(id)}`)
  }

  /** True when the key of a request waits for the developer whose session it is. */
  async isCollectable(session: PortalSession, id: string): Promise<boolean> {
    const found = await orNothing(this.#dashboard.call(session, 'GET', `/portal/requests/${part(id)}/collect`))
    return found?.collectable === true
  }

  collect(session: PortalSession, id: string, code: string): Promise<Json> {
    return this.#dashboard.call(session, 'POST', `/portal/requests/${part(id)}/collect`, { code })
  }

  // Keys.

  async keys(developerId: string): Promise<Key[]> {
    return objectsIn(await this.#ask('GET', `${DEVELOPERS}/${part(developerId)}/keys?p=-1`), 'Data').map(keyOf)
  }

  async key(developerId: string, keyId: string): Promise<Key | undefined> {
    const found = await orNothing(this.#ask('GET', keyPath(developerId, keyId)))
    return found === undefined ? undefined : keyOf(found)
  }

  rotateKey(developerId: string, keyId: string, overlapS: number): Promise<Json> {
    return this.#ask('POST', `${keyPath(developerId, keyId)}/rotate`, { overlap_seconds: overlapS })
  }

  async revokeKey(developerId: string, keyId: string): Promise<void> {
    await this.#ask('DELETE', keyPath(developerId, keyId))
  }

  // Apps. The calls of one app do not name its owner: their callers check `developerId` first.

  async app(clientId: string): Promise<App | undefined> {
    const found = await orNothing(this.#ask('GET', appPath(clientId)))
    return found === undefined ? undefined : appOf(found)
  }

  rotateSecret(clientId: string, overlapS: number): Promise<Json> {
    return this.#ask('POST', `${appPath(clientId)}/rotate`, { overlap_seconds: overlapS })
  }

  async removeApp(clientId: string): Promise<void> {
    await this.#ask('DELETE', appPath(clientId))
  }

  async revokeToken(session: PortalSession, clientId: string, token: string): Promise<void> {
    await this.#dashboard.call(session, 'POST', `/oauth-clients/${part(clientId)}/revoke`, { token })
  }

  async revokeAllTokens(session: PortalSession, clientId: string, secret: string): Promise<void> {
    const body = { client_secret: secret }
    await this.#dashboard.call(session, 'POST', `/oauth-clients/${part(clientId)}/revoke_all`, body)
  }

  // Analytics. `days`: two days as `d/m/yyyy`, separated by a slash.

  async usageOfKeys(keyIds: readonly string[], days: string): Promise<Json[]> {
    if (keyIds.length === 0) return []
    const path = `/api/activity/keys/aggregate/${keyIds.join(',')}/${days}?p=-1&res=day`
    return objectsIn(await this.#ask('GET', path), 'data')
  }

  async usageOfApp(clientId: string, days: string): Promise<Json[]> {
    const path = `/api/activity/oauthid/${part(clientId)}/${days}?p=-1&res=day`
    return objectsIn((await orNothing(this.#ask('GET', path))) ?? {}, 'data')
  }

  #ask(method: string, path: string, body?: Json): Promise<Json> {
    return this.#dashboard.call('portal', method, path, body)
  }
}

const keyPath = (developerId: string, keyId: string) => `${DEVELOPERS}/${part(developerId)}/keys/${part(keyId)}`
const appPath = (clientId: string) => `${DEVELOPERS}/oauth/${part(clientId)}`
