import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { FakeClock } from '../../src/model/time/clock.ts'
import type { Change, SessionFilter, SessionInput, SessionRow, Tokens } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const session = (more: Partial<SessionInput> = {}): SessionInput => ({
  ...{ body: { alias: 'ä' }, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 },
  ...more,
})
const put = (
  hash: Uint8Array,
  row: SessionInput,
  condition: { ifAbsent?: true; ifPresent?: true; ifEvictAt?: number } = {},
): Change => ({
  ...{ op: 'putSession', hash, row },
  ...condition,
})
/** Milliseconds of a time that no test reaches. */
const FAR = 9e12
const hex = (rows: readonly SessionRow[]) => rows.map(({ hash }) => Buffer.from(hash).toString('hex'))
const won = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length

/** Checks of every adapter of `Tokens`. */
export function tokensSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a session comes back as it was, whatever becomes of what was handed in`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = hashKey('key')
      const sealedKey = Buffer.from('sealed')
      const row = session({ apiIds: ['a', 'b', 'a'], policyIds: ['p'], clientId: 'c', orgId: 'nul\0', sealedKey })
      await documents.commit([put(hash, row)], undefined)
      const found = (await tokens.getSession(hashKey('key')))!
      assert.deepEqual(
        { ...found, hash: Buffer.from(found.hash), sealedKey: Buffer.from(found.sealedKey!) },
        { ...row, hash },
      )
      found.body.alias = 'changed by a reader'
      assert.equal((await tokens.getSession(hash))!.body.alias, 'ä')
      assert.equal(await tokens.getSession(hashKey('another key')), undefined)
      await documents.commit([{ op: 'deleteSession', hash }], undefined)
      assert.equal(await tokens.getSession(hash), undefined)
      await documents.commit([{ op: 'deleteSession', hash }], undefined)
    })

    test(`${name}: bytes handed in may be used again at once`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = Buffer.from(hashKey('key'))
      const done = documents.commit([put(hash, session())], undefined)
      hash.fill(0)
      await done
      assert.ok(await tokens.getSession(hashKey('key')))
      assert.equal(await tokens.getSession(hash), undefined)
    })

    test(`${name}: many sessions are made of one frozen row, and change one by one`, async (t) => {
      const { documents, tokens } = await open(t)
      const row = Object.freeze(session({ policyIds: ['p'], clientId: 'c', sealedKey: Buffer.from('sealed') }))
      const hashes = Array.from({ length: 100 }, (_, n) => hashKey(`${n}`))
      await Promise.all(hashes.map((hash) => documents.commit([put(hash, row, { ifAbsent: true })], undefined)))
      await assert.rejects(documents.commit([put(hashes[0]!, row, { ifAbsent: true })], undefined), {
        code: 'already_exists',
      })
      assert.equal(await tokens.countSessions({ clientId: 'c', policyId: 'p' }), 100)
      await documents.commit([put(hashes[1]!, session({ body: { n: 1 } }))], undefined)
      await documents.commit([{ op: 'deleteSession', hash: hashes[2]! }], undefined)
      assert.equal(await tokens.countSessions({ clientId: 'c' }), 98)
      const { rows } = await tokens.listSessions({ policyId: 'p', limit: 100 })
      assert.deepEqual(
        rows.map(({ hash }) => Buffer.from(hash)),
        [hashes[0], ...hashes.slice(3)],
      )
      const found = rows[5]!
      assert.deepEqual([found.body, Buffer.from(found.sealedKey!).toString()], [row.body, 'sealed'])
    })

    test(`${name}: of 100 that make one key at once, one wins`, async (t) => {
      const { documents, tokens } = await open(t)
      const commits = Array.from({ length: 100 }, (_, n) =>
        documents.commit([put(hashKey('key'), session({ body: { n } }), { ifAbsent: true })], undefined),
      )
      const results = await Promise.allSettled(commits)
      assert.equal(won(results), 1)
      const winner = results.findIndex(({ status }) => status === 'fulfilled')
      assert.equal((await tokens.getSession(hashKey('key')))!.body.n, winner)
      for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.code, 'already_exists')
    })

    test(`${name}: of 100 that replace one key by another at once, one wins`, async (t) => {
      const { documents, tokens } = await open(t)
      const old = hashKey('old')
      await documents.commit([put(old, session())], undefined)
      const commits = Array.from({ length: 100 }, (_, n) =>
        documents.commit(
          [
            put(old, session(), { ifPresent: true }),
            { op: 'deleteSession', hash: old },
            put(hashKey(`new ${n}`), session()),
          ],
          undefined,
        ),
      )
      const results = await Promise.allSettled(commits)
      assert.equal(won(results), 1)
      assert.equal(await tokens.countSessions({}), 1)
      for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.code, 'not_found')
    })

    test(`${name}: a session is forgotten at the end of its time`, async (t) => {
      const clock = new FakeClock()
      const { documents, tokens } = await open(t, clock)
      const evictAt = clock.wall() + 1000
      const hash = hashKey('token')
      await documents.commit(
        [put(hash, session({ evictAt, apiIds: ['a'] })), put(hashKey('key'), session())],
        undefined,
      )
      clock.advance(999)
      assert.ok(await tokens.getSession(hash))
      assert.equal(await tokens.countSessions({ orgId: 'o' }), 2)
      clock.advance(1)
      assert.equal(await tokens.getSession(hash), undefined)
      assert.equal(await tokens.countSessions({}), 1)
      assert.equal(await tokens.countSessions({ orgId: 'o' }), 1)
      assert.equal(await tokens.countSessions({ apiId: 'a', orgId: 'o' }), 0)
      assert.deepEqual(hex((await tokens.listSessions({ orgId: 'o', limit: 9 })).rows), [
        hashKey('key').toString('hex'),
      ])
      await assert.rejects(documents.commit([put(hash, session(), { ifPresent: true })], undefined), {
        code: 'not_found',
      })
      await documents.commit([put(hash, session(), { ifAbsent: true })], undefined)
      assert.deepEqual((await tokens.getSession(hash))!.apiIds, [])
      assert.equal(await tokens.countSessions({ apiId: 'a' }), 0)
    })

    test(`${name}: a session that is to be forgotten at another time than was read is not written`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = hashKey('key')
      const write = (evictAt: number, ifEvictAt: number) =>
        documents.commit([put(hash, session({ evictAt }), { ifEvictAt })], undefined)
      // Where there is none nothing was changed.
      await write(0, 7)
      for (const [from, wrong, to] of [
        [0, FAR, FAR],
        [FAR, 0, FAR - 1],
        [FAR - 1, FAR, 0],
      ] as const) {
        await assert.rejects(write(to, wrong), { code: 'revision_conflict' })
        assert.equal((await tokens.getSession(hash))!.evictAt, from)
        await write(to, from)
        assert.equal((await tokens.getSession(hash))!.evictAt, to)
      }
    })

    test(`${name}: lists and counts go by organisation, API, policy and client, all at once too`, async (t) => {
      const { documents, tokens } = await open(t)
      const rows = Array.from({ length: 60 }, (_, n) => ({
        hash: hashKey(`key ${n}`),
        row: session({
          orgId: `o${n % 2}`,
          apiIds: n % 3 === 0 ? ['a', 'b'] : ['b'],
          policyIds: n % 5 === 0 ? ['p'] : [],
          clientId: n % 4 === 0 ? '' : `c${n % 2}`,
        }),
      }))
      await documents.commit(
        rows.map(({ hash, row }) => put(hash, row)),
        undefined,
      )
      const filters = [
        {},
        { orgId: 'o1' },
        { apiId: 'a' },
        { policyId: 'p' },
        { orgId: 'o1', apiId: 'a' },
        { apiId: 'b', policyId: 'p' },
        { clientId: 'c1' },
        { clientId: 'c0', apiId: 'a' },
        { clientId: 'c1', orgId: 'o1', apiId: 'a', policyId: 'p' },
      ]
      for (const filter of [...filters, { orgId: 'o0', apiId: 'a', policyId: 'p' }, { orgId: '' }, { apiId: 'none' }]) {
        const expected = rows.filter(({ row }) => matches(row, filter)).map(({ hash }) => hash.toString('hex'))
        assert.deepEqual(
          hex((await tokens.listSessions({ ...filter, limit: 1000 })).rows),
          expected,
          JSON.stringify(filter),
        )
        assert.equal(await tokens.countSessions(filter), expected.length, JSON.stringify(filter))
      }
    })

    test(`${name}: what a session is listed by follows its last state`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = hashKey('key')
      await documents.commit([put(hash, session({ orgId: 'x', apiIds: ['a'], policyIds: ['p'] }))], undefined)
      await documents.commit([put(hash, session({ orgId: 'y', apiIds: ['b', 'c'], policyIds: [] }))], undefined)
      const counts = async () => Promise.all(['x', 'y'].map((orgId) => tokens.countSessions({ orgId })))
      assert.deepEqual(await counts(), [0, 1])
      assert.equal(await tokens.countSessions({ apiId: 'a' }), 0)
      assert.equal(await tokens.countSessions({ apiId: 'c' }), 1)
      assert.equal(await tokens.countSessions({ policyId: 'p' }), 0)
      await documents.commit([{ op: 'deleteSession', hash }], undefined)
      assert.deepEqual(await counts(), [0, 0])
      assert.equal(await tokens.countSessions({ apiId: 'c' }), 0)
    })

    test(`${name}: pages go on where the last one ended, whatever was deleted meanwhile`, async (t) => {
      const { documents, tokens } = await open(t)
      const hashes = Array.from({ length: 25 }, (_, n) => hashKey(`key ${n}`))
      await documents.commit(
        hashes.map((hash) => put(hash, session({ apiIds: ['a'] }))),
        undefined,
      )
      await documents.commit([put(hashes[3]!, session({ apiIds: ['a'], evictAt: 0 }))], undefined)
      const expected = hashes.map((hash) => hash.toString('hex'))
      for (const filter of [{}, { apiId: 'a' }]) assert.deepEqual(await page(tokens, filter, () => {}), expected)
      const seen = await page(tokens, { apiId: 'a' }, (rows) => {
        const gone = rows.slice(3).map(({ hash }): Change => ({ op: 'deleteSession', hash }))
        return documents.commit(gone, undefined)
      })
      assert.deepEqual(seen, expected)
      assert.equal(await tokens.countSessions({}), 12)
    })

    test(`${name}: a page begins after the session of a hash, or at the start when that is deleted`, async (t) => {
      const { documents, tokens } = await open(t)
      const hashes = [hashKey('a'), hashKey('b'), hashKey('c')] as const
      await documents.commit(
        hashes.map((hash) => put(hash, session())),
        undefined,
      )
      const after = hashes[1].toString('hex')
      assert.deepEqual(hex((await tokens.listSessions({ after, limit: 9 })).rows), [hashes[2].toString('hex')])
      await documents.commit([{ op: 'deleteSession', hash: hashes[1] }], undefined)
      assert.equal((await tokens.listSessions({ after, limit: 9 })).rows.length, 2)
    })
  }
}

function matches(row: SessionInput, { orgId, apiId, policyId, clientId, only, contains }: SessionFilter): boolean {
  const any = (wanted: string | readonly string[] | undefined, held: readonly string[]) =>
    wanted === undefined || [wanted].flat().some((value) => held.includes(value))
  if (clientId !== undefined && row.clientId !== clientId) return false
  if (orgId !== undefined && row.orgId !== orgId) return false
  if (only === 'keys' && row.clientId !== '') return false
  if (
    contains !== undefined &&
    !String(row.body.alias ?? '')
      .toLowerCase()
      .includes(contains.toLowerCase())
  )
    return false
  return any(apiId, row.apiIds) && any(policyId, row.policyIds)
}

async function page(tokens: Tokens, filter: SessionFilter, visit: (rows: SessionRow[]) => unknown): Promise<string[]> {
  const seen: string[] = []
  let after: string | undefined
  for (let calls = 0; calls < 10; calls++) {
    const { rows, next } = await tokens.listSessions({ ...filter, ...(after !== undefined && { after }), limit: 7 })
    seen.push(...hex(rows))
    await visit(rows)
    if (next === undefined) return seen
    after = next
  }
  throw new Error('pages without an end')
}
