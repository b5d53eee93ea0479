import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { hexOf } from '../../../src/model/text/hex.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { SecretParts } from '../../../src/publish/documents/parts.ts'
import { createKey, deleteKey, setKeyPolicies, updateKey } from '../../../src/publish/keys/keys.ts'
import { rotateKey } from '../../../src/publish/keys/rotate-key.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents, SessionRow } from '../../../src/store/ports/ports.ts'

const OVERLAP_S = 3600
const SESSION = { alias: 'k', access_rights: { a: { api_id: 'a', api_name: 'a', versions: ['Default'] } } }

/** Two processes that share a store and no locks. Before the first commit of the one, `first` runs with the other. */
async function twoProcesses() {
  const store = openMemoryStore({ clock: new FakeClock() })
  const gateway = {
    ...{ hash_keys: true, min_token_length: 3, allow_explicit_policy_id: true, enable_duplicate_slugs: false },
  }
  let first: (() => Promise<unknown>) | undefined
  const process = (commit: Documents['commit']): SecretParts => ({
    ...store,
    documents: Object.assign(Object.create(store.documents) as Documents, { commit }),
    config: { gateway, compat: { vendor_aliases: [] } },
    ...{ defaultOrg: () => '', locks: new KeyedMutex(), sealKey: Buffer.alloc(32, 1) },
  })
  const direct = store.documents.commit.bind(store.documents)
  const one = process(async (changes, audit) => {
    const run = first
    first = undefined
    await run?.()
    return direct(changes, audit)
  })
  const other = process(direct)
  const { keyHash } = await createKey(other, { session: SESSION, key: 'chosen-key', keepQuota: true, actor: 't' })
  const read = () => store.tokens.getSession(Buffer.from(keyHash, 'hex'))
  return { one, other, read, before: (work: () => Promise<unknown>) => (first = work) }
}

const CHANGES: Readonly<Record<string, (parts: SecretParts, row: SessionRow) => Promise<unknown>>> = {
  'a change': (parts, row) => updateKey(parts, { row, session: SESSION, keepQuota: true, actor: 't' }),
  'other policies': (parts, row) => setKeyPolicies(parts, { row, policies: [], actor: 't' }),
  'a replacement': (parts) => createKey(parts, { session: SESSION, key: 'chosen-key', keepQuota: true, actor: 't' }),
  'another rotation': (parts, row) => rotateKey(parts, row, 't', { overlapS: 2 * OVERLAP_S }),
}

for (const [name, change] of Object.entries(CHANGES))
  test(`a rotation stays in force whatever another process had begun: ${name}`, async () => {
    const { one, other, read, before } = await twoProcesses()
    const row = (await read())!
    before(() => rotateKey(other, row, 't', { overlapS: OVERLAP_S }))
    const isReplaced = (error: unknown) => error instanceof Fault && /replaced/.test(error.message)
    await assert.rejects(change(one, row), isReplaced)
    const after = (await read())!
    assert.equal(typeof after.body.rotated_to, 'string')
    assert.ok(after.evictAt > 0)
    // Its successor is the only other key, so that its deletion ends both.
    const successor = (await other.tokens.getSession(Buffer.from(String(after.body.rotated_to), 'hex')))!
    await deleteKey(other, successor, 't')
    assert.equal(await read(), undefined)
    assert.equal(await other.tokens.countSessions({}), 0, hexOf(row.hash))
  })
