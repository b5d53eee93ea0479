import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { fault } from '../../errors/fault.ts'
import { isObject } from '../../model/json/json.ts'
import { setUpLink, setUpTokenOf } from '../../process/first-start.ts'
import type { Command, CommandContext } from './command.ts'

const TIMEOUT_MS = 30_000
const CLOSED =
  'the installation has been set up already: sign in to the console; your profile has your API credential, for scripts'

/**
 * `gatehouse bootstrap`: prints the set-up link of the running server, or with an organisation and an email address makes both.
 *
 * It calls the running server, on this machine: a store has one owner, and the same call with the same checks serves the browser.
 * Without a server running, `bootstrap.email` and its siblings do it at the first start.
 */
export const BOOTSTRAP_COMMAND: Command = {
  name: 'bootstrap',
  summary:
    'print the set-up link of the running server; with ORGANISATION EMAIL make them, the password from bootstrap.password or standard input',
  words: '[ORGANISATION EMAIL]',
  examples: [
    ['bootstrap', 'the link that creates the first organisation and its administrator in a browser'],
    ['bootstrap Acme ada@acme.example', 'creates both; the password is read from standard input'],
  ],
  exits: {
    0: 'printed, or created',
    1: 'refused, no server answers, or set up already',
    2: 'the command line is wrong',
  },
  async run(context) {
    const { config } = loadConfig(context)
    const [organisation = '', email = '', ...more] = context.words
    if (more.length > 0 || (organisation !== '' && email === ''))
      throw fault('setting_invalid', 'usage: bin/gatehouse bootstrap [ORGANISATION EMAIL]')
    const address = addressOf(config)
    if ((await call(config, `${address}/api/bootstrap`)).open !== true) throw fault('setup_closed', CLOSED)
    const token = setUpTokenOf(config)
    if (organisation === '') {
      context.print(setUpLink(config.dashboard.public_url || address, token))
      return 0
    }
    return setUp(context, config, address, { token, organisation, email })
  },
}

async function setUp(
  { print }: CommandContext,
  config: Config,
  address: string,
  wanted: Readonly<Record<string, string>>,
): Promise<number> {
  const { bootstrap } = config
  const password = bootstrap.password === '' ? await readLine() : bootstrap.password
  const names = { first_name: bootstrap.first_name, last_name: bootstrap.last_name }
  const { Status, Message, Meta } = await call(config, `${address}/api/bootstrap`, { ...wanted, ...names, password })
  if (Status !== 'OK' || !isObject(Meta) || !isObject(Meta.user)) throw fault('setup_invalid', String(Message))
  print(String(Message))
  print(`organisation  ${Meta.org_id}`)
  print(`user          ${Meta.user.id}`)
  print(`credential    ${Meta.user.access_key}`)
  return 0
}

/** The dashboard of this machine. */
function addressOf({ dashboard: { listen_host: host, listen_port: port, tls } }: Config): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const named = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `${tls.enabled ? 'https' : 'http'}://${named}:${port}`
}

/** @throws Fault `store_away` when no server answers there */
async function call(
  config: Config,
  url: string,
  body?: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(await send(config, url, body && JSON.stringify(body)))
    return isObject(json) ? json : {}
  } catch (error) {
    throw fault('store_away', `no dashboard answers at ${new URL(url).origin}: start the server first`, error)
  }
}

function send({ dashboard: { tls } }: Config, url: string, body: string | undefined): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }
  const take = (answer: IncomingMessage) => void text(answer).then(resolve, reject)
  // Its certificate is for its public name: here it must be the one of the settings, and not another one of its CA.
  const pinned = () => {
    const ca = readFileSync(tls.cert_file)
    const own = new X509Certificate(ca).raw
    const checkServerIdentity = (_host: string, { raw }: { readonly raw: Buffer }) =>
      raw.equals(own) ? undefined : new Error('the certificate is not the one of dashboard.tls.cert_file')
    return { ca, allowPartialTrustChain: true, checkServerIdentity }
  }
  const request = tls.enabled ? requestTls(url, { ...options, ...pinned() }, take) : requestPlain(url, options, take)
  request.on('error', reject)
  request.end(body)
  return promise
}

async function readLine(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Password of the first user (it is shown as you type): ')
  const lines = createInterface({ input: process.stdin })
  try {
    for await (const line of lines) return line
  } finally {
    lines.close()
  }
  return ''
}
