import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { type Pairs, sendExactly, VERSIONS } from '../../worlds/gateway/exact-fields.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const SPOOFED = '6.6.6.6'

async function world(t: TestContext, env: Record<string, string> = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  const led = { proxy: { listen_path: '/led/', target_url: 'svc://inside/', strip_listen_path: true } }
  const documents: readonly JsonObject[] = [
    defined({ id: 'plain', url: origin.url }),
    defined({ id: 'inside', url: origin.url, info: { state: { active: true, internal: true } } }),
    defined({
      id: 'allow',
      url: origin.url,
      server: { ipAccessControl: { enabled: true, allow: ['127.0.0.0/8', '192.0.2.0/24'] } },
    }),
    defined({
      id: 'block',
      url: origin.url,
      server: { ipAccessControl: { enabled: true, block: ['203.0.113.0/24'] } },
    }),
  ]
  for (const document of documents) {
    const made = await gate.svc('POST', '/svc/apis/oas', document)
    assert.equal(made.status, 200, made.text)
  }
  for (const document of [
    classic('led', '/led/', '', led),
    classic('old', '/old/', origin.url, { enable_batch_request_support: true }),
  ]) {
    const made = await gate.svc('POST', '/svc/apis', document)
    assert.equal(made.status, 200, made.text)
  }
  return { origin, gate }
}

const letterCases = (name: string) =>
  fc.tuple(...[...name].map((c) => fc.constantFrom(c, c.toUpperCase()))).map((letters) => letters.join(''))
/** Every field that says for whom a request is sent, and some that only look like it. */
const claim = fc.tuple(
  fc
    .constantFrom(
      ...['for', 'host', 'proto', 'port', 'prefix', 'server', 'by', 'ssl', 'scheme', 'uri', 'client-cert', 'x'].map(
        (word) => `x-forwarded-${word}`,
      ),
      'x-real-ip',
      'forwarded',
    )
    .chain(letterCases),
  fc.constantFrom(SPOOFED, `for=${SPOOFED}`, `${SPOOFED}, 127.0.0.1`, `"${SPOOFED}"`, `/${SPOOFED}`),
)

test('nothing that a client claims of forwarding reaches an upstream, on any way there', async (t) => {
  const { origin, gate } = await world(t)
  const ways = ['/plain/x', '/led/x', '/allow/x', '/block/x', '/old/x', 'upgrade', 'batch'] as const
  const send = async (way: (typeof ways)[number], version: '1.1' | '2', fields: Pairs) => {
    if (way === 'batch') {
      const headers = Object.fromEntries(fields)
      const body = JSON.stringify({ requests: [{ method: 'GET', relative_url: 'x', headers }] })
      return (await gate.call('/old/svc/batch', { method: 'POST', headers, body })).status
    }
    if (way !== 'upgrade') return (await sendExactly(gate.port, version, { path: way, fields })).status
    const upgrade: Pairs = [['Connection', 'Upgrade'], ['Upgrade', 'websocket'], ...fields]
    return (await sendExactly(gate.port, '1.1', { path: '/plain/x', fields: upgrade })).status
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ways),
      fc.constantFrom(...VERSIONS),
      fc.array(claim, { maxLength: 6 }),
      async (way, version, fields) => {
        assert.equal(await send(way, version, [...fields, ['x-forwardedness', 'kept'], ['x-forwarded', 'kept']]), 200)
        const { rawHeaders, headers } = origin.seen.at(-1)!
        assert.deepEqual(
          rawHeaders.filter((text) => text.includes('6.6.6')),
          [],
        )
        assert.equal(headers['x-forwarded-for'], '127.0.0.1')
        assert.equal(headers['x-forwarded-proto'], 'http')
        assert.equal(headers['x-forwardedness'], 'kept')
        const forwarding = Object.keys(headers).filter((name) => /^(?:x-forwarded-.*|x-real-ip|forwarded)$/.test(name))
        assert.deepEqual(forwarding.sort(), ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'])
      },
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 150 },
  )
})

test('a trusted proxy speaks for its client, whose own X-Real-IP it may have let through', async (t) => {
  const { origin, gate } = await world(t, { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' })
  const told = async (fields: Pairs) => {
    assert.equal((await sendExactly(gate.port, '1.1', { path: '/plain/x', fields })).status, 200)
    const { headers } = origin.seen.at(-1)!
    return [headers['x-forwarded-for'], headers['x-real-ip'] ?? 'none']
  }
  assert.deepEqual(await told([]), ['127.0.0.1', 'none'])
  assert.deepEqual(await told([['X-Real-IP', '192.0.2.1:80']]), ['192.0.2.1, 127.0.0.1', '192.0.2.1'])
  const both: Pairs = [
    ['X-Forwarded-For', '192.0.2.1:7, ,'],
    ['X-Real-IP', SPOOFED],
  ]
  assert.deepEqual(await told(both), ['192.0.2.1, 127.0.0.1', '192.0.2.1'])
  assert.deepEqual(await told([['X-Forwarded-For', `${SPOOFED}, garbage`]]), ['127.0.0.1', 'none'])
  const others: Pairs = [
    ['X-Forwarded-Prefix', '/p'],
    ['Forwarded', 'for=192.0.2.1'],
    ['X-Forwarded-Port', '1'],
  ]
  await told(others)
  const { headers } = origin.seen.at(-1)!
  assert.deepEqual(
    [headers['x-forwarded-prefix'], headers.forwarded, headers['x-forwarded-port']],
    ['/p', 'for=127.0.0.1;proto=http;host="gate.example"', '1'],
  )
})

/** Addresses, scheme and host of a `Forwarded` field (RFC 7239 section 4), by a grammar of the test's own. */
function readForwarded(text: string): { addresses: string[]; proto: string | undefined; host: string | undefined } {
  const elements = text.split(', ').map((element) => {
    const pairs = element.split(';').map((pair) => /^(\w+)=(?:"([^"]*)"|([\w.:+-]*))$/.exec(pair)!)
    return new Map(pairs.map(([, name, quoted, plain]) => [name!, (quoted ?? plain)!]))
  })
  const [first] = elements
  const addresses = elements.map((each) => each.get('for')!.replace(/^\[(.*)\]$/, '$1'))
  return { addresses, proto: first!.get('proto'), host: first!.get('host') }
}

test('a Forwarded of a trusted proxy says what X-Forwarded-* say, whatever it said', async (t) => {
  const { origin, gate } = await world(t, { SVC_GW_TRUSTEDPROXIES: '127.0.0.1,2001:db8:1::/48' })
  const field = fc.oneof(
    fc
      .constantFrom('for=6.6.6.6', 'for=6.6.6.6;proto=https;host=evil', '"', 'for="[::1]:80", for=1.1.1.1', '')
      .map((value) => ['Forwarded', value] as const),
    fc
      .constantFrom('192.0.2.1', '6.6.6.6, 2001:db8::1', '[2001:db8::1]:80, 2001:db8:1::9', 'x')
      .map((value) => ['X-Forwarded-For', value] as const),
    fc.constant(['X-Real-IP', '192.0.2.9'] as const),
  )
  const once = [
    fc.constantFrom(undefined, 'https', 'wss', 'no scheme', 'https, http'),
    fc.constantFrom(undefined, 'a.example', 'a.example:80', '"><'),
  ] as const
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/plain/x', '/led/x'),
      fc.constantFrom(...VERSIONS),
      fc.array(field, { maxLength: 4 }),
      ...once,
      async (path, version, fields, proto, host) => {
        const all: Pairs = [
          ...fields,
          ...(proto?.split(', ').map((value) => ['X-Forwarded-Proto', value] as const) ?? []),
          ...(host === undefined ? [] : [['X-Forwarded-Host', host] as const]),
        ]
        assert.equal((await sendExactly(gate.port, version, { path, fields: all })).status, 200)
        const { headers } = origin.seen.at(-1)!
        const sent = fields.some(([name]) => name === 'Forwarded')
        assert.equal(headers.forwarded !== undefined, sent)
        if (!sent) return
        const said = readForwarded(String(headers.forwarded))
        assert.deepEqual(said.addresses, String(headers['x-forwarded-for']).split(', '))
        for (const [name, value] of [
          ['x-forwarded-proto', said.proto],
          ['x-forwarded-host', said.host],
        ] as const)
          if (value !== undefined) assert.equal(value, headers[name])
        if (!proto?.includes(' ')) assert.equal(said.proto, proto ?? 'http')
      },
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 100 },
  )
})

test('address lists judge the client that is told, and refuse one that cannot be read', async (t) => {
  const { gate } = await world(t, { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' })
  const rows: readonly (readonly [fields: Pairs, allow: number, block: number])[] = [
    [[], 200, 200],
    [[['X-Forwarded-For', '192.0.2.1:80']], 200, 200],
    [[['X-Forwarded-For', '::ffff:192.0.2.1,']], 200, 200],
    [[['X-Forwarded-For', '203.0.113.1:80']], 403, 403],
    [[['X-Forwarded-For', '[::ffff:203.0.113.1]:80']], 403, 403],
    [
      [
        ['X-Forwarded-For', '192.0.2.1'],
        ['X-Forwarded-For', '203.0.113.1 ,'],
      ],
      403,
      403,
    ],
    [[['X-Forwarded-For', '[2001:db8::1]:443']], 403, 200],
    [[['X-Forwarded-For', '192.0.2.1, unknown']], 403, 403],
    [[['X-Forwarded-For', '192.0.2.1;']], 403, 403],
    [[['X-Real-IP', '203.0.113.1']], 403, 403],
    [[['X-Real-IP', '192.0.2.1']], 200, 200],
    [
      [
        ['X-Real-IP', '192.0.2.1'],
        ['X-Real-IP', '192.0.2.1'],
      ],
      403,
      403,
    ],
  ]
  for (const version of VERSIONS)
    for (const [fields, allow, block] of rows) {
      const statuses = await Promise.all(
        ['allow', 'block'].map(
          async (api) => (await sendExactly(gate.port, version, { path: `/${api}/x`, fields })).status,
        ),
      )
      assert.deepEqual(statuses, [allow, block], JSON.stringify(fields))
    }
})
