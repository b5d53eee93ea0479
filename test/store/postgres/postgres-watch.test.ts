import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { catalogEntry } from '../../../src/errors/catalog.ts'
import { toFault } from '../../../src/errors/fault.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { healthOf, refusalOf } from '../../../src/publish/nodes/health.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { freshDatabase, runSql } from '../../worlds/servers/postgres.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const hash = hashKey('one')
/** Shorter than by default, so that it is used up when the watch has noticed. */
const BOUNDS = { patienceMs: 100, poolSize: 4 }

/** The message with which a server, or a pooler, refuses a connection. https://www.postgresql.org/docs/current/protocol-error-fields.html */
function refusal(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** Failures of new connections while those that are there work. */
const NEW_CONNECTIONS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'has no room': (socket) => socket.end(refusal('53300', 'sorry, too many clients already')),
  'is a full PgBouncer': (socket) => socket.end(refusal('08P01', 'no more connections allowed (max_client_conn)')),
  'refuses the sign-in': (socket) => socket.end(refusal('28000', 'role is not permitted to log in')),
  'closes them': (socket) => socket.destroy(),
  'never answers them': () => {},
}

/** A proxy to the server, which can end the connection of the watch and keep those of others. */
async function startProxy(t: TestContext, direct: string) {
  const address = new URL(direct)
  const state = { welcome: undefined as ((socket: Socket) => unknown) | undefined }
  const watches = new Set<Socket>()
  const listener = createServer((client) => {
    client.on('error', () => {})
    if (state.welcome !== undefined) {
      const { welcome } = state
      client.once('data', () => welcome(client))
      return
    }
    const server = connect(`${address.searchParams.get('host')}/.s.PGSQL.5432`)
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', (data) => {
      if (data.includes("current_setting('transaction_read_only')")) watches.add(client)
      server.write(data)
    })
    server.on('data', (data) => client.write(data))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  return {
    url: `postgres://gatehouse@127.0.0.1:${(listener.address() as AddressInfo).port}${address.pathname}`,
    /** `welcome`: what becomes of new connections from now on. */
    breakWatch(welcome: (socket: Socket) => unknown) {
      state.welcome = welcome
      for (const socket of watches) socket.destroy()
      watches.clear()
    },
    mend() {
      state.welcome = undefined
    },
  }
}

const statusOf = (store: PostgresStore) => store.health!().find(({ part }) => part === 'store')!.status

test('a server that answers the pool is not lost with the connection of the watch', async (t) => {
  const proxy = await startProxy(t, await freshDatabase())
  const store = await openPostgresStore({ url: proxy.url, ...BOUNDS })
  t.after(() => store.close())
  await store.documents.commit([{ op: 'putSession', hash, row }], undefined)
  for (const [name, welcome] of Object.entries(NEW_CONNECTIONS)) {
    await eventually(`${name}: health passes`, () => statusOf(store) === 'pass')
    // All connections of the pool are there.
    await Promise.all(Array.from({ length: 12 }, () => store.tokens.getSession(hash)))
    proxy.breakWatch(welcome)
    await eventually(`${name}: it is noticed`, () => statusOf(store) !== 'pass')
    assert.equal(statusOf(store), 'warn', name)
    assert.ok(await store.tokens.getSession(hash), name)
    await store.documents.commit([{ op: 'putSession', hash, row }], undefined)
    proxy.mend()
  }
  await eventually('health passes again', () => statusOf(store) === 'pass')
})

/** Ways in which a database loses the store under a running node, and the end of each. */
const EMPTIED: Readonly<Record<string, readonly [string, string]>> = {
  'the tables are dropped': [
    'CREATE SCHEMA kept; ALTER TABLE store_state SET SCHEMA kept',
    'ALTER TABLE kept.store_state SET SCHEMA public',
  ],
  'the schema is dropped': [
    'ALTER SCHEMA public RENAME TO gone; CREATE SCHEMA public',
    'DROP SCHEMA public; ALTER SCHEMA gone RENAME TO public',
  ],
  'all rows are deleted': [
    'CREATE TABLE kept_state AS TABLE store_state; TRUNCATE store_state',
    'INSERT INTO store_state TABLE kept_state',
  ],
}

test('a server whose tables are gone fails health, /ready and calls, and says what to do', async (t) => {
  const url = await freshDatabase()
  const store = await openPostgresStore({ url, ...BOUNDS })
  t.after(() => store.close())
  for (const [name, [begin, end]] of Object.entries(EMPTIED)) {
    await eventually(`${name}: health passes`, () => statusOf(store) === 'pass')
    await runSql(url, begin)
    await eventually(`${name}: health fails`, () => statusOf(store) === 'fail')
    const parts = await healthOf(store)
    assert.match(parts.find(({ part }) => part === 'store')!.output!, /restore the last backup/, name)
    for (const role of ['gateway', 'dashboard'] as const)
      assert.equal(refusalOf(parts, { clustered: true, role }), 'store_emptied', `${name}: /ready of a ${role}`)
    await assert.rejects(
      store.documents.commit([{ op: 'putSession', hash, row }], undefined),
      (error) => catalogEntry(toFault(error).code).status === 503,
      name,
    )
    await runSql(url, end)
  }
  await eventually('health passes again', () => statusOf(store) === 'pass')
})
