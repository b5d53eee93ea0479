import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

/** Sends requests one after the other on one connection; returns the forwarding headers at the upstream for each. */
async function told(t: TestContext, requests: readonly string[], env: Record<string, string> = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  const made = await gate.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))
  assert.equal(made.status, 200, made.text)
  const client = await Client.connect(gate.port)
  t.after(() => client.destroy())
  for (const request of requests) {
    client.write(request)
    assert.equal(statusOf((await client.answer())!), 200)
  }
  return origin.seen.map(({ headers }) =>
    ['for', 'proto', 'host'].map((name) => headers[`x-forwarded-${name}`] ?? 'none').join(' | '),
  )
}

const request = (fields: string) => `GET /a/x HTTP/1.1\r\n${fields}\r\n`

test('each request of a connection hands on its own authority', async (t) => {
  const hosts = ['one.example', 'two.example', 'two.example', 'two.example:8080', 'one.example']
  const seen = await told(
    t,
    hosts.map((host) => request(`Host: ${host}\r\n`)),
  )
  assert.deepEqual(
    seen,
    hosts.map((host) => `127.0.0.1 | http | ${host}`),
  )
})

test('a request without an authority hands none on, also behind one that had one', async (t) => {
  const old = 'GET /a/x HTTP/1.0\r\n\r\n'
  const seen = await told(t, [request('Host: one.example\r\n'), old])
  assert.deepEqual(seen, ['127.0.0.1 | http | one.example', '127.0.0.1 | http | none'])
})

test('forwarding fields of a client are replaced, single or repeated', async (t) => {
  const claims =
    'X-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 192.0.2.2\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\n'
  const plain = request('Host: one.example\r\n')
  const seen = await told(t, [
    request(`${claims}Host: one.example\r\n`),
    plain,
    request(`Host: one.example\r\n${claims}`),
  ])
  assert.deepEqual(seen, new Array(3).fill('127.0.0.1 | http | one.example'))
})

test('what a trusted proxy tells is continued, and what it leaves out is added', async (t) => {
  const env = { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' }
  const whole = 'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: front.example\r\n'
  const seen = await told(
    t,
    [
      request(`Host: one.example\r\n${whole}`),
      request('Host: one.example\r\n'),
      request('Host: one.example\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.2\r\nX-Forwarded-For: 192.0.2.3\r\n'),
    ],
    env,
  )
  assert.deepEqual(seen, [
    '192.0.2.1, 127.0.0.1 | https | front.example',
    '127.0.0.1 | http | one.example',
    '192.0.2.3, 127.0.0.1 | http | one.example',
  ])
})
