import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
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
