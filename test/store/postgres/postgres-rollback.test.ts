import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type DocumentId, newDocumentId } from '../../../src/model/documents/ids.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import type { Change, FeedEvent } from '../../../src/store/ports/ports.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { freshDatabase, keepDatabase, runSql } from '../../worlds/servers/postgres.ts'

/** A cache of documents that follows the feed as the port says. */
interface Follower {
  readonly store: PostgresStore
  readonly events: FeedEvent[]
  readonly errors: string[]
  readonly cache: Map<string, unknown>
  /** Resolves when nothing of what was heard is left to be read. */
  settled(): Promise<void>
}

async function follow(t: TestContext, url: string): Promise<Follower> {
  const errors: string[] = []
  const log = { ...silentLog, error: (_: object, text: string) => void errors.push(text) }
  const store = await openPostgresStore({ url, log })
  t.after(() => store.close())
  const cache = new Map<string, unknown>()
  const events: FeedEvent[] = []
  let work = Promise.resolve()
  const load = async () => {
    cache.clear()
    for await (const batch of store.documents.scan('policy')) for (const { id, body } of batch) cache.set(id, body.n)
  }
  await load()
  store.feed.subscribe((event) => {
    events.push(event)
    work = work.then(async () => {
      if (event.missed) return load()
      for (const { id } of event.changes) {
        const stored = await store.documents.get('policy', id)
        if (stored === undefined) cache.delete(id)
        else cache.set(id, stored.body.n)
      }
    })
  })
  return { store, events, errors, cache, settled: () => work }
}

const IDS = Array.from({ length: 4 }, () => newDocumentId())
const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 60 : 5

/** Names and ids of policies are unique. */
const bodyOf = (id: DocumentId, n: number) => ({ id, name: id, org_id: 'o', n })

interface Step {
  readonly do: 'put' | 'delete' | 'keep' | 'restore' | 'rest'
  readonly by: 0 | 1
  readonly id: DocumentId
  readonly times: number
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do'][]>('put', 'put', 'put', 'delete', 'keep', 'restore', 'restore', 'rest'),
    by: fc.constantFrom(0, 1),
    id: fc.constantFrom(...IDS),
    times: fc.integer({ min: 1, max: 30 }),
  }),
  { minLength: 4, maxLength: 14 },
)

async function stored(url: string): Promise<Record<string, unknown>> {
  const rows = await runSql<{ id: string; body: string }>(url, "SELECT id, body FROM document WHERE kind = 'policy'")
  return Object.fromEntries(rows.map(({ id, body }) => [id, JSON.parse(body).n]))
}

/** Both hold what the database holds, once they have seen every commit. */
async function agree(url: string, followers: readonly Follower[]): Promise<void> {
  const expected = await stored(url)
  for (const { cache, settled } of followers) {
    const held = async () => {
      await settled()
      return Object.fromEntries(cache)
    }
    await becomes(held, expected)
  }
}

test('whatever is restored while processes write, each comes to hold what the database holds', async (t) => {
  let n = 0
  const property = fc.asyncProperty(steps, async (plan) => {
    const url = await freshDatabase()
    const followers = [await follow(t, url), await follow(t, url)]
    let restore = await keepDatabase(url)
    let restored = false
    for (const step of plan) {
      if (step.do === 'keep') restore = await keepDatabase(url)
      else if (step.do === 'restore') {
        await restore()
        restored = true
      } else if (step.do === 'rest') await agree(url, followers)
      else {
        const { store } = followers[step.by]!
        for (let i = 0; i < step.times; i++) {
          const change: Change =
            step.do === 'put'
              ? { op: 'put', kind: 'policy', id: step.id, body: bodyOf(step.id, n++) }
              : { op: 'delete', kind: 'policy', id: step.id }
          await store.documents.commit([change], undefined)
        }
      }
    }
    await agree(url, followers)
    for (const { errors, store } of followers) {
      if (!restored) assert.deepEqual(errors, [])
      await store.close()
    }
  })
  await fc.assert(property, { numRuns: RUNS })
})

test('a database that is restored and then left alone is found out', async (t) => {
  const url = await freshDatabase()
  const followers = [await follow(t, url), await follow(t, url)]
  const restore = await keepDatabase(url)
  for (const n of [1, 2]) {
    const change = { op: 'put', kind: 'policy', id: IDS[0]!, body: bodyOf(IDS[0]!, n) } as const
    await followers[0]!.store.documents.commit([change], undefined)
  }
  await agree(url, followers)
  await restore()
  await agree(url, followers)
})

test('a restored database is reported once to each process, and commits continue', async (t) => {
  const url = await freshDatabase()
  const followers = [await follow(t, url), await follow(t, url)]
  const put = (by: number, id: DocumentId, body: number) =>
    followers[by]!.store.documents.commit([{ op: 'put', kind: 'policy', id, body: bodyOf(id, body) }], undefined)
  await put(0, IDS[0]!, 1)
  const restore = await keepDatabase(url)
  for (let i = 0; i < 5; i++) await put(1, IDS[1]!, i)
  await agree(url, followers)
  await restore()
  // As many as before, so that only the names of the commits tell the histories apart.
  for (let i = 0; i < 5; i++) await put(0, IDS[2]!, i)
  await agree(url, followers)
  for (const { events, errors } of followers) {
    assert.equal(events.filter(({ wentBack }) => wentBack).length, 1)
    assert.deepEqual(
      errors.map((text) => /another history/.test(text)),
      [true],
    )
  }
  assert.equal(await put(1, IDS[0]!, 9), 7)
  for (const { events } of followers)
    await eventually('the next commit is told', () => events.at(-1)!.revision === 7 && !events.at(-1)!.missed)
})
