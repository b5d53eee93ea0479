import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type DashboardSize, dashboardCalls } from './dashboard-calls.ts'
import type { Desk } from './desk.ts'
import { fillDashboard, fillStore } from './fill-dashboard.ts'
import { requestsFile } from './fill-gateway.ts'
import { besideDashboard, hammer } from './gateway-beside.ts'
import { startUpstream } from './peers.ts'
import { type Product, startProduct } from './product.ts'
import { progress, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type Times, timed } from './timed.ts'

const SIZE: DashboardSize = {
  apis: sized(10_000, 200),
  keys: sized(100_000, 1000),
  policies: sized(600, 100),
  users: sized(1000, 20),
  auditRows: sized(100_000, 1000),
}
const WARM_UP_CALLS = 20
const CALLS = sized(300, 20)
/** Of one kind of call. */
const LONGEST_MS = 20_000
const CALLERS = 32
const WANTED_MS = 50
/** Lists asked for without an end. */
const ENDLESS = ['/api/apis?p=-1', '/api/apis?compressed=1&p=-1', '/api/apis/keys?p=-1', '/api/keys/detailed?p=-1']

export interface DashboardOptions {
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

/** Pages, searches and filters of a large dashboard, for one caller and for many, and the gateway meanwhile. Answers its part of the report. */
export async function largeDashboard(options: DashboardOptions): Promise<string> {
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  let product = await startProduct({ folder })
  try {
    const filled = await fillDashboard(product, SIZE, upstream.port)
    await product.started.stop()
    await fillStore(folder, SIZE, filled)
    product = await startProduct({ folder })
    await product.started.settled()
    const alone = await oneCaller(product, filled.admin)
    const endless = await withoutEnd(product, filled.admin)
    const many = await hammer(product, {
      key: filled.admin.key,
      callers: CALLERS,
      seconds: options.seconds * 2,
      size: SIZE,
    })
    progress(`${CALLERS} callers: ${show(many.perSecond)}/s, p99 ${show(many.p99)} ms`)
    const { gatewayKeys } = filled
    const file = requestsFile(join(options.folder, 'requests.tsv'), gatewayKeys, (i) => `/api-${i}`)
    const beside = await besideDashboard(product, {
      ...{ ...options, file, size: SIZE },
      ...{ key: filled.admin.key, upstream: upstream.started },
    })
    await product.started.stop()
    product = await startProduct({ folder, env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
    await product.started.settled()
    const owned = await oneCaller(product, filled.owner)
    return [report(alone, owned, endless), reportMany(many), beside].join('\n\n')
  } finally {
    await product.started.stop()
    await upstream.started.stop()
  }
}

/** The duration of each kind of call when no other call runs. */
async function oneCaller(product: Product, { key }: Desk): Promise<Map<string, Times>> {
  const found = new Map<string, Times>()
  for (const { name, path } of dashboardCalls(SIZE)) {
    const options = { url: product.dashboardUrl, key, longestMs: LONGEST_MS, started: product.started }
    await timed({ ...options, count: WARM_UP_CALLS, call: (i) => ({ path: path(i + CALLS) }) })
    const times = await timed({ ...options, count: CALLS, call: (i) => ({ path: path(i) }) })
    found.set(name, times)
    progress(`${name}: p50 ${show(times.p50, 1)}, p99 ${show(times.p99, 1)}, CPU ${show(times.cpuMs, 1)} ms`)
  }
  return found
}

async function withoutEnd(product: Product, { key }: Desk): Promise<Map<string, Times>> {
  const found = new Map<string, Times>()
  for (const path of ENDLESS)
    found.set(path, await timed({ url: product.dashboardUrl, key, count: 3, call: () => ({ path }) }))
  return found
}

function report(
  alone: ReadonlyMap<string, Times>,
  owned: ReadonlyMap<string, Times>,
  endless: ReadonlyMap<string, Times>,
): string {
  const rows = [...alone].map(([name, all]) => {
    const own = owned.get(name)!
    const worst = Math.max(all.p99, own.p99)
    return [
      worst > WANTED_MS ? `**${name}**` : name,
      ...[all, own].flatMap(({ p50, p99, cpuMs }) => [show(p50, 1), show(p99, 1), show(cpuMs, 1)]),
      show(Math.max(all.bytes, own.bytes) / 1000, 1),
    ]
  })
  const columns = ['p50 ms', 'p99 ms', 'CPU ms']
  const head = ['', ...columns, ...columns.map((name) => `with ownership: ${name}`), 'largest answer kB']
  const over = [...alone].filter(([name, { p99 }]) => Math.max(p99, owned.get(name)!.p99) > WANTED_MS).length
  const { apis, keys, policies, users, auditRows } = SIZE
  const lists = [...endless].map(([path, { p50, bytes }]) => [`\`${path}\``, show(p50), show(bytes / 1e6, 1)])
  return `## A large dashboard

${show(apis)} APIs, ${show(keys)} keys, ${show(policies)} policies, ${show(auditRows)} audit rows, ${show(users)} users. One caller, ${show(CALLS)} calls of each kind, another page or
search each time, over HTTP; product and caller on a core each. Wanted: p99 below ${WANTED_MS} ms; ${over} of ${alone.size} are not, and stand out. With ownership: somebody who is
no administrator and owns a tenth of the APIs, with the policies and keys that are based on them.

${table(head, rows)}

Lists without an end (\`p=-1\`), which stream; the middle one of three calls:

${table(['', 'ms', 'MB'], lists)}`
}

function reportMany({ perSecond, p50, p99, slowest, count }: Times): string {
  const rows = [[show(perSecond), show(p50, 1), show(p99, 1), show(slowest, 1), show(count)]]
  const head = ['answers/s', 'p50 ms', 'p99 ms', 'slowest ms', 'answers']
  return `### ${CALLERS} callers at once\n\nThe same calls in turn, none fails.\n\n${table(head, rows)}`
}
