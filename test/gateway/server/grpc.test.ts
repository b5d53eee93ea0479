import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ServiceError, status } from '@grpc/grpc-js'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { echoClient, metadata, startEcho } from '../../worlds/gateway/grpc-world.ts'
import { within } from '../../worlds/wire/raw.ts'

const LISTEN = { listenPath: { value: '/echo.Echo/', strip: false } }

async function world(t: TestContext, { keyed = false, env = {}, upstream = {} as JsonObject } = {}) {
  const echo = await startEcho(t)
  const gate = await startTestGateway({ env, accessLog: true })
  t.after(() => gate.close())
  const draft = {
    ...{ id: 'echo', url: `h2c://127.0.0.1:${echo.port}`, upstream, server: LISTEN },
    ...(keyed ? { keyIn: 'x-key' } : {}),
  }
  const made = await gate.svc('POST', '/svc/apis/oas', defined(draft))
  assert.equal(made.status, 200, made.text)
  return { echo, gate, ...echoClient(t, gate.port) }
}

/** The error that a call ends with. */
async function refusal(call: Promise<unknown>): Promise<ServiceError> {
  const error = await within(
    'a refusal',
    call.then(
      () => assert.fail('the call was answered'),
      (reason: ServiceError) => reason,
    ),
  )
  return error
}

test('one message there and one back, with metadata before and behind, and those of callers', async (t) => {
  const { unary, echo } = await world(t)
  for (const size of [0, 5, 70_000, 1_000_000]) {
    const text = 'm'.repeat(size)
    const { message, head, trailers } = await unary('Say', text, metadata({ 'x-mine': 'yes' }))
    assert.equal(message.length, text.length)
    assert.deepEqual(head.get('x-head'), ['before'])
    assert.deepEqual(trailers.get('x-trailer'), ['behind'])
    assert.deepEqual(trailers.get('x-bytes-bin'), [Buffer.from([0, 1, 254, 255])])
    assert.deepEqual(echo.seen.metadata.get('x-mine'), ['yes'])
    assert.deepEqual(echo.seen.metadata.get('x-forwarded-for'), ['127.0.0.1'])
  }
})

test('many messages there, many back, and both at once', async (t) => {
  const { client } = await world(t)
  const collected = await new Promise<Buffer>((resolve, reject) => {
    const call = client.Collect((error, answer) => (error ? reject(error) : resolve(answer!)))
    for (let i = 0; i < 300; i++) call.write(Buffer.alloc(1000, 97 + (i % 26)))
    call.end()
  })
  assert.equal(collected.length, 300_000)
  assert.equal(collected[299_999], 97 + (299 % 26))

  const counted: string[] = []
  for await (const part of client.Count(Buffer.from('300'))) counted.push(String(part))
  assert.deepEqual(
    counted,
    Array.from({ length: 300 }, (_, i) => String(i)),
  )

  const chat = client.Chat()
  const heard: string[] = []
  const ended = new Promise((resolve) => chat.on('end', resolve))
  chat.on('data', (part: Buffer) => {
    heard.push(part.toString())
    // The next is said only after the last was answered: neither side waits for the end of the other.
    if (heard.length < 5) chat.write(Buffer.from(`word ${heard.length}`))
    else chat.end()
  })
  chat.write(Buffer.from('word 0'))
  await within('the end of the talk', ended)
  assert.deepEqual(heard, ['WORD 0', 'WORD 1', 'WORD 2', 'WORD 3', 'WORD 4'])
})

test('statuses of the service pass, and its unknown methods', async (t) => {
  const { unary, client } = await world(t)
  const failed = await refusal(unary('Fail', 'x'))
  assert.deepEqual([failed.code, failed.details], [status.FAILED_PRECONDITION, 'nicht möglich: 50 %'])
  const unknown = await refusal(
    new Promise((resolve, reject) => {
      const plain = (value: Buffer) => value
      client.makeUnaryRequest('/echo.Echo/Nothing', plain, plain, Buffer.alloc(0), (error, answer) =>
        error ? reject(error) : resolve(answer),
      )
    }),
  )
  assert.equal(unknown.code, status.UNIMPLEMENTED)
})

test('a deadline passes to the service, and what it gives up is cancelled there', async (t) => {
  const { unary, echo, gate } = await world(t)
  const error = await refusal(unary('Wait', 'x', metadata({}), { deadline: Date.now() + 1_500 }))
  assert.equal(error.code, status.DEADLINE_EXCEEDED)
  await eventually('the service hears of it', () => echo.seen.cancelled)
  assert.ok(Number(echo.seen.deadline) < Date.now() + 1000, `deadline ${String(echo.seen.deadline)}`)
  await eventually('the call is logged', () => gate.accessLines.some((line) => line.includes('/echo.Echo/Wait')))
})

test('what the gateway refuses comes as a status of gRPC, while records keep that of HTTP', async (t) => {
  const { unary, gate, client } = await world(t, { keyed: true })
  const missing = await refusal(unary('Say', 'x'))
  assert.deepEqual([missing.code, missing.details], [status.UNAUTHENTICATED, 'Authorization field missing'])
  const unknown = await refusal(unary('Say', 'x', metadata({ 'x-key': 'nobody-has-this-key-at-all' })))
  assert.equal(unknown.code, status.PERMISSION_DENIED)
  const rights = { echo: { api_id: 'echo', api_name: 'echo', versions: ['Default'] } }
  const { key } = (await gate.svc('POST', '/svc/keys', { rate: 2, per: 60, access_rights: rights })).json as {
    key: string
  }
  for (let i = 0; i < 2; i++) assert.equal((await unary('Say', 'x', metadata({ 'x-key': key }))).message, 'x')
  const limited = await refusal(unary('Say', 'x', metadata({ 'x-key': key })))
  assert.deepEqual([limited.code, limited.details], [status.RESOURCE_EXHAUSTED, 'Rate Limit Exceeded'])
  assert.equal(limited.metadata.get('retry-after').length, 1)
  const plain = (value: Buffer) => value
  const nowhere = await refusal(
    new Promise((resolve, reject) => {
      client.makeUnaryRequest('/other.Service/Say', plain, plain, Buffer.alloc(0), (error, answer) =>
        error ? reject(error) : resolve(answer),
      )
    }),
  )
  assert.equal(nowhere.code, status.UNIMPLEMENTED)
  const codes = () =>
    gate.accessLines.map((line) => (JSON.parse(line) as { status: number }).status).filter((code) => code !== 200)
  await eventually('all are logged', () => codes().length === 4)
  assert.deepEqual(codes(), [401, 403, 429, 404])
})

test('an upstream that is not there, or silent, is UNAVAILABLE and DEADLINE_EXCEEDED', async (t) => {
  const { unary, gate, echo } = await world(t, { env: { SVC_GW_PROXYDEFAULTTIMEOUTMS: '1500' } })
  const silent = await refusal(unary('Wait', 'x'))
  assert.equal(silent.code, status.DEADLINE_EXCEEDED)
  await eventually('the service hears of it', () => echo.seen.cancelled)
  echo.server.forceShutdown()
  const away = await refusal(unary('Say', 'x'))
  assert.equal(away.code, status.UNAVAILABLE)
  assert.ok(
    gate.log.every(({ level }) => level !== 'error'),
    JSON.stringify(gate.log),
  )
})

test('a gateway that stops lets calls in flight end', async (t) => {
  const { client, gate } = await world(t, { env: { SVC_GW_DRAINTIMEOUTMS: '10000' } })
  const chat = client.Chat()
  const first = new Promise((resolve) => chat.once('data', resolve))
  chat.write(Buffer.from('a'))
  await within('an answer', first)
  const stopped = gate.gateway.stop()
  const second = new Promise<Buffer>((resolve) => chat.once('data', resolve))
  chat.write(Buffer.from('b'))
  assert.equal(String(await within('an answer while it stops', second)), 'B')
  const ended = new Promise((resolve) => chat.on('status', resolve))
  chat.end()
  assert.equal(((await within('the end of the call', ended)) as { code: number }).code, 0)
  await within('the stop', stopped)
})
