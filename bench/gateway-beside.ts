import { fileURLToPath } from 'node:url'
import type { HammerOptions } from './hammer.ts'
import { BODIES } from './peers.ts'
import { LOAD_CORE, output, type Started } from './processes.ts'
import type { Product } from './product.ts'
import { median, progress, quantile, show, table } from './report.ts'
import type { Times } from './timed.ts'
import { checkClean, type Load, load } from './wrk.ts'

const HAMMER = fileURLToPath(new URL('hammer.ts', import.meta.url))
const CALLERS = 32
const CONNECTIONS = 64
/** The average pause of each connection between two requests: the gateway then has time to spare, so that its latencies mean something. */
const PAUSE_MS = 32
const WARM_UP_SECONDS = 2
const WANTED = 1.5

/** Calls the dashboard from a separate process on the core of the load, at a lower priority than the measurement. */
export async function hammer(product: Product, options: Omit<HammerOptions, 'url'>): Promise<Times> {
  const told: HammerOptions = { ...options, url: product.dashboardUrl }
  const command = ['nice', '-n', '19', process.execPath, HAMMER, JSON.stringify(told)]
  return JSON.parse(await output('taskset', ['-c', String(LOAD_CORE), ...command])) as Times
}

export interface BesideOptions {
  readonly seconds: number
  readonly rounds: number
  /** For `requests.lua`. */
  readonly file: string
  /** Of the dashboard's caller. */
  readonly key: string
  readonly size: HammerOptions['size']
  readonly upstream: Started
}

interface Round {
  readonly alone: Load
  readonly hammered: Load
  readonly answers: Times
}

/**
 * The gateway's latencies at an even load, in turn alone and while many callers ask the dashboard: first with both on one core,
 * then with a core for the gateway's thread, and all others on the core of load and upstream. These represent other machines, so
 * they must not wait there: else the result would be their waits. Answers its part of the report.
 */
export async function besideDashboard(product: Product, options: BesideOptions): Promise<string> {
  const shared = await roundsOf(product, options, 'one core', false)
  await product.started.moveOtherThreads(LOAD_CORE)
  await options.upstream.putAhead()
  const apart = await roundsOf(product, options, 'a core for the gateway', true)
  return report(shared, apart)
}

async function roundsOf(product: Product, options: BesideOptions, where: string, ahead: boolean): Promise<Round[]> {
  const { seconds, rounds, key, size, file } = options
  const evenLoad = (lasting: number) => loadEvenly(product, { file, ahead, seconds: lasting })
  await evenLoad(WARM_UP_SECONDS)
  const found: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const alone = await evenLoad(seconds)
    // It begins before and ends after the load.
    const hammering = hammer(product, { key, size, callers: CALLERS, seconds: seconds + 2 * WARM_UP_SECONDS })
    await evenLoad(WARM_UP_SECONDS)
    const hammered = await evenLoad(seconds)
    found.push({ alone, hammered, answers: await hammering })
    progress(`${where}: gateway p99 ${show(alone.p99, 2)} ms alone, ${show(hammered.p99, 2)} ms beside the dashboard`)
  }
  return found
}

async function loadEvenly(
  product: Product,
  { file, ...how }: { readonly file: string; readonly ahead: boolean; readonly seconds: number },
): Promise<Load> {
  const args = [file, BODIES.small, String(PAUSE_MS)]
  const run = await load({ url: product.url, connections: CONNECTIONS, script: 'requests.lua', args, ...how })
  checkClean('gateway beside the dashboard', run)
  return run
}

function report(shared: readonly Round[], apart: readonly Round[]): string {
  const row = (name: string, rounds: readonly Round[]) => {
    const middle = (pick: (round: Round) => number, digits: number) => show(median(rounds.map(pick)), digits)
    const ratios = rounds.map(({ alone, hammered }) => hammered.p99 / alone.p99)
    return [
      name,
      middle(({ alone }) => alone.perSecond, 0),
      middle(({ hammered }) => hammered.perSecond, 0),
      ...[({ alone }: Round) => alone.p50, ({ hammered }: Round) => hammered.p50].map((pick) => middle(pick, 2)),
      ...[({ alone }: Round) => alone.p99, ({ hammered }: Round) => hammered.p99].map((pick) => middle(pick, 2)),
      `${show(median(ratios), 2)} (${show(quantile(ratios, 0), 2)} to ${show(quantile(ratios, 1), 2)})`,
      String(WANTED),
      middle(({ answers }) => answers.perSecond, 0),
    ]
  }
  const head = [
    ...['', 'requests/s alone', 'beside', 'p50 ms alone', 'beside', 'p99 ms alone', 'beside'],
    ...['p99 beside / alone (rounds)', 'wanted at most', 'dashboard answers/s'],
  ]
  const rows = [row('gateway and dashboard on one core', shared), row('a core for the thread of the gateway', apart)]
  return `### The gateway while the dashboard is hammered

${CONNECTIONS} connections at an even load, which leaves the gateway time to spare; ${CALLERS} callers at the dashboard, from a process that gives way to the load. Medians of
rounds, alone and beside in turn. In the second row all other threads run on the core of load and upstream, which stand for other machines
and have real-time priority there.

${table(head, rows)}`
}
