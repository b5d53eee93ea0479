import assert from 'node:assert/strict'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

/** Methods that a part may name, and the status of the part where its upstream answers 200. */
const METHODS: readonly (readonly [method: string, code: number])[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].map((method) => [method, 200] as const),
  ...['CONNECT', 'connect', 'Connect', 'TRACE', 'PRI'].map((method) => [method, 501] as const),
  ...['', 'get', 'Post', 'trace', 'custom', 'G\u00cbT', '\u0147ET', 'GET ', ' GET', 'G\tT'].map(
    (method) => [method, 400] as const,
  ),
  ['A'.repeat(33), 501],
]
const SERVED = METHODS.filter(([, code]) => code === 200)
const UPGRADE = { Connection: 'upgrade', Upgrade: 'websocket', 'HTTP2-Settings': '' }

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  /** Requests whose answers the origin holds back. */
  open(): number
}

async function scene(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env, accessLog: true })
  t.after(() => gateway.close())
  const api = defined({ id: 'b', url: origin.url, server: { batchProcessing: { enabled: true } } })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  let open = 0
  origin.script = (_request, response, message) => {
    open++
    message.socket.once('close', () => open--)
    response.writeProcessing()
  }
  return { gateway, origin, open: () => open }
}

const bodyOf = (methods: readonly string[]) =>
  JSON.stringify({ requests: methods.map((method) => ({ method, relative_url: 'x', headers: UPGRADE })) })

async function codesOf(gateway: TestGateway, methods: readonly string[]): Promise<number[]> {
  const answer = await gateway.call('/b/svc/batch/', { method: 'POST', body: bodyOf(methods) })
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { code: number }[]).map(({ code }) => code)
}

/** Only the connection that asks for it is left, and every part that was begun is over. */
async function settled({ gateway, origin }: Scene): Promise<void> {
  await eventually('connections are closed', async () =>
    /^svc_connections 1$/m.test((await gateway.svc('GET', '/metrics')).text),
  )
  await eventually(
    'parts are over',
    () => gateway.accessLines.filter((line) => line.includes('"/b/x"')).length >= origin.seen.length,
  )
}

test('a part of any method settles, and only ordinary requests reach the upstream', async (t) => {
  const world = await scene(t)
  const { gateway, origin } = world
  const said: (string | undefined)[] = []
  origin.script = ({ headers }, response) => {
    said.push(headers.upgrade)
    response.end('ok')
  }
  for (const [method, code] of METHODS) assert.deepEqual([method, await codesOf(gateway, [method])], [method, [code]])
  assert.deepEqual(
    origin.seen.map(({ method }) => method),
    SERVED.map(([method]) => method),
  )
  assert.deepEqual(new Set(said), new Set([undefined]))
  await settled(world)
})

test('a part settles however its upstream ends, of every method', async (t) => {
  const world = await scene(t)
  const { gateway, origin } = world
  const ends: Record<string, Origin['script']> = {
    'no answer': (_request, response) => response.destroy(),
    'half an answer': (_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
      setImmediate(() => response.destroy())
    },
    'another protocol': (_request, _response, message) =>
      message.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nbytes'),
    'interim answers only': (_request, response, message) => {
      response.writeProcessing()
      message.socket.end()
    },
    garbage: (_request, _response, message) => message.socket.end('\u0000\r\n\r\n'),
  }
  const methods = METHODS.map(([method]) => method)
  for (const [end, script] of Object.entries(ends)) {
    origin.script = script
    const codes = await codesOf(gateway, methods)
    for (const [i, [method, served]] of METHODS.entries()) {
      const expected = served !== 200 ? [served] : method === 'HEAD' && end === 'half an answer' ? [200, 502] : [502]
      assert.ok(expected.includes(codes[i]!), `${method}, ${end}: ${codes[i]}`)
    }
    await settled(world)
  }
})

test('a part whose upstream stays silent is answered at the time limit', async (t) => {
  const world = await scene(t, { SVC_GW_BATCHTIMEOUTMS: '100' })
  assert.deepEqual(
    await codesOf(
      world.gateway,
      SERVED.map(([method]) => method),
    ),
    SERVED.map(() => 504),
  )
  await eventually('the upstream is let go of', () => world.open() === 0)
  await settled(world)
})

const leaving: Record<string, (port: number, body: string, asked: () => Promise<void>) => Promise<void>> = {
  'a closed connection': async (port, body, asked) => {
    const caller = connect(port, '127.0.0.1')
    caller.write(`POST /b/svc/batch/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await asked()
    caller.destroy()
  },
  'a reset connection': async (port, body, asked) => {
    const caller = connect(port, '127.0.0.1')
    caller.write(`POST /b/svc/batch/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await asked()
    caller.resetAndDestroy()
  },
  'a reset stream': async (port, body, asked) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    const stream = session.request({ ':method': 'POST', ':path': '/b/svc/batch/' })
    stream.on('error', () => {})
    stream.end(body)
    await asked()
    stream.close(constants.NGHTTP2_CANCEL)
    session.close()
  },
}

for (const [way, leave] of Object.entries(leaving))
  test(`the parts of a client that leaves end with it: ${way}`, async (t) => {
    const world = await scene(t)
    const { gateway, open } = world
    const asked = () => eventually('parts are asked for', () => open() > 0)
    await leave(gateway.port, bodyOf(SERVED.map(([method]) => method)), asked)
    await eventually('the upstream is let go of', () => open() === 0)
    await settled(world)
  })
