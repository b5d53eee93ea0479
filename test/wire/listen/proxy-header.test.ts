import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { MORE_BYTES, NO_PROXY_HEADER, readProxyHeader } from '../../../src/wire/listen/proxy-header.ts'
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, until } from '../../worlds/wire/raw.ts'
import { choose, to } from '../../worlds/wire/tls-gate.ts'

const SIGNATURE = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

function binary(command: number, family: number, body: readonly number[], size = body.length): Buffer {
  return Buffer.from([...SIGNATURE, command, family, size >> 8, size & 255, ...body])
}

const V4 = [192, 0, 2, 7, 10, 0, 0, 1, 200, 1, 0, 80]
const V6 = [...[0x20, 1, 0xd, 0xb8], ...Array(11).fill(0), 7, ...Array(15).fill(0), 1, 200, 1, 0, 80]
const MAPPED = [...Array(10).fill(0), 255, 255, 192, 0, 2, 9, ...Array(20).fill(0)]

/** Header, and the address that it tells; '' = the sender's own. */
const GOOD: readonly (readonly [string, Buffer, string])[] = [
  ['TCP4', Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n'), '192.0.2.1'],
  ['TCP6', Buffer.from('PROXY TCP6 2001:DB8::1 2001:db8::2 56324 443\r\n'), '2001:db8::1'],
  ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n'), ''],
  ['UNKNOWN with more', Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'), ''],
  ['version 2, IPv4', binary(0x21, 0x11, V4), '192.0.2.7'],
  ['version 2, IPv6', binary(0x21, 0x21, V6), '2001:db8::7'],
  ['version 2, IPv4 in IPv6', binary(0x21, 0x21, MAPPED), '192.0.2.9'],
  ['version 2 with extensions', binary(0x21, 0x11, [...V4, 4, 0, 2, 9, 9]), '192.0.2.7'],
  ['version 2, LOCAL', binary(0x20, 0x00, []), ''],
  ['version 2, LOCAL with addresses', binary(0x20, 0x11, V4), ''],
  ['version 2, family unspecified', binary(0x21, 0x00, [1, 2, 3]), ''],
  ['version 2, datagrams', binary(0x21, 0x12, V4), ''],
  ['version 2, datagrams over IPv6', binary(0x21, 0x22, V6), ''],
  ['version 2, a Unix socket', binary(0x21, 0x31, Array(216).fill(47)), ''],
  ['version 2, datagrams of a Unix socket', binary(0x21, 0x32, Array(216).fill(47)), ''],
]

const BAD: readonly (readonly [string, Buffer | string])[] = [
  ['a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['lower case', 'proxy TCP4 192.0.2.1 198.51.100.1 1 2\r\n'],
  ['another word', 'PROXYY TCP4 192.0.2.1 198.51.100.1 1 2\r\n'],
  ['another family', 'PROXY TCP5 192.0.2.1 198.51.100.1 1 2\r\n'],
  ['no family', 'PROXY \r\n'],
  ['an IPv6 address in TCP4', 'PROXY TCP4 ::1 198.51.100.1 1 2\r\n'],
  ['an IPv4 address in TCP6', 'PROXY TCP6 192.0.2.1 ::1 1 2\r\n'],
  ['an address with a zone', 'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n'],
  ['a name', 'PROXY TCP4 a.example 198.51.100.1 1 2\r\n'],
  ['a leading zero', 'PROXY TCP4 192.0.2.01 198.51.100.1 1 2\r\n'],
  ['one port', 'PROXY TCP4 192.0.2.1 198.51.100.1 1\r\n'],
  ['three ports', 'PROXY TCP4 192.0.2.1 198.51.100.1 1 2 3\r\n'],
  ['a port too large', 'PROXY TCP4 192.0.2.1 198.51.100.1 65536 2\r\n'],
  ['a port that is none', 'PROXY TCP4 192.0.2.1 198.51.100.1 x 2\r\n'],
  ['two spaces', 'PROXY TCP4  192.0.2.1 198.51.100.1 1 2\r\n'],
  ['a line feed alone', `PROXY TCP4 192.0.2.1 198.51.100.1 1 2\n${' '.repeat(107)}`],
  ['a line of 108 bytes', `PROXY UNKNOWN ${'a'.repeat(92)}\r\n`],
  ['a wrong signature', Buffer.from([13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 13, 0x21, 0x11, 0, 0])],
  ['version 1 in version 2', binary(0x11, 0x11, V4)],
  ['another command', binary(0x22, 0x11, V4)],
  ['an unknown transport', binary(0x21, 0x13, V4)],
  ['an unknown family', binary(0x21, 0x41, V4)],
  ['IPv4 too short', binary(0x21, 0x11, V4.slice(1))],
  ['IPv6 too short', binary(0x21, 0x21, V6.slice(1))],
  ['larger than any', binary(0x21, 0x11, [], 4097)],
]

test('headers are read to the last byte, and others detected as early as possible', () => {
  for (const [name, bytes, address] of GOOD) {
    const rest = Buffer.from('\0GET')
    assert.deepEqual(readProxyHeader(Buffer.concat([bytes, rest])), { length: bytes.length, address }, name)
    for (let cut = 0; cut < bytes.length; cut++)
      assert.equal(readProxyHeader(bytes.subarray(0, cut)), MORE_BYTES, `${name}, cut at ${cut}`)
  }
  for (const [name, bytes] of BAD)
    assert.equal(readProxyHeader(Buffer.from(bytes as string, 'latin1')), NO_PROXY_HEADER, name)
})

test('the result of reading does not depend on how the bytes are cut, and never overruns them', () => {
  const seeds = [...GOOD.map(([, bytes]) => bytes), ...BAD.map(([, bytes]) => Buffer.from(bytes as string, 'latin1'))]
  const mutated = fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
      fc.uint8Array({ maxLength: 20 }),
    )
    .map(([seed, changes, tail]) => {
      const bytes = Buffer.concat([seed, tail])
      for (const [at, value] of changes) bytes[at % bytes.length] = value
      return bytes
    })
  fc.assert(
    fc.property(
      fc.oneof(
        mutated,
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        const whole = readProxyHeader(bytes)
        let early: ReturnType<typeof readProxyHeader> = MORE_BYTES
        for (let cut = 0; cut <= bytes.length && early === MORE_BYTES; cut++)
          early = readProxyHeader(bytes.subarray(0, cut))
        assert.deepEqual(early, whole)
        if (typeof whole === 'object') assert.ok(whole.length > 0 && whole.length <= bytes.length)
      },
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500 },
  )
})

function senders(network: string): BlockList {
  const list = new BlockList()
  list.addAddress(network)
  return list
}

async function world(t: TestContext, secure: boolean, sender = '127.0.0.1', limits = {}) {
  const origin = await openOrigin(t)
  const seen: string[] = []
  const gate = await openGate(t, {
    originPort: origin.port,
    limits: { http2Streams: 100, ...limits },
    proxies: senders(sender),
    ...(secure ? { tls: choose } : {}),
    handle: (x) => {
      seen.push(x.peerAddress)
      x.reply(200, `X-Peer: ${x.peerAddress}\r\n`, 'ok')
    },
  })
  return { gate, seen }
}

test('the header’s address is the client’s in any cut; without one the sender’s', async (t) => {
  const { gate, seen } = await world(t, false)
  for (const [name, header, address] of GOOD) {
    const bytes = Buffer.concat([header, Buffer.from(get('/'))])
    for (const cut of [1, 12, header.length - 1, header.length, header.length + 1, bytes.length]) {
      const client = await Client.connect(gate.port)
      await client.writeCut(bytes, [cut])
      const found = await client.answer()
      assert.equal(fieldOf(found!, 'x-peer'), address === '' ? '127.0.0.1' : address, name)
      assert.equal(statusOf(await client.ask(get('/'))), 200, 'a second request')
      client.destroy()
    }
  }
  assert.equal(seen.length, GOOD.length * 12)
})

test('TLS and HTTP/2 behind a header', async (t) => {
  const { connect } = await import('node:http2')
  const { connect: connectTcp } = await import('node:net')
  const { connect: connectTls } = await import('node:tls')
  const header = GOOD[0]![1]
  for (const secure of [true, false]) {
    for (const version of secure ? ['http/1.1', 'h2'] : ['h2']) {
      const { gate, seen } = await world(t, secure)
      const raw = connectTcp({ host: '127.0.0.1', port: gate.port })
      raw.write(header)
      const socket = secure ? connectTls({ socket: raw, ALPNProtocols: [version], ...to('plain.example') }) : raw
      if (version === 'h2') {
        const session = connect('http://plain.example', { createConnection: () => socket })
        session.on('error', () => {})
        const stream = session.request({ ':path': '/' })
        stream.resume()
        await until('it is answered', () => stream.closed)
        session.destroy()
      } else assert.equal(statusOf(await new Client(socket).ask(get('/'))), 200)
      assert.deepEqual(seen, ['192.0.2.1'])
      raw.destroy()
    }
  }
})

test('no valid header in time closes the connection without a word', async (t) => {
  const strict = await world(t, false)
  const quick = await world(t, false, '127.0.0.1', { headTimeoutMs: 200 })
  const late = [
    ['nothing', ''],
    ['half a header', 'PROXY TCP4 192'],
  ] as const
  for (const { gate, cases } of [
    { gate: strict.gate, cases: BAD },
    { gate: quick.gate, cases: late },
  ]) {
    for (const [name, bytes] of cases) {
      const client = await Client.connect(gate.port)
      client.write(Buffer.from(bytes as string, 'latin1'))
      assert.equal((await client.inbox.toEnd()).length, 0, name)
      client.destroy()
    }
    await until('all are let go', () => gate.listener.connections() === 0)
  }
  assert.deepEqual([...strict.seen, ...quick.seen], [])
})

test('a header of somebody who is not listed is no header', async (t) => {
  const { gate, seen } = await world(t, false, '192.0.2.200')
  const client = await Client.connect(gate.port)
  client.write(Buffer.concat([GOOD[0]![1], Buffer.from(get('/'))]))
  assert.equal(statusOf((await client.answer())!), 400)
  client.destroy()
  const plain = await Client.connect(gate.port)
  assert.equal(statusOf(await plain.ask(get('/'))), 200)
  assert.deepEqual(seen, ['127.0.0.1'])
  plain.destroy()
})
