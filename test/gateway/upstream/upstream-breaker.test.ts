import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Breaker, NOT_ADMITTED } from '../../../src/gateway/upstream/breaker.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { caredFor, origins } from '../../worlds/gateway/upstream-fixtures.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'

const BREAKER = { enabled: true, threshold: 0.5, sampleSize: 4, coolDownPeriod: 10, halfOpenStateEnabled: true }
const OPEN = [503, { error: 'Service temporarily unavailable.' }]

const guarded = (url: string, breaker: object = BREAKER) => ({
  url,
  paths: { '/x': { get: { operationId: 'x' } }, '/y': { get: { operationId: 'y' } } },
  operations: { x: { circuitBreaker: { ...breaker } } },
})

test('a breaker opens for its operation alone, and one request tries', async (t) => {
  const [origin] = await origins(t, 1)
  const good = origin!.script
  const gateway = await caredFor(t, guarded(origin!.url))
  const asked = async () => {
    const before = origin!.seen.length
    const answer = await gateway.call('/a/x')
    return { answer, reached: origin!.seen.length > before }
  }
  const statuses = [500, 200, 200, 200, 200, 503, 500]
  origin!.script = (_request, response) => void response.writeHead(statuses.shift() ?? 500).end()
  for (let i = 0; i < 7; i++) assert.ok((await asked()).reached, `request ${i}`)
  const refused = await asked()
  assert.deepEqual([refused.answer.status, refused.answer.json], OPEN)
  assert.equal(refused.answer.headers['retry-after'], '10')
  assert.equal(refused.reached, false)
  const other = await gateway.call('/a/y')
  assert.equal(other.status, 500, 'another operation is asked on')

  const explained = await gateway.svc('POST', '/svc/explain', { url: '/a/x' })
  const { steps } = explained.json as { steps: { step: string; code?: string }[] }
  assert.deepEqual([steps.at(-1)?.step, steps.at(-1)?.code], ['checkBreaker', 'breaker_open'])

  gateway.clock.advance(9_999)
  assert.equal((await asked()).reached, false)
  gateway.clock.advance(1)
  assert.ok((await asked()).reached, 'one tries')
  assert.equal((await asked()).reached, false, 'it failed, so the breaker is open again')
  gateway.clock.advance(10_000)
  origin!.script = good
  assert.equal((await asked()).answer.status, 200)
  assert.equal((await asked()).answer.status, 200)
  const told = gateway.told.map(({ kind, detail }) => `${kind} ${detail.operation}`)
  assert.deepEqual(told, ['BreakerTripped GET /x', 'BreakerTripped GET /x', 'BreakerReset GET /x'])
})

test('while one request tries, others are refused; a leaving client makes room', async (t) => {
  const [origin] = await origins(t, 1)
  const gateway = await caredFor(t, guarded(origin!.url))
  origin!.script = (_request, response) => void response.writeHead(500).end()
  for (let i = 0; i < 4; i++) await gateway.call('/a/x')
  gateway.clock.advance(10_000)
  origin!.script = () => {}
  const seen = origin!.seen.length
  const leaving = new AbortController()
  const trying = fetch(`http://127.0.0.1:${gateway.port}/a/x`, { signal: leaving.signal }).catch(() => undefined)
  await eventually('it has arrived', () => origin!.seen.length === seen + 1)
  assert.equal((await gateway.call('/a/x')).status, 503)
  leaving.abort()
  await trying
  origin!.script = (_request, response) => void response.end()
  await eventually('another may try', async () => (await gateway.call('/a/x')).status === 200)
})

test('without half-open all requests pass after the cool-down; no response counts as a failure', async (t) => {
  const gateway = await caredFor(t, guarded(await deadUrl(), { ...BREAKER, halfOpenStateEnabled: false }))
  const statuses = async (count: number) => {
    const list = []
    for (let i = 0; i < count; i++) list.push((await gateway.call('/a/x')).status)
    return list
  }
  assert.deepEqual(await statuses(5), [502, 502, 502, 502, 503])
  gateway.clock.advance(10_000)
  assert.deepEqual(await statuses(5), [502, 502, 502, 502, 503])
})

test('a classic definition has the same breaker', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const entry = { path: '/x', method: 'GET', threshold_percent: 1, samples: 2, return_to_service_after: 5 }
  const versions = {
    Default: { name: 'Default', use_extended_paths: true, extended_paths: { circuit_breakers: [entry] } },
  }
  const definition = classic('c', '/c/', await deadUrl(), { version_data: { not_versioned: true, versions } })
  assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await gateway.call('/c/x')).status)
  assert.deepEqual(statuses, [502, 502, 503])
})

test('a breaker is open exactly when the share of its last samples says so', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.boolean(), { maxLength: 60 }),
      (samples, tenths, outcomes) => {
        const rule = { threshold: tenths / 10, samples, coolDownMs: 1000, halfOpen: true }
        const breaker = new Breaker('GET /', rule, () => {})
        const past: boolean[] = []
        for (const failed of outcomes) {
          const turn = breaker.admit(0)
          assert.notEqual(turn, NOT_ADMITTED)
          breaker.settle(turn, failed, 0)
          past.push(failed)
          const last = past.slice(-samples)
          const wanted = last.length === samples && last.filter(Boolean).length >= rule.threshold * samples
          assert.equal(breaker.look(0) === 'open', wanted)
          if (wanted) {
            assert.equal(breaker.admit(999), NOT_ADMITTED)
            return
          }
        }
      },
    ),
  )
})

test('a breaker with a large sample opens by the last outcomes, give or take a thousandth', () => {
  for (const samples of [1025, 5000, 100_000]) {
    const rule = { threshold: 0.5, samples, coolDownMs: 1000, halfOpen: true }
    const breaker = new Breaker('GET /', rule, () => {})
    const settled = (failed: boolean, most: number) => {
      for (let count = 1; count <= most; count++) {
        breaker.settle(breaker.admit(0), failed, 0)
        if (breaker.look(0) === 'open') return count
      }
      return 0
    }
    assert.equal(settled(false, 3 * samples), 0)
    const opened = settled(true, samples)
    const [least, most] = [samples / 2, samples / 2 + samples / 1000 + 2]
    assert.ok(opened >= least && opened <= most, `${samples}: after ${opened} failures`)
  }
  const first = new Breaker('GET /', { threshold: 1, samples: 5000, coolDownMs: 1000, halfOpen: true }, () => {})
  for (let count = 0; count < 5000; count++) {
    assert.equal(first.look(0), 'closed')
    first.settle(first.admit(0), true, 0)
  }
  assert.equal(first.look(0), 'open')
})

test('the samples of breakers take no memory before there is traffic, and little with it', async (t) => {
  const [origin] = await origins(t, 1)
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const count = 300
  const paths = Array.from({ length: count }, (_, index) => `/p${index}`)
  const sample = { threshold_percent: 1, samples: 100_000, return_to_service_after: 5 }
  const entries = paths.map((path) => ({ path, method: 'GET', ...sample }))
  const versions = { Default: { name: 'Default', extended_paths: { circuit_breakers: entries } } }
  const definition = classic('c', '/c/', origin!.url, { version_data: { not_versioned: true, versions } })
  const before = process.memoryUsage().arrayBuffers
  assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  const { status } = await gateway.call('/c/p1')
  for (const path of paths.slice(0, 50)) await gateway.call(`/c${path}`)
  const grown = process.memoryUsage().arrayBuffers - before
  assert.equal(status, 200)
  assert.ok(grown < (count * sample.samples) / 3, `${grown} bytes`)
})

test('an outcome of before the breaker opened says nothing about the request that tries', () => {
  const breaker = new Breaker('GET /', { threshold: 1, samples: 1, coolDownMs: 1000, halfOpen: true }, () => {})
  const [slow, failing] = [breaker.admit(0), breaker.admit(0)]
  breaker.settle(failing, true, 0)
  const trying = breaker.admit(1000)
  breaker.settle(slow, false, 1000)
  breaker.leave(slow)
  assert.equal(breaker.look(1000), 'half-open')
  assert.equal(breaker.admit(1000), NOT_ADMITTED)
  breaker.settle(trying, false, 1000)
  assert.equal(breaker.look(1000), 'closed')
})
