import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTable, rowsOf, SUITES } from './table.ts'

test('the counts of Gatehouse in the table of suites are those of today', async (t) => {
  const failures = new Map()
  for (const suite of SUITES) failures.set(suite, await suite.play('Gatehouse', (line) => t.diagnostic(line)))
  const counts = (rows: ReturnType<typeof readTable>) =>
    Object.fromEntries(rows.map(({ section, counts }) => [section, counts.Gatehouse]))
  assert.deepEqual(counts(rowsOf({ Gatehouse: failures })), counts(readTable()), 'npm run test:suites -- --write')
})
