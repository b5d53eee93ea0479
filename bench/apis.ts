import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { heldBytes } from './collect.ts'
import { BODIES, startUpstream } from './peers.ts'
import { Admin, definition, type Product, policy, startProduct } from './product.ts'
import { mean, median, progress, quantile, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { checkClean, type Load, load } from './wrk.ts'

const APIS = sized(10_000, 200)
const APIS_PER_POLICY = 10
const KEYS = sized(10_000, 1000)
const EDITS = sized(1000, 40)
/** Edits before the counted ones: a young heap grows to its working size, which is no leak. */
const WARM_UP_EDITS = sized(300, 20)
/** Memory after so many of the edits is compared with that after all. */
const COMPARED_EDITS = sized(100, 20)
/** Under load an edit begins at most this often: the load, not the edits, shall take the core. */
const EDIT_EVERY_MS = 40
const SETTLE_MS = 3000
const WATCHERS = 4
const SEEN_WITHIN_MS = 5000

export interface ApisOptions {
  readonly folder: string
  readonly seconds: number
}

interface Edited {
  readonly seenMs: number[]
  readonly putMs: number[]
  readonly rss: number[]
  /** Edits that the first request after the answer to the PUT met. */
  readonly atOnce: number
  readonly answers: number
  readonly during: Load
}

/**
 * Ten thousand APIs: start, memory, one edit, and a thousand edits under load. Answers its part of the report.
 * @throws Error on a bad answer, on one that mixes two revisions, or when an edit is not seen
 */
export async function tenThousandApis(options: ApisOptions): Promise<string> {
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  let product = await startProduct({ folder, inspect: true })
  try {
    await wait(SETTLE_MS)
    const emptyRss = await heldBytes(product)
    progress(`making ${show(APIS)} APIs`)
    const makingFrom = performance.now()
    const file = await fill(product, upstream.port, options.folder)
    const madeMs = performance.now() - makingFrom
    await product.started.stop()
    product = await startProduct({ folder, inspect: true })
    const { readyMs } = product
    await wait(SETTLE_MS)
    const apiBytes = ((await heldBytes(product)) - emptyRss) / APIS
    progress(`ready after ${show(readyMs)} ms, ${show(apiBytes)} bytes an API; one edit at a time`)
    const quiet = await editMany(product, upstream.port, file, 100, undefined)
    progress('load without edits')
    await run(product, file, 3)
    await editMany(product, upstream.port, file, WARM_UP_EDITS, 'load')
    const still = await run(product, file, options.seconds)
    progress(`${show(still.perSecond)}/s without edits; ${show(EDITS)} edits under load`)
    const first = await editMany(product, upstream.port, file, COMPARED_EDITS, 'load')
    const early = await heldBytes(product)
    const rest = await editMany(product, upstream.port, file, EDITS - COMPARED_EDITS, 'load')
    const late = await heldBytes(product)
    const busy = together(first, rest)
    return report({ readyMs, madeMs, apiBytes, emptyRss, quiet, still, busy, early, late })
  } finally {
    await product.started.stop()
    await upstream.started.stop()
  }
}

async function fill(product: Product, upstreamPort: number, folder: string): Promise<string> {
  const { admin } = product
  const apiId = (i: number) => `api-${i}`
  await Admin.times(
    APIS,
    async (i) => void (await admin.call('POST', '/apis/oas', definition(apiId(i), upstreamPort, 1))),
  )
  const policies = APIS / APIS_PER_POLICY
  await Admin.times(policies, async (i) => {
    const ids = Array.from({ length: APIS_PER_POLICY }, (_, j) => apiId(i * APIS_PER_POLICY + j))
    await admin.call('POST', '/policies', policy(`policy-${i}`, ids))
  })
  const lines: string[] = new Array(KEYS)
  await Admin.times(KEYS, async (i) => {
    // Key i may use the APIs of its policy, and uses one: every API has a key.
    const at = Math.floor(i / APIS_PER_POLICY) % policies
    const { key } = await admin.call('POST', '/keys/create', { apply_policies: [`policy-${at}`] })
    lines[i] = `/${apiId(i % APIS)}\t${key}`
  })
  const file = join(folder, 'requests.tsv')
  writeFileSync(file, `${lines.join('\n')}\n`)
  keysOf.set(
    file,
    lines.map((line) => line.split('\t')[1]!),
  )
  return file
}

/** Keys by requests file: entry i may use `api-i`. */
const keysOf = new Map<string, readonly string[]>()

async function run(product: Product, file: string, seconds: number): Promise<Load> {
  const result = await load({ url: product.url, seconds, script: 'requests.lua', args: [file, BODIES.small] })
  checkClean('10,000 APIs', result)
  return result
}

let nextRevision = 2

/** Edits APIs one after the other; each edit must be seen before the next. With `load`, wrk and watchers run meanwhile. */
async function editMany(
  product: Product,
  upstreamPort: number,
  file: string,
  edits: number,
  under: 'load' | undefined,
): Promise<Edited> {
  const keys = keysOf.get(file)!
  const agent = new Agent({ keepAlive: true, maxSockets: WATCHERS + 2 })
  const watch = { apiId: 'api-0', key: keys[0]!, ended: false, answers: 0 }
  const loading = under === undefined ? undefined : loadUntil(product, file, () => watch.ended)
  const watching = Array.from({ length: under === undefined ? 0 : WATCHERS }, () => watcher(product.url, agent, watch))
  const seenMs: number[] = []
  const putMs: number[] = []
  const rss: number[] = []
  let atOnce = 0
  try {
    for (let edit = 0; edit < edits; edit++) {
      const api = Math.floor(Math.random() * APIS)
      const revision = nextRevision++
      watch.apiId = `api-${api}`
      watch.key = keys[api]!
      const from = performance.now()
      await product.admin.call('PUT', `/apis/oas/api-${api}`, definition(`api-${api}`, upstreamPort, revision))
      putMs.push(performance.now() - from)
      atOnce += Number(await seeRevision(product.url, agent, watch.apiId, watch.key, revision))
      seenMs.push(performance.now() - from)
      rss.push(product.started.rssBytes())
      if (under !== undefined) await wait(Math.max(0, EDIT_EVERY_MS - (performance.now() - from)))
      if (edit % 100 === 99) progress(`${edit + 1} edits, ${show(product.started.rssBytes() / 1e6)} MB`)
    }
  } finally {
    watch.ended = true
    await Promise.all(watching)
  }
  const during = (await loading) ?? NO_LOAD
  agent.destroy()
  return { seenMs, putMs, rss, atOnce, answers: watch.answers, during }
}

function together(a: Edited, b: Edited): Edited {
  return {
    seenMs: [...a.seenMs, ...b.seenMs],
    putMs: [...a.putMs, ...b.putMs],
    rss: [...a.rss, ...b.rss],
    atOnce: a.atOnce + b.atOnce,
    answers: a.answers + b.answers,
    during: sumOf([a.during, b.during]),
  }
}

const NO_LOAD: Load = { requests: 0, seconds: 1, perSecond: 0, badStatus: 0, socketErrors: 0, p50: 0, p99: 0, p999: 0 }

/** Runs of wrk, one after the other, until the edits are over; added up. */
async function loadUntil(product: Product, file: string, ended: () => boolean): Promise<Load> {
  const runs: Load[] = []
  while (!ended()) runs.push(await run(product, file, 3))
  return sumOf(runs)
}

/** Several runs as one: latencies are the worst of them. */
function sumOf(runs: readonly Load[]): Load {
  const requests = runs.reduce((sum, one) => sum + one.requests, 0)
  const seconds = runs.reduce((sum, one) => sum + one.seconds, 0)
  const worst = (pick: (one: Load) => number) => Math.max(...runs.map(pick))
  return {
    ...NO_LOAD,
    requests,
    seconds,
    perSecond: requests / seconds,
    p50: worst((one) => one.p50),
    p99: worst((one) => one.p99),
    p999: worst((one) => one.p999),
  }
}

/** Asks the API that is being edited again and again: every answer must be of one revision. */
async function watcher(
  url: string,
  agent: Agent,
  watch: { apiId: string; key: string; ended: boolean; answers: number },
): Promise<void> {
  while (!watch.ended) {
    await revisionOf(url, agent, watch.apiId, watch.key)
    watch.answers++
    await wait(1)
  }
}

/** Asks until the revision is seen. True when the first answer had it. */
async function seeRevision(url: string, agent: Agent, apiId: string, key: string, revision: number): Promise<boolean> {
  const endsAt = performance.now() + SEEN_WITHIN_MS
  for (let asked = 1; ; asked++) {
    if ((await revisionOf(url, agent, apiId, key)) === revision) return asked === 1
    if (performance.now() > endsAt) throw new Error(`revision ${revision} of ${apiId} is not seen`)
  }
}

/** The revision that one answer speaks of. @throws Error unless it is 200 and both its fields and its request agree */
function revisionOf(url: string, agent: Agent, apiId: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}/${apiId}/small`, { agent, headers: { Authorization: key } }, (answer) => {
      answer.resume().once('error', reject)
      answer.once('end', () => {
        const told = ['x-revision', 'x-revision-too', 'x-seen'].map((name) => Number(answer.headers[name]))
        if (answer.statusCode !== 200) return reject(new Error(`${apiId} answers ${answer.statusCode}`))
        if (told.some((revision) => revision !== told[0])) return reject(new Error(`${apiId} mixes revisions ${told}`))
        resolve(told[0]!)
      })
    })
    call.once('error', reject).end()
  })
}

interface Findings {
  readonly readyMs: number
  readonly madeMs: number
  readonly apiBytes: number
  readonly emptyRss: number
  readonly quiet: Edited
  readonly still: Load
  readonly busy: Edited
  /** Memory held after the first hundred edits, and after all. */
  readonly early: number
  readonly late: number
}

function report(f: Findings): string {
  const change = (f.late / f.early - 1) * 100
  const rows = [
    ['made through `/svc/apis/oas`, an API', `${show(f.madeMs / (APIS + KEYS + APIS / APIS_PER_POLICY), 2)} ms`],
    ['start from the store to `/ready`', `${show(f.readyMs)} ms`],
    ['memory an API', `${show(f.apiBytes / 1000, 1)} kB (${show(f.emptyRss / 1e6)} MB without APIs)`],
    [
      'one edit: PUT answered / seen by a client, median',
      `${show(median(f.quiet.putMs), 1)} / ${show(median(f.quiet.seenMs), 1)} ms`,
    ],
    ['the same, slowest of 100', `${show(quantile(f.quiet.putMs, 1), 1)} / ${show(quantile(f.quiet.seenMs, 1), 1)} ms`],
    [
      'load without edits',
      `${show(f.still.perSecond)}/s, p99 ${show(f.still.p99, 2)} ms, p99.9 ${show(f.still.p999, 2)} ms`,
    ],
    [
      `load during ${show(EDITS)} edits`,
      `${show(f.busy.during.perSecond)}/s (${show(f.busy.during.perSecond / f.still.perSecond, 2)} of it), worst p99 ${show(f.busy.during.p99, 2)} ms, p99.9 ${show(f.busy.during.p999, 2)} ms`,
    ],
    ['failed requests', `0 of ${show(f.busy.during.requests + f.busy.answers + EDITS)}`],
    ['edits that the first request after the PUT met', `${show(f.busy.atOnce)} of ${show(EDITS)}`],
    ['answers that mix two revisions', `0 of ${show(f.busy.answers + EDITS)} looked at`],
    [
      'an edit under load: seen, median / p99',
      `${show(median(f.busy.seenMs), 1)} / ${show(quantile(f.busy.seenMs, 0.99), 1)} ms`,
    ],
    [
      `memory held after ${COMPARED_EDITS} / ${show(EDITS)} edits, garbage collected`,
      `${show(f.early / 1e6, 1)} / ${show(f.late / 1e6, 1)} MB (${change >= 0 ? '+' : ''}${show(change, 1)} %)`,
    ],
    [
      'memory while edits run, garbage and all: first 100 / last 100 / most',
      `${[mean(f.busy.rss.slice(0, 100)), mean(f.busy.rss.slice(-100)), Math.max(...f.busy.rss)].map((bytes) => show(bytes / 1e6)).join(' / ')} MB`,
    ],
  ]
  return `## Ten thousand APIs\n\nEach with auth token, limits, hits and header edits both ways; ${show(KEYS)} keys.\n\n${table(['', ''], rows)}`
}
