import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startPostgres, type ThrowAwayPostgres } from '../../../scripts/servers.mjs'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { type Address, makeClient, readAddress } from '../../../src/store/postgres/connection/connect.ts'
import { UNCONNECTED } from '../../../src/store/postgres/connection/faults.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { SCHEMA_STEPS } from '../../../src/store/postgres/migrations/migrate.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { runSql } from '../../worlds/servers/postgres.ts'

const SECRET = 'not-to-be-told/@:'
let server: ThrowAwayPostgres
let databases = 0
before(async () => {
  server = await startPostgres({ password: SECRET })
})
after(() => server.stop())

async function newDatabase(): Promise<string> {
  const name = `one_${databases++}`
  await runSql(server.url(), `CREATE DATABASE ${name}`)
  return server.url(name)
}

const put = (apiId: string): Change => ({ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: apiId } })
/** The same address with another user, password or database. */
function changed(url: string, change: (address: URL) => void): string {
  const address = new URL(url)
  change(address)
  return address.href
}

test('wrong, expired and revoked credentials, and a missing database, are refused by name', async () => {
  const url = await newDatabase()
  await runSql(url, `CREATE ROLE late LOGIN PASSWORD 'p' VALID UNTIL '2001-01-01'`)
  await runSql(url, `CREATE ROLE barred NOLOGIN PASSWORD 'p'`)
  await runSql(url, `CREATE ROLE reader LOGIN PASSWORD 'p'`)
  const as = (user: string) => changed(url, (address) => Object.assign(address, { username: user, password: 'p' }))
  const addresses = [
    changed(url, (address) => Object.assign(address, { password: 'wrong-one' })),
    ...['late', 'barred', 'nobody_known', 'reader'].map(as),
    changed(url, (address) => Object.assign(address, { pathname: '/not_there' })),
  ]
  for (const address of addresses) {
    await assert.rejects(openPostgresStore({ url: address, patienceMs: 0 }), (error: Error & { code: string }) => {
      assert.equal(error.code, 'store_refused', `${error.message}`)
      assert.match(error.message, /^user "\w+" at /)
      assert.doesNotMatch(error.message, /wrong-one|not-to-be-told/)
      return true
    })
  }
  await assert.rejects(openPostgresStore({ url: 'postgres://a:b@localhost:1/c', patienceMs: 0 }), {
    code: 'store_away',
  })
})

test('with revoked credentials calls are refused, and work again when restored', async (t) => {
  const url = await newDatabase()
  await runSql(url, `CREATE ROLE worker LOGIN PASSWORD 'p'`)
  await runSql(url, 'ALTER SCHEMA public OWNER TO worker')
  const store = await openPostgresStore({
    url: changed(url, (address) => Object.assign(address, { username: 'worker', password: 'p' })),
    patienceMs: 0,
  })
  t.after(() => store.close())
  await store.documents.commit([put('a')], undefined)
  await runSql(url, 'ALTER ROLE worker NOLOGIN')
  await runSql(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'`)
  const results = [await outcome(store.documents.commit([put('b')], undefined)), await outcome(store.purge())]
  for (const code of results) assert.ok(code === 'store_away' || code === 'store_refused', code)
  assert.equal(await outcome(store.documents.commit([put('b')], undefined)), 'store_refused')
  await runSql(url, 'ALTER ROLE worker LOGIN')
  assert.equal(await store.documents.commit([put('b')], undefined), 2)
})

test('a password changes while the store is used: both are in its file meanwhile', async (t) => {
  const url = await newDatabase()
  await runSql(url, `CREATE ROLE changing LOGIN PASSWORD 'first'`)
  await runSql(url, 'ALTER SCHEMA public OWNER TO changing')
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-password-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'password')
  writeFileSync(file, 'first\n')
  const address = changed(url, (one) => Object.assign(one, { username: 'changing', password: '' }))
  const store = await openPostgresStore({ url: `${address}&password_file=${encodeURIComponent(file)}` })
  t.after(() => store.close())
  const work = { stopped: false, done: 0 }
  const busy = (async () => {
    for (let n = 0; !work.stopped; n++) {
      await store.documents.commit([put(`busy-${n}`)], undefined)
      assert.ok(await store.documents.find('api', 'api_id', `busy-${n}`))
      work.done++
    }
  })()
  const isUsed = () => {
    const before = work.done
    return eventually('new connections work', () => work.done > before + 2)
  }
  const endAll = () => runSql(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'changing'`)
  try {
    for (const [text, password] of [
      ['first\nsecond\n', 'first'],
      ['first\nsecond\n', 'second'],
      ['second\n', 'second'],
    ] as const) {
      writeFileSync(file, text)
      await runSql(url, `ALTER ROLE changing PASSWORD '${password}'`)
      await endAll()
      await Promise.race([isUsed(), busy])
    }
  } finally {
    work.stopped = true
    await busy
  }
  writeFileSync(file, 'neither\nof them\n')
  await endAll()
  await eventually(
    'a wrong one is refused',
    async () => (await outcome(Promise.resolve(store.documents.revision()))) === 'store_refused',
  )
})

test('connections that begin together all pass on to the password that is right', async (t) => {
  const url = await newDatabase()
  await runSql(url, `CREATE ROLE together LOGIN PASSWORD 'a'`)
  await runSql(url, 'ALTER SCHEMA public OWNER TO together')
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-password-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'password')
  writeFileSync(file, 'a\nb\nc\n')
  const address = changed(url, (one) => Object.assign(one, { username: 'together', password: '' }))
  const target = readAddress(`${address}&password_file=${encodeURIComponent(file)}`)
  // Even and odd numbers: with two passwords, two refusals at once would lead back to the wrong one.
  for (const [password, atOnce] of [
    ['b', 2],
    ['a', 2],
    ['c', 3],
    ['b', 4],
    ['a', 6],
  ] as const) {
    await runSql(url, `ALTER ROLE together PASSWORD '${password}'`)
    const connected = await Promise.all(Array.from({ length: atOnce }, () => connectedAfter(target)))
    assert.ok(Math.max(...connected) <= 3, `${password}: ${connected}`)
  }
})

/** How many attempts a connection takes. @throws what is no call to try again */
async function connectedAfter(target: Address): Promise<number> {
  for (let attempts = 1; ; attempts++) {
    const client = makeClient(target)
    try {
      await client.connect()
      return attempts
    } catch (error) {
      if ((error as { code?: string }).code !== UNCONNECTED || attempts > 20) throw error
    } finally {
      await client.end().catch(() => {})
    }
  }
}

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => error.code as string,
  )

test('four processes that start on one empty database at once make its tables once', async (t) => {
  const url = await newDatabase()
  const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore({ url })))
  t.after(() => Promise.all(stores.map((store) => store.close())))
  const revisions = await Promise.all(stores.map((store, n) => store.documents.commit([put(`${n}`)], undefined)))
  assert.deepEqual(revisions.sort(), [1, 2, 3, 4])
  assert.deepEqual(
    await runSql(url, 'SELECT version, needs FROM gatehouse_version ORDER BY version'),
    SCHEMA_STEPS.map((_, i) => ({ version: i + 1, needs: 1 })),
  )
})

test('old and new programs work side by side, until a step needs the new one', async (t) => {
  const url = await newDatabase()
  const old = await openPostgresStore({ url })
  t.after(() => old.close())
  await old.documents.commit([put('a')], undefined)
  const added = [...SCHEMA_STEPS, { statements: ['CREATE TABLE added(one int)'] }]
  const newer = await openPostgresStore({ url, steps: added })
  await newer.documents.commit([put('b')], undefined)
  assert.equal(await old.documents.commit([put('c')], undefined), 3)
  const again = await openPostgresStore({ url })
  assert.equal((await again.documents.list('api', { limit: 9 })).total, 3)
  await again.close()
  await newer.close()
  const breaking = [...added, { statements: ['ALTER TABLE added ADD two int'], breaks: true }]
  await (await openPostgresStore({ url, steps: breaking })).close()
  await assert.rejects(old.documents.commit([put('d')], undefined), { code: 'store_newer' })
  await assert.rejects(openPostgresStore({ url }), {
    code: 'store_newer',
    message: new RegExp(`needs a program of version ${breaking.length}`),
  })
  assert.equal((await old.documents.list('api', { limit: 9 })).total, 3)
})

test('tables of another program, and a step that fails, leave the database as it was', async () => {
  const url = await newDatabase()
  await runSql(url, 'CREATE TABLE document(x int)')
  await assert.rejects(openPostgresStore({ url }), { code: 'store_damaged', message: /another program/ })
  const tables = () =>
    runSql<{ relname: string }>(url, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
  assert.deepEqual(await tables(), [{ relname: 'document' }])
  await runSql(url, 'DROP TABLE document')
  const failing = [...SCHEMA_STEPS, { statements: ['CREATE TABLE half(x int)', 'CREATE TABLE half(x int) nonsense'] }]
  await assert.rejects(openPostgresStore({ url, steps: failing }), { code: 'internal' })
  assert.deepEqual(await tables(), [])
})

test('what older programs have filed is filed anew by newer ones, and not the other way round', async () => {
  const url = await newDatabase()
  const store = await openPostgresStore({ url })
  await store.documents.commit([put('a'), put('b')], undefined)
  await store.close()
  // As if another set of indexes had been there before this one, and written one of them.
  await runSql(url, `UPDATE declaration SET number = 2`)
  await runSql(url, `INSERT INTO declaration(number, hash) VALUES (1, 'older'), (3, 'newer')`)
  await runSql(url, `UPDATE document SET filed = CASE WHEN body LIKE '%"a"%' THEN 1 ELSE 3 END`)
  await runSql(url, 'DELETE FROM document_index')
  const again = await openPostgresStore({ url })
  assert.ok(await again.documents.find('api', 'api_id', 'a'))
  assert.equal(await again.documents.find('api', 'api_id', 'b'), undefined)
  await again.close()
})

test('an address is read with all that people put into it, and refused without telling it', () => {
  const address = readAddress('postgresql://us%40er:p%2Fw@[::1]:6432/d%20b?sslmode=no-verify&application_name=x')
  assert.deepEqual(
    [address.user, address.passwords.current, address.hosts.all, address.database, address.config.application_name],
    ['us@er', 'p/w', [{ host: '::1', port: 6432 }], 'd b', 'x'],
  )
  assert.deepEqual(address.config.ssl, { rejectUnauthorized: false })
  assert.equal(readAddress('postgres://u:p@h/d').config.ssl, undefined)
  assert.deepEqual(readAddress('postgres://u:p@h/d?sslmode=require').config.ssl, {})
  const hostsOf = (url: string) => {
    const { all, writable } = readAddress(url).hosts
    return `${all.map(({ host, port }) => `${host}:${port}`)} ${writable}`
  }
  for (const [url, hosts] of Object.entries({
    'postgres://u:p@a/d': 'a:5432 false',
    'postgres://u:p@a/d?target_session_attrs=read-write': 'a:5432 true',
    'postgres://u:p@a:1,[::2]:3,c/d': 'a:1,::2:3,c:5432 true',
    'postgres://u:p@a:1,b/d?target_session_attrs=any': 'a:1,b:5432 false',
    'postgres://u:p@a/d?host=/x,/y&port=1,2&target_session_attrs=primary': '/x:1,/y:2 true',
    'postgres://u:p@a/d?host=/x,/y&port=7': '/x:7,/y:7 true',
  }))
    assert.equal(hostsOf(url), hosts)
  for (const wrong of [
    '',
    'mysql://u:hush@h/d',
    'postgres://u:hush@h',
    'postgres://:hush@h/d',
    'postgres://u:hush@h/d?sslmode=prefer',
    'postgres://u:hush@h,/d',
    'postgres://u:hush@h/d?target_session_attrs=standby',
    'postgres://u:hush@h/d?hush=1&target=2',
    'postgres://u:hush%@h/d',
    'postgres://u:hush@h/d?sslrootcert=/not/there',
  ]) {
    assert.throws(
      () => readAddress(wrong),
      (error: Error & { code: string }) => error.code === 'setting_invalid' && !/u:hush/.test(error.message),
      wrong,
    )
  }
})
