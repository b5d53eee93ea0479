import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { DatabaseClock } from '../../../src/store/postgres/connection/database-clock.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { freshDatabase } from '../../worlds/servers/postgres.ts'

/** The clock of the node does not move, and machines are slow. */
const CASES: readonly { off: string; offMs: number; says: RegExp | undefined }[] = [
  { off: 'by one second', offMs: 1_000, says: undefined },
  {
    off: 'by five minutes',
    offMs: 300_000,
    says: /is (?:2\d\d|300) s ahead of that of PostgreSQL/,
  },
  { off: 'by two minutes', offMs: -120_000, says: /is 1\d\d s behind that of PostgreSQL/ },
]

test('a node whose clock is off by more than seconds says so when it opens the store', async () => {
  const url = await freshDatabase()
  for (const { off, offMs, says } of CASES) {
    const words: string[] = []
    const note = (_fields: object, message: string) => void words.push(message)
    const log = { debug: () => {}, info: () => {}, warn: note, error: note }
    const store = await openPostgresStore({ url, log, clock: new FakeClock(Date.now() + offMs) })
    await store.close()
    const said = words.filter((word) => word.startsWith('the clock'))
    assert.equal(said.length, says === undefined ? 0 : 1, off)
    if (says !== undefined) assert.match(said[0]!, says)
  }
})

test('between measurements the database time advances independently of the wall clock', () => {
  const step = fc.oneof(
    fc.record({ passes: fc.nat(100_000) }),
    fc.record({ jumps: fc.integer({ min: -10_000_000, max: 10_000_000 }) }),
    fc.constant({ measured: true }),
  )
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: -10_000_000, max: 10_000_000 }), (steps, offMs) => {
      const system = new FakeClock()
      const clock = new DatabaseClock(system)
      let database = system.wall() + offMs
      clock.set(database)
      for (const each of steps) {
        if ('passes' in each) {
          system.advance(each.passes)
          database += each.passes
        } else if ('jumps' in each) system.wallMs += each.jumps
        else clock.set(database)
        assert.equal(clock.wall(), database)
        assert.equal(clock.aheadMs, system.wall() - database)
      }
    }),
  )
})
