import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store/ports/ports.ts'
import type { RecordInput, RecordQuery, RecordRow } from '../../src/store/ports/records.ts'
import type { Adapter } from './adapters.ts'

const MINUTE = 60_000

const record = (more: Partial<RecordInput> = {}): RecordInput => ({
  ...{ at: 1000, orgId: 'o', apiId: 'a', status: 200, method: 'GET', keyHash: '', clientId: '', tags: '' },
  ...{ path: '/x', requestId: '', fields: {} },
  ...more,
})
const all = async ({ records }: Store, query: RecordQuery = {}): Promise<RecordRow[]> =>
  (await records.list({ ...query, limit: 1000 })).rows
const paths = (rows: readonly RecordRow[]) => rows.map(({ path }) => path).join(' ')

/** Checks of every adapter of `Records`. */
export function recordsSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a record comes back as it was, with its details`, async (t) => {
      const { records } = await open(t)
      const whole = record({
        ...{
          keyHash: 'f'.repeat(64),
          clientId: 'c',
          tags: 'a,b',
          path: `/ä/${'y'.repeat(20_000)}`,
          status: 404,
          requestId: 'ä.1',
        },
        fields: { host: 'h', deep: { list: [1, '\u0000', '<b>'] } },
        detail: { request: Uint8Array.of(0, 255, 13, 10), response: new Uint8Array() },
      })
      await records.append([whole, record({ at: 999 })])
      const { rows, total } = await records.list({ limit: 10 })
      assert.equal(total, 2)
      const [{ id, detail, ...first }, second] = rows as [RecordRow, RecordRow]
      const { detail: given, ...rest } = whole
      assert.deepEqual(first, rest)
      assert.deepEqual(
        [Buffer.from(detail!.request), Buffer.from(detail!.response)],
        [Buffer.from(given!.request), Buffer.alloc(0)],
      )
      assert.ok(!('detail' in second))
      assert.ok(second.id > id)
      const [one, two] = await records.after({ after: 0, limit: 10 })
      assert.deepEqual([one?.id, two?.id, one?.detail], [id, second.id, undefined])
      assert.deepEqual(await records.after({ after: second.id, limit: 10 }), [])
      assert.equal(await records.last(), second.id)
    })

    test(`${name}: records are searched by everything, alone and together, newest first`, async (t) => {
      const store = await open(t)
      await store.records.append([
        record({ at: 10, path: '/a', keyHash: 'k', tags: 'x,yy' }),
        record({ at: 30, path: '/b', method: 'POST', status: 503, apiId: 'b' }),
        record({ at: 20, path: '/c%_1', orgId: 'p', status: 399, clientId: 'c' }),
        record({ at: 20, path: '/d', status: 400, tags: 'y' }),
        record({ at: 20, path: '/e/Deep', apiId: 'c', tags: 'yy' }),
      ])
      const find = async (query: RecordQuery) => paths(await all(store, query))
      assert.equal(await find({}), '/b /e/Deep /d /c%_1 /a')
      assert.equal(await find({ orgId: 'o' }), '/b /e/Deep /d /a')
      assert.equal(await find({ orgId: '' }), '')
      assert.equal(await find({ apiId: 'a' }), '/d /c%_1 /a')
      assert.equal(await find({ apiId: ['b', 'c', 'none'] }), '/b /e/Deep')
      assert.equal(await find({ apiId: [] }), '')
      assert.equal(await find({ from: 20 }), '/b /e/Deep /d /c%_1')
      assert.equal(await find({ to: 20 }), '/a')
      assert.equal(await find({ status: 400 }), '/d')
      assert.equal(await find({ errors: true }), '/b /d')
      assert.equal(await find({ method: 'post' }), '/b')
      assert.equal(await find({ keyHash: 'k' }), '/a')
      assert.equal(await find({ clientId: 'c' }), '/c%_1')
      assert.equal(await find({ tag: 'yy' }), '/e/Deep /a')
      assert.equal(await find({ tag: 'y' }), '/d')
      assert.equal(await find({ tag: "' OR 1=1 --" }), '')
      const next = await store.records.after({ orgId: 'o', errors: true, after: 0, limit: 1 })
      assert.equal(paths(next), '/b')
      assert.equal(paths(await store.records.after({ orgId: 'o', errors: true, after: next[0]!.id, limit: 9 })), '/d')
      assert.equal(await find({ path: 'Deep' }), '/e/Deep')
      assert.equal(await find({ path: 'deep' }), '')
      assert.equal(await find({ path: '%_' }), '/c%_1')
      assert.equal(await find({ orgId: 'o', from: 20, to: 30, errors: true, path: '/' }), '/d')
      const page = await store.records.list({ orgId: 'o', offset: 1, limit: 2 })
      assert.deepEqual([paths(page.rows), page.total], ['/e/Deep /d', 4])
      assert.equal((await store.records.list({ offset: 9, limit: 2 })).total, 5)
    })

    test(`${name}: a record is found by the id of its request, whatever else is asked`, async (t) => {
      const store = await open(t)
      const ids = ['id-1', 'id-2', 'ID-2', '', 'id-', "' OR ''='"]
      await store.records.append(
        ids.map((requestId, i) => record({ at: 100 + i, path: `/${i}`, requestId, status: i === 1 ? 429 : 200 })),
      )
      await store.records.append([record({ at: 5, path: '/again', requestId: 'id-2' })])
      const find = async (query: RecordQuery) => paths(await all(store, query))
      for (const requestId of ids.filter((id) => id !== '')) {
        const expected = ids.indexOf(requestId)
        assert.equal(await find({ requestId }), requestId === 'id-2' ? '/1 /again' : `/${expected}`, requestId)
      }
      assert.equal(await find({ requestId: 'id-3' }), '')
      assert.equal(await find({ requestId: 'id-2', from: 50 }), '/1')
      assert.equal(await find({ requestId: 'id-2', errors: true, orgId: 'o', apiId: ['a'] }), '/1')
      assert.equal(await find({ requestId: 'id-2', orgId: 'p' }), '')
      assert.equal((await store.records.list({ requestId: 'id-2', limit: 1 })).total, 2)
      assert.equal(paths(await store.records.after({ requestId: 'id-2', after: 0, limit: 9 })), '/1 /again')
      let scanned = ''
      for await (const batch of store.records.scan({ requestId: 'id-2' })) scanned += paths(batch)
      assert.equal(scanned, '/1 /again')
      await store.records.purgeRecords({ before: 50, keep: 100 })
      assert.equal(await find({ requestId: 'id-2' }), '/1')
    })

    test(`${name}: a scan goes through everything that was there at its begin, once`, async (t) => {
      const store = await open(t)
      const many = Array.from({ length: 700 }, (_, i) => record({ at: 5000 + (i % 7), path: `/${i}` }))
      for (let from = 0; from < many.length; from += 100) await store.records.append(many.slice(from, from + 100))
      const seen: RecordRow[] = []
      for await (const batch of store.records.scan({ orgId: 'o' })) {
        if (seen.length === 0) await store.records.append([record({ at: 5000, path: '/late' })])
        seen.push(...batch)
      }
      assert.equal(new Set(seen.map(({ path }) => path)).size, 700)
      assert.equal(seen.length, 700)
      assert.deepEqual(
        seen,
        (await all(store)).filter(({ path }) => path !== '/late'),
      )
    })

    test(`${name}: what is too old or too much is forgotten, the rest stays`, async (t) => {
      const store = await open(t)
      await store.records.append(
        Array.from({ length: 300 }, (_, i) =>
          record({ at: i * MINUTE, detail: { request: Uint8Array.of(1), response: Uint8Array.of(2) } }),
        ),
        Array.from({ length: 300 }, (_, i) => ({ at: i * MINUTE, orgId: 'o', apiId: 'a', count: 2 })),
      )
      assert.equal(await store.records.purgeRecords({ before: 100 * MINUTE, keep: 1000 }), 100)
      assert.equal(await store.records.dropped({}), 400)
      assert.equal(await store.records.purgeRecords({ before: 0, keep: 50 }), 150)
      const { rows, total } = await store.records.list({ limit: 1 })
      assert.deepEqual([total, rows[0]?.at], [50, 299 * MINUTE])
      assert.equal(await store.records.dropped({}), 100)
      const last = await store.records.last()
      assert.equal(await store.records.purgeRecords({ before: 1000 * MINUTE, keep: 50 }), 50)
      assert.equal(await store.records.dropped({}), 0)
      await store.records.append([record()])
      assert.equal((await store.records.after({ after: last, limit: 10 })).length, 1)
    })

    test(`${name}: what was left out is counted by minute, organisation and API`, async (t) => {
      const { records } = await open(t)
      const drop = (more: object) => ({ at: 5 * MINUTE, orgId: 'o', apiId: 'a', count: 1, ...more })
      await records.append([], [drop({}), drop({ apiId: 'b', count: 10 }), drop({ at: 6 * MINUTE, count: 100 })])
      await records.append([], [drop({ at: 5 * MINUTE + 59_999, count: 1000 }), drop({ orgId: 'p', count: 10_000 })])
      assert.equal(await records.dropped({}), 11_111)
      assert.equal(await records.dropped({ orgId: 'o' }), 1111)
      assert.equal(await records.dropped({ apiId: 'b' }), 10)
      assert.equal(await records.dropped({ apiId: [] }), 0)
      assert.equal(await records.dropped({ orgId: 'o', from: 5 * MINUTE + 30_000, to: 6 * MINUTE }), 1011)
      assert.equal(await records.dropped({ from: 6 * MINUTE }), 100)
    })

    test(`${name}: a malformed record is refused with all that came with it, and nobody else`, async (t) => {
      const store = await open(t)
      const bad = [{ at: Number.NaN }, { at: -1 }, { status: 1.5 }, { path: undefined }, { fields: [] }]
      const results = await Promise.allSettled([
        store.records.append([record({ path: '/good' })]),
        ...bad.map((more) => store.records.append([record(), record(more as unknown as Partial<RecordInput>)])),
      ])
      assert.deepEqual(
        results.map((result) => (result.status === 'rejected' ? result.reason.code : 'stored')),
        ['stored', ...bad.map(() => 'internal')],
      )
      assert.equal(paths(await all(store)), '/good')
      await store.records.append([record({ path: 'a\0b\ud800' })])
      assert.equal(paths(await all(store, { path: 'b' })), 'ab\ufffd')
    })
  }
}
