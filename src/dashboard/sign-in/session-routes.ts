import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { Millis } from '../../model/time/clock.ts'
import { isUnbounded } from '../access/actor.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import { moment } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'
import { browserOf, uncached, withCookie } from './browser.ts'
import { endedCookie } from './cookie.ts'
import { cameByTls } from './origin.ts'
import { OK } from './schemas.ts'
import { chooseOrganisation, endSessionOf, type ListedSession, listSessions } from './sessions.ts'

const Sessions = Type.Object(
  {
    sessions: Type.Array(
      Type.Object({
        id: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Id of the session: 64 hexadecimal digits.' }),
        current: Type.Boolean({ description: 'The one that asks.' }),
        via: Type.String({ description: '`password`, `passkey` or `sso`' }),
        address: Type.String({ description: 'Where it was opened.' }),
        agent: Type.String({ description: 'What the browser called itself.' }),
        created_at: moment('Time of the sign-in (RFC 3339).'),
        last_seen_at: moment('To about a minute.'),
        expires_at: moment('When it ends if it is not used again.'),
      }),
      { description: 'Open sessions of the user.' },
    ),
  },
  { title: 'SessionList' },
)

/** Where the caller is signed in, and ending one of these sessions. */
export function sessionRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/sessions',
      access: 'signed-in',
      summary: 'List the browser sessions of the caller, most recently used first',
      answers: { 200: Sessions },
      run: async (call) => {
        const { userId, sessionId } = call.actor!
        const sessions = await listSessions(parts, userId)
        return uncached(bare({ sessions: sessions.map((session) => shown(session, sessionId)) }))
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      access: 'signed-in',
      summary: 'Sign out of one browser session of the caller',
      answers: { 200: OK },
      run: async (call) => {
        const { userId, sessionId } = call.actor!
        const id = call.param('id')
        if (!(await endSessionOf(parts, userId, id))) throw fault('not_found', 'Session not found')
        const answer = ok('Session ended')
        return id === sessionId ? withCookie(answer, endedCookie(cameByTls(parts, call))) : uncached(answer)
      },
    },
    {
      method: 'PUT',
      path: '/api/session/organisation',
      access: 'signed-in',
      summary: 'Choose the organisation that the session of a user without one looks at; an empty id means all',
      refusals: [404],
      body: Type.Object({
        org_id: Type.String({ maxLength: 64, description: 'Id of the organisation to look at. Blank: all.' }),
      }),
      answers: { 200: OK },
      run: (call) => look(parts, call),
    },
  ]
}

/** @throws Fault `session_needed`, `permission_missing` (403) for users of an organisation, `not_found` (404) */
async function look(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie } = await browserOf(parts, call)
  const actor = call.actor!
  if (!isUnbounded(actor)) throw fault('permission_missing', 'only users without an organisation choose one to look at')
  const orgId = String(call.object().org_id)
  const found = isDocumentId(orgId) ? await parts.documents.get('organisation', orgId) : undefined
  if (orgId !== '' && found === undefined) throw fault('not_found', 'Could not retrieve org detail')
  await chooseOrganisation(parts, cookie, { orgId, actor: actor.email })
  return uncached(ok(orgId === '' ? 'All organisations are shown' : 'One organisation is shown'))
}

function shown({ id, via, address, agent, createdAt, seenAt, expiresAt }: ListedSession, own: string | undefined) {
  return {
    ...{ id, current: id === own, via, address, agent },
    created_at: date(createdAt),
    last_seen_at: date(seenAt),
    expires_at: date(expiresAt),
  }
}

const date = (time: Millis) => new Date(time).toISOString()
