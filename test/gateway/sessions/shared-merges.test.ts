import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  const apis: Snapshot['apis'] = new Map()
  const snapshot = { apis, policies: new Map(), policyGeneration: 0 } as unknown as Snapshot
  merges.merge(checkSession({ org_id: 'o' }, 'limits'), 'o', snapshot)
  return new WeakRef(apis)
}
