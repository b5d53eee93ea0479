import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { intentOf } from '../../../src/dashboard/access/permit.ts'
import { rowsOf, tryRow } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'
import { call } from '../../worlds/base/client.ts'
import { classicApi } from '../../worlds/dashboard/api-samples.ts'
import { ADMIN_SECRET, startTestDashboard } from '../../worlds/dashboard/harness.ts'

const NEVER = { settled: () => new Promise<void>(() => {}), settleWithinMs: 1 }
/** An answer that never comes fails the test. As long as `eventually` waits. */
const BOUNDED = { timeout: 120_000 }

test('every write is answered when the gateway never takes it', BOUNDED, async (t) => {
  let settled = async () => {}
  const world = await startWorld({ parts: { ...NEVER, settled: () => settled() } })
  t.after(world.close)
  settled = NEVER.settled
  const wrong: string[] = []
  let writes = 0
  for (const route of world.dashboard.routes) {
    if (intentOf(route) !== 'write') continue
    for (const row of rowsOf(route, ['admin'])) {
      writes++
      const flaw = await tryRow(world, row)
      if (flaw !== undefined) wrong.push(flaw)
    }
  }
  assert.ok(writes > 80)
  assert.deepEqual(wrong, [])
})

test('an answer says that a change is stored and not yet active', BOUNDED, async (t) => {
  const { admin, call: send, log, port, close } = await startTestDashboard({ parts: NEVER })
  t.after(close)
  const as = await admin()
  const made = await send('POST', '/api/apis', { as, body: { api_definition: classicApi('a', '/a/') } })
  assert.equal(made.status, 200)
  assert.match(made.text, /"Message":"API created".*"warning":"Stored, but not yet active/)
  const read = await send('GET', '/api/apis/a', { as })
  assert.equal(read.status, 200)
  const changed = await send('PUT', '/api/apis/a', { as, body: { api_definition: classicApi('a', '/b/') } })
  assert.match(changed.text, /not yet active/)
  const cleared = await send('DELETE', '/api/cache/responses/a', { as })
  assert.match(cleared.text, /not yet active/)
  const removed = await send('DELETE', '/api/apis/a', { as })
  assert.match(removed.text, /not yet active/)
  assert.ok(log.some(({ message }) => message === 'the gateway has not applied a change in time'))
  const reload = await call(port, '/admin/system/reload', { headers: { 'admin-auth': ADMIN_SECRET } })
  assert.equal(reload.status, 503)
})

test('the dashboard waits for the gateway in one place', () => {
  const root = join(import.meta.dirname, '../../..')
  const waiting = globSync('src/dashboard/**/*.ts', { cwd: root }).filter((file) =>
    /parts\.settled\(/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(waiting, [join('src', 'dashboard', 'server', 'await-gateway.ts')])
})
