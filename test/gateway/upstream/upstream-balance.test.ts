import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { balanced, bareOrigin, caredFor, origins, targetStates } from '../../worlds/gateway/upstream-fixtures.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'

const EJECTION = { enabled: true, consecutiveFailures: 2, baseTime: '10s', maxTime: '1m', maxPercent: 50 }

const CHECKS = {
  enabled: true,
  tests: [{ url: '/health' }],
  interval: '100ms',
  unhealthyThreshold: 1,
  healthyThreshold: 1,
}

test('requests meet the weights of the remaining targets exactly', async (t) => {
  const three = await origins(t, 3)
  const gateway = await caredFor(t, { url: three[0]!.url })
  const counted = async (calls: number) => {
    const counts = [0, 0, 0]
    for (let i = 0; i < calls; i++) counts[Number((await gateway.call('/a/x')).text)]!++
    return counts
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 3, maxLength: 3 }), async (weights) => {
      const urls = three.map(({ url }) => url)
      const upstream = { loadBalancing: balanced(urls, weights), outlierEjection: EJECTION }
      const definition = defined({ id: 'a', url: urls[0]!, upstream })
      assert.equal((await gateway.svc('PUT', '/svc/apis/oas/a', definition)).status, 200)
      const round = weights[0]! + weights[1]! + weights[2]!
      assert.deepEqual(
        await counted(round * 2),
        weights.map((weight) => weight * 2),
      )
      const answer = three[1]!.script
      three[1]!.script = (_request, response) => void response.writeHead(500).end()
      await eventually('the second target is out', async () => {
        await gateway.call('/a/x')
        return (await targetStates(gateway))[1] === 'ejected'
      })
      three[1]!.script = answer
      const rest = weights[0]! + weights[2]!
      assert.deepEqual(await counted(rest * 2), [weights[0]! * 2, 0, weights[2]! * 2])
      // The known state would stay with the next definition.
      gateway.clock.advance(60_000)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 100 : 6 },
  )
})

test('a target that fails requests in a row is left out for a growing time, and comes back', async (t) => {
  const [good] = await origins(t, 1)
  const bad = await bareOrigin(t, (socket) => socket.resetAndDestroy())
  const upstream = { loadBalancing: balanced([good!.url, bad.url]), outlierEjection: EJECTION }
  const gateway = await caredFor(t, { url: good!.url, upstream })
  const outage = async () => {
    await eventually('it is out', async () => {
      await gateway.call('/a/x', { method: 'POST' })
      return (await targetStates(gateway))[1] === 'ejected'
    })
    const before = bad.seen.length
    for (let i = 0; i < 6; i++) assert.equal((await gateway.call('/a/x', { method: 'POST' })).status, 200)
    assert.equal(bad.seen.length, before, 'it was asked while it was out')
  }
  await outage()
  assert.equal(bad.seen.length, 2, 'two failures in a row')
  gateway.clock.advance(9_999)
  assert.deepEqual(await targetStates(gateway), ['up', 'ejected'])
  gateway.clock.advance(1)
  assert.deepEqual(await targetStates(gateway), ['up', 'up'])
  await outage()
  gateway.clock.advance(19_999)
  assert.deepEqual(await targetStates(gateway), ['up', 'ejected'], 'the second time is twice as long')
  gateway.clock.advance(1)
  assert.deepEqual(await targetStates(gateway), ['up', 'up'])
  assert.deepEqual(
    gateway.told.map(({ kind, apiId, detail }) => [kind, apiId, detail.target, detail.for_ms]),
    [
      ['HostDown', 'a', bad.url, 10_000],
      ['HostUp', 'a', bad.url, undefined],
      ['HostDown', 'a', bad.url, 20_000],
      ['HostUp', 'a', bad.url, undefined],
    ],
  )
})

test('a success in between begins the count anew, and answers below 500 are successes', async (t) => {
  const two = await origins(t, 2)
  const statuses = [500, 404, 500, 200, 500, 301, 500]
  two[1]!.script = (_request, response) => void response.writeHead(statuses.shift() ?? 200).end()
  const upstream = { loadBalancing: balanced(two.map(({ url }) => url)), outlierEjection: EJECTION }
  const gateway = await caredFor(t, { url: two[0]!.url, upstream })
  for (let i = 0; i < 14; i++) await gateway.call('/a/x')
  assert.deepEqual([statuses.length, await targetStates(gateway)], [0, ['up', 'up']])
})

test('never more than the largest share of targets is left out', async (t) => {
  const urls = [await deadUrl(), await deadUrl(), await deadUrl(), await deadUrl()]
  const upstream = { loadBalancing: balanced(urls), outlierEjection: EJECTION }
  const gateway = await caredFor(t, { url: urls[0]!, upstream })
  for (let i = 0; i < 20; i++) assert.equal((await gateway.call('/a/x')).status, 502, 'tried, not refused beforehand')
  assert.deepEqual((await targetStates(gateway)).sort(), ['ejected', 'ejected', 'up', 'up'])
  const alone = { ...upstream, loadBalancing: balanced(urls.slice(0, 1)) }
  const definition = defined({ id: 'a', url: urls[0]!, upstream: alone })
  assert.equal((await gateway.svc('PUT', '/svc/apis/oas/a', definition)).status, 200)
  for (let i = 0; i < 5; i++) assert.equal((await gateway.call('/a/x')).status, 502)
  assert.deepEqual(await targetStates(gateway), ['up'])
})

test('a target that hangs is left out as one that refuses is', async (t) => {
  const [good] = await origins(t, 1)
  const hung = await bareOrigin(t, () => {})
  const upstream = { loadBalancing: balanced([good!.url, hung.url]), outlierEjection: EJECTION }
  const gateway = await caredFor(t, { url: good!.url, upstream }, { SVC_GW_PROXYDEFAULTTIMEOUTMS: '2000' })
  const statuses = []
  for (let i = 0; i < 6; i++) statuses.push((await gateway.call('/a/x')).status)
  assert.deepEqual(statuses, [200, 504, 200, 504, 200, 200])
})

test('targets that fail their checks are not asked, all of them down is 503, and they come back', async (t) => {
  const two = await origins(t, 2)
  const well = [true, true]
  two.forEach((origin, index) => {
    origin.script = ({ target }, response) => {
      if (target === '/health') response.writeHead(well[index] ? 204 : 503).end()
      else response.end(String(index))
    }
  })
  const urls = two.map(({ url }) => `${url}/base`)
  const gateway = await caredFor(t, {
    url: urls[0]!,
    upstream: { loadBalancing: balanced(urls), uptimeTests: CHECKS },
  })
  const stand = (...wanted: string[]) =>
    eventually(`targets are ${wanted}`, async () => (await targetStates(gateway)).join() === wanted.join())
  well[0] = false
  await stand('down', 'up')
  for (let i = 0; i < 4; i++) assert.equal((await gateway.call('/a/x')).text, '1')
  well[1] = false
  await stand('down', 'down')
  const refused = await gateway.call('/a/x')
  assert.deepEqual([refused.status, refused.json], [503, { error: 'all hosts are down' }])
  const explained = await gateway.svc('POST', '/svc/explain', { url: '/a/x' })
  const { steps } = explained.json as { steps: { step: string; code?: string }[] }
  assert.deepEqual([steps.at(-1)?.step, steps.at(-1)?.code], ['forward', 'upstream_all_down'])
  well[0] = true
  await stand('up', 'down')
  assert.equal((await gateway.call('/a/x')).text, '0')
  const metrics = await gateway.svc('GET', '/metrics')
  assert.match(metrics.text, /svc_upstream_targets\{api_id="a",state="down"\} 1/)
  const kinds = gateway.told.map(({ kind, detail }) => `${kind} ${urls.indexOf(String(detail.target))}`)
  assert.deepEqual(kinds, ['HostDown 0', 'HostDown 1', 'HostUp 0'])
  assert.ok(gateway.log.some(({ level, fields }) => level === 'warn' && String(fields.reason).includes('status 503')))
})

test('the state of a target survives edits of its definition where it still fits', async (t) => {
  const three = await origins(t, 3)
  const well = [true, true, true]
  three.forEach((origin, index) => {
    origin.script = ({ target }, response) => {
      if (target === '/health') response.writeHead(well[index] ? 204 : 503).end()
      else response.writeHead(index === 1 ? 500 : 200).end(String(index))
    }
  })
  const urls = three.map(({ url }) => url)
  // A target that is down stays down during the test.
  const uptimeTests = { ...CHECKS, healthyThreshold: 1000 }
  const upstream = { loadBalancing: balanced(urls), uptimeTests, outlierEjection: EJECTION }
  const gateway = await caredFor(t, { url: urls[0]!, upstream })
  const change = async (more: JsonObject) => {
    const definition = defined({ id: 'a', url: urls[0]!, upstream: { ...upstream, ...more } })
    const changed = await gateway.svc('PUT', '/svc/apis/oas/a', definition)
    assert.equal(changed.status, 200, changed.text)
  }
  await eventually('the second is out', async () => {
    await gateway.call('/a/x')
    return (await targetStates(gateway))[1] === 'ejected'
  })
  await change({ outlierEjection: { ...EJECTION, consecutiveFailures: 5, baseTime: '1s', maxTime: '5s' } })
  assert.deepEqual(await targetStates(gateway), ['up', 'ejected', 'up'])
  gateway.clock.advance(5_000)
  assert.deepEqual(await targetStates(gateway), ['up', 'up', 'up'], 'no longer than the new definition has it')
  assert.ok(gateway.told.some(({ kind, detail }) => kind === 'HostUp' && detail.target === urls[1]))

  well[0] = false
  await eventually('the first is down', async () => (await targetStates(gateway))[0] === 'down')
  well[0] = true
  const told = gateway.told.length
  await change({ loadBalancing: balanced([urls[2]!, urls[0]!]) })
  assert.deepEqual(await targetStates(gateway), ['up', 'down'])
  for (let i = 0; i < 4; i++) assert.equal((await gateway.call('/a/x')).text, '2')
  assert.equal(gateway.told.length, told, 'nothing has happened to it')
  // One that cannot be served leaves the last good one in service, and what that one knows.
  const plugins = {
    pluginConfig: { driver: 'typescript' },
    prePlugins: [{ enabled: true, functionName: 'f', path: 'f.ts' }],
  }
  const bad = defined({ id: 'a', url: urls[0]!, upstream, global: plugins })
  assert.equal((await gateway.svc('PUT', '/svc/apis/oas/a', bad)).status, 200)
  assert.match((await gateway.svc('GET', '/svc/node')).text, /"stale"/)
  await change({})
  assert.deepEqual(await targetStates(gateway), ['down', 'up', 'up'])
  await change({ uptimeTests: { ...uptimeTests, enabled: false } })
  assert.deepEqual((await targetStates(gateway))[0], 'up', 'nobody would ever find it well again')
})

test('checks have their own status, method, header, body and thresholds', async (t) => {
  const [origin] = await origins(t, 1)
  let status = 418
  origin!.script = (_request, response) => void response.writeHead(status).end()
  const check = { method: 'POST', headers: { 'X-Check': 'yes' }, body: 'béta', expectedStatuses: [418] }
  const gateway = await caredFor(t, {
    url: origin!.url,
    upstream: {
      loadBalancing: { skipUnavailableHosts: true },
      uptimeTests: {
        ...CHECKS,
        tests: [{ url: `${origin!.url}/check?deep=1`, ...check }],
        unhealthyThreshold: 3,
        healthyThreshold: 2,
      },
    },
  })
  const asked = () => origin!.seen.length
  await eventually('it was asked', () => asked() > 0)
  const { method, target, headers, body } = origin!.seen[0]!
  assert.deepEqual([method, target, headers['x-check']], ['POST', '/check?deep=1', 'yes'])
  assert.equal(Buffer.from(body, 'latin1').toString(), 'béta')
  assert.deepEqual(await targetStates(gateway), ['up'])
  const before = asked()
  status = 200
  await eventually('it is down', async () => (await targetStates(gateway))[0] === 'down')
  assert.ok(asked() - before >= 3, `down after ${asked() - before} checks`)
  assert.equal((await gateway.call('/a/x')).status, 503)
  const down = asked()
  status = 418
  await eventually('it is up', async () => (await targetStates(gateway))[0] === 'up')
  assert.ok(asked() - down >= 2, `up after ${asked() - down} checks`)
})

test('a check that is not answered in time fails, and checks end with the API', async (t) => {
  const hung = await bareOrigin(t, () => {})
  const gateway = await caredFor(t, {
    url: hung.url,
    upstream: {
      loadBalancing: { skipUnavailableHosts: true },
      uptimeTests: { ...CHECKS, tests: [{ url: '/', timeout: '300ms' }] },
    },
  })
  await eventually('it is down', async () => (await targetStates(gateway))[0] === 'down')
  const asked = hung.seen.length
  await eventually('a check is on its way', () => hung.seen.length > asked)
  assert.equal((await gateway.svc('DELETE', '/svc/apis/oas/a')).status, 200)
  assert.deepEqual(await targetStates(gateway), [])
  const before = hung.seen.length
  // Another API's checks are the measure of time.
  const [other] = await origins(t, 1)
  const definition = defined({ id: 'b', url: other!.url, upstream: { uptimeTests: CHECKS } })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', definition)).status, 200)
  await eventually('eight checks of another', () => other!.seen.length >= 8)
  assert.equal(hung.seen.length, before)
})

test('targets that are only watched are asked all the same', async (t) => {
  const [origin] = await origins(t, 1)
  origin!.script = ({ target }, response) => void response.writeHead(target === '/health' ? 500 : 200).end()
  const gateway = await caredFor(t, { url: origin!.url, upstream: { uptimeTests: CHECKS } })
  await eventually('it is down', async () => (await targetStates(gateway))[0] === 'down')
  assert.equal((await gateway.call('/a/x')).status, 200)
})

test('an operation with a time limit of its own passes over the same targets', async (t) => {
  const two = await origins(t, 2)
  two[0]!.script = (_request, response) => void response.writeHead(500).end()
  const gateway = await caredFor(t, {
    url: two[0]!.url,
    upstream: { loadBalancing: balanced(two.map(({ url }) => url)), outlierEjection: EJECTION },
    paths: { '/quick': { get: { operationId: 'quick' } } },
    operations: { quick: { enforceTimeout: { enabled: true, value: 5 } } },
  })
  await eventually('the first is out', async () => {
    await gateway.call('/a/x')
    return (await targetStates(gateway))[0] === 'ejected'
  })
  for (let i = 0; i < 4; i++) assert.equal((await gateway.call('/a/quick')).text, '1')
})

test('an API that asks for no care has no step for it, and nothing is told of it', async (t) => {
  const [origin] = await origins(t, 1)
  const gateway = await caredFor(t, { url: origin!.url })
  const explained = await gateway.svc('POST', '/svc/explain', { url: '/a/x' })
  const { steps } = explained.json as { steps: { step: string }[] }
  assert.deepEqual(
    steps.map(({ step }) => step),
    ['takePermits', 'forward'],
  )
  assert.equal((await gateway.call('/a/x')).status, 200)
  assert.deepEqual(await targetStates(gateway), [])
})
