import { isDocumentId } from '../../model/documents/ids.ts'
import type { PasswordCaller } from '../../model/passwords/password-gate.ts'
import { verifyPassword } from '../../model/passwords/passwords.ts'
import { toEmail, userOf } from '../../model/people/user.ts'
import { securityOf } from '../../model/people/user-security.ts'
import { effective } from '../../publish/people/effective.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'

/** Accounts of one address that are looked at: one in each organisation. */
const MOST_ACCOUNTS = 100
/** Different passwords of one address that are tried where its owner does not name the organisation. */
const MOST_PASSWORDS = 2

/** Accounts of an email address, the oldest first; one that is no address has none, which takes as long. */
export async function accountsOf({ documents }: DashboardParts, address: string): Promise<StoredDocument[]> {
  // An address that cannot be stored is looked for as any other.
  const email = toEmail(address) ?? address.slice(0, 254)
  const { rows } = await documents.list('user', { where: { email }, limit: MOST_ACCOUNTS })
  return rows
}

/**
 * The accounts of an email address and a password; none when either is wrong. Hashes as many passwords for an address
 * that is unknown as for one that exists: one; or, with `enable_multi_org_users` and no organisation named, two: of an
 * address with more than two different passwords the ones that were set last count, the others open when the organisation is named.
 * Does not check whether an account may be used. @throws Fault `passwords_busy` (503), `store_away`
 */
export async function usersWithPassword(
  parts: DashboardParts,
  { address, password, orgId }: { readonly address: string; readonly password: string; readonly orgId?: string },
  caller: PasswordCaller,
): Promise<StoredDocument[]> {
  const several = parts.config.dashboard.enable_multi_org_users
  const all = await accountsOf(parts, address)
  const named = orgId === undefined ? all : all.filter(({ body }) => body.org_id === orgId)
  const accounts = several ? named : named.slice(0, 1)
  const tries = several && orgId === undefined ? MOST_PASSWORDS : 1
  const hashes = newestHashes(accounts)
  const right = await Promise.all(
    Array.from({ length: tries }, (_, index) => verifyPassword(hashes[index], password, caller)),
  )
  const open = new Set(hashes.slice(0, tries).filter((_, index) => right[index]))
  return accounts.filter(({ body }) => open.has(securityOf(body).password_hash ?? ''))
}

/** True when this user may sign in now: it and its group are active, and its organisation exists. */
export async function maySignIn(parts: DashboardParts, user: StoredDocument): Promise<boolean> {
  const { org_id: orgId } = user.body
  if (!(await effective(parts, userOf(user))).active) return false
  return orgId === '' || (isDocumentId(orgId) && (await parts.documents.get('organisation', orgId)) !== undefined)
}

function newestHashes(users: readonly StoredDocument[]): string[] {
  const dated = users.flatMap(({ body }) => {
    const { password_hash: stored, password_updated: since = '' } = securityOf(body)
    return stored === undefined ? [] : [{ stored, since }]
  })
  dated.sort((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0))
  return [...new Set(dated.map(({ stored }) => stored))]
}
