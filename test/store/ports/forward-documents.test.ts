import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { forwardDocuments } from '../../../src/store/ports/forward-documents.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'

/** How many arguments each method takes. */
const ARGUMENTS: Readonly<Record<keyof Documents, number>> = {
  ...{ get: 2, find: 3, list: 2, scan: 1, each: 2, values: 3, valuesBy: 4 },
  ...{ commit: 2, note: 1, revision: 0 },
}

test('every method that is not replaced reaches the documents, with its arguments and its answer', () => {
  const names = Object.keys(openMemoryStore().documents) as (keyof Documents)[]
  assert.deepEqual(new Set(names), new Set(Object.keys(ARGUMENTS)))
  const target = Object.fromEntries(names.map((name) => [name, (...given: unknown[]) => [name, ...given]]))
  const wrapped = forwardDocuments(target as unknown as Documents, {}) as unknown as typeof target
  for (const name of names) {
    const given = Array.from({ length: ARGUMENTS[name] }, (_, index) => `argument ${index}`)
    assert.deepEqual(wrapped[name]!(...given), [name, ...given])
  }
  assert.equal(forwardDocuments(target as unknown as Documents, { revision: () => 7 }).revision(), 7)
})
