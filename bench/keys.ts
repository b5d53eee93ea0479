import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import type { SessionInput } from '../src/store/ports/ports.ts'
import { openStore } from '../src/store/sqlite/connection/open.ts'
import { heldBytes } from './collect.ts'
import { commitMany } from './fill-store.ts'
import { BODIES, startUpstream } from './peers.ts'
import { definition, type Product, policy, startProduct } from './product.ts'
import { median, progress, quantile, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { checkClean, load } from './wrk.ts'

const KEYS = sized(1_000_000, 10_000)
const PREFIX = 'bench-key-'
const LOOKUPS = sized(2000, 200)
const WARM_KEYS = 100
const CACHE_ENTRIES = 20_000
const SLICES = sized(10, 2)

export interface KeysOptions {
  readonly folder: string
  readonly seconds: number
}

const keyOf = (number: number) => PREFIX + String(number).padStart(10, '0')
/** Keys spread over the store, each once within LOOKUPS. */
const coldKey = (i: number) => keyOf((i * 499) % KEYS)
const hashOf = (key: string) => createHash('sha256').update(key).digest()

/** A million keys in the store: what a cold one costs, and what memory holds. Answers its part of the report. */
export async function millionKeys(options: KeysOptions): Promise<string> {
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const folder = join(options.folder, 'gateway')
  mkdirSync(folder, { recursive: true })
  const env = { SVC_GW_SESSIONCACHEENTRIES: String(CACHE_ENTRIES) }
  let product = await startProduct({ folder, env })
  try {
    await product.admin.call('POST', '/apis/oas', definition('api-0', upstream.port))
    await product.admin.call('POST', '/policies', policy('policy-0', ['api-0']))
    const orgId = await orgOfKeys(product)
    await product.started.stop()
    progress(`storing ${show(KEYS)} keys`)
    const storedPerSecond = await storeKeys(folder, orgId)
    const lookups = await timeLookups(folder)
    product = await startProduct({ folder, env, inspect: true })
    const cold = await timeRequests(product, coldKey)
    // The last of the cold ones again: they are in memory now.
    const warm = await timeRequests(product, (i) => coldKey(LOOKUPS - 1 - (i % WARM_KEYS)))
    progress(`cold ${show(median(cold), 3)} ms, warm ${show(median(warm), 3)} ms; load over all keys`)
    const rss: number[] = []
    let perSecond = 0
    for (let slice = 0; slice < SLICES; slice++) {
      const run = await load({
        url: product.url,
        seconds: options.seconds,
        script: 'numbered.lua',
        args: [`/api-0${BODIES.small}`, PREFIX, String(KEYS)],
      })
      checkClean('a million keys', run)
      perSecond = run.perSecond
      rss.push(await heldBytes(product))
      progress(`${show(run.perSecond)}/s, ${show(rss.at(-1)! / 1e6)} MB`)
    }
    return report({ storedPerSecond, lookups, cold, warm, perSecond, rss, readyMs: product.readyMs })
  } finally {
    await product.started.stop()
    await upstream.started.stop()
  }
}

/** The organisation that keys made without one belong to. */
async function orgOfKeys(product: Product): Promise<string> {
  const { key } = await product.admin.call('POST', '/keys/create', { apply_policies: ['policy-0'] })
  const session = await product.admin.call('GET', `/keys/${key}`)
  return typeof session.org_id === 'string' ? session.org_id : ''
}

/** Answers keys stored in a second. */
async function storeKeys(folder: string, orgId: string): Promise<number> {
  const store = await openStore({ path: join(folder, 'data') })
  try {
    return await commitMany(store, KEYS, (i) => [{ op: 'putSession', hash: hashOf(keyOf(i)), row: sessionRow(orgId) }])
  } finally {
    await store.close()
  }
}

function sessionRow(orgId: string): SessionInput {
  return {
    body: { org_id: orgId, apply_policies: ['policy-0'], alias: 'bench' },
    orgId,
    apiIds: [],
    policyIds: ['policy-0'],
    clientId: '',
    evictAt: 0,
  }
}

/** Milliseconds of each look-up of a key that was not looked up before, on a store that was just opened. */
async function timeLookups(folder: string): Promise<number[]> {
  const store = await openStore({ path: join(folder, 'data') })
  try {
    const times: number[] = []
    for (let i = 0; i < LOOKUPS; i++) {
      const hash = hashOf(keyOf(Math.floor(Math.random() * KEYS)))
      const from = performance.now()
      const row = await store.tokens.getSession(hash)
      times.push(performance.now() - from)
      if (row === undefined) throw new Error('a stored key is not found')
    }
    return times
  } finally {
    await store.close()
  }
}

/** Milliseconds of requests, one after the other on one connection. */
async function timeRequests(product: Product, keyAt: (i: number) => string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let i = 0; i < LOOKUPS; i++) {
    const key = keyAt(i)
    const from = performance.now()
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const call = request(`${product.url}/api-0/small`, { agent, headers: { Authorization: key } }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode))
      })
      call.once('error', reject).end()
    })
    if (status !== 200) throw new Error(`key ${key} is answered with ${status}`)
    times.push(performance.now() - from)
  }
  agent.destroy()
  return times
}

interface Findings {
  readonly storedPerSecond: number
  readonly readyMs: number
  readonly lookups: readonly number[]
  readonly cold: readonly number[]
  readonly warm: readonly number[]
  readonly perSecond: number
  readonly rss: readonly number[]
}

function report(f: Findings): string {
  const three = (times: readonly number[]) =>
    [median(times), quantile(times, 0.99), quantile(times, 1)].map((ms) => show(ms, 3)).join(' / ')
  const rows = [
    ['stored in bulk', `${show(f.storedPerSecond)} keys/s`],
    ['start to `/ready`', `${show(f.readyMs)} ms`],
    ['look-up of a cold key in the store, median / p99 / slowest', `${three(f.lookups)} ms`],
    ['whole request with a cold key, median / p99 / slowest', `${three(f.cold)} ms`],
    ['whole request with a warm key', `${three(f.warm)} ms`],
    ['keys at random over all, 64 connections', `${show(f.perSecond)}/s`],
    [
      'memory held after each of these runs, garbage collected',
      `${f.rss.map((bytes) => show(bytes / 1e6)).join(', ')} MB`,
    ],
  ]
  return `## A million keys\n\n${show(CACHE_ENTRIES)} of them in memory at most (\`gateway.session_cache_entries\`).\n\n${table(['', ''], rows)}`
}
