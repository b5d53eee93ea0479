import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { freshDatabase } from '../../worlds/servers/postgres.ts'

/** The clock of the node does not move, and machines are slow. */
const CASES: readonly { off: string; offMs: number; says: RegExp | undefined }[] = [
  { off: 'by four seconds', offMs: 4_000, says: undefined },
  {
    off: 'by five minutes',
    offMs: 300_000,
    says: /is (?:2\d\d|300) s ahead of that of PostgreSQL: .* expire too early/,
  },
  { off: 'by two minutes', offMs: -120_000, says: /is 1\d\d s behind that of PostgreSQL: .* expire too late/ },
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
