import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { Pool } from 'pg'
import { PoolDb } from '../../../src/store/postgres/connection/pool-db.ts'
import { Reachability } from '../../../src/store/postgres/connection/reachability.ts'

test('a read of a server that takes connections and says nothing has one bound for all tries', async (t) => {
  const sockets: Socket[] = []
  const mute = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  mute.listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const { port } = mute.address() as AddressInfo
  const pool = new Pool({ host: '127.0.0.1', port, user: 'a', database: 'a', connectionTimeoutMillis: 100 })
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    mute.close()
    await pool.end()
  })
  // The patience of a server that went away would allow many tries.
  const db = new PoolDb(pool, new Reachability(2_000))
  await assert.rejects(db.read('SELECT 1', [], 50), { code: 'store_away' })
  assert.equal(sockets.length, 1)
})
