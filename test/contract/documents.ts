import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DocumentId, newDocumentId } from '../../src/model/documents/ids.ts'
import { asJson, type JsonObject } from '../../src/model/json/json.ts'
import type { Change, Store } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'
import { naiveDocuments } from './naive-documents.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 120 : 25
const AUDIT = { actor: 'user:1', action: 'api.put', orgId: 'o', at: 1, detail: {} }

const api = (apiId: string, more: JsonObject = {}): JsonObject => ({ api_id: apiId, org_id: 'o', name: apiId, ...more })
const put = (id: DocumentId, body: JsonObject, ifRevision?: number): Change => ({
  ...{ op: 'put', kind: 'api', id, body },
  ...(ifRevision !== undefined && { ifRevision }),
})
const won = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length

/** Checks of every adapter of `Documents`. */
export function documentsSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a document comes back as it was, to every reader a body of its own`, async (t) => {
      const { documents } = await open(t)
      const id = newDocumentId()
      const body = JSON.parse(
        '{"api_id":"ä","unknown":{"__proto__":{"x":1},"deep":[null,1.5,"\\u0000\\ud800"]}}',
      ) as JsonObject
      await documents.commit([put(id, body)], AUDIT)
      body.api_id = 'changed afterwards'
      const found = (await documents.get('api', id))!
      assert.equal(found.body.api_id, 'ä')
      assert.equal(JSON.stringify(found.body.unknown), JSON.stringify(body.unknown))
      asJson(found.body).api_id = 'changed by a reader'
      assert.equal((await documents.get('api', id))!.body.api_id, 'ä')
      assert.equal((await documents.find('api', 'api_id', 'ä'))!.id, id)
    })

    test(`${name}: revisions grow by one with every commit, and a document has that of its last`, async (t) => {
      const { documents } = await open(t)
      const [a, b] = [newDocumentId(), newDocumentId()]
      assert.equal(await documents.revision(), 0)
      assert.equal(await documents.commit([put(a, api('a')), put(b, api('b'))], undefined), 1)
      assert.equal(await documents.commit([put(a, api('a'))], undefined), 2)
      assert.equal(await documents.commit([], AUDIT), 3)
      assert.equal((await documents.get('api', a))!.revision, 2)
      assert.equal((await documents.get('api', b))!.revision, 1)
      assert.equal(await documents.revision(), 3)
    })

    test(`${name}: a condition on the revision holds or nothing is written`, async (t) => {
      const { documents } = await open(t)
      const id = newDocumentId()
      await assert.rejects(documents.commit([put(id, api('a'), 1)], undefined), { code: 'revision_conflict' })
      assert.equal(await documents.commit([put(id, api('a'), 0)], undefined), 1)
      await assert.rejects(documents.commit([put(id, api('b'), 0)], undefined), { code: 'revision_conflict' })
      await assert.rejects(documents.commit([{ op: 'delete', kind: 'api', id, ifRevision: 7 }], undefined), {
        code: 'revision_conflict',
      })
      await assert.rejects(documents.commit([{ op: 'delete', kind: 'api', id, ifRevision: 0 }], undefined), {
        code: 'revision_conflict',
      })
      assert.equal((await documents.get('api', id))!.body.api_id, 'a')
      assert.equal(await documents.commit([{ op: 'delete', kind: 'api', id, ifRevision: 1 }], undefined), 2)
      assert.equal(await documents.get('api', id), undefined)
      assert.equal(await documents.commit([{ op: 'delete', kind: 'api', id }], undefined), 3)
      assert.equal(await documents.commit([{ op: 'delete', kind: 'api', id, ifRevision: 0 }], undefined), 4)
    })

    test(`${name}: of 100 that change one revision at once, one wins`, async (t) => {
      const { documents } = await open(t)
      const id = newDocumentId()
      const revision = await documents.commit([put(id, api('a', { n: -1 }))], undefined)
      const commits = Array.from({ length: 100 }, (_, n) =>
        documents.commit([put(id, api('a', { n }), revision)], AUDIT),
      )
      const results = await Promise.allSettled(commits)
      assert.equal(won(results), 1)
      const winner = results.findIndex(({ status }) => status === 'fulfilled')
      const found = (await documents.get('api', id))!
      assert.deepEqual([found.body.n, found.revision], [winner, revision + 1])
      assert.equal(await documents.revision(), revision + 1)
      for (const result of results)
        if (result.status === 'rejected') assert.equal(result.reason.code, 'revision_conflict')
    })

    test(`${name}: of 100 that claim one unique value at once, one wins`, async (t) => {
      const { documents } = await open(t)
      const commits = Array.from({ length: 100 }, () =>
        documents.commit([put(newDocumentId(), api('same'))], undefined),
      )
      const results = await Promise.allSettled(commits)
      assert.equal(won(results), 1)
      for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.code, 'already_exists')
      assert.equal((await documents.list('api', { limit: 10 })).total, 1)
    })

    test(`${name}: a unique value is free again once its document has left it`, async (t) => {
      const { documents } = await open(t)
      const [a, b, c] = [newDocumentId(), newDocumentId(), newDocumentId()]
      await documents.commit([put(a, api('one'))], undefined)
      await assert.rejects(documents.commit([put(b, api('one'))], undefined), {
        code: 'already_exists',
        message: /api_id/,
      })
      await documents.commit([put(a, api('two')), put(b, api('one'))], undefined)
      assert.equal((await documents.find('api', 'api_id', 'one'))!.id, b)
      await documents.commit([{ op: 'delete', kind: 'api', id: b }, put(c, api('one'))], undefined)
      assert.equal((await documents.find('api', 'api_id', 'one'))!.id, c)
      assert.equal(await documents.find('api', 'api_id', 'three'), undefined)
    })

    test(`${name}: each of several unique values of a document finds it, and is free again without it`, async (t) => {
      const { documents } = await open(t)
      const [a, b] = [newDocumentId(), newDocumentId()]
      const client = (api_ids: string[], registration_id?: string) => ({
        ...{ client_id: 'app', org_id: 'o', api_ids, registered_by_policy: '' },
        ...(registration_id !== undefined && { registration_id }),
      })
      const at = async (apiId: string) => (await documents.find('oauth_client', 'registered', `["app","${apiId}"]`))?.id
      const putClient = (id: DocumentId, body: JsonObject): Change => ({ op: 'put', kind: 'oauth_client', id, body })
      await documents.commit([putClient(a, client(['x', 'y']))], undefined)
      await assert.rejects(documents.commit([putClient(b, client(['z', 'y'], 'z'))], undefined), {
        code: 'already_exists',
        message: /registered/,
      })
      await documents.commit([putClient(a, client(['x'])), putClient(b, client(['z', 'y'], 'z'))], undefined)
      assert.deepEqual([await at('x'), await at('y'), await at('z')], [a, b, b])
      await documents.commit([{ op: 'delete', kind: 'oauth_client', id: b }], undefined)
      assert.deepEqual([await at('x'), await at('y'), await at('z')], [a, undefined, undefined])
      assert.equal((await documents.list('oauth_client', { where: { client: 'app' }, limit: 9 })).total, 1)
    })

    test(`${name}: a commit that fails leaves nothing, and fails nobody else`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = (n: number) => Buffer.alloc(32, n)
      const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
      await documents.commit([put(newDocumentId(), api('taken'))], undefined)
      const ids = Array.from({ length: 100 }, () => newDocumentId())
      const commits = ids.map((id, n) => {
        const good: Change[] = [put(id, api(`api-${n}`)), { op: 'putSession', hash: hash(n), row }]
        const bad: Change[] = [...good, put(newDocumentId(), api('taken'))]
        return documents.commit(n % 2 === 0 ? good : bad, AUDIT)
      })
      const results = await Promise.allSettled(commits)
      for (const [n, id] of ids.entries()) {
        const good = n % 2 === 0
        assert.equal(results[n]!.status, good ? 'fulfilled' : 'rejected')
        assert.equal((await documents.get('api', id)) !== undefined, good)
        assert.equal((await documents.find('api', 'api_id', `api-${n}`)) !== undefined, good)
        assert.equal((await tokens.getSession(hash(n))) !== undefined, good)
      }
      const revisions = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      assert.deepEqual(
        revisions.sort((a, b) => a - b),
        Array.from({ length: 50 }, (_, i) => i + 2),
      )
      assert.equal(await documents.revision(), 51)
    })

    test(`${name}: malformed changes are refused before they are sent`, async (t) => {
      const { documents } = await open(t)
      const id = newDocumentId()
      await assert.rejects(documents.commit([put('xyz' as DocumentId, {})], undefined), { code: 'id_malformed' })
      await assert.rejects(documents.commit([{ op: 'put', kind: 'constructor', id, body: {} }], undefined), {
        code: 'internal',
      })
      await assert.rejects(documents.commit([put(id, null as unknown as JsonObject)], undefined), { code: 'internal' })
      await assert.rejects(documents.commit([put(id, {}, Number.NaN)], undefined), { code: 'internal' })
      assert.equal(await documents.revision(), 0)
    })

    test(`${name}: lists are filtered, sorted and paged, and know how many match`, async (t) => {
      const { documents } = await open(t)
      const names = ['delta', 'Alpha', '\u{1F600}', '\uFFFD', 'bravo', 'bravo']
      const ids = names.map((_, n) => `00000000000000000000000${n}` as DocumentId)
      const bodies = names.map((text, n) => api(`${n}`, { name: text, org_id: n < 4 ? 'one' : 'two' }))
      await documents.commit(
        [...ids.map((id, n) => put(id, bodies[n]!)), put('0000000000000000000000ff' as DocumentId, { api_id: 'bare' })],
        undefined,
      )
      const page = async (query: Omit<Parameters<typeof documents.list>[1], 'limit'>, limit = 100) => {
        const { rows, total } = await documents.list('api', { limit, ...query })
        return { total, ids: rows.map(({ id }) => Number.parseInt(id, 16)) }
      }
      assert.deepEqual(await page({ order: 'name' }), { total: 7, ids: [255, 1, 4, 5, 0, 3, 2] })
      assert.deepEqual(await page({ order: 'name', descending: true }), { total: 7, ids: [2, 3, 0, 5, 4, 1, 255] })
      assert.deepEqual(await page({ order: 'name', offset: 2 }, 2), { total: 7, ids: [4, 5] })
      assert.deepEqual(await page({ where: { org_id: 'one' } }), { total: 4, ids: [0, 1, 2, 3] })
      assert.deepEqual(await page({ where: { org_id: 'two', name: 'bravo' }, descending: true }), {
        total: 2,
        ids: [5, 4],
      })
      assert.deepEqual(await page({ where: { api_id: '3' } }), { total: 1, ids: [3] })
      assert.deepEqual(await page({ where: { org_id: 'none' } }), { total: 0, ids: [] })
      assert.deepEqual(await page({}, 0), { total: 7, ids: [] })
      await assert.rejects(async () => documents.list('api', { limit: 1, where: { secret: 'x' } }), {
        code: 'internal',
      })
      await assert.rejects(async () => documents.list('api', { limit: 1, order: 'body' }), { code: 'internal' })
    })

    test(`${name}: a scan yields everything once, in order of id, in batches`, async (t) => {
      const { documents } = await open(t)
      const ids = Array.from({ length: 600 }, () => newDocumentId()).sort()
      await documents.commit(
        ids.map((id) => put(id, api(id))),
        undefined,
      )
      const batches: string[][] = []
      for await (const batch of documents.scan('api')) batches.push(batch.map(({ id }) => id))
      assert.deepEqual(batches.flat(), ids)
      assert.ok(batches.length > 1)
      for await (const batch of documents.scan('policy')) assert.fail(`${batch.length} policies`)
    })

    test(`${name}: any series of commits leaves what a naive store would`, async (t) => {
      const store = await open(t)
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryCommit, { maxLength: 12 }), (commits) =>
          compareWithNaive(store, commits, run++),
        ),
        { numRuns: RUNS },
      )
    })
  }
}

type Step = { op: 'put' | 'delete'; n: number; apiId: number; name: number; if: 'any' | 'absent' | 'right' | 'wrong' }

const arbitraryCommit = fc.array(
  fc.record({
    op: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
    n: fc.nat(4),
    apiId: fc.nat(4),
    name: fc.nat(2),
    if: fc.constantFrom('any' as const, 'any' as const, 'absent' as const, 'right' as const, 'wrong' as const),
  }),
  { minLength: 1, maxLength: 4 },
)

/** All runs share a store; `run` keeps their documents apart. */
async function compareWithNaive({ documents }: Store, commits: readonly Step[][], run: number): Promise<void> {
  const naive = naiveDocuments()
  const ids = Array.from({ length: 5 }, () => newDocumentId())
  const orgId = `org-${run}`
  for (const steps of commits) {
    const changes = steps.map((step): Change => {
      const id = ids[step.n]!
      const revision = naive.revisionOf(id)
      const conditions = { any: undefined, absent: 0, right: revision, wrong: revision + 1_000_000 }
      const ifRevision = conditions[step.if]
      const condition = ifRevision === undefined ? {} : { ifRevision }
      if (step.op === 'delete') return { op: 'delete', kind: 'api', id, ...condition }
      return {
        op: 'put',
        kind: 'api',
        id,
        body: api(`${run}-${step.apiId}`, { org_id: orgId, name: `${step.name}` }),
        ...condition,
      }
    })
    const expected = naive.commit(changes)
    const outcome = await documents.commit(changes, AUDIT).then(
      (revision) => ({ revision }),
      (error) => ({ code: error.code as string }),
    )
    assert.deepEqual('code' in outcome ? outcome.code : 'committed', expected)
    if ('revision' in outcome) naive.keep(outcome.revision)
  }
  const expected = naive.all().sort((a, b) => (a.id < b.id ? -1 : 1))
  const { rows, total } = await documents.list('api', { where: { org_id: orgId }, limit: 100 })
  assert.equal(total, expected.length)
  assert.deepEqual(
    rows.map(({ id, revision, body }) => ({ id, revision, body })),
    expected,
  )
  for (let n = 0; n <= 4; n++) {
    const holder = expected.find(({ body }) => body.api_id === `${run}-${n}`)
    assert.equal((await documents.find('api', 'api_id', `${run}-${n}`))?.id, holder?.id)
  }
}
