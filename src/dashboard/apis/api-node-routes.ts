import { Type } from 'typebox'
import { syncStatusOf } from '../../model/nodes/node.ts'
import { listNodes } from '../../publish/nodes/node-status.ts'
import { bare } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { storedApiStateOf } from './api-facts.ts'
import { apiOf, notReadable } from './store-api.ts'

const Nodes = Type.Object(
  {
    revision: Type.Integer({ description: 'Of the definition as it is stored.' }),
    nodes: Type.Array(
      Type.Object({
        node: Type.String({ description: 'Name of the gateway node.' }),
        state: Type.Enum(['loaded', 'inactive', 'elsewhere', 'stale', 'failed', 'taken', 'pending', 'unknown'], {
          description:
            '`loaded`: served as stored. `inactive`: switched off. `elsewhere`: its tags are not those of the node. `stale`: the version before is served, the newest does not compile. `failed`: not served. `taken`: another API holds its place. `pending`: not yet taken over. `unknown`: the node is not heard of.',
        }),
        reason: Type.String({
          description: 'Why the node does not serve the API as stored. Blank for `loaded` and `inactive`.',
        }),
        revision: Type.Integer({ description: 'Of the definition that is served there; 0 = none, or not known.' }),
      }),
      { description: 'The state of the API on each gateway node.' },
    ),
  },
  { title: 'ApiNodeList' },
)

/** `/api/apis/{id}/nodes`: whether each gateway node serves an API, at which revision, or why not. */
export function apiNodeRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/apis/{id}/nodes',
      access: { permission: 'apis', intent: 'read' },
      owned: { noun: 'api', by: 'id' },
      summary: 'Get the sync status of an API on each gateway node',
      answers: { 200: Nodes },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        if (stored === undefined) return notReadable()
        const now = parts.clock.wall()
        const nodes = (await listNodes(parts)).map((node) => ({ ...syncStatusOf(storedApiStateOf(stored), node, now) }))
        return bare({ revision: stored.revision, nodes })
      },
    },
  ]
}
