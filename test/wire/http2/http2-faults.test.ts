import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  FLAG,
  FrameClient,
  fate,
  frame,
  getFields,
  literals,
  PREFACE,
  request,
  TYPE,
} from '../../worlds/wire/frames.ts'
import { openGate } from '../../worlds/wire/gate.ts'
import { FRAMES, HALF, HEADS } from '../../worlds/wire/malformed-frames.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { until } from '../../worlds/wire/raw.ts'

test('framing errors end the HTTP/2 connection, request errors its stream; no upstream sees them', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    limits: { http2Streams: 100 },
    handle: (x) => x.reply(200, '', 'ok'),
  })
  for (const { name, send, fate: expected } of FRAMES) {
    await t.test(name, async () => {
      const client = await FrameClient.connect(gate.port)
      client.send(...send)
      let found = await fate(client)
      // A request that came before the fault may be answered.
      while (found === 'status 200') found = await fate(client)
      assert.ok(expected.includes(found), found)
      client.destroy()
    })
  }
  const before = gate.done.all
  for (const { name, send, fate: expected } of HEADS) {
    await t.test(name, async () => {
      const client = await FrameClient.connect(gate.port)
      client.send(...send)
      const found = await fate(client)
      assert.ok(expected.includes(found), found)
      client.destroy()
    })
  }
  assert.equal(gate.done.all, before, 'none of the malformed heads became an exchange')
  const good = await FrameClient.connect(gate.port)
  good.send(request(1, getFields()))
  assert.equal(await fate(good), 'status 200')
  good.destroy()
  await until('every connection is let go', () => gate.listener.connections() === 0)
  assert.equal(gate.inFlight(), 0)
})

test('streams that are reset as fast as they are opened end the connection (CVE-2023-44487)', async (t) => {
  const origin = await openOrigin(t)
  let handled = 0
  const handle = () => void handled++ // never answers: the worst that a reset can leave behind
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 }, handle })
  const client = await FrameClient.connect(gate.port)
  const cancel = Buffer.from([0, 0, 0, 8])
  for (let stream = 1; stream < 4000; stream += 2) {
    client.send(request(stream, getFields()), frame(TYPE.rst, 0, stream, cancel))
  }
  const found = await fate(client)
  assert.match(found, /^(?:goaway (?:1|2|11)|closed)$/)
  assert.ok(handled <= 200, `${handled} handlers were left at work`)
  client.destroy()
})

test('resets that each leave a handler at work are bounded by the streams of the connection', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 10 }, handle: () => {} })
  const client = await FrameClient.connect(gate.port)
  let stream = 1
  for (; stream < 100; stream += 2) {
    const before = gate.inFlight()
    client.send(request(stream, getFields()))
    await until('it is handled or refused', () => gate.inFlight() > before || gate.listener.connections() === 0)
    if (gate.listener.connections() === 0) break
    client.send(frame(TYPE.rst, 0, stream, [0, 0, 0, 8]))
  }
  assert.equal(gate.inFlight(), 20)
  client.destroy()
})

test('a field block without end is cut off (CVE-2024-27316)', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
  const client = await FrameClient.connect(gate.port)
  const part = literals([['x-a', 'b'.repeat(1000)]])
  client.send(HALF)
  for (let i = 0; i < 2000; i++) client.send(frame(TYPE.continuation, 0, 1, part))
  assert.match(await fate(client), /^(?:goaway|closed)/)
  assert.equal(gate.done.all, 0)
  client.destroy()
})

test('floods of PING and SETTINGS from a client that reads nothing are cut off', async (t) => {
  const origin = await openOrigin(t)
  for (const flood of [frame(TYPE.ping, 0, 0, Buffer.alloc(8)), frame(TYPE.settings, 0, 0)]) {
    const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
    const client = await FrameClient.connect(gate.port)
    client.client.socket.pause()
    const many = Buffer.concat(Array.from({ length: 4000 }, () => flood))
    for (let i = 0; i < 200 && gate.listener.connections() > 0; i++) {
      client.client.write(many)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('the connection is cut', () => gate.listener.connections() === 0)
    client.destroy()
  }
})

test('fields beyond the bounds, and the stream beyond the last, are refused', async (t) => {
  const origin = await openOrigin(t)
  const limits = { http2Streams: 2, maxHeadBytes: 2000, maxFields: 20 }
  const gate = await openGate(t, { originPort: origin.port, limits, handle: () => {} })
  const many = Array.from({ length: 200 }, (_, i) => [`x-${i}`, 'b'] as const)
  for (const extra of [many, [['x-a', 'b'.repeat(8000)] as const]]) {
    const client = await FrameClient.connect(gate.port)
    client.send(request(1, [...getFields(), ...extra]))
    assert.match(await fate(client), /^(?:reset|status 431|status coded)/)
    client.destroy()
  }
  assert.equal(gate.inFlight(), 0)
  const client = await FrameClient.connect(gate.port)
  client.send(request(1, getFields()), request(3, getFields()), request(5, getFields()))
  const refused = await client.find(({ type }) => type === TYPE.rst || type === TYPE.goaway)
  assert.deepEqual([refused?.type, refused?.stream, refused?.payload.readUInt32BE(0)], [TYPE.rst, 5, 7])
  client.destroy()
})

test('whatever bytes a client sends, the next one is served and nothing is left behind', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
  const talk = Buffer.concat([
    ...[PREFACE, frame(TYPE.settings, 0, 0), request(1, getFields())],
    frame(TYPE.headers, FLAG.endHeaders, 3, literals(getFields({ ':method': 'POST' }))),
    ...[frame(TYPE.data, 0, 3, Buffer.from('body')), frame(TYPE.ping, 0, 0, Buffer.alloc(8))],
    ...[frame(TYPE.window, 0, 0, [0, 0, 1, 0]), frame(TYPE.data, FLAG.endStream, 3), request(5, getFields())],
  ])
  const changes = fc.array(fc.tuple(fc.nat(talk.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(talk.length), async (places, cut) => {
      const bytes = Buffer.from(talk)
      for (const [at, value] of places) bytes[at] = value
      const client = await FrameClient.bare(gate.port)
      await client.client.writeCut(bytes, [cut])
      client.client.end()
      client.destroy()
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 5000 : 100 },
  )
  await until('nothing is left', () => gate.listener.connections() === 0 && gate.inFlight() === 0)
  const good = await FrameClient.connect(gate.port)
  good.send(request(1, getFields()))
  assert.equal(await fate(good), 'status 200')
  good.destroy()
  assert.deepEqual(origin.failures, [])
})
