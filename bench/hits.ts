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
/** One kind after the other in short runs: what the machine does meanwhile meets both. */
const RUN_SECONDS = 1
const PAIRS_PER_SECOND = 2

export interface HitsOptions {
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

const KINDS = ['counted', 'not counted'] as const

type Runs = Record<(typeof KINDS)[number], Measured[]>

/**
 * The cost of counting requests: the same keys on APIs with and without analytics, in turn, on one gateway
 * with everything it runs on one core. Answers its part of the report. @throws Error when a count is wrong
 */
export async function countingCost(options: HitsOptions): Promise<string> {
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  const product = await startProduct({ folder })
  const runs: Runs = { counted: [], 'not counted': [] }
  const afterMicros: number[] = []
  let sent = 0
  try {
    const desk = await openDesk(product.dashboardUrl)
    const { keys, file } = await fillGateway(product.admin, {
      ...{ apis: APIS, keys: KEYS, upstreamPort: upstream.port, folder: options.folder },
    })
    await addQuietApis(product.admin, upstream.port)
    const quiet = requestsFile(join(options.folder, 'quiet.tsv'), keys, (i) => `/quiet-${i % APIS}`)
    const files = { counted: file, 'not counted': quiet }
    const run = async (kind: (typeof KINDS)[number], seconds: number) => {
      const args = [files[kind], BODIES.small]
      const done = await measureLoad(kind, product.started, { url: product.url, seconds, script: 'requests.lua', args })
      if (kind === 'counted') sent += done.requests
      return done
    }
    for (const kind of KINDS) await run(kind, WARM_UP_SECONDS)
    for (let round = 0; round < options.rounds; round++) {
      await settled(product, desk)
      const before = sent
      for (let pair = 0; pair < options.seconds * PAIRS_PER_SECOND; pair++) {
        // Which one begins changes, so that neither always follows the other.
        for (const kind of pair % 2 === 0 ? KINDS : [...KINDS].reverse()) runs[kind].push(await run(kind, RUN_SECONDS))
      }
      afterMicros.push(((await settled(product, desk)) / (sent - before)) * 1000)
      progress(`round ${round + 1}: ${show(median(sharesOf(runs)), 3)} so far`)
    }
  } finally {
    await product.started.stop()
    await upstream.started.stop()
  }
  const stored = [...(await storedHits(folder)).values()].reduce((sum, count) => sum + count, 0)
  if (stored < sent) throw new Error(`${sent} requests were answered, ${stored} counted`)
  return report(runs, median(afterMicros), stored)
}

/**
 * Waits until the store has rolled up all hits, which it does every 30 seconds, and at once on request;
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

/** APIs without analytics, under the same policies. */
async function addQuietApis(admin: Admin, upstreamPort: number): Promise<void> {
  await Admin.times(APIS, async (i) => {
    await admin.call('POST', '/apis/oas', definition(`quiet-${i}`, upstreamPort, undefined, false))
    await admin.call('PUT', `/policies/policy-${i}`, policy(`policy-${i}`, [`api-${i}`, `quiet-${i}`]))
  })
}

/** Each run against the one beside it. */
function sharesOf(runs: Runs): number[] {
  return runs.counted.map((run, i) => run.perSecond / runs['not counted'][i]!.perSecond)
}

function report(runs: Runs, afterMicros: number, stored: number): string {
  const shares = sharesOf(runs)
  const middle = (kind: (typeof KINDS)[number], pick: (run: Measured) => number) => median(runs[kind].map(pick))
  const rate = middle('counted', ({ perSecond }) => perSecond)
  // A core that also does what comes afterwards has so much less time for requests.
  const whole = median(shares) / (1 + (rate * afterMicros) / 1e6)
  const spread = `${show(median(shares), 3)} (${show(quantile(shares, 0.25), 3)} to ${show(quantile(shares, 0.75), 3)})`
  const row = (kind: (typeof KINDS)[number], more: readonly string[]) => [
    kind,
    show(
      middle(kind, ({ perSecond }) => perSecond),
      0,
    ),
    ...more,
    show(
      middle(kind, ({ cpuMicros }) => cpuMicros),
      1,
    ),
    show(
      middle(kind, ({ p99 }) => p99),
      2,
    ),
  ]
  const head = [
    ...['', 'requests/s', 'share of throughput (middle half)', 'with what comes after', 'wanted'],
    ...['CPU µs/request', 'p99 ms'],
  ]
  const rows = [row('counted', [spread, show(whole, 3), WANTED]), row('not counted', ['1.000', '1.000', ''])]
  return `## What counting costs

The same ${show(KEYS)} keys at ${show(APIS)} APIs that are counted, and at as many with \`trafficLogs\` off, in turn, rate and quota on; all threads of the
gateway, its writer too, on one core. Medians of ${shares.length} pairs of runs of ${RUN_SECONDS} s. Counts are worked in every 30 seconds; here that is done after
each round of pairs, takes ${show(afterMicros, 1)} µs a request, and the second share has that taken off. ${show(stored)} requests are stored, none is missing.

${table(head, rows)}`
}
