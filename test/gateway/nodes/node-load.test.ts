import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listNodes } from '../../../src/publish/nodes/node-status.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

const REQUESTS = 40

test('a node tells how busy it is', async (t) => {
  const target = await startTestGateway()
  t.after(() => target.close())
  const load = async () => (await listNodes(target.store))[0]?.load
  await eventually('it has told of itself', async () => (await load()) !== undefined)
  const idle = (await load())!
  assert.deepEqual([idle.requests_per_second, idle.connections], [0, 0])
  assert.ok(idle.busy >= 0 && idle.busy <= 1, String(idle.busy))
  assert.ok(idle.memory_bytes > 10_000_000 && Number.isInteger(idle.memory_bytes), String(idle.memory_bytes))

  for (let i = 0; i < REQUESTS; i++) assert.equal((await target.call('/nowhere')).status, 404)
  // A change makes it report again.
  const api = {
    name: 'a',
    api_id: 'a',
    active: true,
    use_keyless: true,
    proxy: { listen_path: '/a/', target_url: 'http://127.0.0.1:9' },
  }
  assert.equal((await target.svc('POST', '/svc/apis', api)).status, 200)
  await eventually('it tells of them', async () => (await load())!.requests_per_second > 0)
})
