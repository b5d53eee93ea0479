import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { startPostgres, type ThrowAwayPostgres } from '../../../scripts/servers.mjs'
import type { Log } from '../../../src/model/logs/log.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { setReadOnly, signalPostgres } from '../../worlds/servers/postgres.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const putSession = (name: string): Change => ({ op: 'putSession', hash: hashKey(name), row })

/** Shorter than by default: there are many waits for it. */
const BOUNDS = { patienceMs: 1_500, writeWithinMs: 3_000 }

let server: ThrowAwayPostgres
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

/** A store and the lines of its log from warning on. */
async function openOn(t: TestContext, url: string) {
  const lines: string[] = []
  const ignore = () => {}
  const note = (_fields: unknown, line: string) => void lines.push(line)
  const log: Log = { debug: ignore, info: ignore, warn: note, error: note }
  const store = await openPostgresStore({ url, log, ...BOUNDS })
  t.after(() => store.close())
  return { store, lines }
}

const statusOf = (store: PostgresStore) => store.health!().find(({ part }) => part === 'store')!.status

/** How an outage begins; answers how it ends. `isSeen`: it stops more than writes, and health shows it. */
const OUTAGES: Readonly<Record<string, { isSeen: boolean; begin(): Promise<() => Promise<unknown>> }>> = {
  gone: {
    isSeen: true,
    async begin() {
      await server.halt('SIGINT')
      return () => server.resume()
    },
  },
  hanging: {
    isSeen: true,
    async begin() {
      signalPostgres(server, 'SIGSTOP')
      return async () => signalPostgres(server, 'SIGCONT')
    },
  },
  'read-only': {
    isSeen: true,
    async begin() {
      await setReadOnly(server, 'on')
      return () => setReadOnly(server, 'off')
    },
  },
  locked: {
    isSeen: false,
    async begin() {
      const holder = new Client(server.url())
      await holder.connect()
      await holder.query('BEGIN; SELECT 1 FROM store_state FOR UPDATE')
      return () => holder.end()
    },
  },
}

test('in each outage writes are refused and not made later, health shows it and recovers', async (t) => {
  for (const [name, { isSeen, begin }] of Object.entries(OUTAGES)) {
    await t.test(name, async (t) => {
      const { store, lines } = await openOn(t, server.url())
      await store.documents.commit([putSession(`${name} before`)], undefined)
      await eventually('health passes', () => statusOf(store) === 'pass')
      const end = await begin()
      let ended = false
      const endOnce = async () => {
        if (!ended) await end()
        ended = true
      }
      t.after(endOnce)
      // Connections hear of a changed setting one after the other.
      if (name === 'read-only') await eventually('it is shown', () => statusOf(store) === 'fail')
      // Those behind another, too. None waits for the end of the outage.
      const writes = Array.from({ length: 3 }, (_, n) =>
        store.documents.commit([putSession(`${name} ${n}`)], undefined),
      )
      const note = store.documents.note({ actor: 'a', action: name, orgId: 'o', at: 1, detail: {} })
      for (const each of await Promise.allSettled([...writes, note]))
        assert.equal(each.status === 'rejected' && each.reason.code, 'store_away')
      if (isSeen) await eventually('it is shown', () => statusOf(store) === 'fail')
      await endOnce()
      await eventually('writes are taken', () =>
        store.documents.commit([putSession(`${name} after`)], undefined).then(
          () => true,
          () => false,
        ),
      )
      await eventually('health passes again', () => statusOf(store) === 'pass')
      for (const n of writes.keys()) assert.equal(await store.tokens.getSession(hashKey(`${name} ${n}`)), undefined)
      assert.equal((await store.audit.list({ action: name, limit: 1 })).total, 0)
      assert.equal(lines.length, isSeen ? 1 : 0, lines.join('\n'))
      assert.match(lines.join(''), /^$|PostgreSQL (?:is unavailable|takes no changes)/)
    })
  }
})

/**
 * A proxy to the server that holds the next group of commits back until it is let go, whatever becomes of the client, or swallows its
 * answer.
 */
async function startHolder(t: TestContext) {
  const state = { armed: undefined as 'request' | 'answer' | undefined, held: [] as (() => void)[] }
  const listener = createServer((client) => {
    const far = connect(server.socket)
    let holds: typeof state.armed
    for (const socket of [client, far]) socket.on('error', () => {})
    client.on('close', () => holds || far.destroy())
    far.on('close', () => client.destroy())
    client.on('data', (data) => {
      if (data.includes('INSERT INTO feed') || data.includes('INSERT INTO audit')) holds ??= state.armed
      if (holds === 'request') state.held.push(() => far.write(data))
      else far.write(data)
    })
    far.on('data', (data) => holds === 'answer' || client.write(data))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  const url = `postgres://gatehouse@127.0.0.1:${(listener.address() as AddressInfo).port}/postgres`
  return {
    url,
    hold(what: 'request' | 'answer') {
      state.armed = what
    },
    held: () => state.held.length > 0,
    letGo() {
      state.armed = undefined
      for (const send of state.held.splice(0)) send()
    },
  }
}

test('a commit that reaches the server after its caller gave up is not made', async (t) => {
  const holder = await startHolder(t)
  const { store } = await openOn(t, holder.url)
  await store.documents.commit([putSession('early')], undefined)
  holder.hold('request')
  await assert.rejects(store.documents.commit([putSession('late')], undefined), { code: 'write_unconfirmed' })
  assert.ok(holder.held(), 'what was sent is on its way')
  holder.letGo()
  // It waits for the transaction of the late one, whatever becomes of it.
  await store.documents.commit([putSession('next')], undefined)
  assert.ok(await store.tokens.getSession(hashKey('next')))
  assert.equal(await store.tokens.getSession(hashKey('late')), undefined)
})

test('a commit that is stored and not answered in time is not reported as refused', async (t) => {
  const { store } = await openOn(t, server.url())
  const writes: Readonly<Record<string, (store: PostgresStore) => Promise<unknown>>> = {
    commit: (by) => by.documents.commit([putSession('stored')], undefined),
    note: (by) => by.documents.note({ actor: 'a', action: 'stored', orgId: 'o', at: 1, detail: {} }),
  }
  for (const [name, write] of Object.entries(writes)) {
    const holder = await startHolder(t)
    const { store: cut } = await openOn(t, holder.url)
    await cut.documents.commit([putSession('first')], undefined)
    holder.hold('answer')
    await assert.rejects(write(cut), { code: 'write_unconfirmed' }, name)
    holder.letGo()
  }
  assert.ok(await store.tokens.getSession(hashKey('stored')))
  assert.equal((await store.audit.list({ action: 'stored', limit: 1 })).total, 1)
})
