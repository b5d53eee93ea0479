import { Type } from 'typebox'
import { type DefinitionWarning, listingWarnings } from '../../model/apis/check/definition-warnings.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { toWords } from '../../model/apis/definition/tree.ts'
import { readingApi } from '../../model/apis/read/read.ts'
import { certificateFlaws } from '../../publish/apis/certificate-flaws.ts'
import { inTurns } from '../../runtime/turns.ts'
import { bare } from '../routes/answer.ts'
import { described } from '../routes/described.ts'
import { Warning } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import { flawsAtGateway } from '../server/await-gateway.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiOf, notReadable } from './store-api.ts'

/** Warnings about a definition, by the place in it. */
export const Warnings = Type.Array(Warning)

/** Definitions whose warnings are kept. */
const MOST_KNOWN = 100

/** `/api/apis/{id}/warnings`: what of a stored definition has no effect, or is not checked. */
export function warningRoutes(parts: DashboardParts): Route[] {
  // To read a large definition takes up to a second, and pages ask each time that they are opened.
  const known = new Map<string, { readonly revision: number; readonly warnings: DefinitionWarning[] }>()
  return [
    {
      method: 'GET',
      path: '/api/apis/{id}/warnings',
      access: { permission: 'apis', intent: 'read' },
      owned: { noun: 'api', by: 'id' },
      summary: 'List what of the definition of an API has no effect, or is not checked',
      answers: {
        200: Type.Object({
          warnings: described(
            Warnings,
            'Members of the stored definition that have no effect, or another one than their author may expect.',
          ),
        }),
      },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        if (stored === undefined) return notReadable()
        const { id, revision } = stored
        const before = known.get(id)
        const document = documentOf(stored.body)
        const missing = await certificateFlaws(parts.documents, document)
        const elsewhere = [...missing, ...(await flawsAtGateway(parts, { id, revision }))].map(({ at, reason }) => ({
          path: toWords(at),
          message: reason,
        }))
        if (before?.revision === revision) return bare({ warnings: [...before.warnings, ...elsewhere] })
        const { unchecked } = await inTurns(readingApi(document))
        const warnings = await inTurns(listingWarnings(document, unchecked))
        if (known.size >= MOST_KNOWN) known.clear()
        known.set(id, { revision, warnings })
        return bare({ warnings: [...warnings, ...elsewhere] })
      },
    },
  ]
}
