import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { limitsCompared, workersCompared } from './cluster-load.ts'
import { type ClusterOptions, type StartNode, startStores } from './cluster-stores.ts'
import { type Desk, openDesk } from './desk.ts'
import { importApis } from './fill-gateway.ts'
import { addOAuthApi, compareIssuers, issuerOf, startPeer } from './issuers.ts'
import { startUpstream } from './peers.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'
import type { Measured } from './wrk.ts'

const LAUNCHER = fileURLToPath(new URL('../bin/gatehouse', import.meta.url))
const APIS = sized(10_000, 200)
const JOINS = 3
const SYNCS = 3
const WANTED_JOIN_MS = 10_000
const WANTED_SYNC_MS = 5000

/**
 * PostgreSQL and Redis instead of the embedded store: what a worker loses, what a second one brings, tokens, how fast a gateway
 * joins, and a comparison of many files with nothing to do. Answers its part of the report.
 */
export async function cluster(options: ClusterOptions): Promise<string> {
  const stores = await startStores(options.folder)
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const { start } = stores
  try {
    const parts = [
      title(),
      await limitsCompared({ ...options, start, upstreamPort: upstream.port }),
      await workersCompared({ ...options, start, upstreamPort: upstream.port }),
      await tokens(options, start, upstream.port),
      await manyApis(options, start, upstream.port),
    ]
    return parts.join('\n\n')
  } finally {
    await upstream.started.stop()
    await stores.stop()
  }
}

function title(): string {
  return `## A cluster

PostgreSQL 18, every commit synced, and Redis on the core of load and upstream; workers on the other core unless it says otherwise. On a machine of two cores
these servers compete with the load for a core, which a cluster of machines does not know.`
}

/** Client-credentials tokens, each in PostgreSQL before the answer, against `oidc-provider` with its in-memory adapter. */
async function tokens(options: ClusterOptions, start: StartNode, upstreamPort: number): Promise<string> {
  const peer = await startPeer()
  const product = await start('issuer')
  try {
    await addOAuthApi(product.admin, upstreamPort)
    const results = await compareIssuers([issuerOf(product), peer], options)
    return tokensReport(results.get('Gatehouse')!, results.get('oidc-provider')!)
  } finally {
    await product.started.stop()
    await peer.started.stop()
  }
}

function tokensReport(own: readonly Measured[], peer: readonly Measured[]): string {
  const ratio = show(median(own.map((run, i) => run.perSecond / peer[i]!.perSecond)), 2)
  const row = (name: string, runs: readonly Measured[], beside: string, wanted: string) => {
    const middle = (pick: (run: Measured) => number, digits: number) => show(median(runs.map(pick)), digits)
    return [
      name,
      middle((run) => run.perSecond, 0),
      beside,
      wanted,
      middle((run) => run.cpuMicros, 1),
      middle((run) => run.p99, 1),
    ]
  }
  const rows = [
    row('Gatehouse, each token in PostgreSQL before the answer', own, ratio, '1.00 or more'),
    row('oidc-provider, opaque tokens in memory', peer, '1.00', ''),
  ]
  return `### Tokens through PostgreSQL\n\nClient credentials, medians of interleaved rounds.\n\n${table(['', 'tokens/s', 'of the peer', 'wanted', 'CPU µs/token', 'p99 ms'], rows)}`
}

/** How long a gateway takes that joins, and `sync` with nothing to do. */
async function manyApis({ folder }: ClusterOptions, start: StartNode, upstreamPort: number): Promise<string> {
  const first = await start('first', { role: 'all' })
  try {
    const desk = await openDesk(first.dashboardUrl)
    const fillMs = await importApis(desk.url, APIS, upstreamPort)
    progress(`${show(APIS)} APIs after ${show(fillMs / 1000, 1)} s; gateways join`)
    const joinMs: number[] = []
    for (let i = 0; i < JOINS; i++) {
      const joining = await start(`joining-${i}`)
      joinMs.push(joining.readyMs)
      await joining.started.stop()
    }
    progress(`ready after ${joinMs.map((ms) => show(ms)).join(', ')} ms; sync`)
    const target = join(folder, 'dump')
    const dumpMs = await command('dump', desk, ['-t', target])
    const syncMs: number[] = []
    for (let i = 0; i < SYNCS; i++) syncMs.push(await command('sync', desk, ['-p', target]))
    return manyReport({ fillMs, joinMs, dumpMs, syncMs })
  } finally {
    await first.started.stop()
  }
}

/** Runs a command of the product to its end; milliseconds. @throws Error unless its status is 0, which says that nothing is to do */
async function command(name: string, { url, key }: Desk, words: readonly string[]): Promise<number> {
  const env = { ...process.env, SVC_SYNC_DASHBOARD: url, SVC_SYNC_SECRET: key }
  const from = performance.now()
  await promisify(execFile)(process.execPath, [LAUNCHER, name, ...words], { env, maxBuffer: 64 << 20 })
  return performance.now() - from
}

interface ManyFindings {
  readonly fillMs: number
  readonly joinMs: readonly number[]
  readonly dumpMs: number
  readonly syncMs: readonly number[]
}

function manyReport({ fillMs, joinMs, dumpMs, syncMs }: ManyFindings): string {
  const rows = [
    [
      'joining gateway, from its start to `/ready`',
      show(median(joinMs)),
      show(Math.max(...joinMs)),
      show(WANTED_JOIN_MS),
    ],
    ['`gatehouse sync` with nothing to do', show(median(syncMs)), show(Math.max(...syncMs)), show(WANTED_SYNC_MS)],
    ['`gatehouse dump` of all', show(dumpMs), show(dumpMs), ''],
    ['made through `/admin/apis/import`, an API', show(fillMs / APIS, 2), '', ''],
  ]
  return `### ${show(APIS)} APIs in the store\n\n${table(['', 'median ms', 'slowest ms', 'wanted below'], rows)}`
}
