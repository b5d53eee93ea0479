import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { type Hit, LATENCY_BOUNDS_MS } from '../../../src/model/analytics/hit.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change, FeedEvent } from '../../../src/store/ports/ports.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const DEATHS = process.env.GATEHOUSE_DEEP === '1' ? 80 : 20
const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const latency = { sumMs: 1, minMs: 1, maxMs: 1, buckets: LATENCY_BOUNDS_MS.map(() => 0).concat(1) }
const hit: Hit = {
  ...{
    ...NO_DIMENSIONS,
    hour: 1,
    orgId: 'o',
    apiId: 'a',
  },
  ...{ status: 200, count: 1, success: 1, error: 0, lastAt: 1, total: latency, upstream: latency },
}
const put = (name: string): Change => ({ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: name } })

/** Resolves when the writer has ended by itself. */
const death = (store: SqliteStore) => new Promise<Error>((resolve) => store.onWriterEnd(resolve))

test('without the writer, writes get store_away and reads work, until it is back', async (t) => {
  const store = await openStore({ path: temporaryFolder(t), keepWriter: false })
  t.after(() => store.close())
  await store.documents.commit([put('a')], undefined)
  const waiting = Array.from({ length: 50 }, (_, n) => store.documents.commit([put(`waiting ${n}`)], undefined))
  const results = Promise.allSettled(waiting)
  const dead = death(store)
  await store.stopWriter()
  assert.equal(((await dead) as Error & { code: string }).code, 'store_away')
  assert.equal(store.writerUp, false)
  for (const result of await results) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'store_away')
  }
  await assert.rejects(store.documents.commit([put('b')], undefined), { code: 'store_away' })
  await assert.rejects(store.hits.add([hit]), { code: 'store_away' })
  assert.ok(await store.documents.find('api', 'api_id', 'a'))
  await store.startWriter()
  assert.equal(store.writerUp, true)
  await store.documents.commit([put('b')], undefined)
  assert.ok(await store.documents.find('api', 'api_id', 'b'))
})

test(`the feed reports each commit once over ${DEATHS} deaths of the writer`, async (t) => {
  const store = await openStore({ path: temporaryFolder(t), keepWriter: false })
  t.after(() => store.close())
  const events: FeedEvent[] = []
  store.feed.subscribe((event) => events.push(event))
  let acknowledged = 0
  let unanswered = 0
  for (let round = 0; round < DEATHS; round++) {
    const commits = Array.from({ length: 300 }, (_, n) => {
      const hash = hashKey(`${round} ${n}`)
      return store.documents.commit([{ op: 'putSession', hash, row }], undefined).then(
        () => acknowledged++,
        (error) => {
          assert.equal(error.code, 'store_away')
          unanswered++
        },
      )
    })
    const dead = death(store)
    await wait(randomInt(6))
    await store.stopWriter()
    await Promise.all([...commits, dead])
    await store.startWriter()
  }
  const revision = store.documents.revision()
  t.diagnostic(
    `${acknowledged} acknowledged, ${revision - acknowledged} of ${unanswered} without an answer were durable`,
  )
  assert.deepEqual(
    events.map((event) => event.revision),
    Array.from({ length: revision }, (_, i) => i + 1),
  )
  assert.equal(await store.tokens.countSessions({}), revision)
  for (const { sessions } of events) assert.ok(await store.tokens.getSession(sessions[0]!))
})

test('a writer that ends comes back by itself', async (t) => {
  const lines: string[] = []
  const note = (_: unknown, line: string) => void lines.push(line)
  const log = { debug: note, info: note, warn: note, error: note }
  const store = await openStore({ path: temporaryFolder(t), log })
  t.after(() => store.close())
  const dead = death(store)
  await store.stopWriter()
  await dead
  while (!store.writerUp) await wait(5)
  await store.documents.commit([put('a')], undefined)
  assert.match(lines.join('\n'), /the store writer ended[\s\S]*accepts writes again/)
})

test('a writer out of its memory ends alone', async (t) => {
  const store = await openStore({
    path: temporaryFolder(t),
    keepWriter: false,
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  })
  t.after(() => store.close())
  await store.documents.commit([put('a')], undefined)
  const dead = death(store)
  const text = 'x'.repeat(20_000)
  const flood = Array.from({ length: 3_000 }, (_, n) => {
    const change: Change = { op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: `${n}`, text } }
    return store.documents.commit([change], undefined)
  })
  const results = await Promise.allSettled(flood)
  assert.match(String((await dead).cause), /memory/)
  assert.ok(results.some(({ status }) => status === 'rejected'))
  assert.ok(await store.documents.find('api', 'api_id', 'a'))
  await store.startWriter()
  await store.documents.commit([put('b')], undefined)
})

test('closing finishes what was accepted, refuses what comes after, and may be called twice', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path })
  const commits = Array.from({ length: 500 }, (_, n) => store.documents.commit([put(`${n}`)], undefined))
  const closed = Promise.all([store.close(), store.close()])
  assert.equal((await Promise.all(commits)).length, 500)
  await closed
  await assert.rejects(store.documents.commit([put('late')], undefined), { code: 'store_away' })
  assert.throws(() => store.documents.revision(), { code: 'store_away' })
  const again = await openStore({ path })
  t.after(() => again.close())
  assert.equal((await again.documents.list('api', { limit: 0 })).total, 500)
  assert.equal(again.documents.revision(), 500)
})
