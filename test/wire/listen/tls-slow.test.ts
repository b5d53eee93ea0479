import { test } from 'node:test'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { get, opened, until } from '../../worlds/wire/raw.ts'
import { choose, to } from '../../worlds/wire/tls-gate.ts'

for (const version of ['1.1', '1.0']) {
  test(`a client of TLS and HTTP/${version} that does not read is cut off, and nothing else happens`, async (t) => {
    const origin = await openOrigin(t)
    const gate = await openGate(t, {
      originPort: origin.port,
      tls: choose,
      limits: { bodyIdleMs: 200 },
      handle: (x) => x.reply(200, '', Buffer.alloc(50_000_000)),
    })
    const options: ConnectionOptions = { ...to('plain.example'), ALPNProtocols: ['http/1.1'] }
    const socket = connectTls({ host: '127.0.0.1', port: gate.port, ...options })
    await opened(socket, 'secureConnect')
    t.after(() => socket.destroy())
    socket.pause()
    socket.write(get('/').replace('HTTP/1.1', `HTTP/${version}`))
    await until('it is cut off', () => gate.done.all === 1 && gate.listener.connections() === 0)
  })
}

test('an answer without a length that breaks off over TLS cuts a client of HTTP/1.0 off', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')
    connection.socket.end()
  })
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const socket = connectTls({ host: '127.0.0.1', port: gate.port, ...to('plain.example') })
  await opened(socket, 'secureConnect')
  t.after(() => socket.destroy())
  socket.write(get('/').replace('HTTP/1.1', 'HTTP/1.0'))
  socket.resume()
  await until('it is cut off', () => gate.done.aborted === 1 && gate.listener.connections() === 0)
})
