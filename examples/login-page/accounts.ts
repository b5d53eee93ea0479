import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const HASH_BYTES = 32
const MAX_PASSWORD = 200
const WRONG_TRIES = 5
const WINDOW_MS = 600_000
const MAX_NAMES = 10_000

interface Account {
  readonly salt: Buffer
  readonly hash: Buffer
}

/** The people who may sign in. A real identity server has them in a directory. */
export class Accounts {
  readonly #accounts = new Map<string, Account>()
  readonly #wrong = new Map<string, { count: number; until: number }>()
  /** The password hash for unknown names, so that these take as long as the others. */
  #nobody: Account | undefined

  async add(name: string, password: string): Promise<void> {
    this.#accounts.set(name, await hashed(password))
  }

  /** True when the password is that of the name. After five wrong ones it is false for ten minutes: see `locked`. */
  async check(name: string, password: string): Promise<boolean> {
    this.#nobody ??= await hashed(randomBytes(HASH_BYTES).toString('hex'))
    if (this.locked(name) || password.length > MAX_PASSWORD) return false
    this.#count(name)
    const account = this.#accounts.get(name) ?? this.#nobody
    const fits = timingSafeEqual(await derive(password, account.salt, HASH_BYTES), account.hash)
    if (!fits || account === this.#nobody) return false
    this.#wrong.delete(name)
    return true
  }

  /** True while there were too many wrong passwords for a name. */
  locked(name: string): boolean {
    const wrong = this.#wrong.get(name)
    return wrong !== undefined && wrong.until > Date.now() && wrong.count >= WRONG_TRIES
  }

  /** Counts an attempt before the password is checked: many at once are many attempts. */
  #count(name: string): void {
    const before = this.#wrong.get(name)
    const now = Date.now()
    const { count, until } = before !== undefined && before.until > now ? before : { count: 0, until: now + WINDOW_MS }
    this.#wrong.delete(name)
    this.#wrong.set(name, { count: count + 1, until })
    if (this.#wrong.size > MAX_NAMES) this.#wrong.delete(this.#wrong.keys().next().value!)
  }
}

async function hashed(password: string): Promise<Account> {
  const salt = randomBytes(16)
  return { salt, hash: await derive(password, salt, HASH_BYTES) }
}
