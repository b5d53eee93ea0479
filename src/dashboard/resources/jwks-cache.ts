import { Type } from 'typebox'
import { type Answer, bare } from '../answer.ts'
import { apiOf, notChangeable } from '../apis/store-api.ts'
import type { DashboardParts } from '../parts.ts'
import type { Route } from '../route.ts'

const Cleared = Type.Object({ status: Type.Literal('OK'), message: Type.Literal('success') })

/**
 * `/api/cache/jwks`: scripts call it after keys were changed at an identity provider. Gateways keep no key sets of others between
 * requests, so there is nothing to forget.
 */
export function jwksCacheRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'DELETE',
      path: '/api/cache/jwks/{apiId}',
      access: { permission: 'apis', intent: 'write' },
      owned: { noun: 'api', by: 'apiId' },
      summary: 'Makes sure that no key set of an identity provider is kept for an API',
      answers: { 200: Cleared },
      async run(call): Promise<Answer> {
        const stored = await apiOf(parts, call, call.param('apiId'))
        return stored === undefined ? notChangeable() : bare({ status: 'OK', message: 'success' })
      },
    },
  ]
}
