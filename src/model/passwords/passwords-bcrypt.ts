import { fault } from '../../errors/fault.ts'
import { TaskThread } from '../threads/task-thread.ts'
import type { BcryptTask } from './passwords-bcrypt-thread.ts'

/** `$2x$` was made by a flawed implementation: what it hashed is not what was typed. */
const HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/
const LIKE = /^\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}$/
const LEAST_COST = 4
/** Each more doubles the work: about a second at 14. */
const MOST_COST = 14

/** True for what is meant as a bcrypt hash, also where it is none that we take. */
export function looksLikeBcrypt(text: string): boolean {
  return LIKE.test(text)
}

/** True for a bcrypt hash that others made (`$2a$`, `$2b$`, `$2y$`) and that costs no more than 14. */
export function isBcryptHash(text: string): boolean {
  const cost = Number(HASH.exec(text)?.[1])
  return cost >= LEAST_COST && cost <= MOST_COST
}

/**
 * True when the password matches the hash; only its first 72 bytes count, as in bcrypt. The work is done on a
 * separate thread, one after the other: it is plain JavaScript, and must not block others.
 * @throws Fault `internal` when the thread fails
 */
export async function verifyBcrypt(stored: string, password: string): Promise<boolean> {
  try {
    return await thread.run({ stored, password })
  } catch (cause) {
    throw fault('internal', 'the thread that checks bcrypt hashes ended', cause)
  }
}

/** Module state: one thread bounds the CPU of the process, whichever part checks a password. */
const thread = new TaskThread<BcryptTask, boolean>({
  module: new URL(import.meta.url.replace(/passwords-bcrypt\.([jt]s)$/, 'passwords-bcrypt-thread.$1')),
  name: 'bcrypt',
  withinMs: 60_000,
  memoryMb: 64,
  // How many passwords are checked at once is bounded before.
  mostWaiting: Number.POSITIVE_INFINITY,
})
