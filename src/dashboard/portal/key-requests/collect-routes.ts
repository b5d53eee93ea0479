import { Type } from 'typebox'
import { fault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import { requestedPolicies } from '../../../model/portal/key-requests/key-request.ts'
import { collectAccess, NOT_FOUND, requestIn } from '../../../publish/portal/key-requests/requests.ts'
import { bare } from '../../routes/answer.ts'
import type { Route } from '../../routes/route.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { uncached } from '../../sign-in/browser.ts'
import { NewApp, NewKey } from '../developers/developer-key-routes.ts'
import { portalSessionOf, writingPortalSession } from '../sign-in/session.ts'

const PATH = '/portal/requests/{id}/collect'
const text = Type.String()
const Access = Type.Union([NewKey, NewApp])

/**
 * The page that the link of a mail leads to asks here: with the session of the developer who requested the key, and the code of the
 * link, the key is made and shown, once.
 */
export function collectRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: 'public',
      summary: 'Check whether the key of a request is ready for the signed-in developer',
      refusals: [401, 403, 404],
      answers: {
        200: Type.Object({
          id: Type.String({ description: 'Id of the key request.' }),
          apply_policies: Type.Array(text, { description: 'Ids of the policies that were requested.' }),
          approved: Type.Boolean({ description: 'True once the request is approved.' }),
          collectable: Type.Boolean({ description: 'True while a key or OAuth client waits to be collected.' }),
        }),
      },
      run: async (call) => {
        const { developer, orgId } = await portalSessionOf(parts, call)
        const id = call.param('id')
        const stored = isDocumentId(id) ? await requestIn(parts, orgId, id) : undefined
        if (stored === undefined || stored.body.by_user !== developer.id) throw fault('not_found', NOT_FOUND)
        const { body } = stored
        return uncached(
          bare({
            id,
            apply_policies: requestedPolicies(body),
            approved: body.approved === true,
            collectable: body.collected === false,
          }),
        )
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: 'public',
      summary: 'Create the key of a request and return it once; `code` is that of the link in the mail',
      body: Type.Object({ code: Type.String({ maxLength: 256, description: 'Code of the link in the mail.' }) }),
      refusals: [401, 403, 404],
      answers: { 200: Access },
      run: async (call) => {
        const { developer } = await writingPortalSession(parts, call)
        const id = call.param('id')
        if (!isDocumentId(id)) throw fault('link_unusable')
        const { access } = await collectAccess(parts, developer, { id, code: String(call.object().code) })
        return uncached(bare(access!))
      },
    },
  ]
}
