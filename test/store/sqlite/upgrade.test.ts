import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { MIGRATIONS, migrate, readVersion } from '../../../src/store/sqlite/migrations/schema.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { spread } from '../../worlds/base/spread.ts'
import { checkFilled, fixtureClock, fixtureVersions, readFixture } from '../../worlds/store/schema-fixtures.ts'

const ID = '00000000000000000000000a' as DocumentId

/** A data folder as a program of this version left it. */
function writeFixture(path: string, version: number): string {
  const file = join(path, 'gatehouse.db')
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(readFixture('sqlite', version))
  db.close()
  return file
}

/** Objects of the schema by name, and their text without comments and layout. */
function schemaOf(db: DatabaseSync): unknown[] {
  const rows = db.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all()
  return rows.map(({ name, sql }) => [
    name,
    String(sql)
      .replace(/--.*/g, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),]) ?/g, '$1'),
  ])
}

const versions = fixtureVersions('sqlite')
/** The versions from before the first dump that a program wrote by itself: they hold what a store of version 1 was given. */
const EARLY = 8

test('every version has a dump (write-schema-fixtures.ts writes the newest)', () => {
  assert.deepEqual(
    versions,
    MIGRATIONS.map((_, at) => at + 1),
  )
})

test('a dump of each version has the schema that its steps make, and becomes that of a new store', async (t) => {
  const [newest, made] = [new DatabaseSync(':memory:'), new DatabaseSync(':memory:')]
  migrate(newest)
  for (const version of versions) {
    const file = writeFixture(temporaryFolder(t), version)
    migrate(made, MIGRATIONS.slice(0, version))
    const db = new DatabaseSync(file)
    assert.deepEqual(schemaOf(db), schemaOf(made), `${version}`)
    migrate(db)
    assert.deepEqual(schemaOf(db), schemaOf(newest), `${version}`)
    db.close()
  }
})

for (const version of versions.filter((each) => each > EARLY))
  test(`a data folder of version ${version} continues to work, with all that it holds`, async (t) => {
    const path = temporaryFolder(t)
    writeFixture(path, version)
    const store = await openStore({ path, clock: fixtureClock() })
    t.after(() => store.close())
    assert.equal(store.damaged(), false)
    await checkFilled(store)
  })

const early = versions.filter((each) => each <= EARLY)
for (const version of spread(early, 0, 4))
  test(`a data folder of early version ${version} continues to work, with all that it holds`, (t) =>
    checkEarly(t, version))

async function checkEarly(t: TestContext, version: number): Promise<void> {
  const path = temporaryFolder(t)
  const clock = fixtureClock()
  const file = writeFixture(path, version)
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
}
