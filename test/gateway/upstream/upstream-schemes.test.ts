import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, get, statusOf } from '../../worlds/wire/raw.ts'

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

test('targets of ws and wss are those of http and https, wherever a definition names them', async (t) => {
  const plain = await startOrigin()
  t.after(() => plain.close())
  const { cert, key } = makeCertificate('up.example')
  const secure = createServer({ cert, key }, (_request, response) => response.end('secure'))
  secure.on('upgrade', (_request, socket) => socket.write(SWITCH))
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  t.after(() => secure.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const ws = plain.url.replace('http:', 'ws:')
  const wss = `WSS://127.0.0.1:${(secure.address() as AddressInfo).port}`
  const versions = { Default: { name: 'Default', override_target: ws } }
  const proxy = { listen_path: '/l/', strip_listen_path: true, enable_load_balancing: true, target_list: [ws, ws] }
  const definitions: readonly JsonObject[] = [
    classic('c', '/c/', ws),
    classic('l', '/l/', ws, { proxy: { ...proxy, target_url: ws } }),
    classic('v', '/v/', 'http://192.0.2.1', {
      definition: { location: 'header', key: 'x-version' },
      version_data: { not_versioned: false, default_version: 'Default', versions },
    }),
    defined({ id: 'o', url: ws }),
    defined({ id: 's', url: wss, upstream: { tlsTransport: { insecureSkipVerify: true } } }),
  ]
  for (const definition of definitions) {
    const saved = await gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
    assert.equal(saved.status, 200, saved.text)
  }
  for (const id of ['c', 'l', 'v', 'o']) assert.equal((await gateway.call(`/${id}/x`)).status, 200, id)
  assert.deepEqual(
    plain.seen.map(({ target, headers }) => [target, headers.host]),
    Array.from({ length: 4 }, () => ['/x', new URL(plain.url).host]),
  )
  assert.equal((await gateway.call('/s/x')).text, 'secure')
  const client = await Client.connect(gateway.gateway.port)
  t.after(() => client.destroy())
  const upgrade =
    'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  assert.equal(statusOf(await client.ask(get('/s/x', upgrade))), 101)
})
