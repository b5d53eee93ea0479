import { call } from '../calls/call.ts'

/** The status that a gateway node reports. */
export interface GatewayNode {
  readonly id: string
  readonly name: string
  readonly hostname: string
  readonly version: string
  readonly tags: readonly string[]
  readonly segmented: boolean
  readonly active: boolean
  readonly last_seen: string
  readonly started_at: string
  readonly loaded: number
  readonly troubled: number
  readonly behind: boolean
  readonly management: boolean
  /** Absent while the node is not heard of. */
  readonly load?: {
    readonly requests_per_second: number
    readonly connections: number
    /** 0 to 1. */
    readonly busy: number
    readonly memory_bytes: number
  }
}

export type SyncState = 'loaded' | 'inactive' | 'elsewhere' | 'stale' | 'failed' | 'taken' | 'pending' | 'unknown'

/** Sync status of an API on one node. */
export interface NodeSyncStatus {
  readonly node: string
  readonly state: SyncState
  readonly reason: string
  readonly revision: number
}

/** Sync status of an API on all nodes. */
export interface ApiSyncStatus {
  readonly api_id: string
  readonly name: string
  readonly active: boolean
  readonly tags: readonly string[]
  readonly revision: number
  /** Switched on, and served by no node that takes traffic. */
  readonly nowhere: boolean
  readonly nodes: readonly NodeSyncStatus[]
}

export const NODES_KEY = ['nodes'] as const
export const SYNC_STATUS_KEY = ['sync-status'] as const

export const HEALTH_KEY = ['health'] as const

/** The state of a part that the dashboard depends on. */
interface PartState {
  readonly status: 'pass' | 'warn' | 'fail'
  readonly output?: string
  readonly observedValue?: number
  readonly time: string
}

/** The health of the dashboard. */
export async function readHealth(signal: AbortSignal) {
  return call<{ readonly details: { readonly backup?: PartState } }>('GET', '/hello', { signal })
}

/** All nodes that were heard of within a month. */
export async function listNodes(signal: AbortSignal): Promise<readonly GatewayNode[]> {
  const answer = await call<{ data: { nodes: readonly GatewayNode[] } }>('GET', '/api/system/nodes', {
    query: { p: -1 },
    signal,
  })
  return answer.data.nodes
}

/** A page of APIs with the sync status on each node; `outOfSync`: only those that are not served as stored. */
export function listSyncStatus(
  query: { readonly q: string; readonly p: number; readonly outOfSync: boolean },
  signal: AbortSignal,
): Promise<{ readonly apis: readonly ApiSyncStatus[]; readonly pages: number }> {
  const { q, p, outOfSync } = query
  return call('GET', '/api/system/sync-status', { query: outOfSync ? { out_of_sync: true } : { q, p }, signal })
}

/** Sync status of one API on each node; `revision` is that of the stored definition. @throws CallError */
export function readSyncStatus(
  apiId: string,
  signal: AbortSignal,
): Promise<{ readonly revision: number; readonly nodes: readonly NodeSyncStatus[] }> {
  return call('GET', `/api/apis/${encodeURIComponent(apiId)}/nodes`, { signal })
}

/** A gateway that the settings list. */
export interface Edge {
  readonly name: string
  readonly endpoint: string
  /** Of these an API has one that it loads; empty: it loads every API. */
  readonly tags: readonly string[]
}

export const EDGES_KEY = ['edges'] as const

/** The gateways that the settings list; none where there is one gateway. @throws CallError */
export async function readEdges({ signal }: { readonly signal: AbortSignal }): Promise<readonly Edge[]> {
  return (await call<{ readonly edges: readonly Edge[] }>('GET', '/api/system/address', { signal })).edges
}
