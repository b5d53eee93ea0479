import { fault, waitFault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { readFields } from '../../../model/portal/developers/developer-fields.ts'
import { signupFieldsOf } from '../../../model/portal/settings/portal-configuration.ts'
import { createDeveloper } from '../../../publish/portal/developers/developers-write.ts'
import { portalConfiguration } from '../../../publish/portal/settings/configuration.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { sendPortalMail } from '../settings/portal-mails.ts'
import { newPortalSession, type OpenedPortalSession } from './session.ts'
import { beginSignUp } from './session-throttle.ts'

/** A developer who has signed up; the session is there unless the portal opens none by itself. */
export interface SignedUp {
  readonly developer: StoredDocument
  readonly opened: OpenedPortalSession | undefined
}

/** A field that every sign-up may have. */
const NAME = 'Name'

/**
 * Signs a stranger up as a developer, with the fields that the portal asks for and no others. A mail welcomes them.
 * @throws Fault `portal_signup_off`, `developer_email_taken`, `developer_quota_reached` (403), `developer_invalid`,
 * `developer_password_invalid` (400), `sign_in_throttled` (429), `passwords_busy` (503)
 */
export async function signUp(parts: DashboardParts, call: Call, orgId: string, sent: JsonObject): Promise<SignedUp> {
  const waitMs = beginSignUp(parts, call)
  if (waitMs > 0)
    throw waitFault('sign_in_throttled', waitMs, `Too many sign-ups, try again in ${Math.ceil(waitMs / 1000)} s`)
  const configuration = await portalConfiguration(parts, orgId)
  if (orgId === '' || configuration.disable_signup) throw fault('portal_signup_off')
  const { email = null, password } = sent
  // An empty one counts as none in a record; here everybody needs one.
  if (typeof password !== 'string' || password === '') throw fault('developer_password_invalid', 'it is missing')
  const fields = askedFields(sent.fields, signupFieldsOf(configuration))
  const opens = !configuration.disable_auto_login && !configuration.disable_login
  let opened: OpenedPortalSession | undefined
  const developer = await createDeveloper(
    parts,
    { email, password, fields },
    {
      ...{ orgId, actor: typeof email === 'string' ? email.slice(0, 254) : '', history: 0, imported: false },
      also(developerId) {
        if (!opens) return []
        const session = newPortalSession(parts, call, { developerId, orgId, via: 'sign-up' })
        opened = session.opened
        return [...session.changes]
      },
    },
  )
  // Nobody waits for the mail server.
  void sendPortalMail(parts, { sort: 'welcome_email', developer, values: {} })
  return { developer, opened }
}

/** @throws Fault `developer_invalid` (400) for a field that the portal does not ask for: portals rely on what they set themselves */
function askedFields(sent: JsonObject[string] | undefined, asked: readonly string[]): JsonObject {
  const fields = readFields(sent)
  const other = Object.keys(isObject(fields) ? fields : {}).find((name) => name !== NAME && !asked.includes(name))
  if (other !== undefined) throw fault('developer_invalid', `fields: ${other} is not asked for at sign-up`)
  return fields
}
