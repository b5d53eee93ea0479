import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { Client, fieldOf, statusOf } from '../../worlds/wire/raw.ts'

const header = (address: string) => `PROXY TCP4 ${address} 198.51.100.1 40000 80\r\n`
const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

async function open(t: { after(end: () => unknown): void }, env: Record<string, string> = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({
    accessLog: true,
    env: { SVC_GW_PROXYPROTOCOLNETWORKS: '127.0.0.0/8', SVC_GW_CONTROLPORT: '0', ...env },
  })
  t.after(() => gate.close())
  const send = async (address: string, path: string, more?: string) => {
    const client = await Client.connect(gate.port)
    client.write(header(address) + request(path, more))
    const answer = (await client.answer())!
    client.destroy()
    return answer
  }
  return { origin, gate, send }
}

test('the balancer’s client address counts for lists, X-Forwarded-For and access log', async (t) => {
  const { origin, gate, send } = await open(t)
  const api = defined({
    ...{ id: 'a', url: origin.url },
    server: { ipAccessControl: { enabled: true, allow: ['192.0.2.0/24'] } },
  })
  const client = await Client.connect(gate.port)
  const body = JSON.stringify(api)
  client.write(
    `${header('127.0.0.1')}POST /svc/apis/oas HTTP/1.1\r\nHost: a\r\nX-Svc-Authorization: secret-of-the-test-gateway\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  assert.equal(statusOf((await client.answer())!), 200)
  client.destroy()

  assert.equal(statusOf(await send('192.0.2.9', '/a/x')), 200)
  assert.equal(origin.seen.at(-1)?.headers['x-forwarded-for'], '192.0.2.9')
  assert.equal(statusOf(await send('203.0.113.9', '/a/x')), 403)
  // A client's own claim beside it is worth nothing.
  assert.equal(statusOf(await send('203.0.113.9', '/a/x', 'X-Forwarded-For: 192.0.2.9\r\n')), 403)
  assert.equal(origin.seen.length, 1)
  await eventually(
    'both are logged',
    () => gate.accessLines.filter((line) => line.includes('203.0.113.9')).length === 2,
  )
})

test('a request without the header, from where it must come, closes the connection', async (t) => {
  const { gate } = await open(t)
  const client = await Client.connect(gate.port)
  client.write(request('/hello'))
  assert.equal((await client.inbox.toEnd()).length, 0)
  client.destroy()
})

test('a network that is none is refused at the start, with the name of the setting', () => {
  const load = () => loadConfig({ env: { SVC_GW_PROXYPROTOCOLNETWORKS: '10.0.0.0/33' }, cwd: import.meta.dirname })
  assert.throws(load, /gateway\.proxy_protocol_networks.*10\.0\.0\.0\/33/s)
})

test('trusted proxies behind a balancer are told by the address that it tells', async (t) => {
  const { gate, send } = await open(t, { SVC_GW_TRUSTEDPROXIES: '192.0.2.5' })
  const answer = await send('192.0.2.5', '/nothing', 'X-Forwarded-For: 203.0.113.77\r\n')
  assert.equal(statusOf(answer), 404)
  assert.equal(fieldOf(answer, 'content-type'), 'application/json')
  await eventually('it is logged', () => gate.accessLines.length > 0)
})
