import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { storedHits } from './counted.ts'
import { callDesk, type Desk, openDesk } from './desk.ts'
import { fillGateway, requestsFile } from './fill-gateway.ts'
import { BODIES, startUpstream } from './peers.ts'
import { Admin, definition, type Product, policy, startProduct } from './product.ts'
import { median, progress, quantile, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type Measured, measureLoad } from './wrk.ts'

const APIS = sized(100, 10)
const KEYS = sized(10_000, 1000)
const WARM_UP_SECONDS = 5
/** Longer than the gateway keeps counts before it hands them to the store. */
const SETTLE_MS = 2000
const WANTED = '0.97 or more'

export interface HitsOptions {
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

const KINDS = ['counted', 'not counted'] as const

/** A run, and what the store did with its counts afterwards. */
interface Counted extends Measured {
  /** CPU time, which the core would have had for requests. */
  readonly afterMs: number
}

/**
 * What counting requests costs the gateway: the same keys at APIs that are counted and at such as are not, in turn, on one gateway
 * with everything it runs on one core. Answers its part of the report. @throws Error when a count is wrong
 */
export async function countingCost(options: HitsOptions): Promise<string> {
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  const product = await startProduct({ folder })
  const runs: Record<(typeof KINDS)[number], Counted[]> = { counted: [], 'not counted': [] }
  let sent = 0
  try {
    const desk = await openDesk(product.dashboardUrl)
    const { keys, file } = await fillGateway(product.admin, {
      ...{ apis: APIS, keys: KEYS, upstreamPort: upstream.port, folder: options.folder },
    })
    await addQuietApis(product.admin, upstream.port)
    const quiet = requestsFile(join(options.folder, 'quiet.tsv'), keys, (i) => `/quiet-${i % APIS}`)
    for (let round = 0; round <= options.rounds; round++) {
      // Which one begins changes, so that neither always follows the other.
      for (const kind of round % 2 === 0 ? KINDS : [...KINDS].reverse()) {
        const run = await measureLoad(kind, product.started, {
          url: product.url,
          seconds: round === 0 ? WARM_UP_SECONDS : options.seconds,
          script: 'requests.lua',
          args: [kind === 'counted' ? file : quiet, BODIES.small],
        })
        if (kind === 'counted') sent += run.requests
        const afterMs = await settled(product, desk)
        if (round === 0) continue
        runs[kind].push({ ...run, afterMs })
        progress(`${kind}: ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
      }
    }
  } finally {
    await product.started.stop()
    await upstream.started.stop()
  }
  const stored = [...(await storedHits(folder)).values()].reduce((sum, count) => sum + count, 0)
  if (stored < sent) throw new Error(`${sent} requests were answered, ${stored} counted`)
  return report(runs.counted, runs['not counted'], stored)
}

/**
 * Waits until the store has worked in all that was counted, which it does every 30 seconds by itself and at once for whoever asks;
 * else that would fall into another round. Answers the CPU time that it took, in milliseconds.
 */
async function settled({ started }: Product, desk: Desk): Promise<number> {
  const before = started.cpuMs()
  await wait(SETTLE_MS)
  const today = new Date()
  const day = `${today.getUTCDate()}/${today.getUTCMonth() + 1}/${today.getUTCFullYear()}`
  await callDesk(desk, 'GET', `/api/usage/${day}/${day}`)
  return started.cpuMs() - before
}

/** APIs that are told not to count, under the same policies. */
async function addQuietApis(admin: Admin, upstreamPort: number): Promise<void> {
  await Admin.times(APIS, async (i) => {
    await admin.call('POST', '/apis/oas', definition(`quiet-${i}`, upstreamPort, undefined, false))
    await admin.call('PUT', `/policies/policy-${i}`, policy(`policy-${i}`, [`api-${i}`, `quiet-${i}`]))
  })
}

/** Requests in a second of a core that also does what comes afterwards. */
function wholeRate({ requests, seconds, afterMs }: Counted): number {
  return requests / (seconds + afterMs / 1000)
}

function report(counted: readonly Counted[], quiet: readonly Counted[], stored: number): string {
  // Each round against the one beside it: what the machine does meanwhile meets both.
  const shares = counted.map((run, i) => run.perSecond / quiet[i]!.perSecond)
  const whole = counted.map((run, i) => wholeRate(run) / wholeRate(quiet[i]!))
  const spread = (values: readonly number[]) =>
    `${show(median(values), 3)} (${show(quantile(values, 0), 3)} to ${show(quantile(values, 1), 3)})`
  const row = (name: string, runs: readonly Counted[], more: readonly string[]) => {
    const middle = (pick: (run: Counted) => number, digits: number) => show(median(runs.map(pick)), digits)
    return [
      name,
      middle((run) => run.perSecond, 0),
      ...more,
      middle((run) => run.cpuMicros, 1),
      middle((run) => (run.afterMs / run.requests) * 1000, 1),
      middle((run) => run.p99, 2),
    ]
  }
  const head = [
    ...['', 'requests/s', 'share of throughput (rounds)', 'with what comes after', 'wanted'],
    ...['CPU µs/request', 'µs after', 'p99 ms'],
  ]
  const rows = [
    row('counted', counted, [spread(shares), spread(whole), WANTED]),
    row('not counted', quiet, ['1.000', '1.000', '']),
  ]
  return `## What counting costs

The same ${show(KEYS)} keys at ${show(APIS)} APIs that are counted, and at as many with \`trafficLogs\` off, in turn, rate and quota on; all threads of the
gateway, its writer too, on one core. Counts are worked in every 30 seconds; here that is done after each round, and the second share takes its CPU time off as
well. Medians of interleaved rounds. ${show(stored)} requests are stored, none is missing.

${table(head, rows)}`
}
