import { Type } from 'typebox'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type NodeStatus, type StoredApiState, syncStatusOf } from '../../model/nodes/node.ts'
import { readable } from '../../publish/apis/api-plan.ts'
import { listNodes } from '../../publish/nodes/node-status.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { PageCount } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const SyncStatusShape = Type.Object(
  {
    node: Type.String({ description: 'Name of the gateway node.' }),
    state: Type.Enum(['loaded', 'inactive', 'elsewhere', 'stale', 'failed', 'taken', 'pending', 'unknown'], {
      description:
        '`loaded`: served as stored. `inactive`: switched off. `elsewhere`: its tags are not those of the node. `stale`: the version before is served, the newest does not compile. `failed`: not served. `taken`: another API holds its place. `pending`: not yet taken over. `unknown`: the node is not heard of.',
    }),
    reason: Type.String({
      description: 'Why the node does not serve the API as stored. Blank for `loaded` and `inactive`.',
    }),
    revision: Type.Integer({ description: 'Revision of the definition that is served there. 0: none, or not known.' }),
  },
  { title: 'NodeSyncStatus' },
)
const Row = Type.Object(
  {
    api_id: Type.String({ description: 'Id of the API.' }),
    name: Type.String({ description: 'Name of the API.' }),
    active: Type.Boolean({ description: 'False for an API that is switched off.' }),
    tags: Type.Array(Type.String(), { description: 'Tags of gateways that load the API.' }),
    revision: Type.Integer({ description: 'Of the definition as it is stored.' }),
    nowhere: Type.Boolean({ description: 'Switched on, and served by no node that takes traffic.' }),
    nodes: Type.Array(SyncStatusShape, { description: 'The state of the API on each gateway node.' }),
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
    answers: {
      200: Type.Object(
        { apis: Type.Array(Row, { description: 'APIs of the page, by name.' }), pages: PageCount },
        { title: 'SyncStatusPage' },
      ),
    },
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
