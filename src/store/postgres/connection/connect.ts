import { readFileSync } from 'node:fs'
import { Client, type ClientConfig, Pool, types } from 'pg'
import { fault } from '../../../errors/fault.ts'
import type { Log } from '../../../model/logs/log.ts'

// The one place where clients of PostgreSQL are made.

const CONNECT_TIMEOUT_MS = 5_000
const IDLE_MS = 30_000
const INT8 = 20
const NUMERIC = 1700
const JSON_TEXTS = new Set([114, 3802])

/** How to reach a server. Holds the password. */
export type Address = ClientConfig & { readonly host: string; readonly user: string; readonly database: string }

/**
 * Reads an address such as `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=FILE`. `sslmode` is
 * `disable`, `require` (the certificate is checked all the same), `verify-ca`, `verify-full` or `no-verify`; without one there
 * is no TLS, unless a certificate file is named. A folder of sockets is given as `?host=/run/postgresql`.
 * @throws Fault `setting_invalid`; nothing of the address is in its text but names of parameters and files
 */
export function readAddress(url: string, setting = 'storage.postgres_url'): Address {
  const refuse = (why: string) => fault('setting_invalid', `${setting}: ${why}`)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^postgres(?:ql)?:$/.test(parsed.protocol)) {
    throw refuse('must be an address such as postgres://user:password@host:5432/database')
  }
  const { searchParams: given } = parsed
  for (const name of given.keys()) if (!PARAMETERS.has(name)) throw refuse(`knows no parameter ${name.slice(0, 50)}`)
  const text = (encoded: string, what: string) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      throw refuse(`the ${what} is not percent-encoded`)
    }
  }
  const host = given.get('host') ?? text(parsed.hostname.replace(/^\[(.*)\]$/, '$1'), 'host')
  const user = text(parsed.username, 'user')
  const database = text(parsed.pathname.slice(1), 'database')
  if (host === '' || user === '' || database === '') throw refuse('must name user, host and database')
  const ssl = readTls(given, refuse)
  return {
    ...{ host, user, database, port: Number(given.get('port') ?? parsed.port) || 5432 },
    password: text(parsed.password, 'password'),
    application_name: given.get('application_name') ?? 'gatehouse',
    enableChannelBinding: given.get('channel_binding') === 'require',
    ...(ssl !== undefined && { ssl }),
  } as Address
}

const PARAMETERS = new Set([
  ...['host', 'port', 'application_name', 'channel_binding'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
])

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
export function addressText({ host, port, user, database }: Address): string {
  return `user "${user}" at ${host}:${port}, database "${database}"`
}

/** A separate connection; `connect` it. The event `end` reports its end. */
export function makeClient(address: Address, options: { pipeline?: boolean; query_timeout?: number } = {}): Client {
  const client = new Client({ ...address, ...SETTINGS, ...options })
  // A lost server would end the process otherwise; `end` follows.
  client.on('error', () => {})
  return client
}

/** A pool of at most `size` connections, made when they are needed. */
export function makePool(address: Address, size: number, log: Log): Pool {
  const pool = new Pool({ ...address, ...SETTINGS, max: size, idleTimeoutMillis: IDLE_MS })
  pool.on('error', (error) => log.debug({ err: error }, 'lost an idle PostgreSQL connection'))
  // While one is in use the pool does not listen.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const SETTINGS = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
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
