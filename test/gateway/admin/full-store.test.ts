import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../../src/errors/fault.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { forwardDocuments } from '../../../src/store/ports/forward-documents.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

const hexOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

test('a store that refuses what it is to keep, because it is full, is told by /hello and /ready', async (t) => {
  const store = openMemoryStore({})
  t.after(() => store.close())
  let room = Number.POSITIVE_INFINITY
  let trials = 0
  const left = new Set<string>()
  const { documents } = store
  const bounded = forwardDocuments(documents, {
    commit: async (changes, audit) => {
      const isTrial = changes.some(({ op }) => op === 'putTicket')
      if (isTrial) trials++
      if (JSON.stringify(changes).length > room) throw fault('store_full')
      const done = await documents.commit(changes, audit)
      for (const change of changes) {
        if (change.op === 'putTicket') left.add(hexOf(change.hash))
        if (change.op === 'deleteTicket') left.delete(hexOf(change.hash))
      }
      return done
    },
  })
  const gate = await startTestGateway({ store: { ...store, documents: bounded } })
  t.after(() => gate.close())
  assert.equal((await gate.call('/ready')).status, 200)
  room = 0
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oasApi('orders', '/orders/'))).status, 503)
  const ready = await gate.call('/ready')
  assert.deepEqual([ready.status, JSON.stringify(ready.json).includes('The store is full')], [503, true], ready.text)
  const { details, status } = (await gate.call('/hello')).json as {
    details: { store: { status: string; output: string } }
    status: string
  }
  assert.notEqual(status, 'pass')
  assert.deepEqual([details.store.status, details.store.output], ['fail', 'The store is full: nothing new is kept'])

  assert.match((await gate.svc('GET', '/metrics')).text, /^svc_part_up\{part="store"\} 0$/m)

  // Asked again and again, it is tried about once a second: an attacker makes no load of it.
  const since = performance.now()
  await Promise.all(Array.from({ length: 50 }, () => gate.call('/ready')))
  assert.ok(trials <= 2 + (performance.now() - since) / 1000, `${trials} trials`)
  // Room for little is no room for what was refused.
  room = 400
  assert.equal((await gate.svc('POST', '/svc/policies', { id: 'small' })).status, 200)
  assert.equal((await gate.call('/ready')).status, 503)
  room = Number.POSITIVE_INFINITY
  assert.equal((await gate.svc('POST', '/svc/policies', { id: 'other' })).status, 200)
  assert.equal((await gate.call('/ready')).status, 200, 'at once')
  await becomes(() => left.size, 0, 'trials left in the store')
  room = 0
  assert.equal((await gate.svc('POST', '/svc/policies', { id: 'third' })).status, 503)
  room = Number.POSITIVE_INFINITY
  await becomes(async () => (await gate.call('/ready')).status, 200)
})
