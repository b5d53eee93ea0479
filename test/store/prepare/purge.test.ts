import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { prepareCommit } from '../../../src/store/prepare/prepare.ts'
import { auditRows } from '../../../src/store/sqlite/audit/apply-audit.ts'
import { openReadable, openWritable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { ThreadEndGuard } from '../../../src/store/sqlite/hits/thread-end-guard.ts'
import { sessionRows } from '../../../src/store/sqlite/tokens/apply-session.ts'
import { ticketRows } from '../../../src/store/sqlite/tokens/apply-ticket.ts'
import { deliveryRows } from '../../../src/store/sqlite/tokens/outbox.ts'
import { commitApplier } from '../../../src/store/sqlite/writer/apply-commit.ts'
import { purger } from '../../../src/store/sqlite/writer/maintenance-schedule.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { eventually } from '../../worlds/base/eventually.ts'

const HOUR_MS = 3_600_000
const DAYS = 30
const PER_HOUR = process.env.GATEHOUSE_DEEP === '1' ? 160 : 16

/** The rows of one issue: a token of an hour, a refresh token of two days, remembered for a third, and a used code. */
function issue(n: number, now: number): Change[] {
  const family = `family ${n}`
  const common = { apiId: 'a', clientId: `client ${n % 7}`, family, body: { scope: 'x'.repeat(n % 300) } }
  const code = { sort: 'code', expiresAt: now + 60_000, keepUntil: now + HOUR_MS } as const
  const refresh = { sort: 'refresh', expiresAt: now + 48 * HOUR_MS, keepUntil: now + 72 * HOUR_MS } as const
  return [
    { op: 'putTicket', hash: hashKey(`code ${n}`), row: { ...common, ...code } },
    { op: 'claimTicket', hash: hashKey(`code ${n}`), sort: 'code', now },
    {
      ...{ op: 'putSession', hash: hashKey(`token ${n}`) },
      row: { ...common, orgId: 'o', apiIds: ['a'], policyIds: ['p'], evictAt: now + HOUR_MS },
    },
    { op: 'putTicket', hash: hashKey(`refresh ${n}`), row: { ...common, ...refresh } },
    { op: 'putDelivery', row: { queue: 'a', sealed: Buffer.alloc(200), createdAt: now } },
  ]
}

/** Rows of each table, and of the lists of sessions. */
function countRows(file: string): Record<string, number> {
  const db = openReadable(file)
  try {
    const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n as number
    return Object.fromEntries(['session', 'session_ref', 'ticket', 'delivery'].map((table) => [table, count(table)]))
  } finally {
    db.close()
  }
}

test(`${DAYS} days of ${PER_HOUR} issues an hour: rows and file reach a ceiling`, async (t) => {
  const path = temporaryFolder(t)
  const file = join(path, 'gatehouse.db')
  const clock = new FakeClock()
  const store = await openStore({ path, clock })
  t.after(() => store.close())
  let issued = 0
  let sent = 0
  const sizes: number[] = []
  for (let hour = 0; hour < DAYS * 24; hour++) {
    clock.advance(HOUR_MS)
    const now = clock.wall()
    const commits = Array.from({ length: PER_HOUR }, () => store.documents.commit(issue(++issued, now), undefined))
    await Promise.all(commits)
    const delivered = Array.from({ length: PER_HOUR }, () => ++sent)
    const settled = delivered.map((id): Change => ({ op: 'settleDelivery', id, outcome: { is: 'delivered' } }))
    await store.documents.commit(settled, undefined)
    await store.purge()
    if (hour % 24 === 23) sizes.push(statSync(file).size)
  }
  // Of the last hour the tokens and codes, of the last three days the refresh tokens.
  const ticket = PER_HOUR * (1 + 72)
  assert.deepEqual(countRows(file), { session: PER_HOUR, session_ref: 4 * PER_HOUR, ticket, delivery: 0 })
  const ceiling = Math.max(...sizes.slice(4, 10))
  t.diagnostic(`${issued} issues; file after each day (kB): ${sizes.map((size) => Math.round(size / 1000)).join(' ')}`)
  assert.ok(Math.max(...sizes.slice(10)) <= ceiling * 1.1, 'the file grows on')
})

test('the store forgets what is due without being asked, while others write', async (t) => {
  const path = temporaryFolder(t)
  const clock = new FakeClock()
  const store = await openStore({ path, clock })
  t.after(() => store.close())
  const changes = Array.from({ length: 300 }, (_, n) => issue(n, clock.wall())).flat()
  await store.documents.commit(changes, undefined)
  clock.advance(80 * HOUR_MS)
  await eventually('nothing is left but messages', async () => {
    await store.documents.commit([], undefined)
    const { session, session_ref: refs, ticket } = countRows(join(path, 'gatehouse.db'))
    return session === 0 && refs === 0 && ticket === 0
  })
  assert.equal((await store.outbox.list({ queue: 'a', dead: false, after: 0, limit: 1000 })).length, 300)
})

test('rounds of a purge keep the writer from others for 20 ms, one in fifty for longer', (t) => {
  const db = openWritable({ file: join(temporaryFolder(t), 'gatehouse.db'), limitBytes: 0 })
  t.after(() => db.close())
  const [sessions, tickets, deliveries] = [sessionRows(db), ticketRows(db), deliveryRows(db)]
  const apply = commitApplier(db, { sessions, tickets, deliveries, audit: auditRows(db, new ThreadEndGuard()) })
  const now = new FakeClock().wall()
  const transaction = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE')
    const result = work()
    db.exec('COMMIT')
    return result
  }
  for (let n = 0; n < 10_000; n += 1000) {
    const changes = Array.from({ length: 1000 }, (_, i) => issue(n + i, now)).flat()
    transaction(() => apply(prepareCommit(changes, undefined, now), 1))
  }
  const purge = purger(sessions, tickets, deliveries)
  const roundsMs: number[] = []
  for (let left = 30_000; left > 0; ) {
    // Of this thread alone: what else the machine does is not counted.
    const before = process.threadCpuUsage()
    left -= transaction(() => purge(now + 80 * HOUR_MS))
    const { user, system } = process.threadCpuUsage(before)
    roundsMs.push((user + system) / 1000)
    assert.ok(roundsMs.length < 30_000, 'rounds without an end')
  }
  roundsMs.sort((a, b) => a - b)
  const middle = roundsMs[roundsMs.length >> 1]!
  t.diagnostic(
    `${roundsMs.length} rounds, ${middle.toFixed(1)} ms in the middle, ${roundsMs.at(-1)!.toFixed(1)} at most`,
  )
  assert.ok(roundsMs.length >= 10)
  // The collector of the heap, or a checkpoint of the file, falls into some round.
  const long = roundsMs.filter((ms) => ms > 20)
  assert.ok(long.length <= roundsMs.length / 50, `${long.join(', ')} of ${roundsMs.length}`)
})
