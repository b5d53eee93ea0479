import { sessionMemberWarnings } from '../../model/sessions/member-warnings.ts'
import { SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { wholeSession } from '../../model/sessions/session-zeros.ts'
import { findOrgSession, removeOrgSession, saveOrgSession } from '../../publish/sessions/org-sessions.ts'
import { type AdminAnswer, changed, json } from './answer.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import { type AdminRequest, pageOf } from './request.ts'
import type { AdminRoute } from './route.ts'
import { warningsField } from './sent-rights.ts'

const PAGE = 1000

/** `/org/keys`: limits of whole organisations. */
export function orgKeyRoutes(parts: AdminParts): AdminRoute[] {
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
    await waitUntilServed(parts, saved.revision)
    const warnings = warningsField(sessionMemberWarnings(session, SESSION_SCHEMA))
    return changed(orgId, saved.created ? 'added' : 'modified', warnings)
  }
  return [
    {
      method: 'GET',
      path: '/org/keys',
      run: (request) => list(parts, request),
    },
    {
      method: 'GET',
      path: '/org/keys/{org}',
      run: async (request) => {
        const { body } = await findOrgSession(publish, request.param('org'))
        return json(request.isAlias ? wholeSession(body) : body)
      },
    },
    { method: 'POST', path: '/org/keys/{org}', run: save },
    {
      method: 'PUT',
      path: '/org/keys/{org}',
      run: async (request) => {
        if (!request.isAlias) await findOrgSession(publish, request.param('org'))
        return save(request)
      },
    },
    {
      method: 'DELETE',
      path: '/org/keys/{org}',
      run: async (request) => {
        const orgId = request.param('org')
        await waitUntilServed(parts, await removeOrgSession(publish, orgId, request.actor))
        return changed(orgId, 'deleted')
      },
    },
  ]
}

/** All organisations with limits, or with `p` a page of 1,000 and the number of `"pages"`. */
async function list({ store }: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const page = pageOf(request)
  if (page !== undefined) {
    const { rows, total } = await store.documents.list('org_session', { offset: (page - 1) * PAGE, limit: PAGE })
    return json({ keys: rows.map(({ body }) => String(body.org_id)), pages: Math.max(1, Math.ceil(total / PAGE)) })
  }
  const keys: string[] = []
  for await (const batch of store.documents.scan('org_session'))
    keys.push(...batch.map(({ body }) => String(body.org_id)))
  return json({ keys })
}
