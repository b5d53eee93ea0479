import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../src/errors/fault.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'
import type { Documents } from '../../src/store/ports.ts'
import { startTestGateway } from '../harness.ts'
import { oasApi } from './admin-fixtures.ts'

test('a store that refuses what it is to keep, because it is full, is told by /hello and /ready', async (t) => {
  const store = openMemoryStore({})
  t.after(() => store.close())
  let full = false
  const { documents } = store
  const bounded: Documents = {
    get: (kind, id) => documents.get(kind, id),
    find: (kind, index, value) => documents.find(kind, index, value),
    list: (kind, query) => documents.list(kind, query),
    scan: (kind) => documents.scan(kind),
    each: (kind, query) => documents.each(kind, query),
    values: (kind, index, query) => documents.values(kind, index, query),
    valuesBy: (kind, by, index, query) => documents.valuesBy(kind, by, index, query),
    commit: async (changes, audit) => {
      if (full) throw fault('store_full')
      return documents.commit(changes, audit)
    },
    note: (entry) => documents.note(entry),
    revision: () => documents.revision(),
  }
  const gate = await startTestGateway({ store: { ...store, documents: bounded } })
  t.after(() => gate.close())
  assert.equal((await gate.call('/ready')).status, 200)
  full = true
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oasApi('orders', '/orders/'))).status, 503)
  const ready = await gate.call('/ready')
  assert.deepEqual([ready.status, JSON.stringify(ready.json).includes('The store is full')], [503, true], ready.text)
  const { details, status } = (await gate.call('/hello')).json as {
    details: { store: { status: string; output: string } }
    status: string
  }
  assert.notEqual(status, 'pass')
  assert.deepEqual([details.store.status, details.store.output], ['fail', 'The store is full: nothing new is kept'])
})
