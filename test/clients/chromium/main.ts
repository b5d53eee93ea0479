// OAuth libraries of browsers in the machine's Chromium, against a running product. Each case prints a line of JSON; the runner in
// ../runner says what the world file holds.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { LAUNCH_ARGS, placeOfBrowser } from '../../worlds/browser/chromium.ts'

interface World {
  readonly https: string
  readonly desk: string
}

const [, , libraries = ''] = process.argv
const world = JSON.parse(readFileSync(process.env.CLIENTS_WORLD!, 'utf8')) as World
const FILES: Readonly<Record<string, string>> = {
  '/flows.mjs': join(import.meta.dirname, 'flows.mjs'),
  '/oidc-client-ts.js': join(libraries, 'node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js'),
  '/oauth4webapi.js': join(libraries, 'node_modules/oauth4webapi/build/index.js'),
}
const PAGE =
  '<!doctype html><title>app</title><script src="/oidc-client-ts.js"></script><script type="module" src="/flows.mjs"></script>'

/** The site of the app: a page at every path. */
const site = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://site')
  const file = FILES[pathname]
  response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript')
  response.end(file === undefined ? PAGE : readFileSync(file))
})
await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready))
const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
const browser = await chromium.launch({ executablePath: await placeOfBrowser(), args: LAUNCH_ARGS })

type Flow = (page: Page) => Promise<void>

for (const [name, binds] of [
  ['bearer tokens', false],
  ['DPoP', true],
] as const) {
  await run('oidc-client-ts', `discovery, code with PKCE, refresh, revocation: ${name}`, oidcFlow('browser', binds))
  await run('oauth4webapi', `discovery, code with PKCE, refresh, revocation: ${name}`, webapiFlow('browser', binds))
}
await run('oidc-client-ts', 'tokens of an API without CORS', oidcFlow('opaque', false))
await run('oauth4webapi', 'tokens of an API without CORS', webapiFlow('opaque', false))
await run('oauth4webapi', 'registration, code with PKCE', webapiFlow('mcp', false, true))

await browser.close()
site.close()
site.closeAllConnections()

function oidcFlow(api: string, bindsKey: boolean): Flow {
  return async (page) => {
    const asked = {
      issuer: `${world.https}/${api}`,
      clientId: await registered(api),
      bindsKey,
      callsApi: api === 'browser',
    }
    await call(page, 'oidcBegin', asked)
    await page.waitForURL(`${origin}/callback?*`)
    await call(page, 'oidcEnd', asked)
  }
}

function webapiFlow(api: string, bindsKey: boolean, registersItself = false): Flow {
  return async (page) => {
    const issuer = `${world.https}/${api}`
    const clientId = registersItself ? String(await call(page, 'webapiRegister', { issuer })) : await registered(api)
    const asked = { issuer, clientId, bindsKey, callsApi: api === 'browser' }
    await page.goto(String(await call(page, 'webapiBegin', asked)))
    await page.waitForURL(`${origin}/callback?*`)
    await call(page, 'webapiEnd', asked)
  }
}

/** Calls a flow of the page once it is loaded. */
async function call(page: Page, flow: string, asked: object): Promise<unknown> {
  await page.waitForFunction('globalThis.flows !== undefined')
  return page.evaluate(`globalThis.flows[${JSON.stringify(flow)}](${JSON.stringify(asked)})`)
}

/** Registers a public client of this site. */
async function registered(api: string): Promise<string> {
  const body = JSON.stringify({ auth_method: 'none', redirect_uri: `${origin}/callback` })
  const answer = await fetch(`${world.desk}/clients/${api}`, { method: 'POST', body })
  if (answer.status !== 200) throw new Error(`the desk answered ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { client_id: string }).client_id
}

/** Runs a case in a browser without memory, and prints how it ended. */
async function run(client: string, flow: string, act: Flow): Promise<void> {
  // The authority of the run is none of the machine's.
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  let failed: string | undefined
  try {
    const page = await context.newPage()
    await page.goto(origin)
    await act(page)
  } catch (error) {
    failed = error instanceof Error ? error.message : String(error)
  } finally {
    await context.close()
  }
  console.log(JSON.stringify({ client, flow, ...(failed !== undefined && { failed }) }))
}
