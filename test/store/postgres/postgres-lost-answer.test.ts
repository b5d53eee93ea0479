import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { freshDatabase } from '../../worlds/servers/postgres.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }

interface Relay {
  readonly url: string
  /** The next group of commits loses its connection: before the server has it, or after it is durable. */
  cut: 'before' | 'after' | undefined
  /** Connections that are there swallow what is sent from now on; new ones work. */
  silence(): void
}

/** A proxy between the store and its server. */
async function startRelay(t: TestContext, direct: string): Promise<Relay> {
  const address = new URL(direct)
  const silenced = new WeakSet<Socket>()
  const open = new Set<Socket>()
  const listener = createServer((client) => {
    open.add(client)
    const server = connect(`${address.searchParams.get('host')}/.s.PGSQL.5432`)
    let isGroup = false
    let dropsAnswer = false
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', (data) => {
      if (silenced.has(client)) return
      isGroup ||= data.includes('INSERT INTO feed')
      if (isGroup && data.includes('COMMIT\0')) {
        isGroup = false
        const { cut } = relay
        relay.cut = undefined
        if (cut === 'before') return end()
        dropsAnswer = cut === 'after'
      }
      server.write(data)
    })
    // Whatever it answers, it has finished once it reports that it is ready and in no transaction.
    server.on('data', (data: Buffer) => {
      if (!dropsAnswer) return void client.write(data)
      if (data.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))) end()
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  const port = (listener.address() as AddressInfo).port
  const relay: Relay = {
    url: `postgres://gatehouse@127.0.0.1:${port}${address.pathname}`,
    cut: undefined,
    silence() {
      for (const socket of open) silenced.add(socket)
    },
  }
  return relay
}

test('a group of commits with a lost response is found in the store, or written again', async (t) => {
  const relay = await startRelay(t, await freshDatabase())
  const store = await openPostgresStore({ url: relay.url })
  t.after(() => store.close())
  const heard: number[] = []
  store.feed.subscribe(({ revision }) => heard.push(revision))
  for (const [round, cut] of (['after', 'before', 'after', 'before'] as const).entries()) {
    relay.cut = cut
    const revisions = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        store.documents.commit([{ op: 'putSession', hash: hashKey(`${round} ${n}`), row, ifAbsent: true }], undefined),
      ),
    )
    assert.equal(relay.cut, undefined, 'the connection was cut')
    const first = round * 10 + 1
    assert.deepEqual(
      revisions.sort((a, b) => a - b),
      Array.from({ length: 10 }, (_, i) => first + i),
    )
  }
  assert.equal(await store.tokens.countSessions({}), 40)
  assert.deepEqual(
    heard,
    Array.from({ length: 40 }, (_, i) => i + 1),
  )
})

test('an entry of the audit whose answer is lost is not written twice', async (t) => {
  const relay = await startRelay(t, await freshDatabase())
  const store = await openPostgresStore({ url: relay.url })
  t.after(() => store.close())
  const entry = { actor: 'a', action: 'one', orgId: 'o', at: 1, detail: {} }
  relay.cut = 'after'
  assert.equal(await store.documents.commit([], entry), 1)
  assert.equal((await store.audit.list({ limit: 9 })).total, 1)
})

test('connections that swallow what is sent are given up, and what was asked is asked again', async (t) => {
  const relay = await startRelay(t, await freshDatabase())
  const store = await openPostgresStore({ url: relay.url, stallMs: 300, patienceMs: 20_000 })
  t.after(() => store.close())
  const hash = hashKey('one')
  await store.documents.commit([{ op: 'putSession', hash, row }], undefined)
  for (let round = 0; round < 2; round++) {
    relay.silence()
    const commit = store.documents.commit(
      [{ op: 'putSession', hash: hashKey(`${round}`), row, ifAbsent: true }],
      undefined,
    )
    const [found, revision] = await Promise.all([store.tokens.getSession(hash), commit])
    assert.ok(found)
    assert.equal(revision, round + 2)
  }
})
