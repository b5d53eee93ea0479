import { fault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { passwordRules } from '../../../model/passwords/password-rules.ts'
import { hashPassword, isPasswordHash, verifyPassword } from '../../../model/passwords/passwords.ts'
import { looksLikeBcrypt } from '../../../model/passwords/passwords-bcrypt.ts'
import { clockOf, type SecretParts } from '../../documents/parts.ts'

/** Fewest characters of a developer's password, with any schema file. */
const SHORTEST = 6
/** The schema where there is no schema file. */
export const DEVELOPER_PASSWORD_SCHEMA: JsonObject = { title: 'Password', type: 'string', minLength: SHORTEST }
/** Former passwords that are kept at most. */
const MOST_FORMER = 24

const fallbackRules = passwordRules(DEVELOPER_PASSWORD_SCHEMA)

/** The stored members of a password. */
export type StoredPassword = Pick<JsonObject, 'password' | 'password_updated' | 'PWHistory'>

/** A password that was sent for a developer. */
export interface SentPassword {
  readonly password: string
  /** How many former passwords, the present one included, may not be used again. */
  readonly history: number
  /** True: it may be a hash that another product made, which is kept as it is. */
  readonly imported: boolean
}

/**
 * The stored form of a developer's password: hashed, unless it is a hash already. `body` is that of the developer as it is now; `{}` for a
 * new one. @throws Fault `developer_password_invalid` (400) naming the rule that it breaks, `passwords_busy` (503)
 */
export async function storeDeveloperPassword(
  parts: SecretParts,
  body: JsonObject,
  { password, history, imported }: SentPassword,
): Promise<StoredPassword> {
  const hashed = imported && isPasswordHash(password)
  if (imported && !hashed && looksLikeBcrypt(password))
    throw fault(
      'developer_password_invalid',
      'bcrypt hashes of a cost above 14, or of the sort $2x$, cannot be taken over',
    )
  if (!hashed) await checkDeveloperPassword(parts, body, password, history)
  return {
    password: hashed ? password : await hashPassword(password),
    password_updated: new Date(clockOf(parts).wall()).toISOString(),
    PWHistory: formerOf(body).slice(0, Math.min(MOST_FORMER, Math.max(0, history - 1))),
  }
}

async function checkDeveloperPassword(
  { developerPasswordRules: rules = fallbackRules }: SecretParts,
  body: JsonObject,
  password: string,
  history: number,
): Promise<void> {
  if ([...password].length < SHORTEST)
    throw fault('developer_password_invalid', `must not be shorter than ${SHORTEST} characters`)
  const flaws = rules(password)
  if (flaws.length > 0) throw fault('developer_password_invalid', flaws.join('; '))
  const former = formerOf(body).slice(0, Math.min(MOST_FORMER, history))
  const same = await Promise.all(former.map((stored) => verifyPassword(stored, password)))
  if (same.includes(true)) throw fault('developer_password_invalid', `must not be one of the last ${history}`)
}

/** Hashes of the present password and of former ones, newest first. */
function formerOf({ password, PWHistory: past }: JsonObject): string[] {
  const former = Array.isArray(past) ? past : []
  return [password, ...former].filter((stored): stored is string => typeof stored === 'string' && stored !== '')
}
