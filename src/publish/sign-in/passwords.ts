import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { checkPassword, passwordRules } from '../../model/passwords/password-rules.ts'
import { hashPassword, isPasswordHash, verifyPassword } from '../../model/passwords/passwords.ts'
import { looksLikeBcrypt } from '../../model/passwords/passwords-bcrypt.ts'
import { loginFamily, passwordStamp, securityOf } from '../../model/people/user-security.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type SecretParts, withLock } from '../documents/parts.ts'
import { putUser } from './rewrite-user.ts'

/** Fewest characters of a user's password, with any schema file. */
const SHORTEST = 6

const fallbackRules = passwordRules()

/** A password that replaces another one. */
export interface PasswordChange {
  /** All get the same password; read shortly before. */
  readonly users: readonly StoredDocument[]
  readonly password: string
  /** How many former passwords, the present one included, may not be used again. */
  readonly history: number
  /** It must be another one than the present one. */
  readonly mustDiffer?: boolean
  readonly actor: string
  /** True: for the users as they were read alone, not for what another write made of them meanwhile. */
  readonly asRead?: boolean
  /** Further changes for the same commit. */
  readonly changes?: readonly Change[]
}

/** @throws Fault `password_invalid` (400) that says which rule a password for a user breaks */
function checkUserPassword({ userPasswordRules = fallbackRules }: SecretParts, password: string): void {
  if ([...password].length < SHORTEST)
    throw fault('password_invalid', `must not be shorter than ${SHORTEST} characters`)
  checkPassword(userPasswordRules, password)
}

/**
 * The first password of a user: a text that meets the rules, hashed; or, where `imported`, an argon2id or bcrypt hash as it is. @throws
 * Fault `password_invalid` (400), naming a bcrypt hash that cannot be taken over, `passwords_busy` (503)
 */
export async function newUserPassword(
  parts: SecretParts,
  password: string,
  { imported = false }: { readonly imported?: boolean } = {},
): Promise<Pick<JsonObject, 'password_hash' | 'password_updated'>> {
  const kept = imported && isPasswordHash(password)
  if (imported && !kept && looksLikeBcrypt(password))
    throw fault(
      'password_invalid',
      'bcrypt hashes of a cost above 14, or of the flawed sort $2x$, cannot be taken over',
    )
  if (!kept) checkUserPassword(parts, password)
  return {
    password_hash: kept ? password : await hashPassword(password),
    password_updated: new Date(clockOf(parts).wall()).toISOString(),
  }
}

/**
 * Changes the password of users who share one, and ends all their browser sessions and everything that was started with the old password,
 * in one commit. API credentials stay.
 * @throws Fault `password_invalid` (400) naming the rule, `passwords_busy` (503), `revision_conflict` when one of them has changed their
 * password, and those of `changes`
 */
export async function changePassword(
  parts: SecretParts,
  { users, password, history, mustDiffer = false, actor, asRead = false, changes = [] }: PasswordChange,
): Promise<void> {
  checkUserPassword(parts, password)
  await checkHistory(users, password, mustDiffer ? Math.max(1, history) : history)
  const fresh = {
    password_hash: await hashPassword(password),
    password_updated: new Date(clockOf(parts).wall()).toISOString(),
  }
  await withLock(parts, () => writeAll(parts, users, fresh, { history, actor, asRead, changes }))
}

async function writeAll(
  parts: SecretParts,
  users: readonly StoredDocument[],
  fresh: JsonObject,
  { history, actor, asRead, changes }: Required<Pick<PasswordChange, 'history' | 'actor' | 'asRead' | 'changes'>>,
): Promise<void> {
  const writeOver = async (current: readonly StoredDocument[]) => {
    const writes = current.flatMap((user): Change[] => [
      putUser(user, { ...user.body, ...fresh, PWHistory: nextHistory(user, history) }),
      { op: 'endFamily', family: loginFamily(user.id) },
    ])
    const ids = users.map(({ id }) => id)
    const audit = auditOf(parts, actor, 'Change password', String(users[0]?.body.org_id ?? ''), { users: ids })
    await parts.documents.commit([...changes, ...writes], audit)
  }
  if (asRead) return writeOver(users)
  await retryOnConflict(async (attempt) => writeOver(attempt === 1 ? users : await readAgain(parts, users)))
}

/** Users that were changed meanwhile in another way than by their password. */
async function readAgain(parts: SecretParts, users: readonly StoredDocument[]): Promise<StoredDocument[]> {
  const again = await Promise.all(users.map(({ id }) => parts.documents.get('user', id)))
  return again.map((user, index) => {
    if (user !== undefined && stampOf(user) === stampOf(users[index]!)) return user
    throw fault('revision_conflict', 'the password was changed at the same time')
  })
}

/** A value that changes with every change of the user's password. */
export function stampOf({ body }: Pick<StoredDocument, 'body'>): string {
  return passwordStamp(securityOf(body))
}

/** Every other user with this email whose password is kept under the same hash: one person in several organisations. */
export async function sharingPassword(
  parts: SecretParts,
  user: StoredDocument,
  most: number,
): Promise<StoredDocument[]> {
  const stored = securityOf(user.body).password_hash
  const { email_address: email } = user.body
  if (stored === undefined || typeof email !== 'string' || email === '') return []
  const { rows } = await parts.documents.list('user', { where: { email }, limit: most })
  return rows.filter(({ id, body }) => id !== user.id && securityOf(body).password_hash === stored)
}

async function checkHistory(users: readonly StoredDocument[], password: string, history: number): Promise<void> {
  const former = new Set(users.flatMap(({ body }) => formerOf(body).slice(0, history)))
  const same = await Promise.all([...former].map((stored) => verifyPassword(stored, password)))
  if (!same.includes(true)) return
  const what = history === 1 ? 'the present one' : `one of the last ${history}`
  throw fault('password_invalid', `must not be ${what}`)
}

function formerOf(body: JsonObject): string[] {
  const { password_hash: stored, PWHistory: past } = securityOf(body)
  return [...(stored === undefined ? [] : [stored]), ...past]
}

/** Former passwords to keep: the present one joins those from which the next may not be taken. */
function nextHistory({ body }: StoredDocument, history: number): string[] {
  return formerOf(body).slice(0, Math.max(0, history - 1))
}
