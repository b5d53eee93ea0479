import type { JsonObject } from '../json/json.ts'

/** Which part of the installation's APIs a node takes. */
export interface NodeShard {
  readonly segmented: boolean
  readonly tags: readonly string[]
}

/**
 * True when this node loads the API: a node that is not segmented loads everything; a segmented one only APIs that share
 * a tag with it, compared exactly. Without tags on either side nothing is shared.
 */
export function loadsHere(api: { readonly tags: readonly string[] | undefined }, shard: NodeShard): boolean {
  if (!shard.segmented) return true
  return api.tags?.some((tag) => shard.tags.includes(tag)) ?? false
}

/** An API that a node does not serve as it is stored. */
export interface NodeTrouble {
  readonly api_id: string
  /** `stale`: its newest definition does not compile, the one before is served. `failed`: it is not served. `taken`: another API holds its place. */
  readonly state: 'stale' | 'failed' | 'taken'
  readonly reason: string
  /** Revision of the definition that is served; 0 when none is. */
  readonly revision: number
}

/** How busy a node is. */
export interface NodeLoad {
  /** Averaged over the last ten to thirty seconds. */
  readonly requests_per_second: number
  /** Of clients. */
  readonly connections: number
  /** Share of that time in which the event loop was at work: 0 to 1. */
  readonly busy: number
  /** Resident, of the whole process. */
  readonly memory_bytes: number
}

/**
 * The status of a gateway node: enough to derive the state of every stored API there, without listing those that are in
 * sync. Body of the kind `node`.
 */
export interface NodeStatus extends NodeShard {
  readonly name: string
  readonly hostname: string
  readonly version: string
  /** True when it is for administration: it loads every API and takes no traffic worth counting. */
  readonly management: boolean
  /** Of traffic; nodes that were written down by older versions tell none. */
  readonly port?: number
  /** `gateway.public_url`; '' = not set. Nodes of older versions tell none. */
  readonly public_url?: string
  /** False once it was stopped in order. */
  readonly up: boolean
  /** True while a change could not be read from the store: it serves what it had. */
  readonly behind: boolean
  /** Every API commit up to here was taken over. */
  readonly revision: number
  /** APIs that it serves. */
  readonly loaded: number
  /** All that it does not serve as stored, listed or not. */
  readonly troubled: number
  /** At most `MOST_TROUBLES`. */
  readonly troubles: readonly NodeTrouble[]
  /** Distinguishes nodes of one name; records of older versions have none. */
  readonly instance?: string
  /** As of `seen_at`; nodes that were written down by older versions tell none. */
  readonly load?: NodeLoad
  /** RFC 3339. */
  readonly started_at: string
  readonly seen_at: string
}

/** Troubles that a status lists. */
export const MOST_TROUBLES = 500
/** How often a node says that it is there when nothing changes. */
export const NODE_BEAT_MS = 30_000

/** The state of one stored API on one node. */
export interface ApiSyncStatus {
  readonly node: string
  /** That of `NodeTrouble`, or: `loaded`, `inactive` (switched off), `elsewhere` (its tags are not the node's), `pending` (not yet taken over), `unknown` (the node is gone, or has more troubles than it lists). */
  readonly state: NodeTrouble['state'] | 'loaded' | 'inactive' | 'elsewhere' | 'pending' | 'unknown'
  readonly reason: string
  /** Revision that is served there; 0 when none is, or nobody knows. */
  readonly revision: number
}

/** The fields of a stored API that decide its state. */
export interface StoredApiState {
  readonly apiId: string
  readonly revision: number
  readonly active: boolean
  readonly tags: readonly string[] | undefined
}

/** Derives the state of a stored API from a node's status, at `now` (ms since the epoch). */
export function syncStatusOf(api: StoredApiState, node: NodeStatus, now: number): ApiSyncStatus {
  const at = (state: ApiSyncStatus['state'], reason = '', revision = 0): ApiSyncStatus => ({
    node: node.name,
    state,
    reason,
    revision,
  })
  if (!isUp(node, now))
    return at('unknown', node.up ? `nothing was heard of it since ${node.seen_at}` : 'it was stopped')
  const trouble = node.troubles.find(({ api_id }) => api_id === api.apiId)
  if (trouble !== undefined && node.revision >= api.revision) return at(trouble.state, trouble.reason, trouble.revision)
  if (node.revision < api.revision)
    return at('pending', node.behind ? 'the node cannot read the store' : 'the change is on its way')
  if (!api.active) return at('inactive')
  if (!loadsHere(api, node)) return at('elsewhere', `the node takes APIs tagged ${node.tags.join(', ')}`)
  if (node.troubled > node.troubles.length) return at('unknown', 'the node has more troubles than it lists')
  return at('loaded', '', api.revision)
}

/** True for a node that is heard of: it missed at most two of its beats. */
export function isUp(node: Pick<NodeStatus, 'up' | 'seen_at'>, now: number): boolean {
  return node.up && now - Date.parse(node.seen_at) < 3 * NODE_BEAT_MS
}

/** Contradictions between nodes that are up, one sentence each, for operators. */
export function nodeWarnings(nodes: readonly NodeStatus[], now: number): string[] {
  const up = nodes.filter((node) => isUp(node, now))
  const segmented = up.filter((node) => node.segmented)
  if (segmented.length < 2) return []
  const managing = up.filter((node) => node.management)
  const whole = up.some((node) => !node.segmented)
  return [
    ...managing.map(
      ({ name }) =>
        `${name} has gateway.management_node set while ${segmented.length} nodes are segmented: it counts no traffic, so it must take none`,
    ),
    ...(whole
      ? []
      : ['every node is segmented: an API whose tags no node has is served nowhere, and no node can administrate it']),
  ]
}

/** True where the settings of the storage name a folder of this installation's one process; false for a store that several processes share. */
export function isEmbedded(storage: { readonly postgres_url: string }): boolean {
  return storage.postgres_url === ''
}

/** A command to every gateway: drop the cached responses of an API, or the key sets of identity providers (`subject` ''). */
export interface GatewayCommand {
  readonly order: 'responses' | 'key_sets'
  readonly subject: string
}

/** The meaning of a stored command; undefined when a later version of the product wrote it. */
export function gatewayCommandOf({ order, subject }: JsonObject): GatewayCommand | undefined {
  if ((order !== 'responses' && order !== 'key_sets') || typeof subject !== 'string') return undefined
  return { order, subject }
}
