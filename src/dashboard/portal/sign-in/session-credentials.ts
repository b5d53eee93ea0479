import { setTimeout as afterwards } from 'node:timers/promises'
import { fault, toFault, waitFault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import type { PasswordCaller } from '../../../model/passwords/password-gate.ts'
import { hashPassword, verifyPassword } from '../../../model/passwords/passwords.ts'
import { isBcryptHash } from '../../../model/passwords/passwords-bcrypt.ts'
import { toEmail } from '../../../model/people/user.ts'
import { developerByEmail } from '../../../publish/portal/developers/developers.ts'
import { rewriteDeveloper } from '../../../publish/portal/developers/developers-write.ts'
import type { Change, StoredDocument } from '../../../store/ports/ports.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { visitorBy } from '../../sign-in/attempts.ts'
import { beginPortalAttempt, type PortalCaller } from './session-throttle.ts'

/**
 * No refusal is sent earlier. Who has no account costs an argon2id hash, an imported password a bcrypt hash, and the difference must
 * not tell them apart: it covers bcrypt up to cost 12.
 */
const REFUSAL_MS = 500

/** An email address and a password, not verified yet. */
export interface PortalCredentials {
  readonly orgId: string
  readonly address: string
  readonly password: string
  /**
   * Who sends them: the developer's browser, where an inactive one is refused; or a portal that has asked for them, which looks at
   * `inactive` itself and may verify further.
   */
  readonly by: PortalCaller
}

/**
 * The developer whose password it is; the date of it is kept, an imported hash is replaced, and `changes` are written, in one commit.
 * @throws Fault `sign_in_failed` (401) after the same time for every reason, `sign_in_throttled` (429), `passwords_busy` (503)
 */
export async function provenDeveloper(
  parts: DashboardParts,
  call: Pick<Call, 'clientAddress' | 'peerAddress'>,
  sent: PortalCredentials,
  changes: (developer: StoredDocument) => readonly Change[] = () => [],
): Promise<StoredDocument> {
  const earliest = afterwards(REFUSAL_MS)
  const begun = beginPortalAttempt(parts, nameOf(sent), sent.by, call)
  if ('waitMs' in begun) {
    if (!parts.config.dashboard.security.hide_login_failure_limit_error) throw throttled(begun.waitMs)
    await verifyPassword(undefined, sent.password, { visitor: visitorBy(parts, call) })
    await earliest
    throw fault('sign_in_failed')
  }
  try {
    const developer = await proven(parts, sent, begun, changes)
    if (developer !== undefined) {
      begun.succeed()
      return developer
    }
  } catch (error) {
    begun.giveBack()
    throw error
  }
  await earliest
  throw fault('sign_in_failed')
}

/** The refusal that says how long to wait. */
function throttled(waitMs: number): Error {
  return waitFault('sign_in_throttled', waitMs, `Too many failed attempts, try again in ${Math.ceil(waitMs / 1000)} s`)
}

async function proven(
  parts: DashboardParts,
  { orgId, address, password, by }: PortalCredentials,
  caller: PasswordCaller,
  changes: (developer: StoredDocument) => readonly Change[],
): Promise<StoredDocument | undefined> {
  const developer = await developerByEmail(parts, orgId, address)
  const stored = passwordOf(developer?.body)
  const right = await verifyPassword(stored, password, caller)
  if (!right || developer === undefined || stored === undefined) return undefined
  const fresh = isBcryptHash(stored) ? await rehashed(password) : {}
  const rules = { orgId, actor: String(developer.body.email), action: undefined }
  try {
    const edit = ({ body }: StoredDocument) => {
      // Another one took its place while it was checked.
      if (body.password !== stored || (by === 'browser' && body.inactive === true)) throw fault('sign_in_failed')
      return { ...body, ...fresh, last_login_date: new Date(parts.clock.wall()).toISOString() }
    }
    return await rewriteDeveloper(parts, developer.id, rules, edit, changes(developer))
  } catch (error) {
    const { code } = toFault(error)
    if (code === 'sign_in_failed' || code === 'not_found') return undefined
    throw error
  }
}

/** Where too many passwords are being checked, the next sign-in does it. */
async function rehashed(password: string): Promise<JsonObject> {
  try {
    return { password: await hashPassword(password) }
  } catch (error) {
    if (toFault(error).code === 'passwords_busy') return {}
    throw error
  }
}

function passwordOf(body: JsonObject | undefined): string | undefined {
  const stored = body?.password
  return typeof stored === 'string' && stored !== '' ? stored : undefined
}

/** By the address as it is looked for, so that no spelling is another name. */
const nameOf = ({ orgId, address }: PortalCredentials) =>
  `${orgId}/${toEmail(address) ?? address.trim().toLowerCase().slice(0, 254)}`
