import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { Client, type ClientBase, type ClientConfig, Pool, types } from 'pg'
import { fault } from '../../../errors/fault.ts'
import type { Log } from '../../../model/logs/log.ts'
import { readPasswords } from '../../../model/secrets/password-file.ts'
import { isLost, READ_ONLY, sqlState, UNCONNECTED, WRONG_PASSWORD } from './faults.ts'

// The one place where clients of PostgreSQL are made.

const CONNECT_TIMEOUT_MS = 5_000
/** Of one of several hosts: the next one is to be reached within the patience of callers. */
const HOST_TIMEOUT_MS = 2_000
const IDLE_MS = 30_000
const INT8 = 20
const NUMERIC = 1700
const JSON_TEXTS = new Set([114, 3802])

/** How to reach a server, or the writable one of several. Holds the password. */
export interface Address {
  readonly hosts: Hosts
  readonly user: string
  readonly database: string
  readonly passwords: Passwords
  readonly config: ClientConfig
}

interface Host {
  readonly host: string
  readonly port: number
}

/** The hosts of an address. All connections go to the one that worked last; one that fails makes way for the next. */
class Hosts {
  readonly all: readonly Host[]
  /** True: a host that takes no writes is passed over. */
  readonly writable: boolean
  private current = 0

  constructor(all: readonly Host[], writable: boolean) {
    this.all = all
    this.writable = writable
  }

  /** Where to connect next. */
  get target(): Host {
    return this.all[this.current]!
  }

  /** The host could not be reached, or takes no writes. Several connections may say so of the same one. */
  failed(host: Host): void {
    if (host === this.target) this.current = (this.current + 1) % this.all.length
  }
}

/**
 * The passwords of a user: connections begin with the one that worked last, and pass over those that were refused since.
 * Several connections begin at the same time, so a refusal says which password it was for.
 */
class Passwords {
  private readonly read: () => readonly string[]
  private worked: string | undefined
  private readonly refusedSince = new Set<string>()

  constructor(read: () => readonly string[]) {
    this.read = read
  }

  /** The one to try next. @throws Fault `store_refused` when a file of them cannot be read */
  get current(): string {
    const all = this.read()
    const untried = all.filter((password) => !this.refusedSince.has(password))
    return untried.find((password) => password === this.worked) ?? untried[0] ?? all[0]!
  }

  accepted(password: string): void {
    this.worked = password
    this.refusedSince.clear()
  }

  /** True when there is another that was not refused since. When all were, the next connection begins again with the first. */
  refused(password: string): boolean {
    this.refusedSince.add(password)
    if (this.read().some((other) => !this.refusedSince.has(other))) return true
    this.refusedSince.clear()
    return false
  }
}

/**
 * Reads an address such as `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=FILE`. `sslmode` is
 * `disable`, `require` (the certificate is checked all the same), `verify-ca`, `verify-full` or `no-verify`; without one there
 * is no TLS, unless a certificate file is named. A folder of sockets is given as `?host=/run/postgresql`. Several hosts are separated by
 * commas; of these the one that takes writes is used, unless `target_session_attrs` is `any`. `password_file` names a file with the passwords of the user.
 * @throws Fault `setting_invalid`; nothing of the address is in its text but names of parameters and files
 */
export function readAddress(url: string, setting = 'storage.postgres_url'): Address {
  const refuse = (why: string) => fault('setting_invalid', `${setting}: ${why}`)
  const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/.exec(url)
  const [, scheme, who = '', authority = '', rest] = parts ?? []
  const urls = authority.split(',').map((host) => `${scheme}${who}${host}${rest}`)
  if (parts === null || !urls.every((one) => URL.canParse(one))) {
    throw refuse('must be an address such as postgres://user:password@host:5432/database')
  }
  const parsed = urls.map((one) => new URL(one))
  const first = parsed[0]!
  const given = first.searchParams
  for (const name of given.keys()) if (!PARAMETERS.has(name)) throw refuse(`knows no parameter ${name.slice(0, 50)}`)
  const text = (encoded: string, what: string) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      throw refuse(`the ${what} is not percent-encoded`)
    }
  }
  const names =
    given.get('host')?.split(',') ?? parsed.map(({ hostname }) => text(hostname.replace(/^\[(.*)\]$/, '$1'), 'host'))
  const ports = given.get('port')?.split(',') ?? parsed.map(({ port }) => port)
  const hosts = names.map((host, i) => ({ host, port: Number(ports.length === 1 ? ports[0] : ports[i]) || 5432 }))
  const user = text(first.username, 'user')
  const database = text(first.pathname.slice(1), 'database')
  if (names.includes('') || user === '' || database === '') throw refuse('must name user, host and database')
  const ssl = readTls(given, refuse)
  const file = given.get('password_file')
  const password = text(first.password, 'password')
  return {
    hosts: new Hosts(hosts, readTarget(given, hosts.length, refuse)),
    passwords: new Passwords(file === null ? () => [password] : () => readPasswords(file, setting)),
    ...{ user, database },
    config: {
      ...{ user, database },
      application_name: given.get('application_name') ?? 'gatehouse',
      enableChannelBinding: given.get('channel_binding') === 'require',
      ...(ssl !== undefined && { ssl }),
    } as ClientConfig,
  }
}

const PARAMETERS = new Set([
  ...['host', 'port', 'application_name', 'channel_binding', 'password_file'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs'],
])

/** True when only a host that takes writes will do. The store writes always, so that is the default where there is a choice. */
function readTarget(given: URLSearchParams, hosts: number, refuse: (why: string) => Error): boolean {
  const wanted = given.get('target_session_attrs') ?? (hosts > 1 ? 'read-write' : 'any')
  if (wanted !== 'read-write' && wanted !== 'primary' && wanted !== 'any')
    throw refuse('target_session_attrs must be one of read-write, primary, any')
  return wanted !== 'any'
}

function readTls(given: URLSearchParams, refuse: (why: string) => Error): ClientConfig['ssl'] {
  const file = (name: string) => {
    const path = given.get(name)
    if (path === null) return undefined
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      throw refuse(`${name} cannot be read: ${error instanceof Error ? error.message : path}`)
    }
  }
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')]
  const named = ca !== undefined || cert !== undefined || key !== undefined
  const mode = given.get('sslmode') ?? (named ? 'verify-full' : 'disable')
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  switch (mode) {
    case 'disable':
      return undefined
    case 'no-verify':
      return { ...files, rejectUnauthorized: false }
    case 'verify-ca':
      return { ...files, checkServerIdentity: () => undefined }
    case 'require':
    case 'verify-full':
      return files
    default:
      throw refuse('sslmode must be one of disable, require, verify-ca, verify-full, no-verify')
  }
}

/** Says where an address leads, without the password. */
export function addressText({ hosts, user, database }: Address): string {
  const places = hosts.all.map(({ host, port }) => `${host}:${port}`)
  return `user "${user}" at ${places.join(', ')}, database "${database}"`
}

/** A separate connection; `connect` it. The event `end` reports its end. */
export function makeClient(
  address: Address,
  options: { pipeline?: boolean; query_timeout?: number; connectionTimeoutMillis?: number } = {},
): Client {
  const settings = settingsOf(address)
  const connectionTimeoutMillis = Math.min(
    settings.connectionTimeoutMillis,
    options.connectionTimeoutMillis ?? Number.POSITIVE_INFINITY,
  )
  return new (clientOf(address))({ ...address.config, ...settings, ...options, connectionTimeoutMillis })
}

/** Ends a connection at once: what was asked on it, and has no answer yet, fails as lost. `end` would wait for the answers. */
export function breakOff(client: ClientBase): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
  connection.stream.destroy()
}

/** A pool of at most `size` connections, made when they are needed. */
export function makePool(address: Address, size: number, log: Log): Pool {
  const pool = new Pool({
    ...address.config,
    ...settingsOf(address),
    Client: clientOf(address),
    max: size,
    idleTimeoutMillis: IDLE_MS,
  })
  pool.on('error', (error) => log.debug({ err: error }, 'lost an idle PostgreSQL connection'))
  return pool
}

/** A class of clients that connect to the current one of these hosts, and pass on to the next when it cannot be used. */
function clientOf({ hosts, passwords }: Address): typeof Client {
  return class HostClient extends Client {
    readonly #host: Host
    #password = ''

    constructor(config?: ClientConfig | string) {
      const host = hosts.target
      super({ ...(config as ClientConfig), password: () => this.#nextPassword(), ...host })
      this.#host = host
      // A server that goes would end the process otherwise, also between the end of the sign-in and whatever its maker does next; `end` follows.
      this.on('error', () => {})
    }

    #nextPassword(): string {
      this.#password = passwords.current
      return this.#password
    }

    /** With a callback for a pool, else as a promise. */
    override connect(callback?: unknown): Promise<never> {
      const opened = this.#open() as Promise<never>
      if (typeof callback !== 'function') return opened
      opened.then(
        () => callback(null, this),
        (error: unknown) => callback(error),
      )
      return opened
    }

    async #open(): Promise<void> {
      try {
        await super.connect()
        passwords.accepted(this.#password)
        if (hosts.writable) await this.#mustTakeWrites()
      } catch (error) {
        if (sqlState(error) === WRONG_PASSWORD && passwords.refused(this.#password))
          throw Object.assign(new Error('the password was refused, and there is another'), { code: UNCONNECTED })
        if (isLost(error)) hosts.failed(this.#host)
        throw error
      }
    }

    async #mustTakeWrites(): Promise<void> {
      const { rows } = await this.query<{ transaction_read_only: string }>('SHOW transaction_read_only')
      if (rows[0]?.transaction_read_only === 'off') return
      await this.end()
      const { host, port } = this.#host
      throw Object.assign(new Error(`${host}:${port} takes no writes`), { code: READ_ONLY })
    }
  }
}

function settingsOf({ hosts }: Address): ClientConfig & { readonly connectionTimeoutMillis: number } {
  return { ...SETTINGS, connectionTimeoutMillis: hosts.all.length > 1 ? HOST_TIMEOUT_MS : CONNECT_TIMEOUT_MS }
}

const SETTINGS = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  types: {
    getTypeParser(oid: number, format?: 'text' | 'binary') {
      if (oid === INT8 || oid === NUMERIC) return Number
      if (JSON_TEXTS.has(oid)) return String
      return types.getTypeParser(oid, format as 'text')
    },
  },
} as ClientConfig
