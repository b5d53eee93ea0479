import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { quotaUsed, storedHits } from './counted.ts'
import { fillGateway, requestsFile } from './fill-gateway.ts'
import {
  BODIES,
  makeCertificate,
  type Server,
  startFloor,
  startHaproxy,
  startNginxProxy,
  startUpstream,
} from './peers.ts'
import { Admin, openDefinition, type Product, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type Measured, measureLoad } from './wrk.ts'

const APIS = sized(100, 10)
const KEYS = sized(10_000, 1000)
const CONNECTIONS = 64
const WARM_UP_SECONDS = 6

export interface ProxiesOptions {
  /** Scratch folder. */
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

interface Case {
  readonly name: string
  readonly path: string
  readonly tls: boolean
  /** True where what Node's sockets cost by themselves is measured too. */
  readonly floor: boolean
}

const CASES: readonly Case[] = [
  { name: 'small JSON', path: BODIES.small, tls: false, floor: true },
  { name: 'small JSON, TLS 1.3', path: BODIES.small, tls: true, floor: false },
  { name: '10 kB', path: BODIES['10 kB'], tls: false, floor: true },
  { name: '1 MB', path: BODIES['1 MB'], tls: false, floor: false },
]

/**
 * Gateway with auth token, rate, quota and hits on, against HAProxy and nginx as plain proxies: the same requests in turn, on the
 * same core. Answers its part of the report. @throws Error when an answer was bad or a count is wrong
 */
export async function compareProxies(options: ProxiesOptions): Promise<string> {
  const certificate = await makeCertificate(options.folder)
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const haproxy = await startHaproxy(join(options.folder, 'haproxy'), upstream.port, certificate)
  const nginx = await startNginxProxy(join(options.folder, 'nginx'), upstream.port, certificate)
  const floor = await startFloor(upstream.port)
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  let product = await startProduct({ folder, certificate })
  try {
    progress(`gateway ready after ${show(product.readyMs)} ms; making ${APIS} APIs and ${KEYS} keys`)
    const { keys, file } = await fillGateway(product.admin, {
      ...{ apis: APIS, keys: KEYS, upstreamPort: upstream.port, folder: options.folder },
    })
    const parts: string[] = []
    let sent = 0
    let runs = 0
    for (const one of CASES) {
      const results = await measureCase(one, [product, haproxy, nginx, ...(one.floor ? [floor] : [])], file, options)
      const own = results.get(product.name)!
      sent += own.reduce((sum, run) => sum + run.requests, 0)
      runs += own.length
      parts.push(caseTable(one, results))
    }
    const counted = await checkCounts(product, keys, folder, sent, runs * CONNECTIONS)
    product = await startProduct({ folder, certificate, env: { SVC_GW_ACCESSLOG: 'true' } })
    const logged: Case = { ...CASES[0]!, name: 'small JSON, gateway writes its access log', floor: false }
    parts.push(caseTable(logged, await measureCase(logged, [product, haproxy], file, options)))
    await product.started.stop()
    product = await startProduct({ folder, certificate })
    const open = await makeOpenApis(product, upstream.port, options.folder)
    const plain: Case = { ...CASES[0]!, name: 'small JSON, gateway asks for no key and counts nothing', floor: false }
    parts.push(caseTable(plain, await measureCase(plain, [product, haproxy], open, options)))
    return [title(), ...parts, counted].join('\n\n')
  } finally {
    for (const server of [product, haproxy, nginx, floor]) await server.started.stop()
    await upstream.started.stop()
  }
}

/** APIs that do what a plain proxy does. Answers the file of requests at them. */
async function makeOpenApis({ admin }: Product, upstreamPort: number, folder: string): Promise<string> {
  await Admin.times(APIS, async (i) => {
    await admin.call('POST', '/apis/oas', openDefinition(`open-${i}`, upstreamPort))
  })
  return requestsFile(join(folder, 'open.tsv'), new Array(APIS).fill(''), (i) => `/open-${i}`)
}

function title(): string {
  return `## Beside plain proxies

Gateway, but for the last table: auth token, rate, quota and hits on, ${APIS} APIs, ${KEYS.toLocaleString('en-US')} keys used at random. HAProxy (1 thread) and nginx (1 worker): plain
proxying, no log. Where it stands, the last row is what only moves bytes over the sockets that the gateway uses (\`bench/floor.ts\`): the
least that any proxy on this runtime costs. All with everything they run on one core, in turn; \`wrk -t1 -c${CONNECTIONS}\` and the upstream on another. Medians of interleaved
rounds; latencies are those of a saturated server.`
}

/** Interleaved rounds of all servers; the runs of each, warm-up (always the first) included. */
async function measureCase(
  one: Case,
  servers: readonly Server[],
  file: string,
  { seconds, rounds }: ProxiesOptions,
): Promise<Map<string, Measured[]>> {
  const results = new Map<string, Measured[]>(servers.map((server) => [server.name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const server of servers) {
      const run = await measure(one, server, file, round === 0 ? WARM_UP_SECONDS : seconds)
      results.get(server.name)!.push(run)
      if (round > 0) progress(`${one.name}: ${server.name} ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
    }
  }
  return results
}

function measure(one: Case, server: Server, file: string, seconds: number): Promise<Measured> {
  return measureLoad(`${server.name}, ${one.name}`, server.started, {
    url: one.tls ? server.tlsUrl : server.url,
    seconds,
    connections: CONNECTIONS,
    script: 'requests.lua',
    args: [file, one.path],
  })
}

function caseTable(one: Case, results: ReadonlyMap<string, readonly Measured[]>): string {
  const peer = results.get('HAProxy')!.slice(1)
  const rows = [...results].map(([name, all]) => {
    const runs = all.slice(1)
    const middle = (pick: (run: Measured) => number) => median(runs.map(pick))
    // Each round against the round beside it: what the machine does meanwhile meets both.
    const ratio = median(runs.map((run, i) => run.perSecond / peer[i]!.perSecond))
    return [
      name,
      show(middle((run) => run.perSecond)),
      spread(runs.map((run) => run.perSecond)),
      show(ratio, 2),
      show(
        middle((run) => run.cpuMicros),
        1,
      ),
      ...[(run: Measured) => run.p50, (run: Measured) => run.p99, (run: Measured) => run.p999].map((pick) =>
        show(middle(pick), 2),
      ),
    ]
  })
  const head = ['', 'requests/s', 'lowest to highest', 'of HAProxy', 'CPU µs/request', 'p50 ms', 'p99 ms', 'p99.9 ms']
  return `### ${one.name}\n\n${table(head, rows)}`
}

/** How far the rounds lie apart: much, when something else used the machine. */
function spread(values: readonly number[]): string {
  return `${show(Math.min(...values))} to ${show(Math.max(...values))}`
}

/**
 * Stops the gateway and compares what it counted with what was sent. Requests in flight when a run of wrk ends are counted by
 * the gateway and not by wrk: at most one for each connection and run.
 */
async function checkCounts(product: Product, keys: readonly string[], folder: string, sent: number, slack: number) {
  const used = await quotaUsed(product.admin, keys)
  await product.started.stop()
  const hits = await storedHits(folder)
  const counted = [...hits.values()].reduce((sum, count) => sum + count, 0)
  const text = `Counted: ${show(sent)} answers reached wrk, ${show(used)} permits are gone from the quotas, ${show(counted)} hits are stored (${[...hits].map(([status, count]) => `${status}: ${show(count)}`).join(', ')}).`
  if (used !== counted || counted < sent || counted > sent + slack) throw new Error(`counts differ. ${text}`)
  return `${text} Quotas and hits agree; what they hold above wrk's count was in flight when a run ended.`
}
