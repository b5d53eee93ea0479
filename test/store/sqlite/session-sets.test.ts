import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { Change, SessionFilter, SessionInput } from '../../../src/store/ports/ports.ts'
import { prepareSessionFilter } from '../../../src/store/prepare/session-filter.ts'
import { openReadable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { FEW, matchingNumbers } from '../../../src/store/sqlite/tokens/session-sets.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const SESSIONS = 3 * FEW
const APIS = 300
const POLICIES = 30
const LAPSE_MS = 1_000_000

const idsOf = (prefix: string, count: number, every = 1) =>
  Array.from({ length: count }, (_, n) => n)
    .filter((n) => n % every === 0)
    .map((n) => `${prefix}${n}`)

/** Every seventh has its own access rights as well, every eleventh expires, one in five is a token. */
const sessions = Array.from({ length: SESSIONS }, (_, n) => ({
  hash: hashKey(`key ${n}`),
  row: {
    body: { alias: `${n % 3 === 0 ? 'Third' : 'Other'} of ${n}` },
    orgId: n % 50 === 0 ? 'far' : 'o',
    apiIds: n % 7 === 0 ? [`a${n % APIS}`, `a${(n * 13) % APIS}`] : [],
    policyIds: [`p${n % POLICIES}`],
    clientId: n % 5 === 0 ? 'c' : '',
    evictAt: n % 11 === 0 ? LAPSE_MS : 0,
  } satisfies SessionInput,
}))

async function filled(t: TestContext): Promise<{ store: SqliteStore; clock: FakeClock; path: string }> {
  const [path, clock] = [temporaryFolder(t), new FakeClock(0)]
  const store = await openStore({ path, clock })
  t.after(() => store.close())
  await store.documents.commit(
    sessions.map(({ hash, row }): Change => ({ op: 'putSession', hash, row })),
    undefined,
  )
  return { store, clock, path }
}

const hexOfFirst = Buffer.from(sessions[1]!.hash).toString('hex')
const EVERYTHING = { apiIds: idsOf('a', APIS), policyIds: idsOf('p', POLICIES) }
const A_THIRD = { apiIds: idsOf('a', APIS, 3), policyIds: idsOf('p', POLICIES, 3) }
const FILTERS: readonly SessionFilter[] = [
  { only: 'keys', orgId: 'o', reach: EVERYTHING },
  { only: 'keys', orgId: 'o', reach: A_THIRD },
  { only: 'keys', reach: { apiIds: idsOf('a', APIS), policyIds: [] } },
  { only: 'keys', orgId: 'o', reach: { apiIds: ['a7'], policyIds: [] }, contains: 'third' },
  { only: 'keys', orgId: 'o', contains: 'other' },
  { only: 'keys', orgId: 'o', reach: EVERYTHING, contains: 'other' },
  { only: 'keys', orgId: 'o', reach: A_THIRD, contains: 'of 123' },
  { orgId: 'far', contains: 'of' },
  { clientId: 'c', policyId: 'p5', reach: EVERYTHING },
  { clientId: 'c', orgId: 'o', policyId: 'p5' },
  { contains: 'nobody', reach: EVERYTHING },
  { contains: hexOfFirst.slice(0, 4), orgId: 'o', only: 'keys' },
  { contains: hexOfFirst.slice(0, 9), reach: EVERYTHING },
]

function naive({ orgId, clientId, policyId, only, reach, contains = '' }: SessionFilter, wall: number) {
  return sessions.filter(({ hash, row }) => {
    const reached =
      reach === undefined ||
      row.apiIds.some((id) => reach.apiIds.includes(id)) ||
      row.policyIds.some((id) => reach.policyIds.includes(id))
    return (
      reached &&
      (orgId === undefined || row.orgId === orgId) &&
      (clientId === undefined || row.clientId === clientId) &&
      (policyId === undefined || row.policyIds.includes(policyId)) &&
      (only === undefined || row.clientId === '') &&
      (row.body.alias.toLowerCase().includes(contains) ||
        (/^[0-9a-f]{4,}$/.test(contains) && Buffer.from(hash).toString('hex').startsWith(contains))) &&
      (row.evictAt === 0 || row.evictAt > wall)
    )
  })
}

test('lists of thousands of sessions equal a naive search, on every page', async (t) => {
  const { store, clock } = await filled(t)
  const hex = (rows: readonly { readonly hash: Uint8Array }[]) =>
    rows.map(({ hash }) => Buffer.from(hash).toString('hex'))
  for (const wall of [0, LAPSE_MS]) {
    clock.advance(wall - clock.wall())
    for (const filter of FILTERS) {
      const found = hex(naive(filter, wall))
      assert.equal(await store.tokens.countSessions(filter), found.length, JSON.stringify(filter).slice(0, 200))
      for (const offset of [0, Math.floor(found.length / 2), Math.max(0, found.length - 2)]) {
        const page = await store.tokens.listSessions({ ...filter, offset, limit: 5 })
        assert.deepEqual(hex(page.rows), found.slice(offset, offset + 5))
        if (page.next === undefined) continue
        const next = await store.tokens.listSessions({ ...filter, after: page.next, limit: 3 })
        assert.deepEqual(hex(next.rows), found.slice(offset + 5, offset + 8))
      }
    }
  }
})

test('a set that is remembered is read again once anything was written', async (t) => {
  const { store } = await filled(t)
  const filter: SessionFilter = { only: 'keys', orgId: 'o', reach: A_THIRD }
  const total = await store.tokens.countSessions(filter)
  const { rows } = await store.tokens.listSessions({ ...filter, limit: 2 })
  await store.documents.commit([{ op: 'deleteSession', hash: rows[0]!.hash }], undefined)
  assert.equal(await store.tokens.countSessions(filter), total - 1)
  const { rows: after } = await store.tokens.listSessions({ ...filter, limit: 1 })
  assert.deepEqual(after[0]!.hash, rows[1]!.hash)
})

test('a search reads no more entries than its shortest part and what that leaves', async (t) => {
  const { path } = await filled(t)
  const db = openReadable(join(path, 'gatehouse.db'))
  t.after(() => db.close())
  const read = (filter: SessionFilter) => {
    let numbers = 0
    matchingNumbers(prepareSessionFilter(filter), ({ text, values }) => {
      const { found } = db.prepare(text).get(...values)!
      if (typeof found === 'string') numbers += JSON.parse(found).length
      return found
    })
    return numbers
  }
  const few = naive({ contains: 'of 123' }, 0).length
  assert.ok(few > 1 && few < 20)
  // A rare alias: it alone is searched for, then what it leaves is looked up.
  assert.ok(read({ only: 'keys', orgId: 'o', reach: EVERYTHING, contains: 'of 123' }) <= 3 * few)
  // A few APIs: the keys of these alone.
  const own = sessions.filter(({ row }) => row.apiIds.includes('a7')).length
  assert.ok(read({ only: 'keys', orgId: 'o', reach: { apiIds: ['a7'], policyIds: [] }, contains: 'third' }) <= 3 * own)
  // Everything is in it: each set once.
  assert.ok(read({ only: 'keys', orgId: 'o', reach: EVERYTHING }) <= 3 * SESSIONS)
})
