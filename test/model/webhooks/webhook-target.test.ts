import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isPublicAddress, readWebhookTarget, refusePrivate, webhookNetwork } from '../../../src/model/webhooks/hook.ts'

const REFUSED = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ...[
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '169.254.0.1',
    '172.16.0.1',
    '172.31.255.255',
  ],
  ...['192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
  ...['203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.1.2.3', '::ffff:0:0'],
  ...['0:0:0:0:0:ffff:c0a8:101', '::FFFF:A9FE:A9FE', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::', '64:ff9b::1', '64:ff9b:1::1', '64:ff9b:1::808:808'],
  ...['fe80::1', 'febf::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'ff02::1', 'ff0e::1'],
  ...[
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:0808:0808::1',
    '3fff::1',
  ],
  ...['100::1', '4000::1', '2606:4700::1111%1', 'localhost', '', '1.2.3', '127.1', '0x7f000001', '8.8.8.8.'],
]
const ALLOWED = [
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...[
    '168.63.129.15',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '192.167.255.255',
    '223.255.255.255',
  ],
  ...['2606:4700::1111', '2a00:1450:4001:80b::200e', '2001:200::1', '2001:4860:4860::8888', '2003::1'],
  ...['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::808:808', '64:ff9b::8.8.8.8', '64:ff9b:0:0:0:0:808:808'],
]

test('every address that is not of the public internet is refused', () => {
  assert.deepEqual(REFUSED.filter(isPublicAddress), [])
})

test('addresses of the public internet are not', () => {
  assert.deepEqual(
    ALLOWED.filter((address) => !isPublicAddress(address)),
    [],
  )
})

test('an IPv4 address within IPv6 is judged like itself, however it is written', () => {
  fc.assert(
    fc.property(fc.ipV4(), (v4) => {
      const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
      const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      const expected = isPublicAddress(v4)
      for (const text of [
        `::ffff:${v4}`,
        `::ffff:${groups}`,
        `64:ff9b::${groups}`,
        `64:ff9b::${v4}`,
        `0:0:0:0:0:FFFF:${groups}`,
      ])
        assert.equal(isPublicAddress(text), expected, text)
      assert.equal(isPublicAddress(`::${v4}`), false)
    }),
  )
})

test('a target whose host is a private address is refused in every spelling', () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
  ]
  for (const host of [...hosts, '127.0.0.1.', '１２７.0.0.1', '[fd00::1]', '[64:ff9b::7f00:1]', '%31%32%37.0.0.1'])
    assert.throws(
      () => readWebhookTarget(`http://${host}:80/x`, webhookNetwork(false)),
      { code: 'webhook_target_refused' },
      host,
    )
  assert.equal(readWebhookTarget('http://127.0.0.1:9/x?y#z', webhookNetwork(true)).hostname, '127.0.0.1')
  assert.equal(readWebhookTarget('https://hooks.example.org/x', webhookNetwork(false)).hostname, 'hooks.example.org')
})

test('what is no plain http or https URL is refused, private networks allowed or not', () => {
  const bad = [
    '',
    '/hook',
    'hooks.example.org',
    'ftp://a.example/',
    'file:///etc/passwd',
    'gopher://a.example/',
    'http://',
  ]
  for (const text of [
    ...bad,
    'http://me@a.example/',
    'http://me:word@a.example/',
    'http://:word@a.example/',
    'javascript:1',
  ])
    for (const allowPrivate of [true, false])
      assert.throws(
        () => readWebhookTarget(text, webhookNetwork(allowPrivate)),
        { code: 'webhook_target_refused' },
        text,
      )
})

test('of several addresses of a name, only public ones are left; none left is a refusal', () => {
  assert.deepEqual(refusePrivate(['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1111'], webhookNetwork(false)), [
    '8.8.8.8',
    '2606:4700::1111',
  ])
  assert.deepEqual(refusePrivate(['10.0.0.1', '::1'], webhookNetwork(true)), ['10.0.0.1', '::1'])
  assert.throws(() => refusePrivate(['10.0.0.1', 'fd00::1'], webhookNetwork(false)), { code: 'webhook_target_refused' })
  assert.throws(() => refusePrivate([], webhookNetwork(true)), { code: 'webhook_target_refused' })
})
