import { Type } from 'typebox'
import { toFault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { findOrgSession, removeOrgSession, saveOrgSession } from '../../publish/sessions/org-sessions.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { INSTALLATION } from '../access/actor.ts'
import { KeyNamePage } from '../keys/key-shape.ts'
import { DoneShape } from '../people/shapes.ts'
import { type Answer, bare, ok, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { pageOf, pagesOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const PATH = '/admin/org/keys'
const UNKNOWN = "Org key doesn't exist"
const Key = Type.Object(
  {
    api_model: Type.Object({}, { description: 'Always an empty object; kept for clients of the incumbent.' }),
    key_id: Type.String({ description: 'Id of the organisation.' }),
    key_hash: Type.String({ description: 'Always blank; kept for clients of the incumbent.' }),
    data: Type.Object({ org_id: Type.String() }, describedAs(SESSION_SCHEMA)),
  },
  { title: 'OrganisationLimits' },
)

/** Limits of whole organisations: `/admin/org/keys`. The id of such a key is that of the organisation. */
export function adminOrgKeyRoutes(parts: DashboardParts): Route[] {
  const save = async (call: Call, orgId: string, session: JsonObject): Promise<Answer> => {
    const resetQuota = call.query('suppress_reset') === ''
    return shown((await saveOrgSession(parts, { orgId, session, resetQuota, actor: INSTALLATION })).session)
  }
  const ofOne = (run: (call: Call, stored: StoredDocument) => Answer | Promise<Answer>) => async (call: Call) => {
    const stored = await findSession(parts, call.param('id'))
    return stored === undefined ? refused(404, UNKNOWN) : run(call, stored)
  }
  return [
    {
      method: 'GET',
      path: PATH,
      access: 'installation',
      summary: 'List organisations with limits',
      query: { p: Type.Integer() },
      answers: { 200: KeyNamePage },
      async run(call) {
        const page = pageOf(call)
        const keys: string[] = []
        let total = 0
        const take = (rows: readonly StoredDocument[]) => keys.push(...rows.map(({ body }) => String(body.org_id)))
        if (page === 'all') {
          for await (const batch of parts.documents.scan('org_session')) take(batch)
        } else {
          const found = await parts.documents.list('org_session', page)
          take(found.rows)
          total = found.total
        }
        return bare({ data: { keys }, pages: pagesOf(total, page) })
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: 'installation',
      summary: 'Create the limits of the organisation `org_id`',
      query: { suppress_reset: Type.String() },
      body: Type.Object({ org_id: Type.String({ minLength: 1 }) }, describedAs(SESSION_SCHEMA)),
      answers: { 200: Key },
      run(call) {
        const session = call.object()
        return save(call, String(session.org_id), session)
      },
    },
    {
      method: 'GET',
      path: `${PATH}/{id}`,
      access: 'installation',
      summary: 'Read the limits of an organisation',
      answers: { 200: Key },
      run: ofOne((_call, { body }) => shown(body)),
    },
    {
      method: 'PUT',
      path: `${PATH}/{id}`,
      access: 'installation',
      summary: 'Replace the limits of an organisation',
      query: { suppress_reset: Type.String() },
      body: Type.Object({}, describedAs(SESSION_SCHEMA)),
      answers: { 200: Key },
      run: ofOne((call) => {
        const session = call.object()
        const named = session.org_id ?? ''
        if (named !== '' && named !== call.param('id')) return refused(400, 'Updating orgID of org key is not allowed')
        return save(call, call.param('id'), session)
      }),
    },
    {
      method: 'DELETE',
      path: `${PATH}/{id}`,
      access: 'installation',
      summary: 'Delete the limits of an organisation',
      answers: { 200: DoneShape },
      run: ofOne(async (call) => {
        await removeOrgSession(parts, call.param('id'), INSTALLATION)
        return ok('Key deleted successfully.')
      }),
    },
  ]
}

const shown = (session: JsonObject): Answer =>
  bare({ api_model: {}, key_id: String(session.org_id), key_hash: '', data: session })

async function findSession(parts: DashboardParts, orgId: string): Promise<StoredDocument | undefined> {
  try {
    return await findOrgSession(parts, orgId)
  } catch (error) {
    if (toFault(error).code === 'not_found') return undefined
    throw error
  }
}
