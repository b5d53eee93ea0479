import { Type } from 'typebox'
import type { GatewayCommand } from '../../model/nodes/node.ts'
import { sendGatewayCommand } from '../../publish/nodes/gateway-commands.ts'
import { storedApiStateOf } from '../apis/api-facts.ts'
import { apiOf, notChangeable } from '../apis/store-api.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const Cleared = Type.Object(
  {
    status: Type.Literal('OK', { description: 'Always `OK`.' }),
    message: Type.Literal('success', { description: 'Always `success`.' }),
  },
  { title: 'CacheCleared' },
)

/**
 * `/api/cache/`: makes every gateway drop cached data. For `jwks`, the keys of identity providers: scripts call it after keys were
 * changed there; new keys are found anyway, because a gateway reads a key set again as soon as a token names a key that is not
 * in it. For `responses`, the cached responses of one API.
 */
export function cacheRoutes(parts: DashboardParts): Route[] {
  return [
    clearing(parts, 'jwks', 'Drop the key sets of identity providers on every gateway', () => ({
      ...{ order: 'key_sets', subject: '' },
    })),
    clearing(parts, 'responses', 'Purge the cached responses of an API on every gateway', (subject) => ({
      ...{ order: 'responses', subject },
    })),
  ]
}

function clearing(
  parts: DashboardParts,
  what: string,
  summary: string,
  order: (apiId: string) => GatewayCommand,
): Route {
  return {
    method: 'DELETE',
    path: `/api/cache/${what}/{apiId}`,
    access: { permission: 'apis', intent: 'write' },
    owned: { noun: 'api', by: 'apiId' },
    summary,
    answers: { 200: Cleared },
    async run(call): Promise<Answer> {
      const stored = await apiOf(parts, call, call.param('apiId'))
      if (stored === undefined) return notChangeable()
      await sendGatewayCommand(parts, order(storedApiStateOf(stored).apiId))
      return bare({ status: 'OK', message: 'success' })
    },
  }
}
