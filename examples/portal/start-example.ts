// Everything that the demonstration needs, in one process: a service behind it all, a mail server that keeps its mails, a gatehouse
// with a data folder of its own, APIs and a catalogue, and the portal.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAll } from '../../src/compose.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Accounts } from '../login-page/accounts.ts'
import { type LoginPage, startLoginPage } from '../login-page/server.ts'
import { secretInFile } from '../login-page/settings.ts'
import { PEOPLE } from '../login-page/start-example.ts'
import { catalogue, definitions, POLICIES, WEATHER } from './demo-apis.ts'
import { startUpstream } from './demo-upstream.ts'
import { type Mail, type Mailbox, startMailbox } from './mailbox.ts'
import { startPortal } from './server.ts'

/** The running servers, and where they listen. */
export interface Example {
  readonly portalUrl: string
  readonly gatewayUrl: string
  readonly dashboardUrl: string
  /** Where people of apps sign in, for the API `orders`. */
  readonly loginUrl: string
  readonly mails: Mailbox['mails']
  /** Makes a call of the dashboard as an administrator. @throws Error when it is refused */
  admin(method: string, path: string, body?: object): Promise<Members>
  stop(): Promise<void>
}

export interface ExampleOptions {
  /** 0 = any free port. */
  readonly gatewayPort: number
  readonly dashboardPort: number
  readonly portalPort: number
  readonly loginPort: number
  /** Called for every mail. */
  readonly tell?: (mail: Mail) => void
}

type Members = Readonly<Record<string, unknown>>

/** The administrator of the demonstration's dashboard. */
export const ADMIN = { email: 'admin@example.test', password: 'keep the gate well' } as const

/** Starts it all, in the order in which one part needs the other. @throws Error when a port is taken */
export async function startExample(options: ExampleOptions): Promise<Example> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-portal-'))
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const upstream = await startUpstream()
    closers.push(() => upstream.close())
    const mailbox = await startMailbox(options.tell ?? (() => {}))
    closers.push(() => mailbox.close())
    const running = await startAll(loadConfig({ env: environment(folder, options, mailbox.port), cwd: folder }))
    closers.push(() => running.stop())
    const gatewayUrl = `http://127.0.0.1:${running.gateway.port}`
    const dashboardUrl = `http://127.0.0.1:${running.dashboardPort}`

    const orgId = await organisationOf(dashboardUrl, folder)
    const newUser = (name: string, user_permissions: object) =>
      makeUser(dashboardUrl, folder, { orgId, name, user_permissions })
    const adminKey = await newUser('demo', { IsAdmin: 'admin' })
    const credential = await newUser('portal', { portal: 'write', analytics: 'read' })
    const admin = (method: string, path: string, body?: object) =>
      send(dashboardUrl + path, method, { authorization: adminKey }, body)

    const loginPage = await startLogin(gatewayUrl, folder, options.loginPort)
    closers.push(() => loginPage.close())
    for (const definition of definitions(upstream.url, loginPage.url)) await admin('POST', '/api/apis/oas', definition)
    for (const policy of POLICIES) await admin('POST', '/api/portal/policies', policy)
    const settings = { brand: 'Meridian Developers', port: options.portalPort, publicUrl: '', behindProxy: false }
    const portal = await startPortal({ ...settings, dashboardUrl, credential })
    closers.push(() => portal.close())
    await fillCatalogue(admin, gatewayUrl, portal.url)
    const urls = { portalUrl: portal.url, gatewayUrl, dashboardUrl, loginUrl: loginPage.url }
    return { ...urls, mails: mailbox.mails, admin, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The login page of the other example, for the people of `PEOPLE`. */
async function startLogin(gatewayUrl: string, folder: string, port: number): Promise<LoginPage> {
  const accounts = new Accounts()
  for (const { name, password } of PEOPLE) await accounts.add(name, password)
  const secret = secretInFile(join(folder, 'secrets.json'))
  const api = { adminUrl: gatewayUrl, apiUrl: `${gatewayUrl}/orders/`, apiId: 'orders' }
  return startLoginPage({ ...api, secret, port, publicUrl: '' }, accounts)
}

async function fillCatalogue(admin: Example['admin'], gatewayUrl: string, portalUrl: string): Promise<void> {
  const document = JSON.stringify({ ...WEATHER, servers: [{ url: `${gatewayUrl}/weather` }] })
  const documentation = Buffer.from(document).toString('base64')
  const stored = await admin('POST', '/api/portal/documentation', {
    api_id: 'weather',
    doc_type: 'swagger',
    documentation,
  })
  await admin('PUT', '/api/portal/configuration', { portal_url: portalUrl, signup_fields: ['Company'] })
  await admin('POST', '/api/portal/catalogue', { apis: catalogue(String(stored.Message)) })
}

function environment(folder: string, { gatewayPort, dashboardPort }: ExampleOptions, mailPort: number) {
  return {
    SVC_STORAGE_PATH: folder,
    SVC_GW_LISTENHOST: '127.0.0.1',
    SVC_GW_LISTENPORT: String(gatewayPort),
    ...(gatewayPort !== 0 && { SVC_GW_PUBLICURL: `http://127.0.0.1:${gatewayPort}` }),
    SVC_GW_ACCESSLOG: 'false',
    SVC_DB_LISTENHOST: '127.0.0.1',
    SVC_DB_LISTENPORT: String(dashboardPort),
    // the portal sends the addresses of its visitors
    SVC_DB_TRUSTEDPROXIES: '127.0.0.1',
    SVC_DB_EMAILBACKEND_ENABLEEMAILNOTIFICATIONS: 'true',
    SVC_DB_EMAILBACKEND_DEFAULTFROMEMAIL: 'portal@example.test',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPHOST: '127.0.0.1',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPPORT: String(mailPort),
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPTLS: 'none',
    SVC_BOOTSTRAP_ORGANISATION: 'Meridian',
    SVC_BOOTSTRAP_EMAIL: ADMIN.email,
    SVC_BOOTSTRAP_PASSWORD: ADMIN.password,
    SVC_SAMPLE: 'false',
    SVC_LOG_LEVEL: 'warn',
  }
}

/** The calls of the installation itself carry a secret of the data folder. */
function installation(folder: string): Record<string, string> {
  const { admin_secret: secret } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')) as Record<
    string,
    string
  >
  return { 'admin-auth': secret! }
}

async function organisationOf(dashboardUrl: string, folder: string): Promise<string> {
  const { organisations } = await send(`${dashboardUrl}/admin/organisations`, 'GET', installation(folder))
  return (organisations as { id: string }[])[0]!.id
}

/** Creates a user for programs; returns its API credential. */
async function makeUser(
  dashboardUrl: string,
  folder: string,
  { orgId, name, user_permissions }: { orgId: string; name: string; user_permissions: object },
): Promise<string> {
  const body = {
    org_id: orgId,
    first_name: name,
    email_address: `${name}@example.test`,
    active: true,
    user_permissions,
  }
  const { Meta } = await send(`${dashboardUrl}/admin/users`, 'POST', installation(folder), body)
  return (Meta as { access_key: string }).access_key
}

async function send(url: string, method: string, headers: Record<string, string>, body?: object): Promise<Members> {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${new URL(url).pathname} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as Members
}
