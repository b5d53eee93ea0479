import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { NO_DIMENSIONS } from '../src/model/analytics/dimensions.ts'
import { type Hit, LATENCY_BOUNDS_MS, NO_MIN_MS } from '../src/model/analytics/hit.ts'
import { newDocumentId } from '../src/model/documents/ids.ts'
import { hashKey } from '../src/model/secrets/secret.ts'
import type { Change, SessionInput, Store } from '../src/store/ports/ports.ts'
import { openStore } from '../src/store/sqlite/connection/open.ts'

// Prints what the embedded store does on this machine. Bounded: about a minute, and `sessions` rows of about 0.9 kB.
const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: tmpdir() },
    sessions: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '3' },
  },
})
const SESSIONS = Number(values.sessions)
const MEASURE_MS = Number(values.seconds) * 1000

const row = (n: number): SessionInput => ({
  body: {
    ...{ org_id: 'org', alias: `user-${n}`, rate: 100, per: 60, quota_max: 10_000, quota_renewal_rate: 3600 },
    access_rights: { [`api-${n % 100}`]: { api_id: `api-${n % 100}`, api_name: 'Orders', versions: ['Default'] } },
    apply_policies: [`policy-${n % 50}`],
  },
  ...{ orgId: 'org', apiIds: [`api-${n % 100}`], policyIds: [`policy-${n % 50}`], clientId: '', evictAt: 0 },
})

function say(what: string, value: string): void {
  console.log(`${what.padEnd(58)} ${value}`)
}

const perSecond = (count: number, ms: number) => `${Math.round((count / ms) * 1000).toLocaleString('en')} /s`

/** Runs `call` from so many callers, each waiting for its answer, until the time is over. */
async function callers(
  count: number,
  call: (n: number) => Promise<unknown>,
): Promise<{ calls: number; ms: number; times: number[] }> {
  const start = performance.now()
  const times: number[] = []
  let calls = 0
  const one = async () => {
    while (performance.now() - start < MEASURE_MS) {
      const began = performance.now()
      await call(calls++)
      times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: count }, one))
  return { calls, ms: performance.now() - start, times: times.sort((a, b) => a - b) }
}

async function writes(store: Store, what: string, change: () => Change): Promise<void> {
  for (const count of [1, 64]) {
    const { calls, ms, times } = await callers(count, () => store.documents.commit([change()], undefined))
    const p99 = times[Math.floor(times.length * 0.99)]!.toFixed(2)
    const median = times[Math.floor(times.length * 0.5)]!.toFixed(2)
    say(`${what}, ${count} callers`, `${perSecond(calls, ms)}   median ${median} ms, p99 ${p99} ms`)
  }
}

async function fill(store: Store): Promise<Buffer[]> {
  const hashes: Buffer[] = []
  const start = performance.now()
  while (hashes.length < SESSIONS) {
    const commits: Promise<unknown>[] = []
    for (let i = 0; i < 10; i++) {
      const changes: Change[] = []
      for (let k = 0; k < 500; k++) {
        const hash = hashKey(`key ${hashes.length}`)
        changes.push({ op: 'putSession', hash, row: row(hashes.length) })
        hashes.push(hash)
      }
      commits.push(store.documents.commit(changes, undefined))
    }
    await Promise.all(commits)
  }
  say(
    `${hashes.length.toLocaleString('en')} sessions, 500 a commit`,
    perSecond(hashes.length, performance.now() - start),
  )
  return hashes
}

function lookUps(store: Store, hashes: readonly Buffer[]): void {
  const times: number[] = []
  for (let i = 0; i < 20_000; i++) {
    const hash = hashes[Math.floor(Math.random() * hashes.length)]!
    const began = performance.now()
    store.tokens.getSession(hash)
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => `${(times[Math.floor(times.length * share)]! * 1000).toFixed(0)} µs`
  say('look-up of a session never asked for before', `median ${at(0.5)}, p99 ${at(0.99)}, worst ${at(0.99999)}`)
}

function hit(n: number, keys: number): Hit {
  const buckets = () => new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0)
  return {
    ...NO_DIMENSIONS,
    ...{ hour: 480_000, orgId: 'org', apiId: `api-${n % 100}`, version: 'Non Versioned' },
    ...{ keyHash: (n % keys).toString(16).padStart(64, '0'), tags: 'a,b', status: 200 },
    ...{ count: 1, success: 1, error: 0, lastAt: 1_700_000_000_000 },
    total: { sumMs: 1, minMs: 1, maxMs: 1, buckets: buckets() },
    upstream: { sumMs: 0, minMs: NO_MIN_MS, maxMs: 0, buckets: buckets() },
  }
}

async function hits(store: Store): Promise<void> {
  for (const keys of [10_000, 200_000]) {
    const start = performance.now()
    let rows = 0
    while (performance.now() - start < MEASURE_MS) {
      const batches = Array.from({ length: 20 }, (_, b) =>
        Array.from({ length: 500 }, (_, i) => hit(rows + b * 500 + i, keys)),
      )
      await Promise.all(batches.map((batch) => store.hits.add(batch)))
      rows += 10_000
    }
    say(
      `hits over ${keys.toLocaleString('en')} sets of dimensions, 500 rows a call`,
      perSecond(rows, performance.now() - start),
    )
  }
}

const folder = mkdtempSync(join(values.folder, 'gatehouse-bench-'))
try {
  console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, every commit synced`)
  let store = await openStore({ path: folder })
  const id = newDocumentId()
  await writes(store, 'one document written again', () => ({
    op: 'put',
    kind: 'api',
    id,
    body: { api_id: 'a', name: 'x'.repeat(500) },
  }))
  await writes(store, 'new sessions, empty store', () => ({ op: 'putSession', hash: randomBytes(32), row: row(1) }))
  await hits(store)
  const hashes = await fill(store)
  await writes(store, 'new sessions, full store', () => ({ op: 'putSession', hash: randomBytes(32), row: row(1) }))
  await store.close()
  const began = performance.now()
  store = await openStore({ path: folder })
  say('opening it again', `${(performance.now() - began).toFixed(0)} ms`)
  lookUps(store, hashes)
  const counting = performance.now()
  const count = await store.tokens.countSessions({ orgId: 'org' })
  say(
    `counting ${count.toLocaleString('en')} sessions of an organisation`,
    `${(performance.now() - counting).toFixed(0)} ms`,
  )
  await store.close()
  say('size of the file', `${(statSync(join(folder, 'gatehouse.db')).size / 1e6).toFixed(0)} MB`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
