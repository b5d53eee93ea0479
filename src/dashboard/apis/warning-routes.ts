import { Type } from 'typebox'
import { listedWarnings } from '../../model/apis/check/definition-warnings.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { readApi } from '../../model/apis/read/read.ts'
import { bare } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiOf, notReadable } from './store-api.ts'

/** Warnings about a definition, by the place in it. */
export const Warnings = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))

/** `/api/apis/{id}/warnings`: what of a stored definition has no effect, or is not checked. */
export function warningRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/apis/{id}/warnings',
      access: { permission: 'apis', intent: 'read' },
      owned: { noun: 'api', by: 'id' },
      summary: 'List what of the definition of an API has no effect, or is not checked',
      answers: { 200: Type.Object({ warnings: Warnings }) },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        if (stored === undefined) return notReadable()
        const document = documentOf(stored.body)
        return bare({ warnings: listedWarnings(document, readApi(document).unchecked) })
      },
    },
  ]
}
