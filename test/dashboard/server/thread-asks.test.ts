import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { NumberedQuestion } from '../../../src/model/threads/thread-rpc.ts'
import { joinStore } from '../../../src/store/sqlite/connection/join.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import type { OwnerRequest } from '../../../src/store/sqlite/connection/share-store.ts'
import { classicApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { policyOf } from '../../worlds/dashboard/key-world.ts'

test("reading pages asks nothing of the gateway's thread, which owns the store", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-asks-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const owner = await openStore({ path: folder })
  t.after(() => owner.close())
  const asked: string[] = []
  let current = ''
  const shared = owner.share()
  const { port1: between, port2: port } = new MessageChannel()
  between.on('message', (message: NumberedQuestion<OwnerRequest>) => {
    asked.push(`${message.question.sort} ${current}`)
    shared.port.postMessage(message)
  })
  shared.port.on('message', (message) => between.postMessage(message))
  const store = joinStore({ ...shared, port })
  t.after(async () => {
    await store.close()
    between.close()
  })
  const { admin: newAdmin, call, close, dashboard } = await startTestDashboard({ store })
  t.after(close)
  const as = await newAdmin()
  await call('POST', '/api/apis', { as, body: { api_definition: classicApi('a', '/a/', { name: 'A #shop' }) } })
  await call('POST', '/api/portal/policies', { as, body: policyOf('p', ['a']) })
  await call('POST', '/api/keys', { as, body: { apply_policies: ['p'], alias: 'somebody' } })
  // Documents that are read once for all, and then kept, are in memory from here on.
  const pages = dashboard.routes.filter(
    ({ method, path }) => method === 'GET' && /^\/api\/[^{]+(?<!\/live)$/.test(path),
  )
  const read = async () => {
    for (const { path } of pages) {
      current = path
      await call('GET', path, { as })
    }
    for (const path of ['/api/apis/-/keys/search?q=some', '/api/keys/detailed?q=some&p=1', '/api/apis/search?q=a'])
      assert.equal((await call('GET', path, { as })).status, 200)
  }
  await read()
  asked.length = 0
  await read()
  assert.ok(pages.length > 30)
  assert.deepEqual(asked, [])
})
