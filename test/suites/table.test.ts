import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROXIES } from './proxies.ts'
import { readTable, rowsOf, sizeOf } from './table.ts'

const namesOf = (rows: readonly { suite: string; section: string }[]) =>
  rows.map(({ suite, section }) => `${suite}: ${section}`)

test('the table of suites names the suites that there are, with all their cases', () => {
  const table = readTable()
  assert.deepEqual(namesOf(table), namesOf(rowsOf({})), 'npm run test:suites -- --write')
  for (const row of table) {
    const size = sizeOf(row)
    assert.ok(size > 0, `${row.section} has cases`)
    for (const proxy of PROXIES) {
      const [passed, all] = /^(\d+) of (\d+)$/.exec(row.counts[proxy]!)!.slice(1).map(Number)
      assert.equal(all, size, `${row.section}, ${proxy}: npm run test:suites -- --write`)
      assert.ok(passed! <= size)
    }
  }
})
