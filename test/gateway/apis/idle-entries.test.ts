import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { IdleEntries } from '../../../src/gateway/apis/idle-entries.ts'

interface Entry {
  readonly order: number
  compiled: true | undefined
}

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500
const COUNT = 8

/** For each visit which entries begin or end to be served in it: the same for both. */
const visits = fc.array(fc.array(fc.tuple(fc.nat(COUNT - 1), fc.boolean()), { maxLength: 3 }), { maxLength: 20 })

test('entries that are not served are visited as by a walk over all of them', () => {
  const property = fc.property(
    fc.array(fc.boolean(), { minLength: COUNT, maxLength: COUNT }),
    visits,
    (served, acts) => {
      const world = () => served.map((is, i): Entry => ({ order: i + 1, compiled: is ? true : undefined }))
      const run = (entries: Entry[], each: (visit: (entry: Entry) => void) => void, onIdle: (entry: Entry) => void) => {
        const seen: number[] = []
        each((entry) => {
          const act = acts[seen.length] ?? []
          seen.push(entry.order)
          for (const [at, is] of act) {
            const other = entries[at]!
            other.compiled = is ? true : undefined
            if (!is) onIdle(other)
          }
        })
        return seen
      }
      const all = world()
      const expected = run(
        all,
        (visit) => {
          for (const entry of all) if (entry.compiled === undefined) visit(entry)
        },
        () => {},
      )
      const some = world()
      const idle = new IdleEntries<Entry>()
      for (const entry of some.toReversed()) idle.add(entry)
      assert.deepEqual(
        run(
          some,
          (visit) => idle.each(visit),
          (entry) => idle.add(entry),
        ),
        expected,
      )
    },
  )
  fc.assert(property, { numRuns: RUNS })
})
