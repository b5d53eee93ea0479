import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault, fault } from '../../../src/errors/fault.ts'
import { legacyHash, legacyRowHash } from '../../../src/model/keys/legacy-hash.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { SecretParts } from '../../../src/publish/documents/parts.ts'
import { LegacyKeys, legacyRules } from '../../../src/publish/keys/legacy-keys.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'

const KEY = 'a-key-of-an-earlier-product'
const HEX = legacyHash('murmur64', KEY)
const OLD = legacyRowHash('murmur64', HEX)
const AUDIT = { actor: 'test', action: 'test', orgId: '', at: 0, detail: {} }

/** A store with one old key. `commit` wraps that of the store. */
async function oldKey(commit?: (documents: Documents) => Documents['commit']) {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const row = {
    body: { legacy_key: `murmur64:${HEX}`, alias: 'old', access_rights: {} },
    ...{ orgId: '', apiIds: [], policyIds: [], clientId: '', evictAt: 0 },
  }
  await store.documents.commit([{ op: 'putSession', hash: OLD, row }], AUDIT)
  const gateway = {
    ...{ hash_keys: true, min_token_length: 16, allow_explicit_policy_id: true, enable_duplicate_slugs: false },
  }
  const documents = { commit: commit?.(store.documents) ?? store.documents.commit.bind(store.documents) } as Documents
  const parts: SecretParts = {
    ...{ documents, counters: store.counters, tokens: store.tokens, clock },
    ...{
      config: { gateway, compat: { vendor_aliases: [] } },
      defaultOrg: () => '',
      locks: new KeyedMutex(),
      sealKey: Buffer.alloc(32, 1),
    },
  }
  return { store, clock, parts, keys: new LegacyKeys(parts, { algorithms: ['murmur64'], orgs: [] }) }
}

test('the first use gives a key the place that ours have, and its counts stay', async () => {
  const { store, keys } = await oldKey()
  const found = await keys.find(KEY)
  assert.deepEqual([found?.rehashed, found?.row.body.counter_id], [true, OLD.toString('hex')])
  assert.equal(await store.tokens.getSession(OLD), undefined)
  assert.equal((await store.tokens.getSession(hashKey(KEY)))?.body.alias, 'old')
  assert.equal(await keys.find(`${KEY}.`), undefined)
})

test('a key that is deleted during its first use stays deleted', async () => {
  const { store, keys } = await oldKey((documents) => async (changes, audit) => {
    await documents.commit([{ op: 'deleteSession', hash: OLD }], AUDIT)
    return documents.commit(changes, audit)
  })
  assert.equal(await keys.find(KEY), undefined)
  assert.equal(await store.tokens.getSession(hashKey(KEY)), undefined)
})

test('where the store takes no changes the key is good all the same, in its old place', async () => {
  const { store, keys } = await oldKey(() => async () => {
    throw fault('store_read_only')
  })
  assert.equal((await keys.find(KEY))?.rehashed, false)
  assert.ok((await store.tokens.getSession(OLD)) !== undefined)
})

test('credentials that nobody knows are looked for so many times a second and no more', async () => {
  const { clock, keys } = await oldKey()
  for (let i = 0; i < 1000; i++) assert.equal(await keys.find(`guess ${i}`), undefined)
  const isBusy = (error: unknown) => error instanceof Fault && error.code === 'legacy_keys_busy'
  await assert.rejects(keys.find('guess'), isBusy)
  clock.advance(10)
  for (let i = 0; i < 5; i++) assert.equal(await keys.find(`guess ${i}`), undefined)
  await assert.rejects(keys.find('guess'), isBusy)
})

test('without algorithms there are no rules, and so no look-up', () => {
  assert.equal(legacyRules({ hash_key_function_fallback: [], legacy_key_orgs: ['a'] }), undefined)
  const rules = { algorithms: ['murmur32'], orgs: ['a'] }
  assert.deepEqual(legacyRules({ hash_key_function_fallback: ['murmur32'], legacy_key_orgs: ['a'] }), rules)
})

test('a key of ours is not found by a part of it, whatever stands before it', async () => {
  const { store, parts } = await oldKey()
  const rules = { algorithms: ['sha256', 'murmur64'], orgs: ['org-'] } as const
  const [row] = (await store.tokens.listSessions({ limit: 1 })).rows
  const { legacy_key: _mark, ...body } = row!.body
  const ours = hashKey('org-a-key-of-ours')
  await store.documents.commit([{ op: 'putSession', hash: ours, row: { ...row!, body } }], AUDIT)
  assert.equal(await new LegacyKeys(parts, rules).find('a-key-of-ours'), undefined)
  const marked = { ...body, legacy_key: `sha256:${ours.toString('hex')}` }
  await store.documents.commit([{ op: 'putSession', hash: ours, row: { ...row!, body: marked } }], AUDIT)
  assert.equal((await new LegacyKeys(parts, rules).find('a-key-of-ours'))?.rehashed, true)
})
