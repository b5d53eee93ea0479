import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import { createServer as createPlainServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { within } from '../../worlds/wire/raw.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

/** A server at a socket, which answers what it was asked. */
async function serverAt(t: TestContext, path: string): Promise<Server> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => (body += part))
    request.on('end', () => response.end(JSON.stringify([request.method, request.url, request.headers.host, body])))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

function over(socketPath: string, path: string, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, path, headers, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.on('data', (part) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
    request.end()
  })
}

test('an upstream at a listed Unix socket is asked, with and without a path of its own', async (t) => {
  const path = join(folder(t), 'app.sock')
  const server = await serverAt(t, path)
  const gateway = await startTestGateway({ env: { SVC_GW_UPSTREAMSOCKETS: path } })
  t.after(() => gateway.close())
  const apis = [
    ['/svc/apis/oas', defined({ id: 'a', url: `unix:${path}` })],
    ['/svc/apis/oas', defined({ id: 'b', url: `unix:${path}:/base/` })],
    ['/svc/apis', classic('c', '/c/', `unix:${path}:/c`)],
  ] as const
  for (const [call, api] of apis) {
    const made = await gateway.svc('POST', call, api)
    assert.equal(made.status, 200, made.text)
  }
  for (const [sent, asked] of [
    ['/a/x?y=1', '/x?y=1'],
    ['/a/', '/'],
    ['/b/x', '/base/x'],
    ['/c/x', '/c/x'],
  ] as const) {
    const answer = await gateway.call(sent, { method: 'POST', body: 'hello' })
    assert.deepEqual(answer.json, ['POST', asked, 'localhost', 'hello'], answer.text)
  }
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`back ${data}`)))
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/a/chat`)
  const back = new Promise((resolve) => client.on('message', (data) => resolve(String(data))))
  client.on('open', () => client.send('x'))
  assert.equal(await within('a message', back), 'back x')
  client.terminate()
})

test('no definition reaches a socket that the settings do not list', async (t) => {
  const inside = folder(t)
  const [listed, other] = [join(inside, 'app.sock'), join(inside, 'other.sock')]
  let reached = 0
  for (const path of [listed, other]) (await serverAt(t, path)).on('connection', () => path === other && reached++)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_GW_UPSTREAMSOCKETS: listed } })
  t.after(() => gateway.close())
  const spellings = [
    `unix:${other}`,
    `unix:${inside}/../${inside.split('/').at(-1)}/other.sock`,
    `unix:${inside}/./other.sock`,
    `unix:/${other}`,
    `unix://${other}`,
    `UNIX:${other}`,
    `unix:${other}:/base`,
    `unix:${listed}/../other.sock`,
    `unix:${listed}%2f..%2fother.sock`,
    `unix:${other}?x`,
    `http://unix:${other}`,
    `http+unix://${encodeURIComponent(other)}/`,
    `h2c:unix:${other}`,
    'unix:other.sock',
  ]
  const targets = [{ url: `unix:${other}`, weight: 1 }]
  const drafts = [
    ...spellings.map((url) => defined({ id: 'a', url })),
    ...spellings.map((url) => classic('a', '/a/', url)),
    defined({ id: 'a', url: origin.url, upstream: { loadBalancing: { enabled: true, targets } } }),
    defined({ id: 'a', url: `unix:${listed}`, upstream: { loadBalancing: { enabled: true, targets } } }),
    classic('a', '/a/', origin.url, {
      proxy: {
        ...{ listen_path: '/a/', target_url: origin.url, strip_listen_path: true },
        ...{ enable_load_balancing: true, target_list: [`unix:${other}`] },
      },
    }),
    classic('a', '/a/', origin.url, {
      version_data: { not_versioned: false, versions: { v: { name: 'v', override_target: `unix:${other}` } } },
      definition: { location: 'header', key: 'x-v' },
    }),
  ]
  for (const draft of drafts) {
    const call = 'openapi' in draft ? '/svc/apis/oas' : '/svc/apis'
    const made = await gateway.svc('POST', call, draft)
    const answer = await gateway.call('/a/x', { headers: { 'x-v': 'v' } })
    assert.equal(reached, 0, `${JSON.stringify(draft)}: ${made.text} ${answer.text}`)
    assert.notEqual(answer.status, 200, `${made.text} ${answer.text}`)
    if (made.status === 200) await gateway.svc('DELETE', '/svc/apis/a')
  }
  const refused = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: `unix:${other}` }))
  assert.equal(refused.status, 400)
  assert.match(refused.text, /is a Unix socket that gateway\.upstream_sockets does not list/)
})

test('a gateway judges by its own list what it reads from elsewhere', async (t) => {
  const inside = folder(t)
  const files = folder(t)
  const paths = [join(inside, 'app.sock'), join(inside, 'other.sock')]
  for (const [index, path] of paths.entries()) {
    await serverAt(t, path)
    writeFileSync(join(files, `${index}.json`), JSON.stringify(classic(`a${index}`, `/a${index}/`, `unix:${path}`)))
  }
  const gateway = await startTestGateway({ env: { SVC_GW_UPSTREAMSOCKETS: paths[0]!, SVC_GW_APPPATH: files } })
  t.after(() => gateway.close())
  assert.equal((await gateway.call('/a0/x')).status, 200)
  assert.equal((await gateway.call('/a1/x')).status, 404)
})

test('traffic comes in at a Unix socket, from 127.0.0.1', async (t) => {
  const path = join(folder(t), 'gate.sock')
  const origin = await startOrigin()
  t.after(() => origin.close())
  const env = { SVC_GW_LISTENSOCKET: `unix:${path}`, SVC_GW_TRUSTEDPROXIES: '127.0.0.1' }
  const gateway = await startTestGateway({ env })
  t.after(() => gateway.close())
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))).status, 200)
  assert.equal(statSync(path).mode & 0o777, 0o660)
  assert.equal((await over(path, '/a/x')).status, 200)
  assert.equal(origin.seen.at(-1)!.headers['x-forwarded-for'], '127.0.0.1')
  await over(path, '/a/x', { 'X-Forwarded-For': '192.0.2.7' })
  assert.equal(origin.seen.at(-1)!.headers['x-forwarded-for'], '192.0.2.7, 127.0.0.1')
  assert.equal((await gateway.call('/a/x')).status, 200)
  await gateway.gateway.stop()
  assert.equal(existsSync(path), false)
})

test('a socket that was left is replaced; one in use, and any other file, is not', async (t) => {
  const inside = folder(t)
  const start = (path: string, mode = '600') =>
    startTestGateway({ env: { SVC_GW_LISTENSOCKET: `unix:${path}`, SVC_GW_LISTENSOCKETMODE: mode } })
  const used = join(inside, 'used.sock')
  await serverAt(t, used)
  await assert.rejects(start(used), /listen_socket/)
  const file = join(inside, 'file')
  writeFileSync(file, 'kept')
  await assert.rejects(start(file), /listen_socket/)
  assert.equal(existsSync(file), true)
  const left = join(inside, 'left.sock')
  const before = createPlainServer()
  await new Promise<void>((resolve) => before.listen(left, resolve))
  // Node removes the file of a server that is closed; one whose process was killed stays.
  const { link } = await import('node:fs/promises')
  const abandoned = join(inside, 'abandoned.sock')
  await link(left, abandoned)
  await new Promise((resolve) => before.close(resolve))
  const gateway = await start(abandoned)
  assert.equal(statSync(abandoned).mode & 0o777, 0o600)
  assert.equal((await over(abandoned, '/hello')).status, 200)
  await gateway.close()
})
