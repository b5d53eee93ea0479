import assert from 'node:assert/strict'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type DocumentId, newDocumentId } from '../../../src/model/documents/ids.ts'
import { openWritable, refreshIndexes } from '../../../src/store/sqlite/connection/database.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { MIGRATIONS, readVersion } from '../../../src/store/sqlite/migrations/schema.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const ID = '00000000000000000000000a' as DocumentId

async function filledFolder(t: TestContext): Promise<{ path: string; file: string }> {
  const path = temporaryFolder(t)
  const store = await openStore({ path })
  await store.documents.commit([{ op: 'put', kind: 'api', id: ID, body: { api_id: 'a', org_id: 'o' } }], undefined)
  const bulk = Array.from({ length: 200 }, () => ({ id: newDocumentId(), text: 'x'.repeat(1000) }))
  await store.documents.commit(
    bulk.map(({ id, text }) => ({ op: 'put', kind: 'policy', id, body: { id, text } })),
    undefined,
  )
  await store.close()
  return { path, file: join(path, 'gatehouse.db') }
}

test('data of a newer version is refused and left as it is', async (t) => {
  const { path, file } = await filledFolder(t)
  const db = new DatabaseSync(file)
  db.prepare('INSERT INTO schema_version(version, at) VALUES (?, 0)').run(MIGRATIONS.length + 1)
  db.close()
  const before = readFileSync(file)
  const newer = new RegExp(`version ${MIGRATIONS.length + 1}, this program knows ${MIGRATIONS.length}`)
  await assert.rejects(openStore({ path }), { code: 'store_newer', message: newer })
  assert.deepEqual(readFileSync(file), before)
})

test('data of an older version is brought up step by step, once', async (t) => {
  const { file } = await filledFolder(t)
  const steps = [...MIGRATIONS, 'CREATE TABLE extra(a INTEGER NOT NULL) STRICT', 'INSERT INTO extra VALUES (7)']
  for (let start = 0; start < 2; start++) {
    const db = openWritable({ file, limitBytes: 0 }, steps)
    assert.equal(readVersion(db), MIGRATIONS.length + 2)
    assert.deepEqual(db.prepare('SELECT a FROM extra').all(), [{ __proto__: null, a: 7 }])
    assert.equal(db.prepare('SELECT count(*) AS n FROM document').get()!.n, 201)
    db.close()
  }
})

test('a step that fails leaves the version before it, whole', async (t) => {
  const { path, file } = await filledFolder(t)
  const broken = [...MIGRATIONS, 'CREATE TABLE extra(a INTEGER) STRICT; DELETE FROM document; SELECT nonsense']
  assert.throws(() => openWritable({ file, limitBytes: 0 }, broken))
  const store = await openStore({ path })
  t.after(() => store.close())
  assert.equal((await store.documents.get('api', ID))!.body.api_id, 'a')
})

test('a file that is not a database, or of another program, is refused and left as it is', async (t) => {
  const foreign = new DatabaseSync(':memory:')
  foreign.exec('CREATE TABLE theirs(a); INSERT INTO theirs VALUES (1)')
  const files = {
    text: Buffer.from('hello '.repeat(1000)),
    foreign: Buffer.from(foreign.serialize()),
    zeros: Buffer.alloc(8192),
  }
  for (const [what, bytes] of Object.entries(files)) {
    const path = temporaryFolder(t)
    const file = join(path, 'gatehouse.db')
    writeFileSync(file, bytes)
    await assert.rejects(
      openStore({ path }),
      { code: 'store_damaged', message: /gatehouse\.db.*nothing was changed/ },
      what,
    )
    assert.deepEqual(readFileSync(file), bytes, what)
  }
})

test('a file that was cut short is refused and left as it is', async (t) => {
  for (const keep of [100, 5000, 0.5]) {
    const { path, file } = await filledFolder(t)
    const size = readFileSync(file).length
    truncateSync(file, keep < 1 ? Math.floor(size * keep) : keep)
    const before = readFileSync(file)
    await assert.rejects(openStore({ path }), { code: 'store_damaged' }, `${keep}`)
    assert.deepEqual(readFileSync(file), before)
  }
})

test('a database whose rows were deleted is refused with what to do, and left as it is', async (t) => {
  const { path, file } = await filledFolder(t)
  const tables = (db: DatabaseSync) =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
      .map(({ name }) => String(name))
  const whole = readFileSync(file)
  const opened = new DatabaseSync(file)
  // Those that have rows though nothing was counted: what is missing of them was deleted.
  const filled = tables(opened).filter((name) => opened.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get() !== undefined)
  const state = filled.filter((name) => !/^(document|audit)/.test(name))
  opened.close()
  assert.ok(state.length >= 5, state.join())
  const emptied = async (names: readonly string[], code: string) => {
    writeFileSync(file, whole)
    const db = new DatabaseSync(file)
    for (const name of names) db.exec(`DELETE FROM ${name}`)
    db.close()
    const before = readFileSync(file)
    await assert.rejects(openStore({ path }), { code, message: /backup/ }, names.join())
    assert.deepEqual(readFileSync(file), before)
  }
  for (const name of state) {
    await emptied([name], 'store_damaged')
    await emptied([name, 'document'], 'store_lost')
  }
  await emptied(filled, 'store_lost')
})

test('an empty file is a new store', async (t) => {
  const path = temporaryFolder(t)
  writeFileSync(join(path, 'gatehouse.db'), '')
  const store = await openStore({ path })
  assert.equal(store.documents.revision(), 0)
  await store.close()
})

test('documents are filed anew when other indexes are declared', async (t) => {
  const { file } = await filledFolder(t)
  const db = openWritable({ file, limitBytes: 0 })
  t.after(() => db.close())
  const entries = () => db.prepare('SELECT * FROM document_index').all()
  const before = entries()
  db.exec('DELETE FROM document_index')
  refreshIndexes(db)
  assert.equal(entries().length, 0, 'nothing to do while the declaration is the same')
  db.exec("UPDATE store_state SET declared = 'of an older build'")
  refreshIndexes(db)
  assert.deepEqual(entries(), before)
})

test('stored documents that break a unique index are named', async (t) => {
  const { file } = await filledFolder(t)
  const db = openWritable({ file, limitBytes: 0 })
  t.after(() => db.close())
  db.exec(
    `INSERT INTO document(kind, id, revision, body) SELECT kind, '00000000000000000000000b', 1, body FROM document WHERE id = '${ID}'`,
  )
  db.exec("UPDATE store_state SET declared = ''")
  assert.throws(() => refreshIndexes(db), { code: 'already_exists', message: /api .*api_id "a"/ })
  assert.equal(db.prepare('SELECT declared FROM store_state').get()!.declared, '')
})
