import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { FaultCode } from '../../../src/errors/catalog.ts'
import { fault } from '../../../src/errors/fault.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { CopyFile } from '../../../src/store/local-copy/file.ts'
import { withCopy } from '../../../src/store/local-copy/open.ts'
import { PendingTokens } from '../../../src/store/local-copy/pending-revocations.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents, PendingSession, Store } from '../../../src/store/ports/ports.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
const hash = hashKey('one')
const client = newDocumentId()

interface World {
  readonly store: Store
  readonly file: string
  /** From now on reading fails as it does while PostgreSQL is away. */
  goAway(): void
}

/** A store with a session and a client that have been read, so that they are in the file of the copy. */
async function start(t: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-copy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'copy.db')
  const memory = openMemoryStore()
  await memory.documents.commit(
    [
      { op: 'putSession', hash, row },
      { op: 'put', kind: 'oauth_client', id: client, body: { client_id: 'app' } },
    ],
    undefined,
  )
  let away = false
  const unlessAway = async <T>(read: () => T | Promise<T>) => {
    if (away) throw fault('store_away')
    return read()
  }
  const { documents, tokens } = memory
  const inner: Store = {
    ...memory,
    documents: {
      ...documents,
      commit: (changes, audit) => documents.commit(changes, audit),
      get: (kind, id) => unlessAway(() => documents.get(kind, id)),
      find: (kind, index, value) => unlessAway(() => documents.find(kind, index, value)),
      revision: () => unlessAway(() => documents.revision()),
    },
    tokens: {
      ...tokens,
      getSession: (wanted) => unlessAway(() => tokens.getSession(wanted)),
    },
  }
  const filled = withCopy({ ...inner, close: async () => {} }, new CopyFile(file, 100, silentLog), silentLog)
  assert.ok(await filled.tokens.getSession(hash))
  assert.ok(await filled.documents.find('oauth_client', 'client_id', 'app'))
  await filled.close()
  const store = withCopy(inner, new CopyFile(file, 100, silentLog), silentLog)
  t.after(() => store.close())
  return {
    ...{ store, file },
    goAway() {
      away = true
    },
  }
}

const remove = (store: Store) =>
  store.documents.commit(
    [
      { op: 'deleteSession', hash },
      { op: 'delete', kind: 'oauth_client', id: client },
    ],
    undefined,
  )

async function assertUnknown({ tokens, documents }: Store): Promise<void> {
  await assert.rejects(async () => tokens.getSession(hash), { code: 'store_away' })
  await assert.rejects(async () => documents.get('oauth_client', client), { code: 'store_away' })
  await assert.rejects(async () => documents.find('oauth_client', 'client_id', 'app'), { code: 'store_away' })
}

test('what was read is served while the store is away', async (t) => {
  const { store, goAway } = await start(t)
  goAway()
  assert.ok(await store.tokens.getSession(hash))
  assert.ok(await store.documents.find('oauth_client', 'client_id', 'app'))
})

test('what was deleted just before the store went away is not served from the copy', async (t) => {
  const { store, goAway } = await start(t)
  await remove(store)
  goAway()
  await assertUnknown(store)
})

test('a session revoked while the copy was unwritable is not served from it', async (t) => {
  const { store, file, goAway } = await start(t)
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  await remove(store)
  goAway()
  await assert.rejects(async () => store.tokens.getSession(hash), { code: 'store_away' })
  other.exec('ROLLBACK')
  other.close()
  await assertUnknown(store)
  const again = new CopyFile(file, 100, silentLog)
  t.after(() => again.close())
  assert.equal(again.session(hash), undefined)
  assert.equal(again.document('oauth_client', client), undefined)
})

test('a pending token is kept until the store has it, whatever it answers', async (t) => {
  const answers: FaultCode[] = ['store_away', 'store_full', 'store_read_only', 'write_unconfirmed']
  const revoked: unknown[] = []
  let commits = 0
  const documents = {
    commit: async () => {
      const code = answers[commits++]
      if (code !== undefined) throw fault(code)
    },
  } as unknown as Documents
  const copy = { pending: () => [], notePending() {}, dropPending() {} } as unknown as CopyFile
  const pending = new PendingTokens({ documents, copy, log: silentLog, revoked: (hash) => revoked.push(hash) })
  t.after(() => pending.close())
  const session = {
    hash: hashKey('pending'),
    row: { evictAt: Date.now() + 60_000 },
    apiId: 'a',
  } as unknown as PendingSession
  pending.keep(session)
  for (const code of answers) {
    await assert.rejects(pending.settle([session.hash]), { code: 'store_away' }, code)
    assert.ok(pending.some, code)
  }
  await pending.settle([session.hash])
  assert.equal(pending.some, false)
  assert.deepEqual(revoked, [])
})
