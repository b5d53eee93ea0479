import { releaseDeletedId } from '../../publish/documents/deleted-ids.ts'
import { INSTALLATION } from '../access/actor.ts'
import { ok } from '../routes/answer.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const SUMMARY = 'Release the id of a deleted object, so that other organisations can use it'

/** Ids that stay with the organisation that deleted their objects: `/api/deleted-ids`, and for operators `/admin/deleted-ids`. */
export function deletedIdRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'DELETE',
      path: '/api/deleted-ids/{kind}/{id}',
      access: 'admin',
      summary: SUMMARY,
      answers: { 200: DoneEnvelope },
      async run(call) {
        const { orgId, email } = call.actor!
        await releaseDeletedId(parts, { kind: call.param('kind'), id: call.param('id'), orgId }, email)
        return ok('ID released')
      },
    },
    {
      method: 'DELETE',
      path: '/admin/deleted-ids/{kind}/{id}',
      access: 'installation',
      summary: SUMMARY,
      answers: { 200: DoneEnvelope },
      async run(call) {
        await releaseDeletedId(parts, { kind: call.param('kind'), id: call.param('id'), orgId: '' }, INSTALLATION)
        return ok('ID released')
      },
    },
  ]
}
