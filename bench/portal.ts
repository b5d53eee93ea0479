import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  DAYS,
  developerId,
  emailOf,
  type FillSpeed,
  fillPortal,
  HOURS_A_DAY,
  MANY_KEYS,
  type PortalSize,
  policyOf,
  preparePortal,
  USUAL_KEYS,
  usedKeyHash,
} from './fill-portal.ts'
import { type Product, startProduct } from './product.ts'
import { progress, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type TimedCall, type Times, timed } from './timed.ts'

const SIZE: PortalSize = {
  apis: sized(100, 20),
  policies: sized(600, 200),
  developers: sized(100_000, 500),
  heavy: sized(100, 20),
  usedKeys: sized(10_000, 100),
}
const CALLS = sized(500, 20)
const WARM_UP_CALLS = 100
/** Of one kind of call. */
const LONGEST_MS = 30_000
const PATH = '/api/portal/developers'

export interface PortalOptions {
  readonly folder: string
}

/** A kind of call, and what p99 shall stay below; without a bound it is measured for the sake of the others. */
interface Kind {
  readonly name: string
  readonly wantedMs?: number
  readonly call: (i: number) => TimedCall
  /** CALLS unless given. */
  readonly count?: number
  /** False for calls that cannot be made twice. */
  readonly warmUp?: boolean
}

/** Developers, keys and a year of hits in great numbers: what each call takes. Answers its part of the report. */
export async function largePortal({ folder: scratch }: PortalOptions): Promise<string> {
  const folder = join(scratch, 'gateway')
  mkdirSync(folder, { recursive: true })
  let product = await startProduct({ folder })
  try {
    const models = await preparePortal(product, SIZE)
    await product.started.stop()
    const speed = await fillPortal(folder, SIZE, models)
    product = await startProduct({ folder })
    await product.started.settled()
    const people = await timeAll(product, models.desk.key, peopleCalls())
    const usage = await timeAll(product, models.desk.key, usageCalls())
    return report(speed, people, usage)
  } finally {
    await product.started.stop()
  }
}

/** The same numbers each run, spread over all developers who have not many keys. */
const usual = (i: number) => SIZE.heavy + ((i * 7919) % (SIZE.developers - SIZE.heavy))
const get = (name: string, wantedMs: number | undefined, path: (i: number) => string): Kind => ({
  ...{ name, call: (i) => ({ path: path(i) }) },
  ...(wantedMs !== undefined && { wantedMs }),
})

function peopleCalls(): Kind[] {
  const page = (i: number) => 1 + ((i * 7919) % Math.ceil(SIZE.developers / 10))
  return [
    get('developer by email', 5, (i) => `${PATH}/email/${emailOf(usual(i))}`),
    get('developer by id', 5, (i) => `${PATH}/${developerId(usual(i))}`),
    get('page of a list, anywhere in it', 50, (i) => `${PATH}?p=${page(i)}`),
    get('the same sorted by email', 50, (i) => `${PATH}?sort=email&p=${page(i)}`),
    get('the same, newest first', 50, (i) => `${PATH}?sort=-date_created&p=${page(i)}`),
    get('search that matches everybody', undefined, (i) => `${PATH}?q=portal&p=${1 + (i % 50)}`),
    get('search that matches a few', undefined, (i) => `${PATH}?q=${emailOf(usual(i)).slice(0, -1)}`),
    get('search that matches nobody', undefined, () => `${PATH}?q=nowhere`),
    get('developers of an API', 50, (i) => `${PATH}/api/api-${i % SIZE.apis}`),
    get('keys of a developer', 50, (i) => `${PATH}/${developerId(usual(i))}/keys`),
    get('keys of the installation with how they stand', 50, (i) => `/api/keys/detailed?facts=1&p=${page(i)}`),
    {
      name: `add a key, over ${show(SIZE.policies)} policies`,
      wantedMs: 20,
      warmUp: false,
      call(i) {
        const d = SIZE.heavy + (i % (SIZE.developers - SIZE.heavy))
        // Far from the policies that the developer has.
        const wanted = policyOf(d, MANY_KEYS + i, SIZE.policies)
        return { method: 'POST', path: `${PATH}/${developerId(d)}/keys`, body: { apply_policies: [wanted] } }
      },
    },
    {
      name: `delete a developer with ${MANY_KEYS} keys`,
      wantedMs: 500,
      warmUp: false,
      count: SIZE.heavy,
      call: (i) => ({ method: 'DELETE', path: `${PATH}/${developerId(i)}` }),
    },
  ]
}

function usageCalls(): Kind[] {
  const now = new Date()
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))
  const month = `${written(first)}/${written(last)}`
  const day = 86_400_000
  const year = `${written(new Date(now.getTime() - DAYS * day))}/${written(new Date(now.getTime() - day))}`
  const key = (i: number) => usedKeyHash((i * 7919) % SIZE.usedKeys, SIZE)
  const hundred = (i: number) => Array.from({ length: 100 }, (_, at) => key(i * 100 + at)).join(',')
  return [
    get('aggregate of a key, a month by day', 200, (i) => `/api/activity/keys/aggregate/${key(i)}/${month}?p=-1`),
    get(
      'aggregate of 100 keys, a month by day',
      200,
      (i) => `/api/activity/keys/aggregate/${hundred(i)}/${month}?p=-1`,
    ),
    get('requests of everybody, a month by day', 200, () => `/api/usage/${month}?p=-1`),
    get('requests by API, a month', undefined, () => `/api/usage/apis/${month}`),
    get('requests by key, a month', undefined, (i) => `/api/activity/keys/${month}?p=${1 + (i % 10)}`),
    get('requests by key, a year', undefined, (i) => `/api/activity/keys/${year}?p=${1 + (i % 10)}`),
    get('requests of a key, a year by day', undefined, (i) => `/api/activity/keys/${key(i)}/${year}?p=-1`),
    get('requests of everybody, a year by month', undefined, () => `/api/usage/${year}?res=month&p=-1`),
  ]
}

const written = (date: Date) => `${date.getUTCDate()}/${date.getUTCMonth() + 1}/${date.getUTCFullYear()}`

async function timeAll(product: Product, key: string, kinds: readonly Kind[]): Promise<string[][]> {
  const rows: string[][] = []
  for (const { name, wantedMs, call, count = CALLS, warmUp = true } of kinds) {
    const options = { url: product.dashboardUrl, key, longestMs: LONGEST_MS, started: product.started }
    if (warmUp) await timed({ ...options, count: WARM_UP_CALLS, call: (i) => call(i + count) })
    const times = await timed({ ...options, count, call })
    progress(`${name}: p50 ${show(times.p50, 1)}, p99 ${show(times.p99, 1)}, CPU ${show(times.cpuMs, 1)} ms`)
    rows.push(rowOf(name, wantedMs, times))
  }
  return rows
}

function rowOf(name: string, wantedMs: number | undefined, { p50, p99, slowest, cpuMs, count }: Times): string[] {
  const over = wantedMs !== undefined && p99 > wantedMs
  const wanted = wantedMs === undefined ? '' : String(wantedMs)
  return [
    over ? `**${name}**` : name,
    show(p50, 1),
    show(p99, 1),
    wanted,
    show(slowest, 1),
    show(cpuMs, 1),
    show(count),
  ]
}

function report(
  speed: FillSpeed,
  people: readonly (readonly string[])[],
  usage: readonly (readonly string[])[],
): string {
  const { developers, heavy, usedKeys, policies } = SIZE
  const keys = heavy * MANY_KEYS + (developers - heavy) * USUAL_KEYS
  const head = ['', 'p50 ms', 'p99 ms', 'p99 wanted below', 'slowest ms', 'CPU ms a call', 'calls']
  return `## A large portal

${show(developers)} developers with ${show(keys)} keys of ${show(policies)} policies (${show(heavy)} developers have ${MANY_KEYS}), put into the store at ${show(speed.developers)} developers and ${show(speed.keys)}
keys a second; one caller over HTTP, product and caller on a core each. What is over its bound stands out.

${table(head, people)}

A year of hourly data: each of ${show(usedKeys)} keys used in ${HOURS_A_DAY} hours of each of ${DAYS} days, ${show(usedKeys * HOURS_A_DAY * DAYS)} rows, put into the store at ${show(speed.hits)} rows a second. The
months that are over have been added up, which the product does in the background.

${table(head, usage)}`
}
