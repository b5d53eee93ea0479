import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DocumentId, newDocumentId } from '../../src/model/documents/ids.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { hashKey } from '../../src/model/secrets/secret.ts'
import type { AuditEntry, AuditQuery, AuditRow, Change, SessionInput, Store } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ actor: 'user:1', action: 'api.update', orgId: 'o', at: 1000, detail: {} },
  ...more,
})
const request = (more: Partial<NonNullable<AuditEntry['request']>> = {}): NonNullable<AuditEntry['request']> => ({
  ...{ id: 'r', method: 'PUT', url: '/api/apis/1?secret=no', ip: '10.0.0.1', user: 'ann@example.com', status: 200 },
  ...more,
})
const put = (id: DocumentId, body: JsonObject, ifRevision?: number): Change => ({
  ...{ op: 'put', kind: 'api', id, body },
  ...(ifRevision !== undefined && { ifRevision }),
})
const all = async ({ audit }: Store, query: AuditQuery = {}): Promise<AuditRow[]> =>
  (await audit.list({ ...query, limit: 1000 })).rows
const actions = (rows: readonly AuditRow[]) => rows.map(({ action }) => action).join(' ')

/** Checks of every adapter of `Audit`. */
export function auditSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a change is recorded with what was there before and after`, async (t) => {
      const store = await open(t)
      const id = newDocumentId()
      const [one, two] = [
        { api_id: 'a', name: 'ä\0', long: 'x'.repeat(5000) },
        { api_id: 'a', name: 'two', long: 'x'.repeat(5001) },
      ]
      await store.documents.commit([put(id, one)], entry({ action: 'create' }))
      await store.documents.commit([put(id, two)], entry({ action: 'update', request: request() }))
      await store.documents.commit([put(id, two)], undefined)
      const last = await store.documents.commit(
        [{ op: 'delete', kind: 'api', id }],
        entry({ action: 'delete', at: 1001 }),
      )
      const rows = await all(store)
      assert.deepEqual(
        rows.map(({ id: _, ...row }) => row),
        [
          {
            ...entry({ action: 'delete', at: 1001 }),
            revision: last,
            changes: [{ kind: 'api', id, before: two, after: null }],
          },
          {
            ...entry({ action: 'update', request: request() }),
            revision: 2,
            changes: [{ kind: 'api', id, before: one, after: two }],
          },
          { ...entry({ action: 'create' }), revision: 1, changes: [{ kind: 'api', id, before: null, after: one }] },
        ],
      )
      for (const row of rows) {
        assert.match(row.id, /^[0-9a-f]{24}$/)
        assert.deepEqual(await store.audit.get(row.id), row)
      }
      assert.deepEqual([...rows.map((row) => row.id)].sort(), rows.map((row) => row.id).reverse())
      for (const other of ['', 'x', '0'.repeat(24), `f${rows[0]!.id.slice(1)}`, `${rows[0]!.id.toUpperCase()}A`])
        assert.equal(await store.audit.get(other), undefined)
    })

    test(`${name}: several changes of one commit are recorded in order, each with what it found`, async (t) => {
      const store = await open(t)
      const [a, b] = [newDocumentId(), newDocumentId()]
      const changes: Change[] = [
        put(a, { api_id: 'a' }),
        put(a, { api_id: 'a2' }),
        { op: 'delete', kind: 'api', id: a },
        { op: 'delete', kind: 'api', id: b },
        { op: 'endFamily', family: 'f' },
      ]
      await store.documents.commit(changes, entry())
      const [row] = await all(store)
      assert.deepEqual(row!.changes, [
        { kind: 'api', id: a, before: null, after: { api_id: 'a' } },
        { kind: 'api', id: a, before: { api_id: 'a' }, after: { api_id: 'a2' } },
        { kind: 'api', id: a, before: { api_id: 'a2' }, after: null },
      ])
    })

    test(`${name}: a commit that fails is not recorded`, async (t) => {
      const store = await open(t)
      const id = newDocumentId()
      await store.documents.commit([put(newDocumentId(), { api_id: 'taken' })], undefined)
      const changes = [put(id, { api_id: 'a' }), put(newDocumentId(), { api_id: 'taken' })]
      await assert.rejects(store.documents.commit(changes, entry()), { code: 'already_exists' })
      await assert.rejects(store.documents.commit([put(id, { api_id: 'a' }, 9)], entry()), {
        code: 'revision_conflict',
      })
      assert.deepEqual(await store.audit.list({ limit: 10 }), { rows: [], total: 0 })
    })

    test(`${name}: a key is recorded by its hash, with all that brings it back`, async (t) => {
      const store = await open(t)
      const hash = hashKey('key')
      const id = Buffer.from(hash).toString('hex')
      const row: SessionInput = {
        ...{ body: { alias: 'one' }, orgId: 'o', apiIds: ['a'], policyIds: ['p'], clientId: 'c', evictAt: 0 },
        ...{ sealedKey: Buffer.from([0, 255, 128]), family: 'f' },
      }
      await store.documents.commit([{ op: 'putSession', hash, row }], entry())
      await store.documents.commit([{ op: 'deleteSession', hash }], entry())
      await store.documents.commit([{ op: 'deleteSession', hash }], entry())
      const [nothing, gone, made] = await all(store)
      assert.deepEqual(nothing!.changes, [])
      assert.deepEqual(made!.changes, [{ kind: 'session', id, before: null, after: { alias: 'one' } }])
      const [{ session, ...change }] = gone!.changes as [AuditRow['changes'][number]]
      assert.deepEqual(change, { kind: 'session', id, before: { alias: 'one' }, after: null })
      assert.deepEqual({ ...session!, sealedKey: Buffer.from(session!.sealedKey!) }, row)
      await store.documents.commit([{ op: 'putSession', hash, row: session! }], undefined)
      assert.deepEqual((await store.tokens.getSession(hash))!.body, { alias: 'one' })
    })

    test(`${name}: bodies that are too large are left out, and the entry says so`, async (t) => {
      const store = await open(t)
      const [a, b] = [newDocumentId(), newDocumentId()]
      const long = 'x'.repeat(15_999_000)
      await store.documents.commit([put(a, { api_id: 'a', long })], undefined)
      await store.documents.commit([put(a, { api_id: 'a', long: `${long}${long}` }), put(b, { api_id: 'b' })], entry())
      const [row] = await all(store)
      assert.deepEqual(row!.changes, [
        { kind: 'api', id: a, before: null, after: null, omitted: true },
        { kind: 'api', id: b, before: null, after: { api_id: 'b' } },
      ])
    })

    test(`${name}: a note is recorded without a revision, and nobody is told`, async (t) => {
      const store = await open(t)
      await store.documents.commit([], undefined)
      let told = 0
      t.after(store.feed.subscribe(() => told++))
      await store.documents.note(entry({ action: 'api.read', request: request() }))
      await assert.rejects(store.documents.note(entry({ at: -1 })), { code: 'internal' })
      const [row] = await all(store)
      assert.deepEqual([row!.action, row!.revision, row!.changes], ['api.read', 1, []])
      assert.equal(await store.documents.revision(), 1)
      await store.documents.commit([], undefined)
      assert.equal(told, 1)
    })

    test(`${name}: the audit is searched by everything, alone and together, newest first`, async (t) => {
      const store = await open(t)
      const entries = [
        entry({ action: 'a', at: 10, request: request({ user: 'Ann@Example.com', url: '/api/Apis/1?x=/keys' }) }),
        entry({ action: 'b', at: 30, request: request({ method: 'DELETE', ip: '10.0.0.2', status: 404 }) }),
        entry({ action: 'c', at: 20, orgId: 'p', request: request({ user: 'straße@example.com', url: '/api/keys' }) }),
        entry({ action: 'd', at: 20, actor: 'Bob' }),
        entry({ action: 'e', at: 20, request: request({ user: '100%_x' }) }),
      ]
      for (const one of entries) await store.documents.note(one)
      const find = async (query: AuditQuery) => actions(await all(store, query))
      assert.equal(await find({}), 'b e d c a')
      assert.equal(await find({ orgId: 'o' }), 'b e d a')
      assert.equal(await find({ orgId: 'none' }), '')
      assert.equal(await find({ orgId: '' }), '')
      assert.equal(await find({ user: 'ANN' }), 'b a')
      assert.equal(await find({ user: 'STRASSE' }), 'c')
      assert.equal(await find({ user: 'bo' }), 'd')
      assert.equal(await find({ user: '%_' }), 'e')
      assert.equal(await find({ user: '' }), 'b e d c a')
      assert.equal(await find({ action: 'c' }), 'c')
      assert.equal(await find({ method: 'delete' }), 'b')
      assert.equal(await find({ ip: '10.0.0.2' }), 'b')
      assert.equal(await find({ status: 404 }), 'b')
      assert.equal(await find({ url: '/keys' }), 'c')
      assert.equal(await find({ url: 'Apis' }), 'a')
      assert.equal(await find({ url: '/api/keys?x=1' }), 'c')
      assert.equal(await find({ from: 20 }), 'b e d c')
      assert.equal(await find({ to: 20 }), 'a')
      assert.equal(await find({ from: 20, to: 30, orgId: 'o', status: 200, user: 'x' }), 'e')
      const page = await store.audit.list({ orgId: 'o', offset: 1, limit: 2 })
      assert.deepEqual([actions(page.rows), page.total], ['e d', 4])
      const found = await store.audit.list({ user: 'example', offset: 1, limit: 1 })
      assert.deepEqual([actions(found.rows), found.total], ['c', 3])
      assert.equal((await store.audit.list({ offset: 9, limit: 2 })).total, 5)
      const scanned: AuditRow[] = []
      for await (const batch of store.audit.scan({ orgId: 'o' })) scanned.push(...batch)
      assert.equal(actions(scanned), 'b e d a')
    })

    test(`${name}: the entries that wrote a document are found by it`, async (t) => {
      const store = await open(t)
      const [a, b] = [newDocumentId(), newDocumentId()]
      const hash = hashKey('key')
      const key = Buffer.from(hash).toString('hex')
      const row: SessionInput = { body: { n: 1 }, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
      const write = (action: string, changes: readonly Change[], more: Partial<AuditEntry> = {}) =>
        store.documents.commit(changes, entry({ action, ...more }))
      await write('a', [put(a, { api_id: 'a' })])
      await write('b', [put(b, { api_id: 'b' })], { at: 2000 })
      await write('both', [put(a, { api_id: 'a', n: 2 }), put(b, { api_id: 'b', n: 2 }), put(a, { api_id: 'a', n: 3 })])
      await write('key', [{ op: 'putSession', hash, row }], { orgId: 'p' })
      await write('gone', [{ op: 'delete', kind: 'api', id: a }], { actor: 'user:2', at: 3000 })
      await store.documents.note(entry({ action: 'note' }))
      const find = async (kind: string, ids: readonly string[], more: AuditQuery = {}) => {
        const query: AuditQuery = { ...more, wrote: { kind, ids } }
        const found = actions(await all(store, query))
        const scanned: AuditRow[] = []
        for await (const batch of store.audit.scan(query)) scanned.push(...batch)
        assert.equal(actions(scanned), found)
        const { ids: listed, total } = await store.audit.listIds({ ...query, limit: 10 })
        assert.deepEqual([listed, total], [scanned.map(({ id }) => id), scanned.length])
        return found
      }
      assert.equal(await find('api', [a]), 'gone both a')
      assert.equal(await find('api', [b]), 'b both')
      assert.equal(await find('api', [a, b, a]), 'gone b both a')
      assert.equal(await find('session', [key]), 'key')
      assert.equal(await find('policy', [a]), '')
      assert.equal(await find('api', []), '')
      assert.equal(await find('api', ['\0', '"', 'x']), '')
      assert.equal(await find('api', [a], { user: 'user:1', to: 3000, orgId: 'o' }), 'both a')
      assert.equal(await find('session', [key], { orgId: 'o' }), '')
      const page = await store.audit.list({ wrote: { kind: 'api', ids: [a] }, offset: 1, limit: 1 })
      assert.deepEqual([actions(page.rows), page.total], ['both', 3])
    })

    test(`${name}: what an entry wrote can be undone until something changed it, and that is named`, async (t) => {
      const store = await open(t)
      const [a, b] = [newDocumentId(), newDocumentId()]
      const hash = hashKey('key')
      const row: SessionInput = { body: { n: 1 }, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
      const made = [put(a, { api_id: 'a' }), put(b, { api_id: 'b' }), { op: 'putSession', hash, row } as const]
      await store.documents.commit(made, entry())
      const [{ id }] = (await all(store)) as [AuditRow]
      const standing = async (of: string) =>
        (await store.audit.state(of))!.map(({ current, revision, laterId }) => ({ current, revision, laterId }))
      const untouched = { current: true, laterId: undefined }
      assert.deepEqual(await standing(id), [
        { ...untouched, revision: 1 },
        { ...untouched, revision: 1 },
        { ...untouched, revision: 0 },
      ])
      await store.documents.commit([put(a, { api_id: 'a2' })], entry({ at: 2000 }))
      await store.documents.commit([put(a, { api_id: 'a3' })], entry({ at: 3000 }))
      await store.documents.commit([put(b, { api_id: 'b2' })], undefined)
      await store.documents.commit([{ op: 'putSession', hash, row: { ...row, body: { n: 2 } } }], undefined)
      const [third, second] = await all(store)
      assert.deepEqual(await standing(id), [
        { current: false, revision: 3, laterId: second!.id },
        { current: false, revision: 4, laterId: undefined },
        { current: false, revision: 0, laterId: undefined },
      ])
      assert.deepEqual(await standing(third!.id), [{ ...untouched, revision: 3 }])
      await store.documents.commit([{ op: 'delete', kind: 'api', id: a }], entry({ at: 4000 }))
      const [gone] = await all(store)
      assert.deepEqual(await standing(gone!.id), [{ ...untouched, revision: 0 }])
      await store.documents.commit([put(a, { api_id: 'a4' })], undefined)
      assert.deepEqual(await standing(gone!.id), [{ current: false, revision: 7, laterId: undefined }])
      assert.equal(await store.audit.state('0'.repeat(24)), undefined)
    })

    test(`${name}: entries from before a time are forgotten, and nothing else`, async (t) => {
      const store = await open(t)
      const id = newDocumentId()
      for (let n = 0; n < 300; n++) {
        const change = n % 100 === 0 ? [put(id, { api_id: `a${n}` })] : []
        await store.documents.commit(change, entry({ at: n, action: `n${n}` }))
      }
      assert.equal(await store.audit.purgeAudit(150), 150)
      const rows = await all(store)
      assert.equal(rows.length, 150)
      assert.equal(rows.at(-1)!.action, 'n150')
      assert.equal(rows.find(({ at }) => at === 200)!.changes[0]!.before!.api_id, 'a100')
      assert.equal(await store.audit.purgeAudit(150), 0)
      assert.equal(await store.audit.purgeAudit(1000), 150)
      assert.ok(await store.documents.get('api', id))
    })
  }
}
