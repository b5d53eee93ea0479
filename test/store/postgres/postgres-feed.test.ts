import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change, FeedEvent } from '../../../src/store/ports/ports.ts'
import { makePool, readAddress } from '../../../src/store/postgres/connection/connect.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { PoolDb } from '../../../src/store/postgres/connection/pool-db.ts'
import { Reachability } from '../../../src/store/postgres/connection/reachability.ts'
import { shortenFeed } from '../../../src/store/postgres/writer/maintenance.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { freshDatabase, runSql } from '../../worlds/servers/postgres.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const putSession = (name: string): Change => ({ op: 'putSession', hash: hashKey(name), row })

async function openOn(t: TestContext, url: string): Promise<{ store: PostgresStore; heard: FeedEvent[] }> {
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const heard: FeedEvent[] = []
  store.feed.subscribe((event) => heard.push(event))
  return { store, heard }
}

const revisions = (events: readonly FeedEvent[]) => events.map(({ revision }) => revision)
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

test('three processes receive all commits once, in order, their own before the response', async (t) => {
  const url = await freshDatabase()
  const all = [await openOn(t, url), await openOn(t, url), await openOn(t, url)]
  const committed: Promise<void>[] = []
  for (let n = 0; n < 300; n++) {
    const { store, heard } = all[n % 3]!
    const commit = store.documents.commit([putSession(`key ${n}`)], undefined).then((revision) => {
      assert.deepEqual(Buffer.from(heard[revision - 1]!.sessions[0]!), hashKey(`key ${n}`))
    })
    committed.push(commit)
    // Some at once, some one after the other.
    if (n % 10 === 9) await Promise.all(committed)
  }
  await Promise.all(committed)
  for (const { heard } of all) {
    await eventually('all are heard of', () => heard.length === 300)
    assert.deepEqual(revisions(heard), upTo(300))
    assert.deepEqual(heard, all[0]!.heard)
  }
})

test('an edit is heard of at once by others, and a refused unique value is refused for all', async (t) => {
  const url = await freshDatabase()
  const [one, two] = [await openOn(t, url), await openOn(t, url)]
  const heard = new Promise<FeedEvent>((resolve) => two.store.feed.subscribe(resolve))
  const id = newDocumentId()
  const startedAt = performance.now()
  await one.store.documents.commit([{ op: 'put', kind: 'api', id, body: { api_id: 'a' } }], undefined)
  assert.deepEqual(await heard, { revision: 1, changes: [{ op: 'put', kind: 'api', id }], sessions: [] })
  t.diagnostic(`heard after ${Math.round(performance.now() - startedAt)} ms`)
  const again: Change[] = [{ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: 'a' } }]
  await assert.rejects(two.store.documents.commit(again, undefined), { code: 'already_exists' })
})

test('a listener whose connection is lost hears of everything all the same, and listens again', async (t) => {
  const url = await freshDatabase()
  const [one, two] = [await openOn(t, url), await openOn(t, url)]
  assert.equal(two.store.listening, true)
  for (let round = 0; round < 3; round++) {
    // Everything that listens, in the middle of commits.
    const kill = runSql(
      url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    )
    const commits = upTo(20).map((n) => one.store.documents.commit([putSession(`${round} ${n}`)], undefined))
    await Promise.all([kill, ...commits])
    await eventually('all are heard of', () => two.heard.length === 20 * (round + 1))
    assert.deepEqual(revisions(two.heard), upTo(20 * (round + 1)))
    await eventually('it listens again', () => two.store.listening)
  }
})

test('without a notice, commits are found by polling', async (t) => {
  const url = await freshDatabase()
  const { heard } = await openOn(t, url)
  const { store: other } = await openOn(t, url)
  // As a lost notice: the feed has grown, without a notice.
  const startedAt = performance.now()
  await runSql(
    url,
    `WITH told AS (INSERT INTO feed(upto, first, writer, events) VALUES (1, 1, 'x', '[[[],""]]'))
      UPDATE store_state SET revision = 1`,
  )
  await eventually('it is heard of', () => heard.length === 1)
  t.diagnostic(`found after ${Math.round(performance.now() - startedAt)} ms`)
  assert.equal(await other.documents.commit([], undefined), 2)
  await eventually('the next is heard of', () => heard.length === 2)
  assert.deepEqual(revisions(heard), [1, 2])
})

test('a listener away for longer than the feed is kept learns of the gap', async (t) => {
  const url = await freshDatabase()
  const [one, two] = [await openOn(t, url), await openOn(t, url)]
  await one.store.documents.commit([], undefined)
  await eventually('the first is heard of', () => two.heard.length === 1)
  // An hour without PostgreSQL: commits whose rows of the feed are deleted.
  await runSql(
    url,
    `WITH told AS (INSERT INTO feed(upto, first, writer, events) VALUES (9, 8, 'x', '[[[],""],[[],""]]'))
      UPDATE store_state SET revision = 9`,
  )
  await eventually('what is left is heard of', () => two.heard.length === 4)
  assert.deepEqual(revisions(two.heard), [1, 7, 8, 9])
  assert.deepEqual(two.heard[1], { revision: 7, changes: [], sessions: [], missed: true })
  assert.equal(await two.store.documents.commit([], undefined), 10)
})

test('over three processes one of 100 uses of a ticket wins, and one of each unique value', async (t) => {
  const url = await freshDatabase()
  const stores = (await Promise.all([openOn(t, url), openOn(t, url), openOn(t, url)])).map(({ store }) => store)
  const end = Date.now() + 1_000_000
  const ticket = {
    sort: 'code',
    apiId: 'a',
    clientId: 'c',
    family: '',
    expiresAt: end,
    keepUntil: end,
    body: {},
  } as const
  for (let round = 0; round < 5; round++) {
    const hash = hashKey(`ticket ${round}`)
    await stores[0]!.documents.commit([{ op: 'putTicket', hash, row: ticket }], undefined)
    const races: ((n: number) => Change)[] = [
      () => ({ op: 'claimTicket', hash, sort: 'code', now: 1 }),
      () => ({ op: 'putSession', hash, row, ifAbsent: true }),
      () => ({ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: `${round}` } }),
    ]
    for (const race of races) {
      const results = await Promise.allSettled(
        Array.from({ length: 100 }, (_, n) =>
          stores[n % 3]!.documents.commit([race(n), putSession(`${round} ${n}`)], undefined),
        ),
      )
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    }
  }
})

test('whoever commits while he is far behind hears of everything before his own commit, in order', async (t) => {
  const url = await freshDatabase()
  const { store, heard } = await openOn(t, url)
  await runSql(
    url,
    `WITH told AS (INSERT INTO feed(upto, first, writer, events) SELECT n, n, 'x', '[[[],""]]' FROM generate_series(1, 500) n)
      UPDATE store_state SET revision = 500`,
  )
  assert.equal(await store.documents.commit([putSession('own')], undefined), 501)
  assert.deepEqual(revisions(heard), upTo(501))
})

test('the feed is shortened by what is older than an hour, oldest first, and nothing else', async (t) => {
  const url = await freshDatabase()
  const pool = makePool(readAddress(url), 2, silentLog)
  t.after(() => pool.end())
  await runSql(
    url,
    `INSERT INTO feed(upto, first, writer, events, at)
      SELECT n, n, 'x', '[]', now() - (10 - n) * interval '20 minutes' FROM generate_series(1, 9) n`,
  )
  assert.equal(await shortenFeed(new PoolDb(pool, new Reachability())), 7)
  assert.deepEqual(await runSql(url, 'SELECT upto::int FROM feed ORDER BY upto'), [{ upto: 8 }, { upto: 9 }])
})
