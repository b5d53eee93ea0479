import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { APPLICATION_ID, MIGRATIONS, readVersion } from '../../../src/store/sqlite/migrations/schema.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const ID = '00000000000000000000000a' as DocumentId
const VERSION_1 = readFileSync(join(import.meta.dirname, '../../worlds/store/version-1.sql'), 'utf8')

/** A store as a program of version 1 left it: a document, a key, an expired token, a quota and a row of hits. */
function writeVersion1(file: string, clock: FakeClock): void {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${APPLICATION_ID};
    CREATE TABLE schema_version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
    INSERT INTO schema_version VALUES (1, 0)`)
  db.exec(VERSION_1)
  db.exec(`UPDATE store_state SET revision = 3;
    INSERT INTO document(kind, id, revision, body) VALUES ('api', '${ID}', 3, '{"api_id":"a","org_id":"o","name":"Ärger"}');
    INSERT INTO audit(revision, at, actor, action, org_id, detail) VALUES (3, 5, 'Ann', 'api.create', 'o', '{"api_id":"a"}')`)
  const session = db.prepare(`INSERT INTO session(hash, org_id, client_id, links, evict_at, sealed_key, body)
    VALUES (?, 'o', ?, '[["a"],["p"]]', ?, ?, ?)`)
  const ref = db.prepare('INSERT INTO session_ref(sort, value, session) VALUES (?, ?, ?)')
  for (const [name, client, evictAt, body] of [
    ['key', '', 0, '{"alias":"x"}'],
    ['token', 'c', clock.wall() - 1, '{"alias":"STRASSE"}'],
    ['nameless', '', 0, '{"alias":["x"]}'],
    ['named', '', 0, '{"alias":"Straße"}'],
  ] as const) {
    const row = session.run(hashKey(name), client, evictAt, Buffer.from('sealed'), body).lastInsertRowid
    for (const [sort, value] of [
      [1, 'o'],
      [2, 'a'],
      [3, 'p'],
    ] as const)
      ref.run(sort, value, row)
    if (client !== '') ref.run(4, client, row)
  }
  db.exec(`INSERT INTO quota(id, used, ends_at) VALUES ('q', 5, ${clock.wall() + 3_600_000})`)
  db.exec("INSERT INTO hit_dimension VALUES (1, 'o', 'a', '', 'k', '', '', '', '')")
  const columns = db.prepare('PRAGMA table_info(hit)').all().length
  const numbers = [1, 1, 200, 7, 7, 0, 1, ...Array.from({ length: columns - 7 }, () => 0)]
  db.prepare(`INSERT INTO hit VALUES (${numbers.map(() => '?').join(', ')})`).run(...numbers)
  db.close()
}

test('a data folder of version 1 goes on to work, with all that it holds', async (t) => {
  const path = temporaryFolder(t)
  const file = join(path, 'gatehouse.db')
  const clock = new FakeClock()
  writeVersion1(file, clock)
  for (let start = 0; start < 2; start++) {
    const store = await openStore({ path, clock })
    assert.equal((await store.documents.find('api', 'api_id', 'a'))!.id, ID)
    const key = (await store.tokens.getSession(hashKey('key')))!
    assert.deepEqual([key.body, key.family, key.policyIds], [{ alias: 'x' }, undefined, ['p']])
    assert.equal(await store.tokens.getSession(hashKey('token')), undefined)
    const [hits] = await store.hits.sum({ fromHour: 0, toHour: 9, limit: 9 })
    assert.equal(hits?.count, 7)
    for (const by of [['apiId'], ['keyHash']] as const) {
      const asked = {
        fromDay: 0,
        toDay: 9,
        per: 'day',
        by,
        sort: 'count',
        descending: true,
        offset: 0,
        limit: 9,
      } as const
      assert.deepEqual(
        (await store.hits.usage(asked)).rows.map(({ count }) => count),
        [7],
      )
    }
    const quota = makeLimit('quota', 'q', 9, 3_600_000)
    await store.counters.peek([quota], { wall: clock.wall(), mono: clock.mono() })
    assert.equal(quota.remaining, 4)
    assert.equal(await store.tokens.countSessions({ contains: 'strasse' }), 1)
    assert.equal(await store.tokens.countSessions({ contains: 'x', only: 'keys', orgId: 'o' }), 1)
    assert.equal(await store.tokens.countSessions({ only: 'keys', orgId: 'o' }), 3)
    const { rows, total } = await store.documents.list('api', { contains: { index: 'name', part: 'äR' }, limit: 9 })
    assert.deepEqual([total, rows[0]!.id], [1, ID])
    const audit = await store.audit.list({ user: 'ann', limit: 9 })
    const old = { actor: 'Ann', action: 'api.create', orgId: 'o', at: 5, detail: { api_id: 'a' } }
    assert.deepEqual(audit, { total: 1, rows: [{ ...old, id: audit.rows[0]!.id, revision: 3, changes: [] }] })
    await store.purge()
    assert.equal(await store.tokens.countSessions({ clientId: 'c' }), start)
    const keepUntil = clock.wall() + 1000
    await store.documents.commit(
      [
        {
          ...{ op: 'putTicket', hash: hashKey(`code ${start}`) },
          row: { sort: 'code', apiId: 'a', clientId: 'c', family: 'f', expiresAt: keepUntil, keepUntil, body: {} },
        },
        {
          ...{ op: 'putSession', hash: hashKey('another') },
          row: { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: 'c', evictAt: 0, family: 'f' },
        },
        { op: 'putDelivery', row: { queue: 'a', sealed: Buffer.from('m'), createdAt: 1 } },
      ],
      undefined,
    )
    assert.equal((await store.outbox.list({ queue: 'a', dead: false, after: 0, limit: 9 })).length, start + 1)
    await store.close()
  }
  const db = new DatabaseSync(file, { readOnly: true })
  t.after(() => db.close())
  assert.equal(readVersion(db), MIGRATIONS.length)
})
