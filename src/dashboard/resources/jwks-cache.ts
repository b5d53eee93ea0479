import { Type } from 'typebox'
import { orderGateways } from '../../publish/orders.ts'
import { type Answer, bare } from '../answer.ts'
import { apiOf, notChangeable } from '../apis/store-api.ts'
import type { DashboardParts } from '../parts.ts'
import type { Route } from '../route.ts'

const Cleared = Type.Object({ status: Type.Literal('OK'), message: Type.Literal('success') })

/**
 * `/api/cache/jwks`: has every gateway forget the keys of identity providers. Scripts call it after keys were changed there; what was
 * added is found anyway, because a gateway reads a key set again as soon as a token names a key that is not in it.
 */
export function jwksCacheRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'DELETE',
      path: '/api/cache/jwks/{apiId}',
      access: { permission: 'apis', intent: 'write' },
      owned: { noun: 'api', by: 'apiId' },
      summary: 'Has every gateway forget the key sets of identity providers',
      answers: { 200: Cleared },
      async run(call): Promise<Answer> {
        const stored = await apiOf(parts, call, call.param('apiId'))
        if (stored === undefined) return notChangeable()
        await orderGateways(parts, { order: 'key_sets', subject: '' })
        return bare({ status: 'OK', message: 'success' })
      },
    },
  ]
}
