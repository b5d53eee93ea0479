import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { type Pairs, sendExactly, VERSIONS, valuesOf } from '../../worlds/gateway/exact-fields.ts'
import { Client, fieldOf, statusOf } from '../../worlds/wire/raw.ts'

/** An upstream that answers 200 and notes heads as they come: Node's own server knows no `*` and has ideas about TRACE. */
async function startUpstream(t: TestContext) {
  const heads: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heads.push(bytes.toString('latin1'))
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  return { heads, url: `http://127.0.0.1:${port}` }
}

async function open(t: TestContext, ...apis: readonly ((url: string) => JsonObject)[]) {
  const { heads, url } = await startUpstream(t)
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const make of apis) {
    const api = make(url)
    const made = await gateway.svc('POST', 'openapi' in api ? '/svc/apis/oas' : '/svc/apis', api)
    assert.equal(made.status, 200, made.text)
  }
  return { gateway, heads }
}

const forwards = (head: string | undefined) => /^Max-Forwards: (.*)\r$/im.exec(head ?? '')?.[1]

test('TRACE is refused by default, in every way to an API, and passes where the API allows it', async (t) => {
  const { gateway, heads } = await open(
    t,
    (url) => defined({ id: 'closed', url }),
    (url) => defined({ id: 'open', url, server: { allowTrace: true } }),
    (url) => classic('old', '/old/', url, { allow_trace: true }),
    () => defined({ id: 'inner', url: 'svc://closed', server: { allowTrace: true } }),
  )
  for (const version of VERSIONS) {
    const ask = (path: string, fields: Pairs = []) =>
      sendExactly(gateway.port, version, { method: 'TRACE', path, fields })
    for (const path of ['/closed/x', '/inner/x']) {
      const answer = await ask(path)
      assert.equal(answer.status, 405, `${version} ${path}`)
      assert.match(valuesOf(answer, 'allow').join(), /GET/)
    }
    assert.equal(heads.length, 0)
    for (const path of ['/open/x', '/old/x']) {
      assert.equal((await ask(path, [['Max-Forwards', '2']])).status, 200, `${version} ${path}`)
      assert.match(heads.at(-1)!, /^TRACE \/x HTTP\/1\.1\r\n/)
      assert.equal(forwards(heads.at(-1)), '1')
    }
    const before = heads.splice(0).length
    assert.equal(before, 2)
  }
  const client = await Client.connect(gateway.port)
  t.after(() => client.destroy())
  const last = await client.ask(
    'TRACE /open/x?token=1 HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\nAuthorization: Bearer x\r\nCookie: a=b\r\n\r\n',
  )
  assert.deepEqual([statusOf(last), fieldOf(last, 'content-type'), heads.length], [200, 'message/http', 0])
  assert.equal(last.body.toString(), 'TRACE /open/x? HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n')
})

test('Max-Forwards of OPTIONS is counted down, and answered at 0; other methods keep it', async (t) => {
  const { gateway, heads } = await open(t, (url) => defined({ id: 'a', url }))
  for (const version of VERSIONS) {
    const ask = (method: string, ...values: string[]) => {
      const fields = values.map((value) => ['Max-Forwards', value] as const)
      return sendExactly(gateway.port, version, { method, path: '/a/x', fields })
    }
    for (const [sent, passed] of [
      ['1', '0'],
      ['10', '9'],
      ['010', '9'],
      ['4294967296', '4294967295'],
      ['99999999999999999999', String(Number.MAX_SAFE_INTEGER - 1)],
      ['9'.repeat(400), String(Number.MAX_SAFE_INTEGER - 1)],
      ['', ''],
      ['-1', '-1'],
      ['1x', '1x'],
    ]) {
      assert.equal((await ask('OPTIONS', sent!)).status, 200)
      assert.equal(forwards(heads.pop()), passed, `${version} ${sent}`)
    }
    const answer = await ask('OPTIONS', '0')
    assert.deepEqual([answer.status, heads.length], [204, 0])
    assert.match(valuesOf(answer, 'allow').join(), /OPTIONS/)
    assert.equal((await ask('GET', '0')).status, 200)
    assert.equal(forwards(heads.pop()), '0')
    assert.equal((await ask('OPTIONS')).status, 200)
    assert.equal(forwards(heads.pop()), undefined)
  }
})

test('OPTIONS * stays *, also where it comes as an absolute form without a path', async (t) => {
  const server = { listenPath: { value: '/', strip: true }, customDomain: { enabled: true, name: 'root.test' } }
  const whole = { listenPath: { value: '/', strip: false }, customDomain: { enabled: true, name: 'whole.test' } }
  const { gateway, heads } = await open(
    t,
    (url) => defined({ id: 'root', url, server }),
    (url) => defined({ id: 'whole', url, server: whole }),
  )
  for (const host of ['root.test', 'whole.test']) {
    for (const version of VERSIONS) {
      const { status } = await sendExactly(gateway.port, version, { method: 'OPTIONS', path: '*', host, fields: [] })
      assert.equal(status, 200, `${version} ${host}`)
      assert.match(heads.pop()!, /^OPTIONS \* HTTP\/1\.1\r\n/)
    }
    for (const [line, passed] of [
      [`OPTIONS http://${host}`, 'OPTIONS *'],
      [`OPTIONS http://${host}/`, 'OPTIONS /'],
      [`OPTIONS http://${host}?a`, 'OPTIONS /?a'],
      [`GET http://${host}`, 'GET /'],
    ] as const) {
      const { status } = await ask(t, gateway.port, `${line} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      assert.equal(status, 200, line)
      assert.equal(heads.pop()!.split(' HTTP')[0], passed)
    }
  }
  const { status, allow } = await ask(t, gateway.port, 'OPTIONS * HTTP/1.1\r\nHost: other.test\r\n\r\n')
  assert.equal(status, 204)
  assert.match(allow ?? '', /GET/)
  assert.equal(heads.length, 0)
})

async function ask(t: TestContext, port: number, text: string) {
  const client = await Client.connect(port)
  t.after(() => client.destroy())
  const answer = await client.ask(text)
  return { status: statusOf(answer), allow: fieldOf(answer, 'allow') }
}
