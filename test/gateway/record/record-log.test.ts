import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Fault, fault } from '../../../src/errors/fault.ts'
import { AccessLog } from '../../../src/gateway/record/access-log.ts'
import { HitBook } from '../../../src/gateway/record/hit-book.ts'
import { Metrics } from '../../../src/gateway/record/metrics.ts'
import { Recorder } from '../../../src/gateway/record/record-plan.ts'
import { nextRequestIdLine, requestIdLines, requestIdOf } from '../../../src/gateway/record/request-id.ts'
import { Sample } from '../../../src/gateway/record/sample.ts'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import type { Hit } from '../../../src/model/analytics/hit.ts'
import type { LineSink } from '../../../src/model/logs/log.ts'
import { makeLog, openLineSink } from '../../../src/process/log.ts'

/** A disk with scripted failures. */
class ScriptedSink implements LineSink {
  backlogBytes = 0
  text = ''
  closed = false

  write(lines: string): boolean {
    this.text += lines
    return true
  }

  async close(): Promise<void> {
    this.closed = true
  }

  get lines(): Record<string, unknown>[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
}

function sampleOf(path: string, more: Partial<Sample> = {}): Sample {
  return Object.assign(
    new Sample(),
    { wallMs: 1_700_000_000_123, status: 200, totalMs: 1.23456, method: 'GET', path },
    more,
  )
}

test('a line tells what happened, and no more of the key than eight digits', () => {
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 0 })
  const sample = sampleOf('/a', {
    upstreamMs: 0.5,
    requestId: 'r1',
    apiId: 'orders',
    version: 'v1',
    keyHash: '0123456789abcdef',
    clientIp: '::1',
    bytesIn: 10,
    bytesOut: 20,
    faultCode: 'rate_exceeded',
  })
  log.push(sample)
  Object.assign(sample, { path: '/changed', status: 500 })
  log.drain()
  assert.deepEqual(sink.lines, [
    {
      level: 30,
      time: 1_700_000_000_123,
      msg: 'request',
      request_id: 'r1',
      api_id: 'orders',
      method: 'GET',
      path: '/a',
      status: 200,
      total_ms: 1.235,
      upstream_ms: 0.5,
      bytes_in: 10,
      bytes_out: 20,
      client_ip: '::1',
      key: '01234567',
      api_version: 'v1',
      fault: 'rate_exceeded',
      outcome: 'complete',
    },
  ])
})

test('whatever stands in a path, a line stays one line of JSON', () => {
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 0 })
  const nasty = ['/"\\\n\r\t\u0000\u001b[31m', '/\u2028\u2029\ud800', '/","status":999,"x":"', '__proto__']
  for (const path of nasty) log.push(sampleOf(path, { clientIp: path, requestId: path, apiId: path, version: path }))
  log.drain()
  assert.equal(sink.text.split('\n').length, nasty.length + 1)
  assert.deepEqual(
    sink.lines.map((line) => [line.path, line.status]),
    nasty.map((path) => [path, 200]),
  )
  log.push(sampleOf('/'.padEnd(20_000, 'x')))
  log.drain()
  assert.ok(sink.lines.at(-1)!.path!.toString().length <= 2048)
})

test('the order is kept when the ring goes round', () => {
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 0, capacity: 7, highWater: 7 })
  let sent = 0
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 5; i++) log.push(sampleOf(`/${sent++}`))
    log.drain()
  }
  assert.deepEqual(
    sink.lines.map((line) => line.path),
    Array.from({ length: 100 }, (_, i) => `/${i}`),
  )
  assert.equal(log.dropped, 0)
})

test('a slow disk costs lines, not requests, and the log says how many', () => {
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 0, capacity: 10, highWater: 10, maxBacklogBytes: 1000 })
  sink.backlogBytes = 1000
  for (let i = 0; i < 15; i++) log.push(sampleOf('/lost'))
  log.drain()
  assert.equal(log.dropped, 15)
  assert.equal(sink.text, '')
  sink.backlogBytes = 0
  log.push(sampleOf('/kept'))
  log.drain()
  assert.deepEqual(
    sink.lines.map((line) => line.dropped ?? line.path),
    [15, '/kept'],
  )
  assert.equal(log.written, 1)
})

test('many requests are written without waiting for the timer, and close writes the rest', async () => {
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 60_000, highWater: 4 })
  for (let i = 0; i < 4; i++) log.push(sampleOf('/'))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.equal(sink.lines.length, 4)
  log.push(sampleOf('/'))
  await log.close()
  assert.equal(sink.lines.length, 5)
  assert.equal(sink.closed, true)
})

test('a file takes the lines of the access log and of the product, secrets masked', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const access = new AccessLog(openLineSink(join(folder, 'access.log')), { flushMs: 0 })
  for (let i = 0; i < 1000; i++) access.push(sampleOf(`/${i}`))
  await access.close()
  const lines = readFileSync(join(folder, 'access.log'), 'utf8').trimEnd().split('\n')
  assert.equal(lines.length, 1000)
  assert.equal(JSON.parse(lines[999]!).path, '/999')

  const log = makeLog({ level: 'info', destination: join(folder, 'app.log') })
  log.debug({}, 'not written')
  log.warn(
    { api: 'a', client_secret: 's3cret', nested: { Authorization: 's3cret', list: [{ password: 's3cret' }] } },
    'hello',
  )
  log.error({ err: fault('store_away', 'gone', new Error('disk')) }, 'oh')
  await log.close()
  const text = readFileSync(join(folder, 'app.log'), 'utf8')
  assert.ok(!text.includes('s3cret'))
  const [hello, oh] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(hello.api, 'a')
  assert.equal(hello.msg, 'hello')
  assert.equal(hello.nested.list[0].password, '[masked]')
  assert.equal(oh.err.code, 'store_away')
  assert.equal(oh.err.cause.message, 'disk')
})

test('each line names node, role and version, as those of the product log do', async (t) => {
  const about = { node: 'edge-1', role: 'gateway', version: '1.2.3' }
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 0, about })
  log.push(sampleOf('/a', { version: 'v2' }))
  log.drain()
  const [line] = sink.lines
  assert.partialDeepStrictEqual(line, { ...about, api_version: 'v2' })

  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const own = makeLog({ level: 'info', destination: join(folder, 'app.log'), about })
  own.info({}, 'hello')
  await own.close()
  assert.partialDeepStrictEqual(JSON.parse(readFileSync(join(folder, 'app.log'), 'utf8')), about)
})

/** The level of each line, by how a request ended. */
const ENDS: readonly (readonly [Partial<Sample>, number])[] = [
  [{ status: 200 }, 30],
  [{ status: 101 }, 30],
  [{ status: 304 }, 30],
  [{ status: 400 }, 40],
  [{ status: 429, faultCode: 'rate_exceeded' }, 40],
  [{ status: 499 }, 40],
  [{ status: 200, cutBy: 'client' }, 40],
  [{ status: 500 }, 50],
  [{ status: 503 }, 50],
  [{ status: 200, cutBy: 'upstream' }, 50],
  [{ status: 200, cutBy: 'stop' }, 50],
  [{ status: 200, cutBy: 'timeout' }, 50],
]

test('the level says which lines are written, and sampling leaves out only what went well', () => {
  for (const [level, lowest] of [
    ['info', 30],
    ['warn', 40],
    ['error', 50],
  ] as const) {
    for (const sample of [1, 10]) {
      const sink = new ScriptedSink()
      const log = new AccessLog(sink, { flushMs: 0, capacity: 1000, highWater: 1000, level, sample })
      for (let i = 0; i < 20; i++) for (const [end] of ENDS) log.push(sampleOf('/a', end))
      log.drain()
      const written = (wanted: number) => sink.lines.filter((line) => line.level === wanted)
      for (const wanted of [30, 40, 50]) {
        const ends = ENDS.filter(([, each]) => each === wanted).length * 20
        const expected = wanted < lowest ? 0 : wanted === 30 ? ends / sample : ends
        assert.equal(written(wanted).length, expected, `${level}, one in ${sample}, ${wanted}`)
      }
      assert.ok(written(30).every(({ sampled }) => sampled === (sample === 1 ? undefined : sample)))
      assert.ok([...written(40), ...written(50)].every(({ sampled }) => sampled === undefined))
    }
  }
})

test('a log file that cannot be opened stops the start with its reason', () => {
  assert.throws(
    () => makeLog({ level: 'info', destination: '/nonexistent-folder/x.log' }),
    (error) =>
      error instanceof Fault && error.code === 'setting_invalid' && error.message.includes('/nonexistent-folder'),
  )
})

test('a full disk loses lines and nothing else, and the process still ends', {
  skip: process.platform !== 'linux',
}, async () => {
  const sink = openLineSink('/dev/full')
  const log = new AccessLog(sink, { flushMs: 0 })
  for (let i = 0; i < 200; i++) log.push(sampleOf(`/${i}`))
  await log.close()
  assert.equal(sink.backlogBytes, 0)
  assert.ok(sink.lostBytes > 200 * 100)
  assert.equal(sink.write('late\n'), false)
})

test('lines left when the process exits are written, once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'exit.log')
  const program = `import { openLineSink } from ${JSON.stringify(new URL('../../../src/process/log.ts', import.meta.url).href)}
    const sink = openLineSink(${JSON.stringify(file)})
    for (let i = 0; i < 100; i++) sink.write(i + '\\n')
    sink.write('last\\n')
    process.exit(0)`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  // The first was being written when the process ended: it may be anywhere, or missing.
  assert.deepEqual(
    lines.filter((line) => line !== '0'),
    [...Array.from({ length: 99 }, (_, i) => `${i + 1}`), 'last'],
  )
})

test('a recorder counts a request everywhere, once', async () => {
  const rows: number[] = []
  const add = async (hits: readonly Hit[]) => void rows.push(...hits.map((hit) => hit.count))
  const book = new HitBook({ add, append: async () => {}, number: async () => [] }, { flushMs: 0 })
  const metrics = new Metrics()
  const sink = new ScriptedSink()
  const log = new AccessLog(sink, { flushMs: 0 })
  const recorder = new Recorder(new Sample(), log)
  const hits = book.cell({
    ...NO_DIMENSIONS,
    apiId: 'a',
  })
  recorder.count(Object.assign(recorder.sample, { hits, metrics: metrics.api('a'), status: 200, path: '/x' }))
  recorder.count(Object.assign(recorder.sample, { hits: undefined, metrics: undefined, status: 404, path: '/y' }))
  await book.flush()
  log.drain()
  assert.deepEqual(rows, [1])
  assert.deepEqual(metrics.api('a').statusCounts, [1])
  assert.deepEqual(
    sink.lines.map((line) => line.path),
    ['/x', '/y'],
  )
})

test('request ids: UUIDs, in order, never twice', () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  assert.match(requestIdOf(nextRequestIdLine()), uuid)
  const lines = requestIdLines(new Uint8Array(10))
  const next = () => requestIdOf(lines())
  assert.equal(next(), '00000000-0000-4000-8000-000000000000')
  assert.equal(next(), '00000000-0000-4000-8000-000000000001')
  const seen = new Set<string>()
  for (let i = 2; i < 40; i++) seen.add(next())
  for (let i = 40; i < 4096 - 1; i++) next()
  assert.equal(next(), '00000000-0000-4000-8000-000000000fff')
  assert.equal(next(), '00000000-0000-4000-8000-000000001000')
  assert.equal(seen.size, 38)
  for (const byte of [0, 1, 0x7f, 0xff])
    assert.match(requestIdOf(requestIdLines(new Uint8Array(10).fill(byte))()), uuid)
  assert.notEqual(requestIdLines()().slice(0, 37), requestIdLines()().slice(0, 37))
})
