import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { toFault } from '../../../src/errors/fault.ts'
import type { LogFields } from '../../../src/model/logs/log.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { backupToFile } from '../../../src/process/backup.ts'
import { reading, sqliteCode } from '../../../src/store/sqlite/connection/faults.ts'
import { checkFile } from '../../../src/store/sqlite/connection/integrity.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { classic, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { seeded } from '../../worlds/model/naive.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const KEYS = 300
const SOME = 30
const PAGE = 4096
const NONE = Buffer.alloc(0)
const random = seeded(Number(process.env.GATEHOUSE_SEED ?? 1))
const below = (most: number) => Math.floor(random() * most)

interface Opened {
  readonly store: SqliteStore
  readonly gateway: TestGateway
  readonly logged: string[]
}

/** The outcome for a folder: the answers of its gateway to some right keys, or why it did not open. */
async function outcome(t: TestContext, path: string, keys: readonly string[]) {
  let opened: Opened
  try {
    opened = await open(t, path)
  } catch (error) {
    assert.equal(toFault(error).code, 'store_damaged', String(error))
    return { refused: true, damaged: true, answers: [] as string[] }
  }
  const { gateway, store } = opened
  const answers = []
  for (const key of keys) {
    const { status, text } = await gateway.call('/shop/a', { headers: { authorization: key } })
    answers.push(status === 200 ? '200' : `${status} ${text}`)
  }
  return { refused: false, damaged: store.damaged(), answers, opened }
}

async function open(t: TestContext, path: string): Promise<Opened> {
  const logged: string[] = []
  const note = (_: LogFields, message: string) => void logged.push(message)
  const clock = new FakeClock()
  const store = await openStore({ path, clock, log: { debug() {}, info() {}, warn() {}, error: note } })
  t.after(() => store.close())
  const gateway = await startTestGateway({ store, clock })
  t.after(() => gateway.close())
  return { store, gateway, logged }
}

/** A folder with a database file, and its log of changes. */
function folderOf(t: TestContext, database: Buffer, journal: Buffer = NONE): string {
  const path = temporaryFolder(t)
  writeFileSync(join(path, 'gatehouse.db'), database)
  if (journal.length > 0) writeFileSync(join(path, 'gatehouse.db-wal'), journal)
  return path
}

/** The same bytes with others in random places: whole pages, and short runs. */
function spoilt(whole: Buffer): Buffer {
  const bytes = Buffer.from(whole)
  for (let times = 1 + below(3); times > 0; times--) {
    const length = below(2) === 0 ? PAGE : 8 + below(64)
    const at = length === PAGE ? PAGE * below(bytes.length / PAGE) : below(bytes.length - length)
    for (let i = 0; i < length; i++) bytes[at + i] = below(256)
  }
  return bytes
}

test('a damaged store refuses nothing as unknown that is there, takes no writes and is reported', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const folder = temporaryFolder(t)
  const file = join(folder, 'gatehouse.db')
  const keys: string[] = []
  /** The files as a user copies them while they are written to, with the number of keys that were there before. */
  const copies: { readonly database: Buffer; readonly journal: Buffer; readonly keys: number }[] = []
  const filling = await open(t, folder)
  const { gateway, store } = filling
  await gateway.svc('POST', '/svc/apis', classic('shop', '/shop/', origin.url, { use_keyless: false }))
  while (keys.length < KEYS) {
    const known = keys.length
    const database = readFileSync(file)
    const create = () => gateway.svc('POST', '/svc/keys/create', { access_rights: rights('shop') })
    for (const { json } of await Promise.all(Array.from({ length: 50 }, create)))
      keys.push((json as { key: string }).key)
    copies.push({ database, journal: existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : NONE, keys: known })
  }
  await gateway.close()
  await store.close()
  const whole = readFileSync(file)
  const some = (of = keys) => Array.from({ length: SOME }, () => of[below(of.length)]!)

  await t.test('a whole file is not taken for damaged', async (t) => {
    const { damaged, answers } = await outcome(t, folderOf(t, whole), some())
    assert.equal(damaged, false)
    assert.deepEqual(
      answers,
      Array.from({ length: SOME }, () => '200'),
    )
  })

  await t.test('a backup is made of a whole file, and refused of each that the full check finds damaged', async (t) => {
    const backUp = (path: string) =>
      backupToFile(join(path, 'made.backup'), { storage: { path, postgres_url: '', redis_url: '' }, without: [] })
    assert.ok((await backUp(folderOf(t, whole))).bytes > 0)
    let damaged = 0
    for (let times = 0; times < 8; times++) {
      const path = folderOf(t, spoilt(whole))
      const failure = await backUp(path).then(() => undefined, toFault)
      const found = checkFile(join(path, 'gatehouse.db'))
      if (found === undefined) continue
      damaged++
      assert.equal(failure?.code, 'store_damaged', found)
      assert.deepEqual(
        readdirSync(path).filter((name) => name.includes('backup')),
        [],
      )
    }
    assert.ok(damaged > 0)
  })

  await t.test('bytes changed anywhere', async (t) => {
    let found = 0
    for (let round = 0; round < 8; round++) {
      const { damaged, answers } = await outcome(t, folderOf(t, spoilt(whole)), some())
      if (damaged) found++
      for (const answer of answers) assert.match(answer, /^(200$|503 )/)
    }
    assert.ok(found > 2, `${found}`)
  })

  await t.test('copies of files in use', async (t) => {
    for (const { database, journal, keys: known } of copies.slice(2, 5)) {
      for (const log of [NONE, journal]) {
        const { damaged, answers } = await outcome(t, folderOf(t, database, log), some(keys.slice(0, known)))
        // Without its log a copy is of an earlier time, when some keys were not there.
        if (!damaged && log === NONE) continue
        for (const answer of answers) assert.match(answer, /^(200$|503 )/)
      }
    }
  })

  await t.test('a file that was cut short', async (t) => {
    for (const share of [0.1, 0.5, 0.99]) {
      const { damaged, answers } = await outcome(t, folderOf(t, whole.subarray(0, whole.length * share)), some())
      assert.equal(damaged, true)
      for (const answer of answers) assert.match(answer, /^(200$|503 )/)
    }
  })

  await t.test('a file that was cut short beside its log of changes, at each of its pages', (t) => {
    const path = folderOf(t, whole)
    const db = new DatabaseSync(join(path, 'gatehouse.db'))
    // With the log in place the sizes of file and header are not compared.
    db.exec(`UPDATE session SET body = body || '${' '.repeat(3 * PAGE)}' WHERE row < 4; PRAGMA wal_checkpoint(TRUNCATE);
      CREATE TABLE later(at INTEGER) STRICT`)
    const [full, log] = ['', '-wal'].map((end) => readFileSync(join(path, `gatehouse.db${end}`)))
    db.close()
    const cut = join(folderOf(t, full!, log), 'gatehouse.db')
    const codes = new Set<string>()
    for (let pages = full!.length / PAGE - 1; pages > 0; pages--) {
      truncateSync(cut, pages * PAGE)
      const reader = new DatabaseSync(cut, { readOnly: true })
      for (const table of ['store_state', 'document', 'session'])
        try {
          reading(() => reader.prepare(`SELECT * FROM ${table}`).all())
        } catch (error) {
          codes.add(`${toFault(error).code} ${sqliteCode(toFault(error).cause)}`)
        }
      reader.close()
    }
    assert.deepEqual([...codes].sort(), ['store_damaged 10', 'store_damaged 11'])
  })

  // A large file is checked in a thread.
  for (const fillerBytes of [0, 5_000_000])
    await t.test(`an index that misses rows, and ${fillerBytes} bytes: reported, and nothing is written`, async (t) => {
      const path = folderOf(t, whole)
      fill(join(path, 'gatehouse.db'), fillerBytes)
      withoutEntries(join(path, 'gatehouse.db'), 'session_by_hash')
      const before = readFileSync(join(path, 'gatehouse.db'))
      const { gateway, store, logged } = await open(t, path)
      assert.equal(store.damaged(), true)
      assert.equal((await gateway.call('/ready')).status, 503)
      const hello = (await gateway.call('/hello')).json as { status: string; details: { store: { status: string } } }
      assert.deepEqual([hello.status, hello.details.store.status], ['fail', 'fail'])
      for (const key of some()) {
        const { status, text } = await gateway.call('/shop/a', { headers: { authorization: key } })
        assert.match(`${status} ${text}`, /^(200 |503 .*damaged)/)
      }
      const made = await gateway.svc('POST', '/svc/keys/create', { access_rights: rights('shop') })
      assert.equal(made.status, 503)
      assert.match(made.text, /damaged/)
      assert.equal(logged.filter((line) => /damaged.*restore the last backup/.test(line)).length, 1, logged.join('\n'))
      await gateway.close()
      await store.close()
      assert.deepEqual(readFileSync(join(path, 'gatehouse.db')), before)
    })

  await t.test('a row that cannot be decoded, met while serving', async (t) => {
    const path = folderOf(t, whole)
    const db = new DatabaseSync(join(path, 'gatehouse.db'))
    db.exec('UPDATE session SET body = substr(body, 1, 20) WHERE row % 2 = 0')
    db.close()
    const { gateway, store, logged } = await open(t, path)
    assert.equal(store.damaged(), false)
    assert.equal((await gateway.call('/ready')).status, 200)
    const answers = new Set<number>()
    for (const key of some()) answers.add((await gateway.call('/shop/a', { headers: { authorization: key } })).status)
    assert.deepEqual(answers, new Set([200, 503]))
    assert.equal((await gateway.call('/ready')).status, 503)
    assert.equal((await gateway.svc('POST', '/svc/keys/create', { access_rights: rights('shop') })).status, 503)
    assert.equal(logged.filter((line) => /the store is damaged/.test(line)).length, 1)
  })
})

function fill(file: string, bytes: number): void {
  const db = new DatabaseSync(file)
  db.exec(`CREATE TABLE filler(bytes BLOB) STRICT; INSERT INTO filler VALUES (zeroblob(${bytes}))`)
  db.close()
}

/** Takes some entries out of an index, as no statement does: it is filled while its declaration names a part of the rows. */
function withoutEntries(file: string, index: string): void {
  const declare = (more: string) => {
    const db = new DatabaseSync(file, { defensive: false })
    db.exec(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ${more} WHERE name = '${index}'`)
    db.close()
  }
  declare("sql || ' WHERE row % 3 > 0'")
  const db = new DatabaseSync(file)
  db.exec(`REINDEX ${index}`)
  db.close()
  declare("replace(sql, ' WHERE row % 3 > 0', '')")
}
