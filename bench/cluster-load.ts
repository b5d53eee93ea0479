import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterOptions, StartNode } from './cluster-stores.ts'
import { type FilledGateway, fillGateway, requestsFile } from './fill-gateway.ts'
import { BODIES } from './peers.ts'
import { LOAD_CORE } from './processes.ts'
import { type Product, startProduct } from './product.ts'
import { median, progress, quantile, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type Measured, measureLoad } from './wrk.ts'

const APIS = sized(100, 10)
const KEYS = sized(10_000, 200)
/** Few enough for each to be busy on its node. */
const BUSY_KEYS = 100
/** More than a busy key can use, so that nothing is refused. */
const RATE = { rate: 100_000, per: 10 }
const CONNECTIONS = 64
const WARM_UP_SECONDS = 5
/** Of the same load before a run, which are not counted: leases have expired while the other was loaded. */
const LEAD_SECONDS = 2
const WANTED_SHARE = 0.85
const WANTED_WORKERS = 1.8

/** The comparison: which requests, and whether load continues or comes after a pause as long as a run. */
const RUNS = [
  { what: `${show(KEYS)} keys at random`, which: 'all', leadSeconds: LEAD_SECONDS },
  { what: `${show(KEYS)} keys at random after a pause`, which: 'all', leadSeconds: 0 },
  { what: `${BUSY_KEYS} busy keys`, which: 'busy', leadSeconds: LEAD_SECONDS },
] as const

export interface ClusterLoadOptions extends ClusterOptions {
  readonly start: StartNode
  readonly upstreamPort: number
}

/** Files of requests: all keys at random, and few busy ones. */
interface Requests {
  readonly all: string
  readonly busy: string
}

/** A worker of the cluster against the same worker with the embedded store, rate and quota on, in turn on one core. */
export async function limitsCompared(options: ClusterLoadOptions): Promise<string> {
  const folder = join(options.folder, 'embedded')
  mkdirSync(folder, { recursive: true })
  const embedded = await startProduct({ folder, role: 'gateway' })
  const clustered = await options.start('worker-0')
  try {
    const workers: [string, Product, Requests][] = [
      ['embedded', embedded, await fill(embedded, options, 'embedded')],
      ['in a cluster', clustered, await fill(clustered, options, 'cluster')],
    ]
    const rows: string[][] = []
    for (const { what, which, leadSeconds } of RUNS) {
      const results = new Map<string, Measured[]>(workers.map(([name]) => [name, []]))
      for (let round = 0; round <= options.rounds; round++) {
        for (const [name, product, files] of workers) {
          const lead = round === 0 ? WARM_UP_SECONDS : leadSeconds
          if (lead > 0) await measure(name, product, files[which], lead)
          if (round === 0) continue
          const run = await measure(name, product, files[which], options.seconds)
          results.get(name)!.push(run)
          progress(`${what}: ${name} ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
        }
      }
      rows.push(...rowsOf(what, results))
    }
    return limitsReport(rows)
  } finally {
    await clustered.started.stop()
    await embedded.started.stop()
  }
}

async function fill(product: Product, options: ClusterLoadOptions, name: string): Promise<Requests> {
  const folder = join(options.folder, `requests-${name}`)
  mkdirSync(folder, { recursive: true })
  const { upstreamPort } = options
  const filled = await fillGateway(product.admin, { apis: APIS, keys: KEYS, upstreamPort, folder, rate: RATE })
  return { all: filled.file, busy: busyFile(folder, filled) }
}

function busyFile(folder: string, { keys }: FilledGateway): string {
  return requestsFile(join(folder, 'busy.tsv'), keys.slice(0, BUSY_KEYS), (i) => `/api-${i % APIS}`)
}

/** A worker whose Redis answers too late refuses: on a shared machine that may happen, and is reported. */
function measure(name: string, product: Product, file: string, seconds: number): Promise<Measured> {
  const args = [file, BODIES.small]
  const options = { url: product.url, seconds, connections: CONNECTIONS, script: 'requests.lua', args } as const
  return measureLoad(name, product.started, options, true)
}

function rowsOf(what: string, results: ReadonlyMap<string, readonly Measured[]>): string[][] {
  const embedded = results.get('embedded')!
  return [...results].map(([name, runs]) => {
    const shares = runs.map((run, i) => run.perSecond / embedded[i]!.perSecond)
    const middle = (pick: (run: Measured) => number, digits: number) => show(median(runs.map(pick)), digits)
    return [
      `${what}, ${name}`,
      middle((run) => run.perSecond, 0),
      runs === embedded
        ? '1.00'
        : `${show(median(shares), 2)} (${show(quantile(shares, 0), 2)} to ${show(quantile(shares, 1), 2)})`,
      show(median(runs.map((run, i) => embedded[i]!.cpuMicros / run.cpuMicros)), 2),
      runs === embedded ? '' : String(WANTED_SHARE),
      middle((run) => run.cpuMicros, 1),
      middle((run) => run.p50, 2),
      middle((run) => run.p99, 2),
      show(runs.reduce((sum, run) => sum + run.badStatus, 0)),
    ]
  })
}

function limitsReport(rows: readonly (readonly string[])[]): string {
  const head = [
    '',
    'requests/s',
    'of embedded (rounds)',
    'by CPU',
    'wanted',
    'CPU µs/request',
    'p50 ms',
    'p99 ms',
    'refused',
  ]
  return `### A worker in a cluster

Rate and quota on, ${show(APIS)} APIs. Permits are leased from Redis, of a key that is met rarely for seconds while it is far from its limits: both are shown. A run begins
after ${LEAD_SECONDS} seconds of the same load, unless it says "after a pause": then the other worker was loaded before it, and leases of rates have lapsed. CPU is that of the worker alone, and "by CPU" the share that it would leave
where Redis has a core for itself.

${table(head, rows)}`
}

/** One worker, then two at once with a load each. Runs on what `limitsCompared` has made. */
export async function workersCompared(options: ClusterLoadOptions): Promise<string> {
  const one = await options.start('worker-0')
  const two = await options.start('worker-1', { core: LOAD_CORE })
  try {
    const file = join(options.folder, 'requests-cluster', 'busy.tsv')
    const alone: Measured[] = []
    const both: [Measured, Measured][] = []
    for (let round = 0; round <= options.rounds; round++) {
      const seconds = round === 0 ? WARM_UP_SECONDS : options.seconds
      const single = await measure('one worker', one, file, seconds)
      const pair = await Promise.all([measure('worker 1', one, file, seconds), measure('worker 2', two, file, seconds)])
      if (round === 0) continue
      alone.push(single)
      both.push(pair)
      progress(`one worker ${show(single.perSecond)}/s, two ${show(pair[0].perSecond + pair[1].perSecond)}/s`)
    }
    return workersReport(alone, both)
  } finally {
    await two.started.stop()
    await one.started.stop()
  }
}

function workersReport(alone: readonly Measured[], both: readonly [Measured, Measured][]): string {
  const sums = both.map(([one, two]) => ({
    perSecond: one.perSecond + two.perSecond,
    cpuMicros: (one.cpuMicros * one.requests + two.cpuMicros * two.requests) / (one.requests + two.requests),
  }))
  const gain = median(sums.map(({ perSecond }, i) => perSecond / alone[i]!.perSecond))
  const cores = median(sums.map(({ cpuMicros }, i) => (2 * alone[i]!.cpuMicros) / cpuMicros))
  const rows = [
    [
      'one',
      show(median(alone.map((run) => run.perSecond))),
      '1.00',
      '',
      show(median(alone.map((run) => run.cpuMicros)), 1),
      '',
    ],
    [
      'two',
      show(median(sums.map((run) => run.perSecond))),
      show(gain, 2),
      `${WANTED_WORKERS} where cores allow`,
      show(median(sums.map((run) => run.cpuMicros)), 1),
      show(cores, 2),
    ],
  ]
  const head = ['workers', 'requests/s', 'of one', 'wanted', 'CPU µs/request', 'of one by CPU']
  return `### Two workers

${BUSY_KEYS} busy keys. The second worker runs on the core of load, upstream, PostgreSQL and Redis: two cores do not hold two workers and their load, so the measured gain says
little. The last column is the gain by the CPU time of a request: what two workers reach where each has a core.

${table(head, rows)}`
}
