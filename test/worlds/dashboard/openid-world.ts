import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import Provider from 'oidc-provider'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { Browser, locationOf, type SsoWorld, ssoWorld, type Visit } from './sso-world.ts'

const SECRET = 'secret of the client at the OpenID provider'

/** The provider's claims about a user, besides `sub`: may be changed while it runs. */
export type Account = Record<string, unknown>

/** A real OpenID provider, which lets anyone sign in as anyone. */
async function startOpenId(t: TestContext, callbacks: readonly string[], accounts: Record<string, Account>) {
  const server: Server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'gatehouse', client_secret: SECRET, redirect_uris: [...callbacks] }],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups', 'upn', 'realm_access', 'https://acme.example/roles', 'a.b'],
    },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the provider'] },
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...accounts[id] }) as { sub: string },
    }),
  })
  server.on('request', provider.callback())
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { issuer }
}

/** A dashboard with the profile `staff` at a provider that knows these people. */
export async function world(t: TestContext, accounts: Record<string, Account>, more: JsonObject = {}, env = {}) {
  const dashboard = await ssoWorld(t, env)
  const callbacks = ['staff', 'other'].map((id) => `${dashboard.base}/auth/${id}/openid-connect/callback`)
  const { issuer } = await startOpenId(t, callbacks, accounts)
  const { ProviderConfig: config = {}, ...rest } = more as { ProviderConfig?: JsonObject }
  const openid = { Name: 'openid-connect', Key: 'gatehouse', Secret: SECRET }
  const profile: JsonObject = {
    ID: 'staff',
    Name: 'Staff',
    ActionType: 'GenerateOrLoginUserProfile',
    ProviderName: 'SocialProvider',
    Type: 'redirect',
    ProviderConfig: {
      CallbackBaseURL: dashboard.base,
      UseProviders: [{ ...openid, DiscoverURL: `${issuer}/.well-known/openid-configuration` }],
      ...config,
    },
    ...rest,
  }
  await dashboard.profile(profile)
  return { ...dashboard, issuer, staff: profile }
}

/** Where a sign-in by it begins. */
export const START = '/auth/staff/openid-connect'

/** Goes to the provider, signs in there as `login` and consents. Answers the redirect to our callback, not followed. */
export async function signInThere(at: SsoWorld, browser: Browser, login: string, start = START): Promise<URL> {
  const ours = (url: URL) => url.origin === at.base
  let visit = await browser.follow(await browser.visit(at.base + start), (url) => !ours(url))
  for (let steps = 0; steps < 4 && visit.status === 200; steps++) {
    const prompt = /name="prompt" value="(\w+)"/.exec(visit.text)?.[1] ?? ''
    const action = /action="([^"]+)"/.exec(visit.text)?.[1] ?? ''
    const sent = await browser.visit(new URL(action, visit.url), { prompt, login, password: 'any' })
    visit = await browser.follow(sent, (url) => !ours(url))
  }
  assert.ok(locationOf(visit).startsWith(`${at.base}${start}/callback?`), visit.text)
  return new URL(locationOf(visit))
}

/** A whole sign-in in a new browser. */
export async function journey(at: SsoWorld, login: string, start = START): Promise<{ browser: Browser; end: Visit }> {
  const browser = new Browser()
  return { browser, end: await browser.visit(await signInThere(at, browser, login, start)) }
}
