import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { answering, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

/** An upstream that answers each request with these bytes. */
async function upstream(t: TestContext, bytes: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  return `http://127.0.0.1:${port}`
}

test('a malformed answer is 502, and the log names rule, field and API', async (t) => {
  const gateway = await startTestGateway({ accessLog: true })
  t.after(() => gateway.close())
  const url = await upstream(t, 'HTTP/1.1 200 OK\r\nA: b\r\nX-Bad : y\r\nContent-Length: 0\r\n\r\n')
  const chunked = await upstream(t, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')
  for (const api of [defined({ id: 'head', url }), defined({ id: 'body', url: chunked })])
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  const reason = {
    head: 'answer head: space before the colon of a field (X-Bad)',
    body: 'answer body: malformed chunk size',
  }
  for (const [id, msg] of Object.entries(reason)) {
    assert.equal((await gateway.call(`/${id}/x`)).status, 502)
    const line = gateway.log.find((each) => JSON.stringify(each).includes(msg))
    assert.match(JSON.stringify(line), new RegExp(`"api_id":"${id}".*upstream_malformed`))
    const lines = () => gateway.accessLines.map((text) => JSON.parse(text)).filter(({ api_id }) => api_id === id)
    await eventually('its line is written', () => lines().length === 1)
    assert.partialDeepStrictEqual(lines()[0], { status: 502, fault: 'upstream_malformed' })
    assert.equal(lines()[0].cut, undefined)
  }
})

test('interim answers pass without the fields that the API removes or sets', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const fields = 'Link: </a.css>\r\nX-Secret: 1\r\nX-Set: 2\r\nAccess-Control-Allow-Origin: *\r\n'
  const url = await upstream(
    t,
    `HTTP/1.1 103 Early Hints\r\n${fields}\r\nHTTP/1.1 200 OK\r\n${fields}Content-Length: 0\r\n\r\n`,
  )
  const { transformResponseHeaders } = answering('X-Set', 'ours') as { transformResponseHeaders: object }
  const api = defined({
    id: 'a',
    url,
    global: {
      transformResponseHeaders: { ...transformResponseHeaders, remove: ['X-Secret'] },
      cors: { enabled: true, allowedOrigins: ['https://a.test'] },
    },
  })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  const client = await Client.connect(gateway.port)
  t.after(() => client.destroy())
  const answer = await client.ask('GET /a/x HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.equal(statusOf(answer), 200)
  assert.deepEqual(answer.interim, [103])
  assert.deepEqual(answer.interimFields, [[['link', '</a.css>']]])
  assert.ok(answer.fields.some(([name, value]) => name === 'x-set' && value === 'ours'))
})
