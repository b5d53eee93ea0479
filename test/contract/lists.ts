import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { DocumentId } from '../../src/model/documents/ids.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { foldCase } from '../../src/model/text/fold.ts'
import type { Change, Documents, ListQuery, SessionFilter, SessionInput, Store } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 400 : 60

const put = (id: DocumentId, body: JsonObject, kind = 'api'): Change => ({ op: 'put', kind, id, body })
const idOf = (n: number) => n.toString(16).padStart(24, '0') as DocumentId
const ids = async (documents: Documents, query: Omit<ListQuery, 'limit'>, kind = 'api') => {
  const { rows, total } = await documents.list(kind, { limit: 1000, ...query })
  assert.equal(total, rows.length)
  return rows.map(({ id }) => Number.parseInt(id, 16)).join(' ')
}

const NAMES = ['Orders', 'orders v2', 'Straße', 'STRASSE', 'ΟΔΟΣ', 'οδός', '100%_done', "it's", 'İstanbul', '', '\0nul']
const APIS = NAMES.map(
  (name, n): JsonObject => ({
    ...{ api_id: `a${n}`, org_id: n % 2 === 0 ? 'even' : 'odd', name, format: 'classic' },
    ...{ auth_types: n % 3 === 0 ? ['oauth', 'mutualTLS'] : ['authToken'], active: n % 4 !== 0 },
    user_owners: n % 3 === 0 ? ['u1', 'u2'] : [],
    user_group_owners: n % 3 === 1 ? ['g1'] : [],
    labels: [
      { key: 'tier', value: `Tier ${n % 2}` },
      { key: 'domain', value: n < 4 ? 'Finance' : 'Größe' },
    ],
    created_at: new Date((n % 3) * 1000).toISOString(),
  }),
)

async function filled(store: Store): Promise<Documents> {
  await store.documents.commit(
    APIS.map((body, n) => put(idOf(n), body)),
    undefined,
  )
  return store.documents
}

/** Checks of every adapter: the rows that lists of documents and of sessions find. */
export function listsSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a list takes any of several values, each document once`, async (t) => {
      const documents = await filled(await open(t))
      assert.equal(await ids(documents, { where: { owner: ['u:u1', 'u:u2'] } }), '0 3 6 9')
      assert.equal(await ids(documents, { where: { owner: ['*', 'u:u2'] }, descending: true }), '9 8 6 5 3 2 0')
      assert.equal(await ids(documents, { where: { owner: [] } }), '')
      assert.equal(await ids(documents, { where: { owner: ['*'], org_id: ['odd', 'none'] } }), '5')
      assert.equal(await ids(documents, { where: { auth_type: ['oauth', 'mutualTLS', 'x'], org_id: 'even' } }), '0 6')
      const many = Array.from({ length: 5000 }, (_, n) => `u:${n}`)
      assert.equal(await ids(documents, { where: { owner: [...many, 'g:g1'] } }), '1 4 7 10')
      assert.equal(
        await ids(documents, { where: { label: 'tier=Tier 0' }, and: [{ label: ['domain=Finance'] }] }),
        '0 2',
      )
      const tooMany = Array.from({ length: 10_001 }, (_, n) => `u:${n}`)
      await assert.rejects(async () => documents.list('api', { where: { owner: tooMany }, limit: 1 }), {
        code: 'internal',
      })
    })

    test(`${name}: a part of a value is found without regard to case, and means itself`, async (t) => {
      const documents = await filled(await open(t))
      const named = (part: string, more: Omit<ListQuery, 'limit' | 'contains'> = {}) =>
        ids(documents, { ...more, contains: { index: 'name', part } })
      assert.equal(await named('ORDERS'), '0 1')
      assert.equal(await named('ders v'), '1')
      assert.equal(await named('strasse'), '2 3')
      assert.equal(await named('ß'), '2 3')
      assert.equal(await named('οδος'), '4')
      assert.equal(await named('ς'), '4 5')
      assert.equal(await named('%'), '6')
      assert.equal(await named('_'), '6')
      assert.equal(await named("'"), '7')
      assert.equal(await named('\0'), '10')
      assert.equal(await named(''), '0 1 2 3 4 5 6 7 8 9 10')
      assert.equal(await named('x'.repeat(100_000)), '')
      assert.equal(await named('s', { where: { org_id: 'even' }, order: 'name', descending: true }), '8 2 0')
      const labels = { index: ['name', 'label'], part: 'GRÖSSE' }
      assert.equal(await ids(documents, { contains: labels, where: { org_id: 'odd' } }), '5 7 9')
      assert.equal(
        await ids(documents, { contains: { index: ['name', 'label'], part: 'i' } }),
        '0 1 2 3 4 5 6 7 8 9 10',
      )
      await assert.rejects(async () => documents.list('api', { contains: { index: 'org_id', part: 'e' }, limit: 1 }), {
        code: 'internal',
      })
    })

    test(`${name}: ties are in order of id, and documents without a value stand first`, async (t) => {
      const documents = await filled(await open(t))
      await documents.commit([put(idOf(99), { api_id: 'bare' })], undefined)
      assert.equal(await ids(documents, { order: 'created_at' }), '99 0 3 6 9 1 4 7 10 2 5 8')
      assert.equal(await ids(documents, { order: 'created_at', descending: true }), '8 5 2 10 7 4 1 9 6 3 0 99')
      const page = async (offset: number, limit: number, query: Omit<ListQuery, 'limit'> = {}) => {
        const { rows, total } = await documents.list('api', { order: 'created_at', ...query, offset, limit })
        return `${total}: ${rows.map(({ id }) => Number.parseInt(id, 16)).join(' ')}`
      }
      assert.equal(await page(3, 3), '12: 6 9 1')
      assert.equal(await page(12, 3), '12: ')
      assert.equal(await page(1, 2, { where: { org_id: 'odd' } }), '5: 9 1')
      // The smallest value counts where there are several.
      assert.equal(await page(0, 9, { order: 'owner', where: { org_id: 'even' } }), '6: 2 8 4 10 0 6')
      assert.equal(await page(0, 9, { order: 'api_id', where: { org_id: 'odd' } }), '5: 1 3 5 7 9')
    })

    test(`${name}: all that match are gone through in batches, in order`, async (t) => {
      const { documents } = await open(t)
      const changes = Array.from({ length: 600 }, (_, n) => {
        const name = `${(n * 7) % 600}`.padStart(3, '0')
        return put(idOf(n), { api_id: `${n}`, name, org_id: `o${n % 2}` })
      })
      await documents.commit(changes, undefined)
      const names: unknown[] = []
      let batches = 0
      for await (const batch of documents.each('api', { where: { org_id: 'o1' }, order: 'name' })) {
        // Rows that are deleted meanwhile are left out.
        if (batches++ === 0)
          await documents.commit([{ op: 'delete', kind: 'api', id: idOf(((599 * 343) % 600) as number) }], undefined)
        names.push(...batch.map(({ body }) => body.name))
      }
      assert.equal(names[0], '001')
      assert.ok(batches > 1)
      assert.deepEqual(names, [...names].sort())
      assert.ok(names.length >= 299)
    })

    test(`${name}: values under an index come with their numbers`, async (t) => {
      const documents = await filled(await open(t))
      assert.deepEqual(await documents.values('api', 'auth_type', { where: { org_id: 'even' } }), [
        { value: 'authToken', count: 4 },
        { value: 'mutualTLS', count: 2 },
        { value: 'oauth', count: 2 },
      ])
      assert.deepEqual(await documents.values('api', 'category'), [])
      assert.deepEqual(await documents.values('api', 'label', { where: { owner: 'g:g1' }, and: [{ org_id: 'odd' }] }), [
        { value: 'domain=Finance', count: 1 },
        { value: 'domain=Größe', count: 1 },
        { value: 'tier=Tier 1', count: 2 },
      ])
      await assert.rejects(async () => documents.values('api', 'secret'), { code: 'internal' })
    })

    test(`${name}: values under one index come by those under another`, async (t) => {
      const documents = await filled(await open(t))
      const by = async (query: Pick<ListQuery, 'where' | 'and'>) =>
        [...(await documents.valuesBy('api', 'label', 'name', query))].map(([value, held]) => [value, held.toSorted()])
      assert.deepEqual(await by({ where: { owner: ['g:g1', 'u:u1'] }, and: [{ org_id: 'even' }] }), [
        ['domain=Finance', ['Orders']],
        ['domain=Größe', ['\0nul', '100%_done', 'ΟΔΟΣ']],
        ['tier=Tier 0', ['\0nul', '100%_done', 'Orders', 'ΟΔΟΣ']],
      ])
      assert.deepEqual(await by({ where: { owner: [] } }), [])
      assert.equal((await documents.valuesBy('api', 'org_id', 'label', {})).get('odd')?.length, 10)
      assert.deepEqual([...(await documents.valuesBy('api', 'category', 'name', {}))], [])
      await assert.rejects(async () => documents.valuesBy('api', 'secret', 'name', {}), { code: 'internal' })
      await assert.rejects(async () => documents.valuesBy('api', 'name', 'secret', {}), { code: 'internal' })
    })

    test(`${name}: any list is what a naive search would find`, async (t) => {
      const documents = await filled(await open(t))
      await fc.assert(
        fc.asyncProperty(arbitraryQuery, async (query) => {
          const { rows, total } = await documents.list('api', query)
          assert.deepEqual({ ids: rows.map(({ id }) => id), total }, naive(query))
        }),
        { numRuns: RUNS },
      )
    })

    test(`${name}: lists of developers equal a naive search in every organisation`, async (t) => {
      const { documents } = await open(t)
      await documents.commit(
        DEVELOPERS.map((body, n) => put(idOf(n), body, 'developer')),
        undefined,
      )
      await fc.assert(
        fc.asyncProperty(developerQuery, async (query) => {
          const found = naiveDevelopers(query)
          const { rows, total } = await documents.list('developer', query)
          const page = found.slice(query.offset, query.offset + query.limit)
          assert.deepEqual({ ids: rows.map(({ id }) => id), total }, { ids: page, total: found.length })
          const { offset: _offset, limit: _limit, ...all } = query
          const each: string[] = []
          for await (const batch of documents.each('developer', all)) each.push(...batch.map(({ id }) => id))
          assert.deepEqual(each, found)
        }),
        { numRuns: RUNS },
      )
    })

    test(`${name}: sessions are listed by part of their alias, by several APIs, and without tokens`, async (t) => {
      const { documents, tokens } = await open(t)
      const rows = Array.from({ length: 30 }, (_, n) => ({
        hash: hashKey(`key ${n}`),
        row: {
          ...{ body: n % 5 === 0 ? {} : { alias: `Key%${n} ${n % 2 ? 'Äpfel' : 'pears'}` }, evictAt: 0 },
          ...{ orgId: n % 3 === 0 ? 'o1' : 'o2', clientId: n % 4 === 0 ? 'client' : '' },
          ...{ apiIds: [`a${n % 4}`, `b${n % 2}`], policyIds: [`p${n % 6}`] },
        } satisfies SessionInput,
      }))
      await documents.commit(
        rows.map(({ hash, row }): Change => ({ op: 'putSession', hash, row })),
        undefined,
      )
      const meets = (hash: Uint8Array, row: SessionInput, filter: SessionFilter) => {
        const any = (wanted: string | undefined, held: readonly string[]) =>
          wanted === undefined || held.includes(wanted)
        const { reach } = filter
        const reached =
          reach === undefined ||
          reach.apiIds.some((id) => row.apiIds.includes(id)) ||
          reach.policyIds.some((id) => row.policyIds.includes(id))
        const alias = foldCase(String(row.body.alias ?? ''))
        return (
          reached &&
          any(filter.apiId, row.apiIds) &&
          any(filter.policyId, row.policyIds) &&
          any(filter.orgId, [row.orgId]) &&
          any(filter.clientId, [row.clientId]) &&
          (filter.only === undefined || row.clientId === '') &&
          (alias.includes(foldCase(filter.contains ?? '')) ||
            (/^[0-9a-f]{4,}$/i.test(filter.contains ?? '') &&
              Buffer.from(hash).toString('hex').startsWith(filter.contains!.toLowerCase())))
        )
      }
      const [some, other] = [rows[3]!, rows.at(-1)!].map(({ hash }) => Buffer.from(hash).toString('hex'))
      const filters: SessionFilter[] = [
        { contains: 'äPFEL' },
        { contains: '%1' },
        { contains: '' },
        { contains: 'key', orgId: 'o1', only: 'keys' },
        { contains: 'key', reach: { apiIds: ['a1', 'b1', 'a2'], policyIds: [] }, policyId: 'p1' },
        { only: 'keys' },
        { only: 'keys', orgId: 'o1' },
        { only: 'keys', clientId: 'client' },
        { only: 'keys', reach: { apiIds: ['a1', 'b1', 'a1'], policyIds: ['p1'] } },
        { reach: { apiIds: ['a1', 'b1', 'a3', 'nul\0', "it's"], policyIds: ['p1', '"'] } },
        { reach: { apiIds: ['a1', 'b1'], policyIds: [] }, orgId: 'o2' },
        { reach: { apiIds: [], policyIds: [] } },
        { apiId: 'a1', reach: { apiIds: [], policyIds: ['p1', 'p5'] }, orgId: 'o2' },
        { clientId: 'client', contains: 'pears' },
        ...[3, 4, 5, 12, 13, 63, 64].map((digits): SessionFilter => ({ contains: some!.slice(0, digits) })),
        { contains: other!.slice(0, 7).toUpperCase(), orgId: rows.at(-1)!.row.orgId },
        { contains: other!.slice(0, 8), reach: { apiIds: rows.at(-1)!.row.apiIds, policyIds: [] } },
        { contains: `${some}0` },
        { contains: other!.slice(1, 9) },
      ]
      for (const filter of filters) {
        const expected = rows
          .filter(({ hash, row }) => meets(hash, row, filter))
          .map(({ hash }) => Buffer.from(hash).toString('hex'))
        const about = JSON.stringify(filter)
        const list = async (more: { after?: string; offset?: number; limit: number }) => {
          const page = await tokens.listSessions({ ...filter, ...more })
          return { next: page.next, hashes: page.rows.map(({ hash }) => Buffer.from(hash).toString('hex')) }
        }
        assert.deepEqual((await list({ limit: 1000 })).hashes, expected, about)
        assert.equal(await tokens.countSessions(filter), expected.length, about)
        assert.deepEqual((await list({ offset: 2, limit: 3 })).hashes, expected.slice(2, 5), about)
        const first = await list({ limit: 2 })
        if (first.next === undefined) continue
        assert.deepEqual((await list({ after: first.next, offset: 1, limit: 3 })).hashes, expected.slice(3, 6), about)
      }
    })

    test(`${name}: the alias that a session is found by follows its last state`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = hashKey('key')
      const row: SessionInput = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
      const write = (body: JsonObject) =>
        documents.commit([{ op: 'putSession', hash, row: { ...row, body } }], undefined)
      const counts = async () => [
        await tokens.countSessions({ contains: 'one' }),
        await tokens.countSessions({ contains: 'two' }),
      ]
      await write({ alias: 'ONE' })
      assert.deepEqual(await counts(), [1, 0])
      await write({ alias: 'two' })
      assert.deepEqual(await counts(), [0, 1])
      await write({ alias: 7 })
      assert.deepEqual(await counts(), [0, 0])
      await write({ alias: 'one two' })
      await documents.commit([{ op: 'deleteSession', hash }], undefined)
      assert.deepEqual(await counts(), [0, 0])
      assert.equal(await tokens.countSessions({ only: 'keys' }), 0)
    })
  }
}

test('folding takes case and composition from a text', () => {
  for (const [a, b] of [
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['e\u0301', 'É'],
    ['ﬁ', 'FI'],
  ])
    assert.equal(foldCase(a!), foldCase(b!))
  assert.notEqual(foldCase('e'), foldCase('é'))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.equal(foldCase(foldCase(text)), foldCase(text))),
  )
})

type Naive = ListQuery & { where: Record<string, string | string[]>; and: Record<string, string[]>[] }

const one = (values: readonly string[]) => fc.option(fc.subarray([...values], { minLength: 0 }), { nil: undefined })
const arbitraryQuery: fc.Arbitrary<Naive> = fc
  .record({
    org_id: fc.constantFrom(undefined, 'even', 'odd', 'none'),
    owner: one(['*', 'u:u1', 'u:u2', 'g:g1', 'g:none']),
    active: fc.constantFrom(undefined, 'true', 'false'),
    labels: fc.option(fc.subarray(['tier=Tier 0', 'tier=Tier 1'], { minLength: 1 }), { nil: undefined }),
    domain: fc.option(fc.constantFrom('domain=Finance', 'domain=Größe'), { nil: undefined }),
    part: fc.constantFrom(undefined, 'o', 'STR', 'Σ', '1', 'xyz'),
    order: fc.constantFrom(undefined, 'name', 'name_folded', 'created_at', 'updated_at', 'owner', 'api_id'),
    descending: fc.boolean(),
    offset: fc.nat(12),
    limit: fc.nat(12),
  })
  .map(({ org_id, owner, active, labels, domain, part, order, descending, offset, limit }) => ({
    where: {
      ...(org_id && { org_id }),
      ...(owner && { owner }),
      ...(active && { active }),
      ...(labels && { label: labels }),
    },
    and: domain === undefined ? [] : [{ label: [domain] }],
    ...(part && { contains: { index: 'name', part } }),
    ...(order && { order }),
    ...{ descending, offset, limit },
  }))

// Organisations whose names look like parts of each other.
const ORGANISATIONS = ['o', 'o/o', '1:o/', '1:o/1', '😀', '']
const DEVELOPERS = Array.from({ length: 60 }, (_, n): JsonObject => {
  const email = [`Dev${n}@Example.test`, `o/1:o${n}@x.test`, `straße${n}@x.test`][n % 3]!
  const day = new Date((n % 7) * 86_400_000).toISOString()
  return { org_id: ORGANISATIONS[n % 6]!, email, ...(n % 5 !== 0 && { date_created: day }) }
})
const DEVELOPER_ORDERS = [undefined, 'email_folded', 'date_created'] as const
const developerQuery = fc
  .record({
    org: fc.option(fc.oneof(fc.constantFrom(...ORGANISATIONS, 'none'), fc.subarray(ORGANISATIONS)), { nil: undefined }),
    part: fc.constantFrom(undefined, 'DEV', 'ss', 'o/1', '@x', '1', 'none'),
    order: fc.constantFrom(...DEVELOPER_ORDERS),
    descending: fc.boolean(),
    offset: fc.nat(40),
    limit: fc.nat(15),
  })
  .map(({ org, part, order, ...page }) => ({
    ...page,
    ...(org !== undefined && { where: { org_id: org } }),
    ...(part !== undefined && { contains: { index: 'email', part } }),
    ...(order !== undefined && { order }),
  }))

function naiveDevelopers({ where, contains, order, descending }: Omit<ListQuery, 'limit'>): DocumentId[] {
  const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const emailOf = ({ email }: JsonObject) => foldCase(String(email))
  const found = DEVELOPERS.map((body, n) => ({ body, id: idOf(n) })).filter(({ body }) => {
    const org = where === undefined || [where.org_id].flat().includes(String(body.org_id))
    return org && (contains === undefined || emailOf(body).includes(foldCase(contains.part)))
  })
  const key = (body: JsonObject) => {
    if (order === undefined) return ''
    return order === 'email_folded' ? emailOf(body) : String(body.date_created ?? '')
  }
  found.sort((a, b) => bytes(key(a.body), key(b.body)) || bytes(a.id, b.id))
  if (descending) found.reverse()
  return found.map(({ id }) => id)
}

/** The index values of a document, computed here again. */
function valuesOf(body: JsonObject, index: string): string[] {
  const owners = [
    ...(body.user_owners as string[]).map((id) => `u:${id}`),
    ...(body.user_group_owners as string[]).map((id) => `g:${id}`),
  ]
  if (index === 'owner') return owners.length === 0 ? ['*'] : owners
  if (index === 'label')
    return (body.labels as { key: string; value: string }[]).map(({ key, value }) => `${key}=${value}`)
  if (index === 'active') return [String(body.active)]
  if (index === 'name_folded') return [foldCase(body.name as string)]
  return typeof body[index] === 'string' ? [body[index]] : []
}

function naive({ where, and, contains, order, descending, offset = 0, limit }: Naive): {
  ids: string[]
  total: number
} {
  const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const found = APIS.map((body, n) => ({ body, id: idOf(n) as string })).filter(({ body }) => {
    const meets = [where, ...and].flatMap(Object.entries).every(([index, wanted]) => {
      const held = valuesOf(body, index)
      return [wanted].flat().some((value) => held.includes(value))
    })
    return meets && (contains === undefined || foldCase(body.name as string).includes(foldCase(contains.part)))
  })
  const key = (body: JsonObject) => (order === undefined ? '' : (valuesOf(body, order).sort(bytes)[0] ?? ''))
  found.sort((a, b) => bytes(key(a.body), key(b.body)) || bytes(a.id, b.id))
  if (descending) found.reverse()
  return { ids: found.slice(offset, offset + limit).map(({ id }) => id), total: found.length }
}
