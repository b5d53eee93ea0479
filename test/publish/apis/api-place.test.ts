import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFault } from '../../../src/errors/fault.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { type ApiDraft, publishApi } from '../../../src/publish/apis/apis.ts'
import type { SecretParts } from '../../../src/publish/documents/parts.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { adapters } from '../../contract/adapters.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

const CONFIG = {
  gateway: { hash_keys: true, min_token_length: 16, allow_explicit_policy_id: true, enable_duplicate_slugs: false },
  compat: { vendor_aliases: [] },
}

for (const { name, open } of adapters) {
  test(`${name}: of saves for one listen path that race on different threads one gets through`, async (t) => {
    const clock = new FakeClock()
    const { documents, tokens, counters } = await open(t, clock)
    // Each its own lock, as on a separate thread: they share only the store.
    const threads = Array.from({ length: 3 }, (): SecretParts => {
      const own = { ...documents }
      return {
        documents: own,
        tokens,
        counters,
        config: CONFIG,
        clock,
        sealKey: new Uint8Array(32),
        defaultOrg: () => 'o',
        locks: new KeyedMutex(),
      }
    })
    const save = (thread: number, id: string, path: string, more: Partial<ApiDraft> = {}) =>
      publishApi(threads[thread]!, { format: 'oas', definition: oasApi(id, path, { id }), actor: 'Ann', ...more }).then(
        () => 'stored',
        (error: unknown) => toFault(error).code,
      )
    for (let round = 0; round < 5; round++) {
      const path = `/r${round}/`
      const made = await Promise.all(threads.map((_, i) => save(i, `made-${round}-${i}`, path)))
      assert.deepEqual(made.sort(), ['listen_path_taken', 'listen_path_taken', 'stored'])
      // moving there counts as well, and APIs elsewhere do not conflict
      for (const i of threads.keys())
        assert.equal(await save(i, `moved-${round}-${i}`, `/from-${round}-${i}/`), 'stored')
      const moved = await Promise.all(
        threads.map((_, i) => save(i, `moved-${round}-${i}`, `/to${round}/`, { apiId: `moved-${round}-${i}` })),
      )
      assert.deepEqual(moved.sort(), ['listen_path_taken', 'listen_path_taken', 'stored'])
      const apart = await Promise.all(threads.map((_, i) => save(i, `apart-${round}-${i}`, `/apart-${round}-${i}/`)))
      assert.deepEqual(apart, ['stored', 'stored', 'stored'])
    }
  })
}

test('a save that stays in its place looks at no other API, and each way of leaving it is judged', async (t) => {
  const clock = new FakeClock()
  const { documents, tokens, counters } = await adapters[0]!.open(t, clock)
  let looks = 0
  const counted = {
    ...documents,
    list: (...words: Parameters<typeof documents.list>) => {
      if (words[1]?.where?.place !== undefined) looks++
      return documents.list(...words)
    },
    valuesBy: (...words: Parameters<typeof documents.valuesBy>) => {
      looks++
      return documents.valuesBy(...words)
    },
  } as typeof documents
  const parts: SecretParts = {
    ...{ documents: counted, tokens, counters, config: CONFIG, clock },
    ...{ sealKey: new Uint8Array(32), defaultOrg: () => 'o', locks: new KeyedMutex() },
  }
  const save = (id: string, more: Parameters<typeof oasApi>[2], change: Partial<ApiDraft> = {}, path = '/x/') =>
    publishApi(parts, { format: 'oas', definition: oasApi(id, path, { ...more, id }), actor: 'Ann', ...change }).then(
      () => 'stored',
      (error: unknown) => toFault(error).code,
    )
  const own = { tags: ['a'], domain: 'x.example' }
  assert.equal(await save('own', own), 'stored')
  // Neighbours that the API would meet where one of its members were another one.
  assert.equal(await save('tags', { ...own, tags: ['b'] }), 'stored')
  assert.equal(await save('domain', { tags: ['a'] }), 'stored')
  assert.equal(await save('path', own, {}, '/y/'), 'stored')
  looks = 0
  for (const upstream of ['http://127.0.0.1:8/', 'http://127.0.0.1:7/'])
    assert.equal(await save('own', { ...own, upstream }, { apiId: 'own' }), 'stored')
  assert.equal(looks, 0)
  assert.equal(await save('own', { ...own, tags: ['b'] }, { apiId: 'own' }), 'listen_path_taken')
  assert.equal(await save('own', { ...own, tags: [] }, { apiId: 'own' }), 'listen_path_taken')
  assert.equal(await save('own', { tags: ['a'] }, { apiId: 'own' }), 'listen_path_taken')
  assert.equal(await save('own', own, { apiId: 'own' }, '/y/'), 'listen_path_taken')
  assert.equal(await save('own', { ...own, internal: true }, { apiId: 'own' }), 'stored')
  assert.equal(await save('new', own), 'stored')
  assert.equal(await save('own', own, { apiId: 'own' }), 'listen_path_taken', 'it was internal')
  // The APIs beside it are those of others for another organisation.
  const place = { domain: 'y.example' }
  assert.equal(await save('beneath', place, {}, '/y/'), 'stored')
  assert.equal(await save('moving', place, {}, '/y/z/'), 'stored')
  assert.equal(await save('moving', place, { apiId: 'moving', orgId: 'p' }, '/y/z/'), 'listen_path_taken')
  // One that is switched off meets nobody until it is switched on.
  assert.equal(await save('off', { ...own, active: false }), 'stored')
  assert.equal(await save('off', own, { apiId: 'off' }), 'listen_path_taken')
})
