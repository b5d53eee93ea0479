import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/model/logs/log.ts'
import { makeClient, makePool, readAddress } from '../../../src/store/postgres/connection/connect.ts'
import { PoolDb } from '../../../src/store/postgres/connection/pool-db.ts'
import { Reachability } from '../../../src/store/postgres/connection/reachability.ts'

// Messages of the server, https://www.postgresql.org/docs/current/protocol-message-formats.html
const AUTHENTICATION_OK = message('R', Buffer.from([0, 0, 0, 0]))
const READY = message('Z', Buffer.from('I'))
const GOING = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))

/** How a server goes when a connection has signed in, or asked its first question. */
const ENDINGS: Readonly<Record<string, (socket: Socket) => void>> = {
  'says so and closes': (socket) => socket.end(GOING),
  closes: (socket) => socket.end(),
  resets: (socket) => socket.resetAndDestroy(),
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Address of a server that ends each connection: `withReady` in the packet that ends the sign-in, otherwise at the first question. */
async function endingServer(t: TestContext, end: (socket: Socket) => void, withReady: boolean): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.cork()
      socket.write(AUTHENTICATION_OK)
      socket.write(READY)
      if (withReady) end(socket)
      else socket.once('data', () => end(socket))
      socket.uncork()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `postgres://a@127.0.0.1:${(server.address() as AddressInfo).port}/a`
}

for (const [name, end] of Object.entries(ENDINGS)) {
  for (const withReady of [true, false]) {
    for (const query of ['', '?target_session_attrs=read-write']) {
      const when = withReady ? 'with the sign-in' : 'at the first question'
      test(`a server that ${name} ${when} ends no process${query && ', where it has to take writes'}`, async (t) => {
        const address = readAddress((await endingServer(t, end, withReady)) + query)
        const pool = makePool(address, 2, silentLog)
        t.after(() => pool.end())
        // Each call is answered, and an error that nobody listens to would fail the test.
        await assert.rejects(new PoolDb(pool, new Reachability(100)).read('SELECT 1'), { code: 'store_away' })
        const client = makeClient(address)
        const asked = client.connect().then(() => client.query('SELECT 1'))
        await assert.rejects(asked)
      })
    }
  }
}
