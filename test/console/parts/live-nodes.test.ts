import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SyncState } from '../../../console/src/api/platform/nodes.ts'
import { liveNodesOf } from '../../../console/src/parts/review/live-nodes.ts'

const REVISION = 7
/** All states, as the message after a save counts them. */
const COUNTED: Readonly<Record<SyncState, 'live' | 'failed' | 'waits' | 'not'>> = {
  ...{ loaded: 'live', inactive: 'live', pending: 'waits', elsewhere: 'not' },
  ...{ failed: 'failed', taken: 'failed', stale: 'failed', unknown: 'failed' },
}
const states = Object.keys(COUNTED) as SyncState[]

test('a save is waited for until each node serves the API or has failed', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states)), (list) => {
      const nodes = list.map((state, index) => ({
        ...{ node: `n${index}`, state, reason: state },
        revision: state === 'loaded' ? REVISION : 0,
      }))
      const number = (as: string) => list.filter((state) => COUNTED[state] === as).length
      const { live, total, failed, isFinal } = liveNodesOf(REVISION, nodes)
      assert.deepEqual(
        [live, total, failed.map(({ node }) => node), isFinal],
        [
          number('live'),
          list.length - number('not'),
          nodes.filter(({ state }) => COUNTED[state] === 'failed').map(({ node }) => node),
          number('waits') === 0,
        ],
      )
    }),
  )
})

test('a node that serves an older revision than the stored one is waited for', () => {
  const nodes = [{ node: 'n', state: 'loaded', reason: '', revision: REVISION - 1 } as const]
  assert.deepEqual(liveNodesOf(REVISION, nodes), { live: 0, total: 1, failed: [], isFinal: false })
})
