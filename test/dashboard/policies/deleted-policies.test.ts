import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DeletedPolicies } from '../../../src/dashboard/policies/deleted-policies.ts'

const ids = fc.constantFrom('a', 'b', 'c')
const noteOf = fc.record({
  org_id: fc.constantFrom('one', 'two'),
  noun: fc.constant('policy'),
  named: ids,
  storage_id: ids,
  api_ids: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
})

test('an id leads to the APIs of every note that has it, whatever came and went', () => {
  const steps = fc.array(
    fc.record({ note: fc.constantFrom('1', '2', '3'), body: fc.option(noteOf, { nil: undefined }) }),
  )
  fc.assert(
    fc.property(steps, (all) => {
      const known = new DeletedPolicies()
      const notes = new Map<string, NonNullable<(typeof all)[number]['body']>>()
      for (const { note, body } of all) {
        known.put(note, body)
        if (body === undefined) notes.delete(note)
        else notes.set(note, body)
      }
      for (const orgId of ['one', 'two'])
        for (const id of ['a', 'b', 'c']) {
          const found = [...notes.values()].filter(
            ({ org_id, named, storage_id }) => org_id === orgId && (named === id || storage_id === id),
          )
          const apis = found.length === 0 ? undefined : [...new Set(found.flatMap(({ api_ids }) => api_ids))].sort()
          assert.deepEqual(known.of(orgId, id)?.toSorted(), apis)
        }
    }),
  )
})
