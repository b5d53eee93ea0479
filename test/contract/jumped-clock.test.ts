import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { FakeClock } from '../../src/model/time/clock.ts'
import type { Change, Store } from '../../src/store/ports/ports.ts'
import { openPostgresStore } from '../../src/store/postgres/connection/open.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { freshDatabase } from '../worlds/servers/postgres.ts'

const HOUR_MS = 3_600_000
/** Stores that keep data for good. Each deletes what is due when `purge` is called. */
const STORES: Readonly<
  Record<string, (t: TestContext, clock: FakeClock) => Promise<Store & { purge(): Promise<number> }>>
> = {
  SQLite(t, clock) {
    const path = mkdtempSync(join(tmpdir(), 'gatehouse-jump-'))
    t.after(() => rmSync(path, { recursive: true }))
    return openStore({ path, clock })
  },
  async PostgreSQL(_, clock) {
    return openPostgresStore({ url: await freshDatabase(), clock })
  },
}

for (const [name, open] of Object.entries(STORES))
  test(`a wall clock that is hours ahead for a while deletes nothing for good: ${name}`, async (t) => {
    const clock = new FakeClock(Date.now())
    const store = await open(t, clock)
    t.after(() => store.close())
    const [session, ticket] = [hashKey('session'), hashKey('ticket')]
    const due = clock.wall() + HOUR_MS
    const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '' }
    const refresh = { sort: 'refresh', apiId: 'a', clientId: 'c', family: '', body: {} } as const
    const changes: Change[] = [
      { op: 'putSession', hash: session, row: { ...row, evictAt: due } },
      { op: 'putSession', hash: hashKey('expired'), row: { ...row, evictAt: clock.wall() - 1 } },
      { op: 'putTicket', hash: ticket, row: { ...refresh, expiresAt: due, keepUntil: due } },
    ]
    await store.documents.commit(changes, undefined)
    clock.wallMs += 2 * HOUR_MS
    assert.equal(await store.purge(), 1, 'what is due by every clock')
    clock.wallMs -= 2 * HOUR_MS
    assert.notEqual(await store.tokens.getSession(session), undefined)
    assert.notEqual(await store.tokens.getTicket(ticket), undefined)
  })
