import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { policyKey } from '../../../src/gateway/apis/snapshot.ts'
import { PersistentMap } from '../../../src/gateway/routing/persistent-map.ts'
import type { Snapshot } from '../../../src/gateway/server/exchange.ts'
import { SharedMerges } from '../../../src/gateway/sessions/shared-merges.ts'
import { checkSession } from '../../../src/model/sessions/session.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { collectGarbage } from '../../worlds/base/garbage.ts'

test('a snapshot that is over goes with its APIs, though no session was merged since', async () => {
  const merges = new SharedMerges()
  const gone = mergedOnce(merges)
  await eventually('its APIs are collected', () => {
    collectGarbage()
    return gone.deref() === undefined
  })
  assert.ok(merges)
})

/** Merges a session under a snapshot of which nobody else knows. */
function mergedOnce(merges: SharedMerges): WeakRef<Snapshot['apis']> {
  const apis: Snapshot['apis'] = new PersistentMap()
  const snapshot = { apis, policies: new Map(), policyGeneration: 0 } as unknown as Snapshot
  merges.merge(checkSession({ org_id: 'o' }, 'limits'), 'o', snapshot)
  return new WeakRef(apis)
}

test('a merge lasts until one of its policies or APIs changes', () => {
  const merges = new SharedMerges()
  const right = (apiId: string) => ({ access_rights: { [apiId]: { api_id: apiId } }, org_id: 'o', rate: 1, per: 1 })
  const session = checkSession({ org_id: 'o', apply_policies: ['p', 'q'] }, 'limits')
  const policies = new Map([
    [policyKey('o', 'p'), right('a')],
    [policyKey('o', 'q'), right('b')],
  ])
  const apis = new Map([['a', { api: { orgId: 'o' } }]])
  const snapshot = { apis, policies, policyGeneration: 0 } as unknown as Snapshot
  let generation = 0
  const merged = (more: Partial<Record<'apis' | 'policies', Map<string, unknown>>>, of = session) =>
    merges.merge(of, 'o', { ...snapshot, ...more, policyGeneration: generation++ } as Snapshot).merged
  const first = merged({})
  assert.ok(!(first instanceof Fault))
  const other = new Map([...policies, [policyKey('o', 'r'), right('c')]])
  const others = new Map([...apis, ['c', { api: { orgId: 'o' } }]])
  assert.equal(merged({ apis: others, policies: other }), first)
  assert.equal(merged({}, { ...session, alias: 'another', expires: 5 }), first)
  const edited = merged({ policies: new Map([...policies, [policyKey('o', 'q'), { ...right('b'), rate: 7 }]]) })
  assert.ok(!(edited instanceof Fault) && edited.top.rate?.rate === 7)
  const without = merged({ policies: new Map([[policyKey('o', 'p'), right('a')]]) })
  assert.ok(!(without instanceof Fault))
  assert.deepEqual([...without.rights.keys()], ['a'])
  const moved = merged({ apis: new Map([['a', { api: { orgId: 'x' } }]]) })
  assert.ok(moved instanceof Fault)
  assert.deepEqual(merged({}), first)
})
