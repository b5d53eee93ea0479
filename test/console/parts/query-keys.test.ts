import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTree } from '../../house/tree.ts'

const QUERY = /queryKey: (?:\[\.\.\.)?([\w'[]+)[^\n]*?,\s*queryFn: (?:\([^)]*\) =>\s*)?(?!async\b)(\w+)/g
/** A trial asks who is signed in at another time than the page. */
const APART: ReadonlySet<string> = new Set(['readSession'])

test('what one function reads is cached under one key, so that a change is seen on all pages', () => {
  const keysOf = new Map<string, Set<string>>()
  for (const { text } of readTree(join(import.meta.dirname, '../../..'), ['console/src']))
    for (const [, key = '', read = ''] of text.matchAll(QUERY))
      keysOf.set(read, (keysOf.get(read) ?? new Set()).add(key))
  assert.ok(keysOf.size > 50, 'the queries are found')
  const apart = [...keysOf].filter(([read, keys]) => keys.size > 1 && !APART.has(read))
  assert.deepEqual(
    apart.map(([read, keys]) => `${read}: ${[...keys].join(' and ')}`),
    [],
  )
})
