import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../../src/errors/fault.ts'
import { type DocumentId, newDocumentId } from '../../../src/model/documents/ids.ts'
import { ClientCache } from '../../../src/oauth/clients/client-cache.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'

const API = { apiId: 'orders', orgId: 'o' }

function open(most?: number) {
  const store = openMemoryStore()
  let reads = 0
  const counted: Documents = {
    ...store.documents,
    find(kind, index, value) {
      reads++
      return store.documents.find(kind, index, value)
    },
  }
  const put = async (client_id: string, id: DocumentId = newDocumentId(), note = '') => {
    const body = { client_id, org_id: 'o', api_ids: [API.apiId], registered_by_policy: '', note }
    await store.documents.commit([{ op: 'put', kind: 'oauth_client', id, body }], undefined)
    return id
  }
  const cache = new ClientCache(counted, store.feed, most)
  return { store, cache, put, reads: () => reads }
}

test('a client is read once, and so is one that is not there', async (t) => {
  const { store, cache, put, reads } = open()
  t.after(() => store.close())
  await put('a')
  for (let i = 0; i < 3; i++) {
    assert.equal((await cache.find('a', API))?.client_id, 'a')
    assert.equal(await cache.find('b', API), undefined)
  }
  // By API and by policy.
  assert.equal(reads(), 4)
})

test('changes, new ones and deletions are seen with the commit', async (t) => {
  const { store, cache, put } = open()
  t.after(() => store.close())
  assert.equal(await cache.find('a', API), undefined)
  const id = await put('a')
  assert.equal((await cache.find('a', API))?.note, '')
  await put('a', id, 'changed')
  assert.equal((await cache.find('a', API))?.note, 'changed')
  await store.documents.commit([{ op: 'delete', kind: 'oauth_client', id }], undefined)
  assert.equal(await cache.find('a', API), undefined)
})

test('what was read before a change is not kept after it', async (t) => {
  const { store, put } = open()
  t.after(() => store.close())
  let waiting: (() => void)[] = []
  const release = () => {
    for (const go of waiting) go()
    waiting = []
  }
  const slow: Documents = {
    ...store.documents,
    async find(kind, index, value) {
      const found = await store.documents.find(kind, index, value)
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
      return found
    },
  }
  const id = await put('a', undefined, 'old')
  const cache = new ClientCache(slow, store.feed)
  const early = cache.find('a', API)
  await new Promise((resolve) => setImmediate(resolve))
  await put('a', id, 'new')
  release()
  assert.equal((await early)?.note, 'old')
  const late = cache.find('a', API)
  await new Promise((resolve) => setImmediate(resolve))
  release()
  assert.equal((await late)?.note, 'new')
})

test('memory is bounded, whatever ids are asked for, and known clients stay right', async (t) => {
  const { store, cache, put, reads } = open(10)
  t.after(() => store.close())
  const id = await put('a', undefined, 'first')
  for (let i = 0; i < 1000; i++) {
    assert.equal(await cache.find(`nobody ${i}`, API), undefined)
    assert.equal((await cache.find('a', API))?.note, 'first')
  }
  assert.ok(reads() <= 2001 + 1, `${reads()} reads`)
  await put('a', id, 'second')
  assert.equal((await cache.find('a', API))?.note, 'second')
  assert.equal(await cache.find('x'.repeat(2000), API), undefined)
})

test('a registration that can be read counts while the other way to one cannot', async (t) => {
  const { store } = open()
  t.after(() => store.close())
  const bodies = [
    { client_id: 'direct', org_id: 'o', api_ids: [API.apiId], registered_by_policy: '' },
    { client_id: 'policy', org_id: 'o', api_ids: [], registered_by_policy: 'p' },
  ]
  for (const body of bodies)
    await store.documents.commit([{ op: 'put', kind: 'oauth_client', id: newDocumentId(), body }], undefined)
  // As a copy of the store that has found some names, and cannot say that others are not there.
  const copy: Documents = {
    ...store.documents,
    async find(kind, index, value) {
      const found = await store.documents.find(kind, index, value)
      if (found === undefined) throw fault('store_away')
      return found
    },
  }
  const cache = new ClientCache(copy, store.feed)
  for (const { client_id } of bodies) assert.equal((await cache.find(client_id, API))?.client_id, client_id)
  await assert.rejects(async () => cache.find('nobody', API), { code: 'store_away' })
})
