import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionWithPolicyIds, withPolicyIds } from '../../../src/publish/policies/policy-ids.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'

const IDS = Array.from({ length: 50_000 }, (_, index) => index.toString(16).padStart(24, '0'))
type Store = ReturnType<typeof openMemoryStore>
const NAMING: Readonly<Record<string, (store: Store) => Promise<object>>> = {
  definition: (store) => definitionWithPolicyIds(store, 'o', 'classic', { jwt_default_policies: IDS }),
  session: (store) => withPolicyIds(store, 'o', 'session', { apply_policies: IDS }),
  client: (store) => withPolicyIds(store, 'o', 'client', { policies: IDS }),
}

for (const [noun, resolved] of Object.entries(NAMING))
  test(`the many policies that a ${noun} names are looked up in turns with others`, async (t) => {
    const store = openMemoryStore()
    t.after(() => store.close())
    let turns = 0
    const count = () => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    t.after(() => clearImmediate(next))
    assert.deepEqual(Object.values(await resolved(store)), [IDS])
    assert.ok(turns > 0)
  })
