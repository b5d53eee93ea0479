import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { SlowStore } from '../../worlds/gateway/slow-store.ts'

test('no call below /svc/ waits for a stuck node: its answer says so', async (t) => {
  const store = new SlowStore(openMemoryStore())
  t.after(() => store.close())
  const gateway = await startTestGateway({ store, settleWithinMs: 40 })
  t.after(() => gateway.close())
  let free = () => {}
  const stuck = new Promise<void>((resolve) => {
    free = resolve
  })
  store.onRead = (name) => (name === 'scan' ? stuck : undefined)
  const cases: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', '/svc/reload?block=true'],
    ['GET', '/svc/reload/group?block=true'],
    ['GET', '/svc/reload?block=true'],
    ['POST', '/svc/apis', classic('a', '/a/', 'http://127.0.0.1:9')],
    ['POST', '/svc/policies', { id: 'p', name: 'p', access_rights: rightsOn('a') }],
    ['POST', '/svc/org/keys/org', { rate: 1000, per: 1 }],
    ['DELETE', '/svc/cache/jwks'],
    ['DELETE', '/svc/cache/a'],
  ]
  for (const [method, path, body] of cases) {
    const { status, text } = await gateway.svc(method, path, body)
    assert.equal(status, 503, `${path} ${text}`)
    assert.match(text, /but not yet (?:done|in force) on this node/, path)
  }
  free()
  store.onRead = () => {}
  await eventually('a reload in time', async () => (await gateway.svc('GET', '/svc/reload?block=true')).status === 200)
  assert.equal((await gateway.svc('GET', '/svc/apis/a')).status, 200)
})
