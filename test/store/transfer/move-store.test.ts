import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Config } from '../../../src/config/schema.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { giveUpMove, migrateStore } from '../../../src/process/migrate-store.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import type { MovedSource } from '../../../src/store/ports/transfer.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { openPostgresSource } from '../../../src/store/postgres/transfer/open.ts'
import { moveStore } from '../../../src/store/prepare/move-store.ts'
import { RedisCounters, redisQuotas } from '../../../src/store/redis/counters.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { emptyDatabase } from '../../worlds/servers/postgres.ts'
import { commonRedis } from '../../worlds/servers/redis.ts'
import { anyContents, type Contents, fillStore, viewOf } from '../../worlds/store/full-store.ts'
import { PLACES } from '../../worlds/store/transfer-places.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const numRuns = DEEP ? 5 : 1
const WAYS = DEEP
  ? Object.keys(PLACES).flatMap((from) => Object.keys(PLACES).map((to) => [from, to] as const))
  : ([
      ['sqlite', 'postgres'],
      ['postgres', 'sqlite'],
    ] as const)

/** A source whose store changes after the first snapshot, as one that serves does. */
function changing(source: MovedSource, change: () => Promise<void>): MovedSource {
  return {
    ...source,
    async freeze(level) {
      if (level === 'commits') await change()
      await source.freeze(level)
    },
  }
}

/** Other contents over the first, and some of the first gone. */
async function rewrite(store: Store, first: Contents, second: Contents): Promise<void> {
  await fillStore(store, second)
  const [document] = first.documents
  await store.documents.commit(
    [
      { op: 'delete', kind: document!.kind, id: document!.id },
      { op: 'deleteSession', hash: hashKey(first.sessions[0]!.name) },
      { op: 'deleteTicket', hash: hashKey(first.tickets[0]!.name) },
      { op: 'endFamily', family: 'f1' },
    ],
    { actor: 'a', action: 'delete', orgId: 'o', at: 1, detail: {} },
  )
  await store.records.purgeRecords({ before: 0, keep: 5 })
}

async function worldOf(t: TestContext, from: string, to: string, contents: Contents) {
  const [first, second] = [await PLACES[from]!(t), await PLACES[to]!(t)]
  const store = await first.open()
  t.after(() => store.close())
  await fillStore(store, contents)
  await first.settle(store)
  return { first, second, store }
}

for (const [from, to] of WAYS) {
  test(`a ${from} store that is written to moves into a ${to} store, and reads the same there`, async (t) => {
    const property = fc.asyncProperty(anyContents, anyContents, async (contents, later) => {
      const { first, second, store } = await worldOf(t, from, to, contents)
      const [source, target] = [first.source(), second.target()]
      const change = async () => {
        await rewrite(store, contents, later)
        await first.settle(store)
      }
      const { revision } = await moveStore(changing(source, change), target, { countsMs: 0 })
      await Promise.all([source.close(), target.close()])
      await assert.rejects(store.documents.commit([{ op: 'deleteTicket', hash: hashKey('x') }], undefined), {
        code: 'store_frozen',
      })
      const expected = [await viewOf(store, contents), await viewOf(store, later)]
      await store.close()
      // Nodes of a cluster start, and serve what can be read.
      if (from === 'sqlite') await assert.rejects(first.open(), { code: 'store_frozen' })
      const copy = await second.open()
      t.after(() => copy.close())
      assert.deepEqual([await viewOf(copy, contents), await viewOf(copy, later)], expected)
      assert.equal(await copy.documents.commit([{ op: 'deleteTicket', hash: hashKey('x') }], undefined), revision + 1)
    })
    await fc.assert(property, { numRuns, endOnFailure: true })
  })

  test(`a move from ${from} to ${to} that is stopped leaves an empty store, and the other as it was`, async (t) => {
    const [contents] = fc.sample(anyContents, 1) as [Contents]
    const { first, second, store } = await worldOf(t, from, to, contents)
    for (const at of ['copy', 'compare']) {
      const stop = new AbortController()
      const [source, target] = [first.source(), second.target()]
      const onStep = (step: string) => step === at && stop.abort(new Error('stopped'))
      await assert.rejects(moveStore(source, target, { onStep, stop: stop.signal, countsMs: 0 }), /stopped/)
      await store.documents.commit([{ op: 'deleteTicket', hash: hashKey('x') }], undefined)
      await Promise.all([source.close(), target.close()])
    }
    const empty = await second.open()
    t.after(() => empty.close())
    assert.equal(await empty.documents.revision(), 0)
  })
}

test('moves of one cluster from several machines refuse each other', async (t) => {
  const [url, redis] = [await emptyDatabase(), await commonRedis()]
  const counters = new RedisCounters({ url: redis.url, prefix: 'two-moves:{counts}:' })
  t.after(() => counters.close())
  const quotas = redisQuotas(counters)
  const store = await openPostgresStore({ url })
  await store.documents.commit([{ op: 'deleteTicket', hash: hashKey('x') }], undefined)
  await store.close()
  const machine = () => ({ path: temporaryFolder(t), postgres_url: url, redis_url: redis.url }) as Config['storage']
  const target = { path: join(temporaryFolder(t), 'moved'), postgres_url: '', redis_url: '' }
  const first = openPostgresSource({ url, quotas })
  await first.claim()
  const refused = { code: 'move_running', message: /another migrate-store/ }
  await assert.rejects(migrateStore(machine(), target, { countsMs: 0 }), refused)
  await assert.rejects(giveUpMove(machine()), refused)
  await first.close()
  await eventually('the lock is free', () =>
    giveUpMove(machine()).then(
      () => true,
      () => false,
    ),
  )
  const { revision } = await migrateStore(machine(), target, { countsMs: 0 })
  assert.ok(revision > 0)
})

test('while writes are refused, a move from a cluster reads and writes only what changed', async (t) => {
  const contents = fc.sample(anyContents, 20)
  const { first, second, store } = await worldOf(t, 'postgres', 'sqlite', contents[0]!)
  for (const more of contents.slice(1)) await fillStore(store, more)
  const session = { body: { alias: 'late' }, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
  const change = async () => {
    const late = { op: 'putSession', hash: hashKey('late'), row: session } as const
    await store.documents.commit([late], { actor: 'a', action: 'late', orgId: 'o', at: 1, detail: {} })
  }
  const [source, target] = [changing(first.source(), change), second.target()]
  const steps: string[] = []
  const [read, written]: Record<string, number>[] = [{}, {}]
  const count = (sums: Record<string, number>, table: string, rows: readonly unknown[]) => {
    if (steps.includes('all')) sums[table] = (sums[table] ?? 0) + rows.length
  }
  const counted: MovedSource = {
    ...source,
    async freeze(level) {
      steps.push(level)
      await source.freeze(level)
    },
    snapshot: (use) =>
      source.snapshot((snapshot) =>
        use({
          ...snapshot,
          async *rows(table) {
            for await (const rows of snapshot.rows(table)) {
              count(read!, table, rows)
              yield rows
            }
          },
        }),
      ),
  }
  await moveStore(
    counted,
    {
      ...target,
      load: (fill) =>
        target.load((write, edit) =>
          fill(
            (table, rows) => {
              count(written!, table, rows)
              return write(table, rows)
            },
            {
              ...edit,
              async settle() {
                steps.push('settle')
                await edit.settle()
              },
            },
          ),
        ),
    },
    { countsMs: 0 },
  )
  assert.deepEqual(steps, ['settle', 'commits', 'all'], 'what was copied is durable before writes are refused')
  // Counts of Redis, and hits that are in no table yet: neither has a digest.
  const { quota: _q, hit_journal: _h, ...whole } = read!
  assert.deepEqual(whole, {}, 'tables that were read whole in the freeze')
  const { quota: _quota, hit_journal: _hits, audit_change: _changes, ...rest } = written!
  assert.deepEqual(rest, { session: 1, audit: 1 })
  await Promise.all([source.close(), target.close(), store.close()])
  const copy = await second.open()
  t.after(() => copy.close())
  assert.deepEqual((await copy.tokens.getSession(hashKey('late')))?.body, session.body)
})
