import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { call } from '../../worlds/base/client.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

/** Methods that every part of HTTP knows; CONNECT asks for a tunnel. */
const OTHERS = METHODS.filter(
  (method) => !['CONNECT', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method),
)

test('a method that a path does not have is 405 with the methods that it has', async (t) => {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const admin = await world.admin()
  const wrong: string[] = []
  const allowed = new Map<string, Set<string>>()
  for (const { method, path } of world.dashboard.routes) {
    const pattern = path.replace(/\{[^}]*\}/g, '{}')
    allowed.set(pattern, (allowed.get(pattern) ?? new Set()).add(method))
  }
  let turn = 0
  for (const [pattern, methods] of allowed) {
    const path = pattern.replaceAll('{}', 'x')
    for (const method of ['OPTIONS', OTHERS[turn++ % OTHERS.length]!]) {
      const { status, headers, text } = await call(world.port, path, { method, headers: { authorization: admin.key } })
      const listed = String(headers.allow ?? '').split(', ')
      if (status !== 405 || !listed.every((each) => each !== '') || (text === '' && method !== 'HEAD'))
        wrong.push(`${method} ${path}: ${status} ${headers.allow}`)
      // A path with a placeholder may be hidden by one with a word.
      if (!pattern.includes('{}') && listed.sort().join() !== [...methods].sort().join())
        wrong.push(`${method} ${path} allows ${headers.allow}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.equal((await call(world.port, '/api/nothing-here', { method: 'OPTIONS' })).status, 404)
})

test('a method that nobody knows is 405 with those of the path, and no method at all is 400', async (t) => {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const ask = (line: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(world.port, '127.0.0.1', () => socket.write(`${line}\r\nHost: x\r\n\r\n`))
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('end', () => resolve(text))
      socket.on('error', reject)
    })
  for (const [line, status, allow] of [
    ['FOO /api/apis HTTP/1.1', 405, 'GET, POST'],
    ['BREW /api/users/65a000000000000000000001?a=b HTTP/1.1', 405, 'GET, PUT, DELETE'],
    ['FOO /api/nothing-here HTTP/1.1', 400, undefined],
    ['\x16\x03\x01\x02 /api/apis HTTP/1.1', 400, undefined],
  ] as const) {
    const text = await ask(line)
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `), line)
    assert.equal(/^allow: ([^\r]*)/m.exec(text)?.[1], allow, line)
    assert.match(text, /"Status":"Error"/)
  }
})

test('a path that ends with nothing names nothing, not the list', async (t) => {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const as = await world.admin()
  const lists = world.dashboard.routes.filter(
    ({ method, path, access }) =>
      method === 'GET' && !path.includes('{') && path.startsWith('/api/') && access !== 'public',
  )
  assert.ok(lists.length > 30)
  for (const { path } of lists) {
    const { status, json } = await call(world.port, `${path}//`, { headers: { authorization: as.key } })
    assert.deepEqual([status, (json as { Status: string }).Status], [404, 'Error'], path)
  }
  assert.equal((await world.call('GET', '/api//users', { as })).status, 200)
})

test('a body with a Content-Encoding is refused by every call that takes one', async (t) => {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const { key } = await world.admin()
  const wrong: string[] = []
  for (const { method, path, body, bodyIs } of world.dashboard.routes) {
    if (body === undefined && bodyIs === undefined) continue
    const at = path.replace(/\{[^}]*\}/g, 'x')
    const headers = { authorization: key, 'content-encoding': 'gzip' }
    const { status } = await call(world.port, at, { method, headers, body: '{}' })
    if (status !== 415) wrong.push(`${method} ${at}: ${status}`)
  }
  assert.deepEqual(wrong, [])
  const headers = { authorization: key, 'content-encoding': 'identity' }
  const plain = { email: 'a@dev.test' }
  const made = await call(world.port, '/api/portal/developers', {
    method: 'POST',
    headers,
    body: JSON.stringify(plain),
  })
  assert.equal(made.status, 200, made.text)
})
