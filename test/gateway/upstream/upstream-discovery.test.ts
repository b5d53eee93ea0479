import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { readSrvAnswer, srvQuestion } from '../../../src/gateway/upstream/dns-message.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { type DnsServer, type Srv, startDns } from '../../worlds/gateway/dns.ts'
import { type Cared, caredFor, origins, targetStates } from '../../worlds/gateway/upstream-fixtures.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'

const DISCOVERY = { enabled: true, srvName: '_http._tcp.orders.example', refreshInterval: '100ms' }

/** A gateway whose API has targets that this DNS server names. */
function discovering(t: TestContext, dns: DnsServer, upstream: JsonObject = {}): Promise<Cared> {
  const draft = { url: 'http://orders.example/base', upstream: { serviceDiscovery: DISCOVERY, ...upstream } }
  return caredFor(t, draft, { SVC_GW_DNSSERVERS: dns.address })
}

const at = (port: number, more: Partial<Srv> = {}): Srv => ({ name: 'localhost', port, ...more })

/** How often each origin answers in so many calls. */
async function counts(gateway: Cared, calls: number): Promise<Record<string, number>> {
  const counted: Record<string, number> = {}
  for (let i = 0; i < calls; i++) {
    const { text } = await gateway.call('/a/x')
    counted[text] = (counted[text] ?? 0) + 1
  }
  return counted
}

test('targets are the SRV records of the first priority by weight, and follow changes', async (t) => {
  const [one, two, three] = await origins(t, 3)
  const last = at(three!.port, { priority: 20 })
  const dns = await startDns(t, [at(one!.port, { weight: 3, priority: 10 }), at(two!.port, { priority: 10 }), last])
  const gateway = await discovering(t, dns)
  assert.deepEqual(await counts(gateway, 8), { 0: 6, 1: 2 })
  const { target, headers } = one!.seen[0]!
  assert.deepEqual([target, headers.host], ['/base/x', `localhost:${one!.port}`])
  dns.records = [last]
  assert.equal(three!.seen.length, 0, 'the second priority is not asked while the first can be')
  await eventually('the third is the only one', async () => (await counts(gateway, 2))['2'] === 2)
  assert.deepEqual(await targetStates(gateway), ['up'])
})

test('while DNS fails, or names nothing, the targets of before stand', async (t) => {
  const [one] = await origins(t, 1)
  const dns = await startDns(t, [at(one!.port)])
  const gateway = await discovering(t, dns)
  assert.deepEqual(await counts(gateway, 1), { 0: 1 })
  for (const records of [undefined, [], [at(one!.port, { name: 'not a/host' })]]) {
    dns.records = records
    const before = dns.asked
    await eventually('it was asked again', () => dns.asked > before + 1)
    assert.deepEqual(await counts(gateway, 2), { 0: 2 })
  }
  assert.ok(gateway.log.some(({ level, fields }) => level === 'warn' && fields.srv_name === DISCOVERY.srvName))
})

test('before DNS has named a target the answer is 502; then it is served', async (t) => {
  const [one] = await origins(t, 1)
  const dns = await startDns(t, undefined)
  const gateway = await discovering(t, dns)
  const refused = await gateway.call('/a/x')
  assert.deepEqual([refused.status, refused.json], [502, { error: 'Upstream host lookup failed' }])
  dns.records = [at(one!.port)]
  await eventually('it is served', async () => (await gateway.call('/a/x')).status === 200)
})

test('targets of DNS are checked and left out like all others', async (t) => {
  const two = await origins(t, 2)
  two[0]!.script = (_request, response) => void response.writeHead(500).end()
  const dns = await startDns(
    t,
    two.map(({ port }) => at(port)),
  )
  const gateway = await discovering(t, dns, {
    loadBalancing: { skipUnavailableHosts: true },
    uptimeTests: { enabled: true, tests: [{ url: '/' }], interval: '100ms', unhealthyThreshold: 1 },
  })
  await eventually('one is down', async () => (await targetStates(gateway)).sort().join() === 'down,up')
  assert.deepEqual(await counts(gateway, 4), { 1: 4 })
})

test('records of lower priority are used when all of the first are down, and no longer', async (t) => {
  const three = await origins(t, 3)
  const well = [true, true, true]
  three.forEach((origin, index) => {
    origin.script = (_request, response) => void response.writeHead(well[index] ? 200 : 503).end(String(index))
  })
  const dns = await startDns(
    t,
    three.map(({ port }, index) => at(port, { priority: index === 2 ? 7 : 1 })),
  )
  const gateway = await discovering(t, dns, {
    loadBalancing: { skipUnavailableHosts: true },
    uptimeTests: {
      enabled: true,
      tests: [{ url: '/' }],
      interval: '100ms',
      unhealthyThreshold: 1,
      healthyThreshold: 1,
    },
  })
  const stand = (wanted: string) =>
    eventually(`targets are ${wanted}`, async () => (await targetStates(gateway)).sort().join() === wanted)
  assert.deepEqual(await counts(gateway, 4), { 0: 2, 1: 2 })
  well[0] = false
  await stand('down,up,up')
  assert.deepEqual(await counts(gateway, 4), { 1: 4 })
  well[1] = false
  await stand('down,down,up')
  assert.deepEqual(await counts(gateway, 4), { 2: 4 })
  well[2] = false
  await stand('down,down,down')
  assert.equal((await gateway.call('/a/x')).status, 503)
  well[1] = true
  well[2] = true
  await stand('down,up,up')
  assert.deepEqual(await counts(gateway, 4), { 1: 4 })
})

test('within a request every record of a priority is tried before those of the next', async (t) => {
  const [last] = await origins(t, 1)
  const dead = await Promise.all(Array.from({ length: 3 }, async () => Number(new URL(await deadUrl()).port)))
  const dns = await startDns(t, [
    at(last!.port, { priority: 9 }),
    ...dead.map((port, index) => at(port, { priority: index === 2 ? 4 : 3 })),
  ])
  const gateway = await discovering(t, dns)
  for (let i = 0; i < 5; i++) assert.equal((await gateway.call('/a/x', { method: 'POST' })).text, '0')
  dns.records = dead.map((port) => at(port))
  await eventually('there is nobody to ask', async () => (await gateway.call('/a/x')).status === 502)
})

test('records are used no longer than their time to live', async (t) => {
  const [one, two] = await origins(t, 2)
  const dns = await startDns(t, [at(one!.port)])
  const gateway = await discovering(t, dns, { serviceDiscovery: { ...DISCOVERY, refreshInterval: '1h' } })
  assert.deepEqual(await counts(gateway, 1), { 0: 1 })
  dns.records = [at(two!.port)]
  dns.ttlS = 3600
  await eventually('the change is followed', async () => (await gateway.call('/a/x')).text === '1')
  assert.equal(dns.asked, 2)
})

test('what does not fit into a datagram is asked for over TCP', async (t) => {
  const three = await origins(t, 3)
  const dns = await startDns(
    t,
    three.map(({ port }) => at(port)),
  )
  dns.truncates = true
  const gateway = await discovering(t, dns)
  assert.deepEqual(await counts(gateway, 6), { 0: 2, 1: 2, 2: 2 })
})

test('no message of a DNS server does harm', () => {
  const question = srvQuestion('_http._tcp.a.example', 7)
  const bytes = fc.uint8Array({ maxLength: 120 })
  const record = fc.tuple(fc.constantFrom(Buffer.of(0xc0, 0x0c), Buffer.of(0xc0, 0x29), Buffer.of(1, 97, 0)), bytes)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), fc.array(record, { maxLength: 4 }), (flags, records) => {
      const message = Buffer.concat([question, ...records.flat()])
      message.writeUInt16BE(flags | 0x8000, 2)
      message.writeUInt16BE(records.length, 6)
      try {
        readSrvAnswer(message, question)
      } catch (error) {
        assert.ok(error instanceof Fault, String(error))
      }
    }),
  )
})

test('a message that answers another question is none', () => {
  const question = srvQuestion('_http._tcp.a.example', 7)
  for (const other of [srvQuestion('_http._tcp.a.example', 8), srvQuestion('_http._tcp.b.example', 7)]) {
    other.writeUInt16BE(0x8180, 2)
    assert.equal(readSrvAnswer(other, question), undefined)
  }
  assert.equal(readSrvAnswer(question, question), undefined, 'a question')
  const shouted = Buffer.from(question.toString('latin1').toUpperCase(), 'latin1')
  shouted.writeUInt16BE(7, 0)
  shouted.writeUInt16BE(0x8180, 2)
  assert.deepEqual(readSrvAnswer(shouted, question)?.records, [])
})
