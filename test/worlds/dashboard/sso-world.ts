import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from './harness.ts'

export interface SsoWorld extends TestDashboard {
  readonly boss: TestUser
  /** Address of the dashboard. */
  readonly base: string
  /** Stores an identity profile by the API. */
  profile(profile: JsonObject): Promise<void>
}

/** A dashboard whose organisation has single sign-on, on the clock of the real servers beside it. */
export async function ssoWorld(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<SsoWorld> {
  const dashboard = await startTestDashboard({
    env: { SVC_SSO_ALLOWPRIVATE: 'true', ...env },
    clock: new FakeClock(Date.now()),
  })
  t.after(dashboard.close)
  const { call } = dashboard
  await allowSso(dashboard)
  const boss = await dashboard.admin()
  return {
    ...dashboard,
    boss,
    base: `http://127.0.0.1:${dashboard.port}`,
    async profile(profile) {
      const answer = await call('POST', '/api/tib/profiles', { as: boss, body: profile })
      assert.equal(answer.status, 200, answer.text)
    },
  }
}

/** Lets an organisation have single sign-on. */
export async function allowSso({ store, orgId }: Pick<TestDashboard, 'store' | 'orgId'>): Promise<void> {
  const organisation = (await store.documents.get('organisation', orgId as never))!
  const body = { ...organisation.body, sso_enabled: true }
  await store.documents.commit([{ op: 'put', kind: 'organisation', id: organisation.id, body }], undefined)
}

export interface Visit {
  readonly url: URL
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** A browser as far as sign-in needs one: cookies by host and path, redirects one by one. */
export class Browser {
  readonly #jar: { host: string; path: string; name: string; value: string }[] = []

  /** One request. `lax`: it comes from a page of another site by POST, so that `SameSite=Lax` cookies stay behind. */
  async visit(address: string | URL, form?: Record<string, string>, { lax = false } = {}): Promise<Visit> {
    const url = new URL(address)
    const cookie = lax ? '' : this.cookies(url)
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), connection: 'close' },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const set of response.headers.getSetCookie()) this.#keep(url, set)
    return { url, status: response.status, text: await response.text(), headers: response.headers }
  }

  /** Follows redirects for as long as `goOn` says. */
  async follow(from: Visit, goOn: (next: URL) => boolean = () => true): Promise<Visit> {
    let at = from
    for (let steps = 0; steps < 20; steps++) {
      const location = at.headers.get('location')
      if (location === null) return at
      const next = new URL(location, at.url)
      if (!goOn(next)) return at
      at = await this.visit(next)
    }
    throw new Error('redirected for ever')
  }

  cookies(url: URL): string {
    return this.#jar
      .filter(({ host, path }) => host === url.host && url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  #keep(url: URL, set: string): void {
    const [pair = '', ...rest] = set.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const path = rest.find((part) => /^path=/i.test(part))?.slice(5) ?? '/'
    const old = this.#jar.findIndex((kept) => kept.host === url.host && kept.path === path && kept.name === name)
    if (old !== -1) this.#jar.splice(old, 1)
    if (value !== '') this.#jar.push({ host: url.host, path, name, value })
  }
}

export interface Session {
  readonly user: { id: string; email_address: string; first_name: string; is_admin: boolean; permissions: object }
  readonly via: string
}

/** Who is signed in in a browser; undefined for nobody. */
export async function sessionIn(world: SsoWorld, browser: Browser): Promise<Session | undefined> {
  const { status, text } = await browser.visit(`${world.base}/api/session`)
  return status === 200 ? (JSON.parse(text) as Session) : undefined
}

/** Where a visit leads to. */
export const locationOf = ({ headers }: Visit) => headers.get('location') ?? ''

/** The reason in the log for the last sign-in that was refused. */
export function whyRefused({ log }: TestDashboard): string {
  return String(
    log.findLast(({ fields }) => String(fields.code).startsWith('sso_') || fields.code === 'rights_exceeded')?.fields
      .why,
  )
}
