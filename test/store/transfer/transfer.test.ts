import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { TRANSFER_TABLE_NAMES } from '../../../src/store/ports/transfer.ts'
import { copyStore } from '../../../src/store/prepare/move-store.ts'
import { anyContents, type Contents, fillStore, viewOf } from '../../worlds/store/full-store.ts'
import { countOf, DAY, samplesOn, setOf } from '../../worlds/store/hit-samples.ts'
import { PLACES } from '../../worlds/store/transfer-places.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 20 : 1

for (const from of Object.keys(PLACES))
  for (const to of Object.keys(PLACES))
    test(`a copy of a ${from} store in a ${to} store reads the same, and takes writes`, async (t) => {
      const property = fc.asyncProperty(anyContents, async (contents: Contents) => {
        const [first, second] = [await PLACES[from]!(t), await PLACES[to]!(t)]
        const store = await first.open()
        await fillStore(store, contents)
        await first.settle(store)
        const [source, target] = [first.source(), second.target()]
        await copyStore(source, target, { tables: TRANSFER_TABLE_NAMES })
        await Promise.all([source.close(), target.close()])
        // Only now: reading adds up hits, and a snapshot of before must hold them too.
        const expected = await viewOf(store, contents)
        await store.close()
        const copy = await second.open()
        try {
          assert.deepEqual(await viewOf(copy, contents), expected)
          await goesOn(copy)
        } finally {
          await copy.close()
        }
        await assert.rejects(
          async () => {
            const refused = second.target()
            try {
              await refused.load(async () => assert.fail('a store with rows is written into'))
            } finally {
              await refused.close()
            }
          },
          { code: 'store_not_empty' },
        )
      })
      await fc.assert(property, { numRuns })
    })

for (const to of Object.keys(PLACES))
  test(`an archive without minutes counts none before its last hour in a ${to} store`, async (t) => {
    const [first, second] = [await PLACES.sqlite!(t), await PLACES[to]!(t)]
    const store = await first.open()
    const [number = 0] = await store.hits.number([setOf('k')])
    await store.hits.append([samplesOn(DAY, [number])])
    assert.equal(await countOf(store, { per: 'minute' }), 1)
    await store.close()
    const [source, target] = [first.source(), second.target()]
    const tables = TRANSFER_TABLE_NAMES.filter((name) => !name.startsWith('hit_minute'))
    await copyStore(source, target, { tables })
    await Promise.all([source.close(), target.close()])
    const copy = await second.open()
    t.after(() => copy.close())
    assert.equal(await countOf(copy), 1)
    assert.equal(await countOf(copy, { per: 'minute' }), 0)
    assert.equal(await copy.hits.minutesFrom(), (DAY * 24 + 1) * 60)
  })

/** Numbers of new rows are new. */
async function goesOn({ documents, outbox, audit, counters }: Store): Promise<void> {
  const before = await documents.revision()
  const known = new Set((await audit.list({ limit: 1000 })).rows.map(({ id }) => id))
  const entry = { actor: 'a', action: 'later', orgId: 'o', at: 1, detail: {} }
  const revision = await documents.commit(
    [{ op: 'putDelivery', row: { queue: 'new', sealed: new Uint8Array(1), createdAt: 1 } }],
    entry,
  )
  assert.equal(revision, before + 1)
  const { rows } = await audit.list({ action: 'later', limit: 9 })
  assert.ok(rows.length === 1 && !known.has(rows[0]!.id))
  assert.equal((await outbox.list({ queue: 'new', dead: false, after: 0, limit: 9 })).length, 1)
  await counters.take([makeLimit('quota', 'k1|', 100, 3_600_000)], { wall: Date.now(), mono: performance.now() })
}
