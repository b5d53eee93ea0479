import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { startPostgres, type ThrowAwayPostgres } from '../../../scripts/servers.mjs'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change, FeedEvent } from '../../../src/store/ports/ports.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { runSql } from '../../worlds/servers/postgres.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const putSession = (name: string): Change => ({ op: 'putSession', hash: hashKey(name), row })

/** Fast, and as a crash. */
/** How long calls wait for a server that has just gone. */
const PATIENCE_MS = 3_000
const SIGNALS: readonly NodeJS.Signals[] =
  process.env.GATEHOUSE_DEEP === '1'
    ? Array.from({ length: 12 }, (_, n) => (n % 2 ? 'SIGQUIT' : 'SIGINT'))
    : ['SIGQUIT', 'SIGINT']

let server: ThrowAwayPostgres
let databases = 0
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

async function openOn(t: TestContext, url: string, patienceMs = 30_000): Promise<PostgresStore> {
  const store = await openPostgresStore({ url, patienceMs })
  t.after(() => store.close())
  return store
}

async function newDatabase(): Promise<string> {
  const name = `one_${databases++}`
  await runSql(server.url(), `CREATE DATABASE ${name}`)
  return server.url(name)
}

test('while PostgreSQL is restarted, cleanly or not, no call fails, and nothing is written twice', async (t) => {
  const url = await newDatabase()
  const [store, other] = [await openOn(t, url), await openOn(t, url)]
  const heard: FeedEvent[] = []
  other.feed.subscribe((event) => heard.push(event))
  let running = true
  let written = 0
  const write = async (lane: number) => {
    for (let n = 0; running; n++) {
      const name = `${lane} ${n}`
      await store.documents.commit([{ ...putSession(name), ifAbsent: true } as Change], undefined)
      assert.ok(await other.tokens.getSession(hashKey(name)))
      written++
    }
  }
  const lanes = Array.from({ length: 8 }, (_, lane) => write(lane))
  for (const signal of SIGNALS) {
    const since = written
    await eventually('commits go on', () => written > since + 20)
    await server.halt(signal)
    await server.resume()
  }
  const since = written
  await eventually('commits go on', () => written > since + 20)
  running = false
  await Promise.all(lanes)
  assert.equal(await store.documents.revision(), written)
  await eventually('all are heard of', () => heard.length === written)
  assert.deepEqual(
    heard.map(({ revision }) => revision),
    heard.map((_, i) => i + 1),
  )
  t.diagnostic(`${written} commits over ${SIGNALS.length} restarts`)
})

test('while PostgreSQL is away calls end with store_away, later at once, and recover', async (t) => {
  const url = await newDatabase()
  const store = await openOn(t, url, PATIENCE_MS)
  const heard: number[] = []
  store.feed.subscribe(({ revision }) => heard.push(revision))
  await store.documents.commit([putSession('before')], undefined)
  await server.halt('SIGINT')
  const calls = () => [
    store.documents.commit([putSession('away')], undefined),
    Promise.resolve(store.tokens.getSession(hashKey('before'))),
    Promise.resolve(store.documents.list('api', { limit: 1 })),
    store.purge(),
  ]
  const allFail = async () => {
    for (const result of await Promise.allSettled(calls())) {
      assert.equal(result.status === 'rejected' && result.reason.code, 'store_away')
    }
  }
  await allFail()
  assert.equal(store.away, true)
  const startedAt = performance.now()
  await allFail()
  assert.ok(performance.now() - startedAt < PATIENCE_MS, 'nobody waits any more')
  await server.resume()
  await eventually('it is back', async () => {
    const commit = store.documents.commit([putSession('after')], undefined)
    return commit.then(
      () => true,
      () => false,
    )
  })
  assert.equal(store.away, false)
  assert.ok(await store.tokens.getSession(hashKey('before')))
  assert.ok(await store.tokens.getSession(hashKey('after')))
  await eventually('it listens again', () => store.listening)
  assert.deepEqual(
    heard,
    heard.map((_, i) => i + 1),
  )
})

test('a silent holder of the lock delays others by seconds, not for ever', async (t) => {
  const url = await newDatabase()
  const store = await openOn(t, url)
  await store.documents.commit([], undefined)
  const stuck = new Client(url)
  stuck.on('error', () => {})
  await stuck.connect()
  t.after(() => stuck.end())
  await stuck.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 300')
  await stuck.query('SELECT 1 FROM store_state FOR UPDATE')
  assert.equal(await store.documents.commit([], undefined), 2)
})

test('a call after close is refused, and close writes what was accepted', async (t) => {
  const url = await newDatabase()
  const store = await openOn(t, url)
  const accepted = Array.from({ length: 50 }, (_, n) => store.documents.commit([putSession(`${n}`)], undefined))
  await store.close()
  assert.deepEqual(
    (await Promise.all(accepted)).sort((a, b) => a - b),
    accepted.map((_, n) => n + 1),
  )
  await assert.rejects(store.documents.commit([], undefined), { code: 'store_away' })
  await assert.rejects(async () => store.documents.revision(), { code: 'store_away' })
})
