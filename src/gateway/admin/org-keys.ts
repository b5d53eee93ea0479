import { findOrgSession, removeOrgSession, saveOrgSession } from '../../publish/sessions/org-sessions.ts'
import { changed, json } from './answer.ts'
import { type AdminParts, publishParts, settle } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { Route } from './route.ts'

const MOST_LISTED = 1000

/** `/org/keys`: limits of whole organisations. */
export function orgKeyRoutes(parts: AdminParts): Route[] {
  const publish = publishParts(parts)
  const save = async (request: AdminRequest) => {
    const orgId = request.param('org')
    const session = await request.object()
    const saved = await saveOrgSession(publish, {
      orgId,
      session,
      resetQuota: request.flag('reset_quota'),
      actor: request.actor,
    })
    await settle(parts, saved.revision)
    return changed(orgId, saved.created ? 'added' : 'modified')
  }
  return [
    {
      method: 'GET',
      path: '/org/keys',
      run: async () => {
        const { rows } = await parts.store.documents.list('org_session', { limit: MOST_LISTED })
        return json({ keys: rows.map(({ body }) => String(body.org_id)) })
      },
    },
    {
      method: 'GET',
      path: '/org/keys/{org}',
      run: async (request) => json((await findOrgSession(publish, request.param('org'))).body),
    },
    { method: 'POST', path: '/org/keys/{org}', run: save },
    {
      method: 'PUT',
      path: '/org/keys/{org}',
      run: async (request) => {
        await findOrgSession(publish, request.param('org'))
        return save(request)
      },
    },
    {
      method: 'DELETE',
      path: '/org/keys/{org}',
      run: async (request) => {
        const orgId = request.param('org')
        await settle(parts, await removeOrgSession(publish, orgId, request.actor))
        return changed(orgId, 'deleted')
      },
    },
  ]
}
