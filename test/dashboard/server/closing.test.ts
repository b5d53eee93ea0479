import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { call } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const BODY = '{"username":"a@example.com","password":"b"}'

/** A connection, and all that was heard on it. */
function open(port: number): { socket: Socket; heard: () => string; ended: () => boolean } {
  const socket = connect({ port, host: '127.0.0.1' })
  let [heard, ended] = ['', false]
  socket.on('data', (data) => {
    heard += data.toString('latin1')
  })
  socket.on('close', () => {
    ended = true
  })
  return { socket, heard: () => heard, ended: () => ended }
}

/** Head of a request whose body is still to come. */
const HEAD = `POST /api/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`

test('a stopping dashboard answers started calls and says that it closes', async (t) => {
  const world = await startTestDashboard()
  let closing: Promise<void> | undefined
  t.after(() => closing ?? world.close())
  const before = open(world.port)
  const [begun, kept] = [open(world.port), open(world.port)]
  // Each has been answered once, so that all of them are known to the server; two continue with half a request.
  for (const { socket, heard } of [before, begun, kept]) {
    socket.write('GET /api/nothing HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually('an answer', () => heard().includes('\r\n\r\n'))
  }
  const halves = [begun, kept]
  for (const { socket } of halves) socket.write(HEAD + BODY.slice(0, 5))
  await eventually('the halves have arrived', async () => (await call(world.port, '/api/nothing')).status > 0)
  closing = world.close()
  await eventually('idle connections are closed', () => before.ended())
  for (const { socket } of halves) socket.write(BODY.slice(5))
  for (const { heard, ended } of halves) {
    await eventually('the connection ends', ended)
    const second = heard().slice(heard().indexOf('HTTP/1.1', 8))
    assert.doesNotMatch(second, /^HTTP\/1\.1 503/)
    assert.match(second, /^HTTP\/1\.1 \d\d\d [\s\S]*\r\nconnection: close\r\n/i)
  }
  await closing
})
