import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { Client, within } from '../../worlds/wire/raw.ts'
import { bytesOf, CASES, type RawCase } from '../../worlds/wire/raw-cases.ts'

/** Every request with GET of the cases that is refused alone, and its status. */
const REFUSED = readdirSync(CASES)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, CASES), 'utf8')) as RawCase[])
  .flatMap(({ name, send, end, expect }) => {
    const [first, ...more] = [expect].flat()
    const [status = 0, ...others] = first!.status ?? []
    const text = bytesOf(send).toString('latin1')
    const alone = more.length === 0 && others.length === 0 && first!.closes === true && end !== true
    return alone && typeof status === 'number' && status >= 400 && /^(?:\r\n)?GET /.test(text)
      ? [{ name, status, text: text.replace('GET ', 'HEAD ') }]
      : []
  })

test('a HEAD that the wire refuses is answered without content', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  assert.ok(REFUSED.length > 100, `${REFUSED.length} cases`)
  for (const { name, status, text } of REFUSED) {
    const client = await Client.connect(gate.port)
    client.write(Buffer.from(text, 'latin1'))
    const answer = (await within(name, client.inbox.toEnd())).toString('latin1')
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [^\\0]*?\\r\\n\\r\\n$`), name)
    assert.equal(answer.indexOf('\r\n\r\n'), answer.length - 4, name)
    client.destroy()
  }
})

test('over HTTP/2 too', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
  const session = connect(`http://127.0.0.1:${gate.port}`)
  t.after(() => session.destroy())
  for (const [path, status, fields] of [
    ['/%2e%2e/a', 400, {}],
    ['/%zz', 400, {}],
    ['/%252e%252e/a', 400, {}],
    ['/a/%c0%ae', 400, {}],
    [`/${'a'.repeat(9000)}`, 414, {}],
    ['/', 431, { 'x-long': 'y'.repeat(20_000) }],
  ] as const) {
    const stream = session.request({ ':method': 'HEAD', ':path': path, ...fields })
    const [headers] = (await within(path, once(stream, 'response'))) as [Record<string, unknown>]
    assert.equal(headers[':status'], status, path)
    let size = 0
    for await (const part of stream) size += (part as Buffer).length
    assert.equal(size, 0, path)
    assert.ok(Number(headers['content-length']) > 0, 'the length of what GET would get')
  }
})
