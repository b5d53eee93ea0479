import { hash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Change, SessionInput } from '../src/store/ports.ts'
import { openStore } from '../src/store/sqlite/open.ts'
import { heldBytes } from './collect.ts'
import { BODIES, makeCertificate, type Server, startHaproxy, startUpstream } from './peers.ts'
import { freePort, PROXY_CORE, type Started, startPinned, waitForPort } from './processes.ts'
import { Admin, definition, type Product, policy, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { checkClean, type Load, load } from './wrk.ts'

const CONNECTIONS = 64
const WARM_UP_SECONDS = 5
const TOKENS = 1_000_000
const TOKENS_PER_COMMIT = 5000
const LAPSED = 300_000
/** Tokens that protected calls are made with, at random. */
const USED_TOKENS = 10_000
const CLIENT = 'bench-client'
const SECRET = 'bench-secret-of-the-client-0123456789'
const BASIC = `Basic ${Buffer.from(`${CLIENT}:${SECRET}`).toString('base64')}`
const FORM = 'grant_type=client_credentials'

export interface TokensOptions {
  /** Scratch folder. */
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

/** A call of an authorization server that is made again and again. */
interface Issuer {
  readonly name: string
  readonly started: Started
  readonly url: string
  readonly path: string
  readonly form: string
}

interface Run extends Load {
  readonly cpuMicros: number
}

/**
 * Client-credentials tokens: the gateway, which commits each to disk before it answers, against npm `oidc-provider` with its
 * in-memory adapter, in turn on one core; then the same with a million tokens stored, and while lapsed ones are purged.
 */
export async function issueTokens(options: TokensOptions): Promise<string> {
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const peer = await startPeer()
  let product = await startProduct({ folder })
  try {
    await prepare(product, upstream.port)
    const few = await compare([issuerOf(product), peer], options)
    const asked = await compare(
      [await introspection(issuerOf(product), INTROSPECT), await introspection(peer)],
      options,
    )
    const calls = await protectedCalls(product, upstream.port, options)
    progress(`storing ${show(TOKENS)} tokens`)
    await product.started.stop()
    await storeTokens(folder, TOKENS, Date.now() + 86_400_000)
    product = await startProduct({ folder, inspect: true })
    const many = await compare([issuerOf(product)], options)
    const memory = await heldBytes(product)
    await product.started.stop()
    await storeTokens(folder, LAPSED, Date.now() + 1)
    product = await startProduct({ folder })
    const purging = await compare([issuerOf(product)], { ...options, rounds: 1 })
    return [report(few, many.get('Gatehouse')!, purging.get('Gatehouse')!, memory), reportUse(asked, calls)].join(
      '\n\n',
    )
  } finally {
    for (const started of [product.started, peer.started, upstream.started]) await started.stop()
  }
}

async function startPeer(): Promise<Issuer> {
  const port = await freePort()
  const file = fileURLToPath(new URL('oidc-peer.ts', import.meta.url))
  const started = startPinned('oidc-provider', PROXY_CORE, [process.execPath, file, String(port), CLIENT, SECRET], {
    env: { NODE_ENV: 'production' },
  })
  await waitForPort(started, port)
  return { name: 'oidc-provider', started, url: `http://127.0.0.1:${port}`, path: '/token', form: FORM }
}

function issuerOf(product: Product): Issuer {
  return { name: 'Gatehouse', started: product.started, url: product.url, path: '/oauth-api/oauth/token', form: FORM }
}

const INTROSPECT = '/oauth-api/oauth/introspect'

/** The same server, asked about one of its tokens. */
async function introspection(issuer: Issuer, path = '/token/introspection'): Promise<Issuer> {
  return { ...issuer, path, form: `token=${await newToken(issuer)}` }
}

async function newToken({ url, path, form }: Issuer): Promise<string> {
  const headers = { Authorization: BASIC, 'Content-Type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(url + path, { method: 'POST', headers, body: form })
  const { access_token: token } = (await answer.json()) as { access_token?: string }
  if (token === undefined) throw new Error(`no token: ${answer.status}`)
  return token
}

/** Calls of the API with many tokens at random, in turn with the same requests through HAProxy. */
async function protectedCalls(product: Product, upstream: number, options: TokensOptions): Promise<Map<string, Run[]>> {
  const issuer = issuerOf(product)
  const tokens: string[] = new Array(USED_TOKENS)
  await Admin.times(USED_TOKENS, async (i) => {
    tokens[i] = await newToken(issuer)
  })
  const file = join(options.folder, 'tokens.tsv')
  writeFileSync(file, `${tokens.map((token) => `/oauth-api\tBearer ${token}`).join('\n')}\n`)
  const folder = join(options.folder, 'haproxy')
  const haproxy = await startHaproxy(folder, upstream, await makeCertificate(options.folder))
  const results = new Map<string, Run[]>([
    [product.name, []],
    [haproxy.name, []],
  ])
  try {
    for (let round = 0; round <= options.rounds; round++) {
      for (const server of [product, haproxy]) {
        const run = await call(server, file, round === 0 ? WARM_UP_SECONDS : options.seconds)
        if (round > 0) results.get(server.name)!.push(run)
      }
    }
    return results
  } finally {
    await haproxy.started.stop()
  }
}

async function call(server: Server, file: string, seconds: number): Promise<Run> {
  const before = server.started.cpuMs()
  const args = [file, BODIES.small]
  const run = await load({ url: server.url, seconds, connections: CONNECTIONS, script: 'requests.lua', args })
  checkClean(`${server.name}, with tokens`, run)
  progress(`with tokens: ${server.name} ${show(run.perSecond)}/s`)
  return { ...run, cpuMicros: ((server.started.cpuMs() - before) / run.requests) * 1000 }
}

async function prepare({ admin }: Product, upstreamPort: number): Promise<void> {
  await admin.call('POST', '/apis/oas', oauthDefinition(upstreamPort))
  // All tokens of a client count together.
  await admin.call('POST', '/policies', { ...policy('policy-0', ['oauth-api']), rate: 10_000_000, per: 1 })
  await admin.call('POST', '/oauth/clients/create', {
    api_id: 'oauth-api',
    client_id: CLIENT,
    secret: SECRET,
    policy_id: 'policy-0',
    redirect_uri: 'https://client.example/callback',
  })
}

function oauthDefinition(upstreamPort: number): Record<string, unknown> {
  const usual = definition('oauth-api', upstreamPort)
  const extension = usual['x-svc-api-gateway'] as { server: Record<string, unknown> }
  return {
    ...usual,
    components: {
      securitySchemes: {
        app: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'oauth/token', scopes: {} } } },
      },
    },
    security: [{ app: [] }],
    'x-svc-api-gateway': {
      ...extension,
      server: {
        ...extension.server,
        authentication: { enabled: true, securitySchemes: { app: { enabled: true, header: { enabled: true } } } },
      },
    },
  }
}

/** Interleaved rounds after a warm-up of each. */
async function compare(issuers: readonly Issuer[], { seconds, rounds }: TokensOptions): Promise<Map<string, Run[]>> {
  const results = new Map<string, Run[]>(issuers.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const issuer of issuers) {
      const run = await measure(issuer, round === 0 ? WARM_UP_SECONDS : seconds)
      if (round === 0) continue
      results.get(issuer.name)!.push(run)
      progress(`${issuer.path}: ${issuer.name} ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
    }
  }
  return results
}

async function measure({ name, started, url, path, form }: Issuer, seconds: number): Promise<Run> {
  const before = started.cpuMs()
  const run = await load({ url, seconds, connections: CONNECTIONS, script: 'tokens.lua', args: [path, BASIC, form] })
  checkClean(name, run)
  return { ...run, cpuMicros: ((started.cpuMs() - before) / run.requests) * 1000 }
}

/** Puts tokens into the store itself, with the shape that the authorization server gives them. */
async function storeTokens(folder: string, count: number, evictAt: number): Promise<void> {
  const store = await openStore({ path: join(folder, 'data') })
  try {
    for (let first = 0; first < count; first += TOKENS_PER_COMMIT) {
      const changes: Change[] = []
      for (let i = 0; i < TOKENS_PER_COMMIT; i++)
        changes.push({ op: 'putSession', hash: hash('sha256', randomBytes(32), 'buffer'), row: tokenRow(evictAt) })
      await store.documents.commit(changes, undefined)
    }
  } finally {
    await store.close()
  }
}

function tokenRow(evictAt: number): SessionInput {
  const body = { apply_policies: ['policy-0'], oauth_client_id: CLIENT, expires: Math.floor(evictAt / 1000) }
  return { body, orgId: '', apiIds: [], policyIds: ['policy-0'], clientId: CLIENT, evictAt }
}

function report(few: Map<string, Run[]>, many: readonly Run[], purging: readonly Run[], memoryBytes: number): string {
  const peer = few.get('oidc-provider')!
  const own = few.get('Gatehouse')!
  const ratio = median(own.map((run, i) => run.perSecond / peer[i]!.perSecond))
  const row = (name: string, runs: readonly Run[], beside: string) => {
    const middle = (pick: (run: Run) => number, digits: number) => show(median(runs.map(pick)), digits)
    return [
      name,
      middle((run) => run.perSecond, 0),
      beside,
      middle((run) => run.cpuMicros, 1),
      middle((run) => run.p50, 2),
      middle((run) => run.p99, 2),
    ]
  }
  const head = ['', 'tokens/s', 'of oidc-provider', 'CPU µs/token', 'p50 ms', 'p99 ms']
  const rows = [
    row('Gatehouse, each token on disk before the answer', own, show(ratio, 2)),
    row('oidc-provider, opaque tokens in memory', peer, '1.00'),
    row(`Gatehouse with ${show(TOKENS)} tokens stored`, many, ''),
    row(`Gatehouse while ${show(LAPSED)} lapsed tokens are purged`, purging, ''),
  ]
  return `## Issuing tokens

Client credentials with HTTP Basic, opaque tokens; each server with everything that it runs on one core, in turn; \`wrk -t1 -c${CONNECTIONS}\` on another. Medians of
interleaved rounds. With ${show(TOKENS)} tokens stored the process holds ${show(memoryBytes / 1e6)} MB after the runs.

${table(head, rows)}`
}

function reportUse(asked: Map<string, Run[]>, calls: Map<string, Run[]>): string {
  const rows = [
    ...sideBySide('introspection', asked, 'Gatehouse', 'oidc-provider'),
    ...sideBySide('call of the API, token at random', calls, 'Gatehouse', 'HAProxy'),
  ]
  const text = `One token asked about again and again; calls with ${show(USED_TOKENS)} tokens at random, hits and limits on, beside plain proxying.`
  return `## Using tokens\n\n${text}\n\n${table(['', '', 'requests/s', 'of the peer', 'CPU µs/request', 'p99 ms'], rows)}`
}

function sideBySide(what: string, results: Map<string, Run[]>, own: string, peer: string): string[][] {
  const beside = results.get(peer)!
  return [own, peer].map((name) => {
    const runs = results.get(name)!
    const middle = (pick: (run: Run) => number, digits: number) => show(median(runs.map(pick)), digits)
    const ratio = median(runs.map((run, i) => run.perSecond / beside[i]!.perSecond))
    return [
      what,
      name,
      middle((run) => run.perSecond, 0),
      show(ratio, 2),
      middle((run) => run.cpuMicros, 1),
      middle((run) => run.p99, 2),
    ]
  })
}
