import type { NodeSyncStatus } from '../../api/platform/nodes.ts'

/** Where the stored definition of an API is live. */
interface LiveNodes {
  readonly live: number
  /** Nodes that should have it: the tags of the others are not its own. */
  readonly total: number
  /** Nodes that do not serve it, each with the reason. */
  readonly failed: readonly NodeSyncStatus[]
  /** True when every node has it, or has failed: nothing changes by waiting. */
  readonly isFinal: boolean
}

/** Reads it from the sync status of the API on each node; `revision` is that of the stored definition. */
export function liveNodesOf(revision: number, nodes: readonly NodeSyncStatus[]): LiveNodes {
  const wanted = nodes.filter(({ state }) => state !== 'elsewhere')
  const live = wanted.filter(
    (node) => node.state === 'inactive' || (node.state === 'loaded' && node.revision >= revision),
  ).length
  const failed = wanted.filter(({ state }) => FAILED.has(state))
  return { live, total: wanted.length, failed, isFinal: live + failed.length === wanted.length }
}

/** States that do not end by themselves. */
const FAILED: ReadonlySet<string> = new Set<NodeSyncStatus['state']>(['failed', 'taken', 'stale', 'unknown'])
