import { Type } from 'typebox'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type NodeStatus, type StoredApiState, syncStatusOf } from '../../model/nodes/node.ts'
import { readable } from '../../publish/apis/api-plan.ts'
import { listNodes } from '../../publish/nodes/node-status.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const SyncStatusShape = Type.Object(
  {
    node: Type.String(),
    state: Type.Enum(['loaded', 'inactive', 'elsewhere', 'stale', 'failed', 'taken', 'pending', 'unknown']),
    reason: Type.String(),
    revision: Type.Integer(),
  },
  { title: 'NodeSyncStatus' },
)
const Row = Type.Object(
  {
    api_id: Type.String(),
    name: Type.String(),
    active: Type.Boolean(),
    tags: Type.Array(Type.String()),
    revision: Type.Integer({ description: 'Of the definition as it is stored.' }),
    nowhere: Type.Boolean({ description: 'Switched on, and served by no node that takes traffic.' }),
    nodes: Type.Array(SyncStatusShape),
  },
  { title: 'ApiSyncStatus' },
)
const PATH = '/api/system/sync-status'
/** Rows of a page of APIs out of sync. */
const PAGE = 200
const OUT_OF_SYNC: ReadonlySet<string> = new Set(['stale', 'failed', 'taken'])

/** `/api/system/sync-status`: which node serves which API, and which APIs no node serves as they are stored. */
export function syncStatusRoutes(parts: DashboardParts): Route[] {
  const syncStatus = (path: string, outOfSync: string): Route => ({
    method: 'GET',
    path,
    access: { permission: 'apis', intent: 'read' },
    summary: `List the sync status of APIs on each gateway node; with ${outOfSync}=true only those that are out of sync, ${PAGE} a page`,
    query: { p: Type.Integer(), q: Type.String({ maxLength: 256 }), [outOfSync]: Type.Boolean() },
    answers: { 200: Type.Object({ apis: Type.Array(Row), pages: Type.Integer() }, { title: 'SyncStatusPage' }) },
    run: (call) => listSyncStatus(parts, call, call.query(outOfSync) === 'true'),
  })
  return [
    syncStatus(PATH, 'out_of_sync'),
    { ...syncStatus('/api/system/standings', 'astray'), deprecated: `GET ${PATH}` },
  ]
}

async function listSyncStatus(parts: DashboardParts, call: Call, isOnlyOutOfSync: boolean): Promise<Answer> {
  const nodes = await listNodes(parts)
  const shape = (stored: StoredDocument) => rowOf(stored, nodes, parts.clock.wall())
  if (isOnlyOutOfSync) return outOfSync(parts, call, shape)
  const part = call.query('q')
  const query = {
    where: call.visibility.where(),
    order: 'name_folded',
    ...(part !== '' && { contains: { index: 'name', part } }),
  }
  return listed(parts.documents, 'api', query, pageOf(call), { name: 'apis', shape })
}

/** `pages` counts no further than one page on: all APIs would have to be looked at. */
async function outOfSync(
  { documents }: DashboardParts,
  call: Call,
  shape: (stored: StoredDocument) => JsonObject,
): Promise<Answer> {
  const page = pageOf({ query: (name) => call.query(name), pageSize: PAGE })
  const [from, to] = page === 'all' ? [0, Number.POSITIVE_INFINITY] : [page.offset, page.offset + page.limit]
  const found: JsonObject[] = []
  for await (const batch of documents.each('api', { where: call.visibility.where(), order: 'name_folded' })) {
    found.push(...batch.map(shape).filter(isOutOfSync))
    if (found.length > to) break
  }
  const number = page === 'all' ? 0 : from / PAGE + 1
  return bare({ apis: found.slice(from, to), pages: found.length > to ? number + 1 : number })
}

function isOutOfSync({ nowhere, nodes }: JsonObject): boolean {
  return nowhere === true || (nodes as JsonObject[]).some(({ state }) => OUT_OF_SYNC.has(String(state)))
}

function rowOf(stored: StoredDocument, nodes: readonly NodeStatus[], now: number): JsonObject {
  const api = readable(stored)
  const apiState: StoredApiState = {
    apiId: documentOf(stored.body).api_id,
    revision: stored.revision,
    active: api?.active ?? true,
    tags: api?.tags,
  }
  const states = nodes.map((node) => syncStatusOf(apiState, node, now))
  const isServed = states.some(({ state }, at) => !nodes[at]!.management && serves(state))
  return {
    api_id: apiState.apiId,
    name: String(stored.body.name ?? ''),
    active: apiState.active,
    tags: [...(apiState.tags ?? [])],
    revision: apiState.revision,
    nowhere: apiState.active && !isServed,
    nodes: states.map((state) => ({ ...state })),
  }
}

/** A change that is on its way says nothing against the node. */
function serves(state: string): boolean {
  return state === 'loaded' || state === 'stale' || state === 'pending'
}
