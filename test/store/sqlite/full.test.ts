import assert from 'node:assert/strict'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { type Hit, LATENCY_BOUNDS_MS } from '../../../src/model/analytics/hit.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { smallDisk } from '../../worlds/store/small-disk.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const big = (name: string, bytes = 20_000): Change => ({
  ...{ op: 'put', kind: 'api', id: newDocumentId() },
  body: { api_id: name, name, text: 'x'.repeat(bytes) },
})

const latency = { sumMs: 1, minMs: 1, maxMs: 1, buckets: LATENCY_BOUNDS_MS.map(() => 0).concat(1) }
const hit = (keyHash: string): Hit => ({
  ...{
    ...NO_DIMENSIONS,
    hour: 1,
    orgId: 'o',
    apiId: 'a',
    keyHash,
  },
  ...{ status: 200, count: 1, success: 1, error: 0, lastAt: 1, total: latency, upstream: latency },
})

/** Writes until the store is full; answers the names that were acknowledged. */
async function fill(store: SqliteStore): Promise<string[]> {
  const written: string[] = []
  for (let n = 0; n < 10_000; n++) {
    try {
      await store.documents.commit([big(`api-${n}`)], undefined)
      written.push(`api-${n}`)
    } catch (error) {
      assert.equal((error as { code: string }).code, 'store_full')
      return written
    }
  }
  throw new Error('the store was never full')
}

test('a store too full for a document serves reads, and still drops a session', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path, limitBytes: 2_000_000 })
  t.after(() => store.close())
  const hash = hashKey('revoked')
  await store.documents.commit([{ op: 'putSession', hash, row }], undefined)
  const written = await fill(store)
  assert.ok(written.length > 20)

  // Deletes take no room of their own. Five, so that pages are left whatever the random ids of the next rows need.
  const { rows } = await store.documents.list('api', { limit: 5 })
  const deletes = rows.map(({ id }) => ({ op: 'delete', kind: 'api', id }) as const)
  await store.documents.commit(deletes, undefined)
  const revision = store.documents.revision()
  const group = await Promise.allSettled([
    store.documents.commit([big('too much', 500_000)], undefined),
    store.documents.commit([{ op: 'deleteSession', hash }], undefined),
    store.documents.commit([big('much too much', 500_000)], undefined),
  ])
  assert.deepEqual(
    group.map(({ status }) => status),
    ['rejected', 'fulfilled', 'rejected'],
  )
  assert.equal(store.tokens.getSession(hash), undefined)
  assert.equal(store.documents.revision(), revision + 1)
  const left = written.filter((name) => !rows.some(({ body }) => body.api_id === name))
  for (const name of left) assert.ok(await store.documents.find('api', 'api_id', name))
  assert.equal(await store.documents.find('api', 'api_id', 'too much'), undefined)
  await store.documents.commit([big('fits again')], undefined)
})

test('hits that did not fit are not counted, and are when they fit again', async (t) => {
  const store = await openStore({ path: temporaryFolder(t), limitBytes: 1_000_000 })
  t.after(() => store.close())
  await fill(store)
  // More new rows than what is left of the last pages can take.
  const rows = Array.from({ length: 2_000 }, (_, n) => hit(`key ${n}`))
  await assert.rejects(store.hits.add(rows), { code: 'store_full' })
  assert.deepEqual(await store.hits.sum({ fromHour: 0, toHour: 9, limit: 1 }), [])
  const { rows: documents } = await store.documents.list('api', { limit: 1000 })
  await store.documents.commit(
    documents.map(({ id }) => ({ op: 'delete', kind: 'api', id })),
    undefined,
  )
  await store.hits.add(rows.slice(0, 500))
  assert.equal((await store.hits.sum({ fromHour: 0, toHour: 9, limit: 1000 })).length, 500)
})

test('a full disk refuses writes, reads go on, and writes are taken again when there is space', async (t) => {
  const path = smallDisk(t, 8)
  if (path === undefined)
    return t.diagnostic('no right to mount a small disk here: only the limit of SQLite was tested')
  const store = await openStore({ path })
  const written = await fill(store)
  assert.ok(written.length > 20)
  for (const name of written) assert.ok(await store.documents.find('api', 'api_id', name))
  rmSync(join(path, 'ballast'))
  await store.documents.commit([big('after')], undefined)
  await store.close()
  const again = await openStore({ path })
  t.after(() => again.close())
  for (const name of [...written, 'after']) assert.ok(await again.documents.find('api', 'api_id', name), name)
})

test('a disk that is full at the start is told from one that cannot be written', async (t) => {
  const path = smallDisk(t, 8)
  if (path === undefined) return t.diagnostic('no right to mount a small disk here')
  const { bsize, bavail } = statfsSync(path)
  writeFileSync(join(path, 'rest'), Buffer.alloc(bsize * bavail))
  await assert.rejects(openStore({ path: join(path, 'data') }), { code: 'store_full' })
})

test('a sealed store tells that it is full, from the first refusal on', async (t) => {
  const store = await openStore({ path: temporaryFolder(t), limitBytes: 2_000_000 })
  t.after(() => store.close())
  const sealed = sealedStore(store, Buffer.alloc(32, 7))
  assert.equal(await sealed.refusing?.(), undefined)
  await assert.rejects(sealed.documents.commit([{ op: 'nonsense' } as never], undefined))
  assert.equal(await sealed.refusing?.(), undefined, 'another refusal says nothing')
  await fill({ ...store, documents: sealed.documents } as SqliteStore)
  assert.equal(await sealed.refusing?.(), 'store_full')
  const { rows } = await store.documents.list('api', { limit: 5 })
  await sealed.documents.commit(
    rows.map(({ id }) => ({ op: 'delete', kind: 'api', id })),
    undefined,
  )
  assert.equal(await sealed.refusing?.(), undefined, 'as soon as there is room')
})
