import { hash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionInput } from '../src/store/ports/ports.ts'
import { openStore } from '../src/store/sqlite/connection/open.ts'
import { heldBytes } from './collect.ts'
import { commitMany } from './fill-store.ts'
import {
  addOAuthApi,
  BASIC,
  CLIENT,
  CONNECTIONS,
  compareIssuers,
  type Issuer,
  issuerOf,
  OAUTH_POLICY,
  startPeer,
  WARM_UP_SECONDS,
} from './issuers.ts'
import { BODIES, makeCertificate, type Server, startHaproxy, startUpstream } from './peers.ts'
import { Admin, type Product, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type Measured, measureLoad } from './wrk.ts'

const TOKENS = sized(1_000_000)
const LAPSED = sized(300_000)
/** Tokens that protected calls are made with, at random. */
const USED_TOKENS = sized(10_000, 100)

export interface TokensOptions {
  /** Scratch folder. */
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

/**
 * Client-credentials tokens: the gateway, which commits each to disk before it answers, against npm `oidc-provider` with its
 * in-memory adapter, in turn on one core; then the same with a million tokens stored, and while expired ones are purged.
 */
export async function issueTokens(options: TokensOptions): Promise<string> {
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const peer = await startPeer()
  let product = await startProduct({ folder })
  try {
    await addOAuthApi(product.admin, upstream.port)
    const few = await compareIssuers([issuerOf(product), peer], options)
    const asked = await compareIssuers(
      [await introspection(issuerOf(product), INTROSPECT), await introspection(peer)],
      options,
    )
    const calls = await protectedCalls(product, upstream.port, options)
    progress(`storing ${show(TOKENS)} tokens`)
    await product.started.stop()
    await storeTokens(folder, TOKENS, Date.now() + 86_400_000)
    product = await startProduct({ folder, inspect: true })
    const many = await compareIssuers([issuerOf(product)], options)
    const memory = await heldBytes(product)
    await product.started.stop()
    await storeTokens(folder, LAPSED, Date.now() + 1)
    product = await startProduct({ folder })
    const purging = await compareIssuers([issuerOf(product)], { ...options, rounds: 1 })
    return [report(few, many.get('Gatehouse')!, purging.get('Gatehouse')!, memory), reportUse(asked, calls)].join(
      '\n\n',
    )
  } finally {
    for (const started of [product.started, peer.started, upstream.started]) await started.stop()
  }
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
async function protectedCalls(
  product: Product,
  upstream: number,
  options: TokensOptions,
): Promise<Map<string, Measured[]>> {
  const issuer = issuerOf(product)
  const tokens: string[] = new Array(USED_TOKENS)
  await Admin.times(USED_TOKENS, async (i) => {
    tokens[i] = await newToken(issuer)
  })
  const file = join(options.folder, 'tokens.tsv')
  writeFileSync(file, `${tokens.map((token) => `/oauth-api\tBearer ${token}`).join('\n')}\n`)
  const folder = join(options.folder, 'haproxy')
  const haproxy = await startHaproxy(folder, upstream, await makeCertificate(options.folder))
  const results = new Map<string, Measured[]>([
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

async function call(server: Server, file: string, seconds: number): Promise<Measured> {
  const args = [file, BODIES.small]
  const options = { url: server.url, seconds, connections: CONNECTIONS, script: 'requests.lua', args } as const
  const run = await measureLoad(`${server.name}, with tokens`, server.started, options)
  progress(`with tokens: ${server.name} ${show(run.perSecond)}/s`)
  return run
}

/** Puts tokens into the store itself, with the shape that the authorization server gives them. */
async function storeTokens(folder: string, count: number, evictAt: number): Promise<void> {
  const store = await openStore({ path: join(folder, 'data') })
  try {
    await commitMany(store, count, () => [
      { op: 'putSession', hash: hash('sha256', randomBytes(32), 'buffer'), row: tokenRow(evictAt) },
    ])
  } finally {
    await store.close()
  }
}

function tokenRow(evictAt: number): SessionInput {
  const body = { apply_policies: [OAUTH_POLICY], oauth_client_id: CLIENT, expires: Math.floor(evictAt / 1000) }
  return { body, orgId: '', apiIds: [], policyIds: [OAUTH_POLICY], clientId: CLIENT, evictAt }
}

function report(
  few: Map<string, Measured[]>,
  many: readonly Measured[],
  purging: readonly Measured[],
  memoryBytes: number,
): string {
  const peer = few.get('oidc-provider')!
  const own = few.get('Gatehouse')!
  const ratio = median(own.map((run, i) => run.perSecond / peer[i]!.perSecond))
  const row = (name: string, runs: readonly Measured[], beside: string) => {
    const middle = (pick: (run: Measured) => number, digits: number) => show(median(runs.map(pick)), digits)
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

function reportUse(asked: Map<string, Measured[]>, calls: Map<string, Measured[]>): string {
  const rows = [
    ...sideBySide('introspection', asked, 'Gatehouse', 'oidc-provider'),
    ...sideBySide('call of the API, token at random', calls, 'Gatehouse', 'HAProxy'),
  ]
  const text = `One token asked about again and again; calls with ${show(USED_TOKENS)} tokens at random, hits and limits on, beside plain proxying.`
  return `## Using tokens\n\n${text}\n\n${table(['', '', 'requests/s', 'of the peer', 'CPU µs/request', 'p99 ms'], rows)}`
}

function sideBySide(what: string, results: Map<string, Measured[]>, own: string, peer: string): string[][] {
  const beside = results.get(peer)!
  return [own, peer].map((name) => {
    const runs = results.get(name)!
    const middle = (pick: (run: Measured) => number, digits: number) => show(median(runs.map(pick)), digits)
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
