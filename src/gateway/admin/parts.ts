import type { Config } from '../../config/schema.ts'
import { fault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Addresses } from '../../model/nodes/addresses.ts'
import type { NodeShard } from '../../model/nodes/node.ts'
import type { SecretParts } from '../../publish/documents/parts.ts'
import { endsWithin, SERVED_WITHIN_MS } from '../../runtime/bounded-wait.ts'
import type { Documents, Revision, Store } from '../../store/ports/ports.ts'
import type { ApiCatalogue } from '../apis/catalogue.ts'
import type { DefinitionTraces } from '../apis/definition-traces.ts'
import type { ExplainRequest } from '../apis/explain.ts'
import type { LiveConfig } from '../apis/live.ts'
import type { GatewayPeers } from '../server/gateway-peers.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { SecretGate } from './admin-secret.ts'

/** The dependencies of the administration API. */
export interface AdminParts extends Omit<SecretParts, 'documents' | 'counters' | 'tokens' | 'config'> {
  readonly config: Config
  /** Where callers reach the APIs. */
  readonly addresses: { readonly current: Addresses }
  readonly store: Store
  /** Documents through which calls write, so that events are raised. */
  readonly documents: Documents
  readonly log: Log
  readonly version: string
  readonly nodeName: () => string
  /** Looks at `X-Svc-Authorization`. */
  readonly secretGate: SecretGate
  /** True when other gateways share the store. */
  readonly clustered: boolean
  /** State of the dashboard of this process; undefined when it runs none. */
  readonly dashboard: (() => 'pass' | 'fail') | undefined
  /** The other gateway threads of this process; absent = there are none. */
  readonly peers?: GatewayPeers
  readonly shard: NodeShard
  readonly sessions: Sessions
  readonly catalogue: ApiCatalogue
  readonly live: LiveConfig
  /** State of this node's targets and breakers. */
  readonly upstreamCares?: { states(): JsonObject[] }
  readonly ready: () => boolean
  /** True from the signal to stop on. */
  readonly draining: () => boolean
  /** The metrics page in the format that the Accept field asks for. */
  readonly metrics: (accept: string | undefined) => Promise<{ contentType: string; body: Uint8Array }>
  readonly explain: (request: ExplainRequest) => Promise<JsonObject>
  /** Sends a request to a definition that is not stored. */
  readonly trace: DefinitionTraces['run']
  /** Makes the notifications that are due go out at once; absent = within a second. */
  readonly wakeDeliveries?: () => void
  /** Longest wait for a change to be in force on this node, in milliseconds; absent = five seconds. */
  readonly settleWithinMs?: number
  /** Reads definition files again, where there are any. */
  readonly rescan?: () => Promise<void>
  /** The definitions in the files of this node. */
  readonly fileDocuments: () => readonly ApiDocument[]
}

/** The dependencies of the publishing functions, from the parts of this node. */
export function publishParts(parts: AdminParts): SecretParts {
  const { config, defaultOrg, documents, sealKey, store, clock, locks, passwordRules } = parts
  const { counters, tokens } = store
  const orgOfLoaded = (apiId: string) => parts.live.snapshot.apis.get(apiId)?.api.orgId
  const own = { documents, counters, tokens, config, defaultOrg, orgOfLoaded, sealKey, locks }
  return { ...own, ...(clock && { clock }), ...(passwordRules && { passwordRules }) }
}

/**
 * Waits until this node serves what was committed, so that a change is in force when its answer is sent.
 * @throws Fault `change_pending` (503) when the node cannot read the change within five seconds; it is stored all the same
 */
export async function waitUntilServed(parts: AdminParts, revision: Revision): Promise<void> {
  const { live, peers } = parts
  if (live.snapshot.revision >= revision && peers === undefined) return
  const served = Promise.all([live.settled(revision), peers?.settled(revision)])
  await withinFiveSeconds(parts, served, 'Stored, but not yet in force on this node')
}

/** Waits for what this node has begun. @throws Fault `change_pending` (503) with `late` as its reason when it takes longer than five seconds */
export async function withinFiveSeconds(parts: AdminParts, begun: Promise<unknown>, late: string): Promise<void> {
  if (!(await endsWithin(begun, parts.settleWithinMs ?? SERVED_WITHIN_MS))) throw fault('change_pending', late)
}
