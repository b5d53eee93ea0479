import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { FrameClient, fate, frame, getFields, request, TYPE } from '../../worlds/wire/frames.ts'

const PING = frame(TYPE.ping, 0, 0, Buffer.alloc(8))

test('access log and metrics name the reason of a GOAWAY', async (t) => {
  const origin = await startOrigin()
  let asked = 0
  origin.script = () => void asked++
  const store = openMemoryStore()
  const gateway = await startTestGateway({ store, accessLog: true })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))).status, 200)
  const client = await FrameClient.connect(gateway.port)
  t.after(() => client.destroy())
  client.send(request(1, getFields({ ':path': '/a/b' })))
  await eventually('it is asked', () => asked === 1)
  client.send(Buffer.concat(Array.from({ length: 2000 }, () => PING)))
  assert.equal(await fate(client), 'goaway 11')
  const lines = () => gateway.accessLines.map((line) => JSON.parse(line)).filter(({ goaway }) => goaway !== undefined)
  await eventually('both lines are written', () => lines().length === 2)
  assert.partialDeepStrictEqual(
    lines().sort((a, b) => a.msg.localeCompare(b.msg)),
    [
      { msg: 'connection ended', level: 40, goaway: 'idle_frames', client_ip: '127.0.0.1' },
      { msg: 'request', level: 40, path: '/a/b', cut: 'goaway', goaway: 'idle_frames' },
    ],
  )
  const page = (await gateway.svc('GET', '/metrics')).text
  assert.match(page, /^svc_http2_goaways_total\{reason="idle_frames"\} 1$/m)
})
