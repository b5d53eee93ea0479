import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { normaliseText } from '../text/fold.ts'
import { type PasswordCaller, type PasswordGate, passwordGate } from './password-gate.ts'
import { isBcryptHash, verifyBcrypt } from './passwords-bcrypt.ts'

interface Cost {
  /** KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/**
 * Argon2id (RFC 9106) with 32 MiB and two passes: 78 ms on one core of an AMD EPYC, above the least that OWASP names (19 MiB, two
 * passes). More passes or memory would cost 100 to 280 ms, which two slots for the whole process do not bear.
 */
const COST: Cost = { memory: 32_768, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32
const LONGEST = 1024
/** The allowed cost of a hash from elsewhere: memory times passes, in KiB. */
const MOST_WORK = 262_144
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

interface Stored extends Cost {
  readonly salt: Buffer
  readonly tag: Buffer
}

/** Longest password that is looked at, in characters. */
export const PASSWORD_MOST = LONGEST

/** Hashes a password for keeping, as `$argon2id$v=19$m=..,t=..,p=..$salt$tag`. @throws Fault `passwords_busy` (503) */
export async function hashPassword(password: string, gate: PasswordGate = passwordGate): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await derive(password, { ...COST, salt, tag: Buffer.alloc(TAG_BYTES) }, gate)
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

/**
 * True when the password is the one that was hashed. `stored` undefined, or no hash that we can check, costs the same time and
 * answers false; a bcrypt hash of another product costs what it was made to cost. `caller`: who asks, where that is anybody. @throws Fault `passwords_busy` (503)
 */
export async function verifyPassword(
  stored: string | undefined,
  password: string,
  caller?: PasswordCaller,
  gate: PasswordGate = passwordGate,
): Promise<boolean> {
  if (stored !== undefined && isBcryptHash(stored))
    return password.length <= LONGEST && gate.run(() => verifyBcrypt(stored, password), caller)
  const known = stored === undefined ? undefined : parsed(stored)
  const against = known ?? NOBODY
  // Longer ones were never stored; the time goes by all the same.
  const looked = password.length <= LONGEST ? password : ''
  const tag = await derive(looked, against, gate, caller)
  const equal = timingSafeEqual(tag, against.tag)
  return equal && known !== undefined && looked === password
}

/** True for a hash of `hashPassword`, or another product's argon2id or bcrypt whose cost is within bounds. */
export function isPasswordHash(text: string): boolean {
  return parsed(text) !== undefined || isBcryptHash(text)
}

const NOBODY: Stored = { ...COST, salt: randomBytes(SALT_BYTES), tag: randomBytes(TAG_BYTES) }

function parsed(text: string): Stored | undefined {
  const match = PHC.exec(text)
  if (match === null) return undefined
  const [memory, passes, parallelism] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const salt = Buffer.from(match[4]!, 'base64')
  const tag = Buffer.from(match[5]!, 'base64')
  const affordable = passes >= 1 && parallelism >= 1 && parallelism <= 4 && memory * passes <= MOST_WORK
  if (!affordable || memory < 8 * parallelism || salt.length < 8 || tag.length < 16) return undefined
  return { memory, passes, parallelism, salt, tag }
}

function derive(
  password: string,
  { salt, tag, ...cost }: Stored,
  gate: PasswordGate,
  caller?: PasswordCaller,
): Promise<Buffer> {
  // The same characters typed on another machine may come composed in another way.
  const message = normaliseText(password)
  const work = () =>
    new Promise<Buffer>((resolve, reject) => {
      argon2('argon2id', { ...cost, message, nonce: salt, tagLength: tag.length }, (error, derived) => {
        if (error) reject(fault('internal', 'argon2 failed', error))
        else resolve(derived)
      })
    })
  return gate.run(work, caller)
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
