import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionWithPolicyIds } from '../../../src/publish/policies/policy-ids.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'

test('a definition that names many policies is read in turns with others', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  const ids = Array.from({ length: 50_000 }, (_, index) => index.toString(16).padStart(24, '0'))
  const definition = { jwt_default_policies: ids }
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  t.after(() => clearImmediate(next))
  assert.equal(await definitionWithPolicyIds(store, 'o', 'classic', definition), definition)
  assert.ok(turns > 0)
})
