import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { SCHEMA_STEPS } from '../../../src/store/postgres/migrations/migrate.ts'
import { emptyDatabase, freshDatabase, runSql } from '../../worlds/servers/postgres.ts'
import { checkFilled, fixtureClock, fixtureVersions, readFixture } from '../../worlds/store/schema-fixtures.ts'

const versions = fixtureVersions('postgres')

/** Columns and indexes of all tables but the parts by month, which are made when they are needed. */
function schemaOf(url: string): Promise<object[]> {
  return runSql(
    url,
    `SELECT t.relname AS name, coalesce(pg_get_indexdef(t.oid, 0, true), '') AS index, a.attname AS column,
      format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS filled
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p', 'i', 'I') AND NOT t.relispartition
    ORDER BY 1, a.attnum`,
  )
}

test('every version has a dump (write-schema-fixtures.ts writes the newest)', () => {
  assert.deepEqual(
    versions,
    SCHEMA_STEPS.map((_, at) => at + 1),
  )
})

for (const version of versions)
  test(`a database of version ${version} becomes that of a new store, with all that it holds`, async () => {
    const url = await emptyDatabase()
    await runSql(url, readFixture('postgres', version))
    const clock = fixtureClock()
    const open = () => openPostgresStore({ url, clock, counters: new MemoryCounters(clock) })
    // Two programs start at once: its steps are done once.
    const [store, other] = await Promise.all([open(), open()])
    try {
      await checkFilled(store)
    } finally {
      await Promise.all([store.close(), other.close()])
    }
    const done = await runSql<{ version: number }>(url, 'SELECT version FROM gatehouse_version ORDER BY version')
    assert.deepEqual(
      done.map((row) => row.version),
      versions,
    )
    assert.deepEqual(await schemaOf(url), await schemaOf(await freshDatabase()))
  })
