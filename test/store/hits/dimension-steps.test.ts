import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { DimensionRow } from '../../../src/model/analytics/dimensions.ts'
import { columnsUntil, withDimensionSteps } from '../../../src/store/hits/dimension-steps.ts'
import { MIGRATIONS, migrate } from '../../../src/store/sqlite/migrations/schema.ts'
import { addDimensionSql } from '../../../src/store/sqlite/migrations/schema-rollups.ts'

const later = (column: string, embedded: number): DimensionRow => ({ column, since: { embedded, postgres: embedded } })
const joined = (columns: readonly string[]) => columns.join(' ')

test('a later dimension joins the steps at its version, with the columns of that time', () => {
  const rows = [{ column: 'first' }, later('second', 2), later('third', 4)]
  assert.deepEqual(withDimensionSteps('embedded', ['one', 'three'], joined, rows), [
    'one',
    'first second',
    'three',
    'first second third',
  ])
  assert.deepEqual(columnsUntil('embedded', 3, rows), ['first', 'second'])
})

test('a dimension whose version is taken, or skips one, is refused', () => {
  for (const versions of [[2, 2], [3, 2], [3], [5]]) {
    const rows = versions.map((version, i) => later(`c${i}`, version))
    assert.throws(() => withDimensionSteps('embedded', ['one'], joined, rows), /no separate version/)
  }
})

test('data from before a dimension keep its numbers, and are distinguished afterwards', (t) => {
  const db = new DatabaseSync(':memory:')
  t.after(() => db.close())
  migrate(db)
  const columns = columnsUntil('embedded', MIGRATIONS.length)
  const insert = (names: readonly string[], values: readonly string[]) =>
    db
      .prepare(`INSERT INTO hit_dimension(${names.join(', ')}) VALUES (${values.map(() => '?').join(', ')})`)
      .run(...values).lastInsertRowid
  const texts = columns.map((name) => `a ${name}`)
  assert.equal(insert(columns, texts), 1)
  migrate(db, [...MIGRATIONS, addDimensionSql([...columns, 'colour'])])
  assert.deepEqual(
    { ...db.prepare('SELECT row, key_hash, country, colour FROM hit_dimension').get() },
    {
      ...{ row: 1, key_hash: 'a key_hash', country: 'a country', colour: '' },
    },
  )
  assert.equal(insert([...columns, 'colour'], [...texts, 'red']), 2)
  assert.throws(() => insert([...columns, 'colour'], [...texts, '']), /UNIQUE/)
  const indexes = db.prepare("SELECT name FROM sqlite_schema WHERE tbl_name = 'hit_dimension' AND type = 'index'").all()
  assert.deepEqual(indexes.map(({ name }) => name).sort(), [
    'hit_dimension_by_client',
    'sqlite_autoindex_hit_dimension_1',
  ])
})
