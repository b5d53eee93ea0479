import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addressList } from '../../../src/model/network/address.ts'
import { forwardedAddress, forwardedClient } from '../../../src/model/network/forwarded-for.ts'

const TRUSTED = addressList(['10.0.0.0/8', 'fd00::/8'])
const PEER = '10.0.0.1'

const client = (forwardedFor: string, realIp = '', peer = PEER) =>
  forwardedClient(peer, { forwardedFor, realIp }, TRUSTED)

test('an entry is an address with or without a port, in any of its forms', () => {
  const read: Readonly<Record<string, string | undefined>> = {
    '192.0.2.1': '192.0.2.1',
    '192.0.2.1:443': '192.0.2.1',
    '2001:db8::1': '2001:db8::1',
    '2001:DB8:0:0::1': '2001:db8::1',
    '[2001:db8::1]': '2001:db8::1',
    '[2001:db8::1]:65535': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '[fe80::1%eth0]:80': 'fe80::1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:c000:201': '192.0.2.1',
    '[0:0:0:0:0:ffff:192.0.2.1]:80': '192.0.2.1',
    '192.0.2.1:': undefined,
    '192.0.2.1:65536': undefined,
    '[2001:db8::1]:99999': undefined,
    '192.0.2.1:x': undefined,
    '192.0.2.1:80:80': undefined,
    '192.0.2.1 192.0.2.2': undefined,
    '[192.0.2.1]': undefined,
    '[2001:db8::1': undefined,
    '2001:db8::1]': undefined,
    '[2001:db8::1]x': undefined,
    '192.0.2.256': undefined,
    '010.0.0.1': undefined,
    '0x0a000001': undefined,
    '10.1': undefined,
    '"192.0.2.1"': undefined,
    'for=192.0.2.1': undefined,
    unknown: undefined,
    _hidden: undefined,
    '192.0.2.1\u00a0': undefined,
    '': undefined,
  }
  for (const [entry, address] of Object.entries(read)) assert.equal(forwardedAddress(entry), address, entry)
})

test('the client is the first untrusted address from the right; garbage is nobody', () => {
  const told = (address: string, chain: string[], proven = true) => ({ address, proven, chain })
  const rows: readonly (readonly [string, ReturnType<typeof told>])[] = [
    ['', told(PEER, [])],
    [' , ,', told(PEER, [])],
    ['192.0.2.1', told('192.0.2.1', ['192.0.2.1'])],
    ['192.0.2.1,', told('192.0.2.1', ['192.0.2.1'])],
    [',\t192.0.2.1:5 , , 10.0.0.2 ,', told('192.0.2.1', ['192.0.2.1', '10.0.0.2'])],
    ['192.0.2.9, 192.0.2.1, 10.0.0.2', told('192.0.2.1', ['192.0.2.1', '10.0.0.2'])],
    ['::ffff:10.0.0.3, [fd00::1]:9', told('10.0.0.3', ['10.0.0.3', 'fd00::1'])],
    ['garbage', told(PEER, [], false)],
    ['192.0.2.1, garbage', told(PEER, [], false)],
    ['192.0.2.1, garbage, 10.0.0.2', told('10.0.0.2', ['10.0.0.2'], false)],
    ['garbage, 192.0.2.1, 10.0.0.2', told('192.0.2.1', ['192.0.2.1', '10.0.0.2'])],
  ]
  for (const [forwardedFor, expected] of rows) assert.deepEqual(client(forwardedFor), expected, forwardedFor)
})

test('X-Real-IP counts where X-Forwarded-For says nothing, and from a trusted proxy alone', () => {
  assert.deepEqual(client('', '192.0.2.1:80'), { address: '192.0.2.1', proven: true, chain: ['192.0.2.1'] })
  assert.deepEqual(client(' ,', ' 192.0.2.1 ').address, '192.0.2.1')
  assert.deepEqual(client('192.0.2.2', '192.0.2.1').address, '192.0.2.2')
  assert.deepEqual(client('', 'garbage'), { address: PEER, proven: false, chain: [] })
  assert.deepEqual(client('', '192.0.2.1,192.0.2.2'), { address: PEER, proven: false, chain: [] }, 'given twice')
  const stranger = { address: '192.0.2.7', proven: true, chain: [] }
  for (const [forwardedFor, realIp] of [
    ['192.0.2.1', ''],
    ['', '192.0.2.1'],
    ['garbage', 'garbage'],
  ] as const)
    assert.deepEqual(client(forwardedFor, realIp, '192.0.2.7'), stranger)
})

interface Hop {
  readonly address: string | undefined
  readonly trusted: boolean
  readonly text: string
}

/** One entry, what it says, and whether the proxies there are ours. */
const hop: fc.Arbitrary<Hop> = fc.oneof(
  fc.tuple(fc.boolean(), fc.nat(255), fc.constantFrom('', ':80', ':65535')).map(([trusted, last, port]) => {
    const address = trusted ? `10.9.9.${last}` : `192.0.2.${last}`
    return { address, trusted, text: address + port }
  }),
  fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 9 }), fc.nat(2)).map(([trusted, last, form]) => {
    const address = trusted ? `fd00::${last}` : `2001:db8::${last}`
    return { address, trusted, text: [address, `[${address}]`, `[${address}]:443`][form]! }
  }),
  fc.tuple(fc.boolean(), fc.nat(255)).map(([trusted, last]) => {
    const address = trusted ? `10.9.9.${last}` : `192.0.2.${last}`
    return { address, trusted, text: `::ffff:${address}` }
  }),
  fc
    .constantFrom('unknown', '_x', '1.2.3', '[::1', 'a.example', '192.0.2.1:65536', '[fd00::1]:70000')
    .map((text) => ({ address: undefined, trusted: false, text })),
)

test('whatever the fields hold, trusted hops alone decide the client', () => {
  const blank = fc.constantFrom('', ' ', '\t', ' ,', ', ,')
  fc.assert(
    fc.property(fc.array(fc.tuple(hop, blank, blank), { maxLength: 6 }), (entries) => {
      const field = entries.map(([{ text }, before, after]) => `${before}${text}${after}`).join(',')
      const found = client(field)
      // Backwards from the peer, as long as the one who speaks is trusted.
      let expected = { address: PEER, proven: true }
      for (const [each] of entries.toReversed()) {
        expected = each.address === undefined ? { ...expected, proven: false } : { address: each.address, proven: true }
        if (!each.trusted) break
      }
      assert.deepEqual({ address: found.address, proven: found.proven }, expected, field)
      // Entries that no trusted hop wrote are not forwarded.
      const last = entries.findLastIndex(([{ trusted }]) => !trusted)
      const said = entries.slice(Math.max(last, 0)).flatMap(([{ address }]) => address ?? [])
      assert.deepEqual(found.chain, said, field)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 50_000 : 1000 },
  )
})

test('a long field takes time in proportion to its length', () => {
  const long = `${' \t'.repeat(100_000)}x${','.repeat(100_000)}`
  assert.equal(client(long).proven, false)
})
