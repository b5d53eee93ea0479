import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { purgeExpiredTokens } from '../../publish/oauth-clients/oauth-tokens.ts'
import { DoneShape } from '../people/shapes.ts'
import { bare, ok, refused } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import { isServed } from '../server/await-gateway.ts'
import type { DashboardParts } from '../server/parts.ts'

/** `/admin/system/reload` and `/admin/oauth/tokens`. */
export function adminSystemRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/system/reload',
      once: true,
      access: 'installation',
      summary: 'Wait until this node serves everything that is stored',
      answers: { 200: Type.Object({ status: Type.Literal('ok', { description: 'Always `ok`.' }) }) },
      async run(call) {
        if (!(await isServed(parts, call.requestId, performance.now()))) throw fault('gateway_behind')
        return bare({ status: 'ok' })
      },
    },
    {
      method: 'DELETE',
      path: '/admin/oauth/tokens',
      access: 'installation',
      summary: 'Delete expired tokens',
      query: { scope: Type.String() },
      answers: { 200: DoneShape },
      async run(call) {
        const scope = call.query('scope')
        if (scope === '') return refused(422, 'scope parameter is required')
        if (scope !== 'lapsed') return refused(400, 'unknown scope')
        await purgeExpiredTokens(parts)
        return ok('success')
      },
    },
  ]
}
