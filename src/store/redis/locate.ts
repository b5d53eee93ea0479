import { readFileSync } from 'node:fs'
import { createClient } from '@redis/client'
import { fault } from '../../errors/fault.ts'
import { readPasswords } from '../../model/secrets/password-file.ts'
import { redisFault } from './faults.ts'

const PORT = 6_379
const SENTINEL_PORT = 26_379
const FORM = 'redis[s][+sentinel|+cluster]://[user:password@]host[:port][,host[:port]...][/database]'
const PARAMETERS = new Set(['master', 'sentinel_user', 'sentinel_password', 'password_file', 'cacert', 'cert', 'key'])

interface Host {
  readonly host: string
  readonly port: number
}

/** The account to sign in with. */
interface Account {
  readonly username: string | undefined
  /** Those to try, the first that is accepted counts; undefined = none is needed. Reads a file of them again each time. */
  readonly passwords: () => readonly (string | undefined)[]
}

/** How to reach the Redis that takes writes. Holds the password. */
interface RedisAddress {
  /** `server`: the one host. `sentinel`: the hosts are sentinels, which name it. `cluster`: the hosts are nodes of a Redis cluster. */
  readonly kind: 'server' | 'sentinel' | 'cluster'
  readonly hosts: readonly Host[]
  readonly account: Account
  readonly sentinelAccount: Account
  /** The name by which sentinels know the master; empty for other kinds. */
  readonly master: string
  readonly database: number
  /** undefined = no TLS. Reads the files, so that renewed certificates are used by the next connection. */
  readonly tls: (() => { readonly ca?: string; readonly cert?: string; readonly key?: string }) | undefined
}

/**
 * Reads an address such as `rediss://user:password@host:6379/0?cacert=FILE`,
 * `redis+sentinel://user:password@sentinel1:26379,sentinel2:26379/0?master=mymaster`, or `redis+cluster://user:password@node1:6379,node2:6379`.
 * `rediss` is with TLS, to sentinels too; `cacert`, `cert` and `key` name files (PEM), `password_file` one
 * with the passwords of the user.
 * @throws Fault `setting_invalid`; nothing of the address is in its text but names of parameters and files
 */
export function readRedisAddress(url: string): RedisAddress {
  // Without its cause, which quotes the URL and so the password.
  const refuse = (why = `is not of the form ${FORM}`) => fault('setting_invalid', `the URL of Redis ${why}`)
  const parts = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/([^/?#]*@)?([^/?#]*)(.*)$/.exec(url)
  const [, secure, kind = 'server', who = '', authority = '', rest] = parts ?? []
  const urls = authority.split(',').map((host) => `redis://${who}${host}${rest}`)
  if (parts === null || !urls.every((one) => URL.canParse(one))) throw refuse()
  const [first, ...others] = urls.map((one) => new URL(one)) as [URL, ...URL[]]
  const given = first.searchParams
  for (const name of given.keys()) if (!PARAMETERS.has(name)) throw refuse(`knows no parameter ${name.slice(0, 50)}`)
  const hosts = [first, ...others].map(({ hostname, port }) => ({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (kind === 'sentinel' ? SENTINEL_PORT : PORT),
  }))
  const database = first.pathname.slice(1)
  const master = given.get('master') ?? ''
  if (hosts.some(({ host }) => host === '') || !/^\d{0,5}$/.test(database)) throw refuse()
  if (kind === 'server' && others.length > 0)
    throw refuse('names several hosts: say by redis+sentinel:// or redis+cluster:// what they are')
  if ((kind === 'sentinel') !== (master !== '')) throw refuse('needs ?master=NAME with sentinels, and only with these')
  if (kind === 'cluster' && Number(database) !== 0) throw refuse('names a database, and a Redis cluster has only 0')
  for (const name of ['cacert', 'cert', 'key'])
    if (given.has(name) && secure === '') throw refuse(`names a ${name}, which is for rediss only`)
  const text = (encoded: string) => {
    try {
      return decodeURIComponent(encoded) || undefined
    } catch {
      throw refuse('holds what is not percent-encoded')
    }
  }
  const tls = () => {
    const files = ['cacert', 'cert', 'key'].map((name) => given.get(name))
    const [ca, cert, key] = files.map((path) => (path === null || path === undefined ? '' : readPem(path)))
    return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  }
  if (secure !== '') tls()
  const file = given.get('password_file')
  const password = text(first.password)
  return {
    kind: kind as RedisAddress['kind'],
    ...{ hosts, master, database: Number(database) },
    account: {
      username: text(first.username),
      passwords: file === null ? () => [password] : () => readPasswords(file, 'storage.redis_url'),
    },
    sentinelAccount: {
      username: given.get('sentinel_user') ?? undefined,
      passwords: () => [given.get('sentinel_password') ?? undefined],
    },
    tls: secure === '' ? undefined : tls,
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : path
    throw fault('setting_invalid', `a file that the URL of Redis names cannot be read: ${why}`)
  }
}

// Finds the server that takes writes, and connects to it.

/** For each host: after it the next one is asked. */
const CONNECT_MS = 2_000

export type RedisClient = ReturnType<typeof makeClient>

/** Where Redis was found, and what else was learned of its cluster. */
interface Found {
  readonly at: Host
  readonly nodes: readonly Host[]
}

/** Connects to the Redis that takes writes now; asks sentinels or nodes which one that is. Of a cluster it is the one that has the slot of a key. */
export class RedisLocator {
  private readonly address: RedisAddress
  private readonly key: string
  /** Whom to ask: the hosts of the address, and the nodes that were learned of. */
  private hosts: readonly Host[]

  constructor(address: RedisAddress, key: string) {
    this.address = address
    this.key = key
    this.hosts = address.hosts
  }

  /** True when another server may replace the one that was found. */
  get mayMove(): boolean {
    return this.address.kind !== 'server'
  }

  /**
   * A client that is ready; what sentinels and nodes say may be older than the last failover, so it may take no writes. `onError` hears
   * of the client's end; the client does not connect again by itself. @throws what the client threw, Fault `store_away`
   */
  async open(onError: (client: RedisClient, error: unknown) => void): Promise<RedisClient> {
    const { address } = this
    const { at, nodes } = await this.find()
    const client = await connect(address, at, address.account, address.database)
    client.on('error', (error) => onError(client, error))
    this.hosts = [...address.hosts, ...nodes]
    return client
  }

  private async find(): Promise<Found> {
    const { address } = this
    if (address.kind === 'server') return { at: address.hosts[0]!, nodes: [] }
    let reason: unknown
    for (const host of this.hosts) {
      try {
        return await this.ask(host)
      } catch (error) {
        reason = error
      }
    }
    throw reason
  }

  private async ask(host: Host): Promise<Found> {
    const { address } = this
    const account = address.kind === 'sentinel' ? address.sentinelAccount : address.account
    const client = await connect(address, host, account, 0)
    try {
      return await (address.kind === 'sentinel' ? this.askSentinel(client) : this.askNode(client, host))
    } finally {
      client.destroy()
    }
  }

  private async askSentinel(client: RedisClient): Promise<Found> {
    const { master } = this.address
    const reply = await client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master])
    if (!Array.isArray(reply)) throw fault('store_away', `Redis: a sentinel knows no master "${master}"`)
    return { at: { host: String(reply[0]), port: Number(reply[1]) }, nodes: [] }
  }

  private async askNode(client: RedisClient, asked: Host): Promise<Found> {
    const slot = Number(await client.sendCommand(['CLUSTER', 'KEYSLOT', this.key]))
    const ranges = (await client.sendCommand(['CLUSTER', 'SLOTS'])) as [number, number, ...[string | null, number][]][]
    // A node that does not know its own name leaves it out.
    const hostOf = ([host, port]: [string | null, number]): Host => ({ host: host || asked.host, port })
    const nodes = ranges.flatMap(([, , ...some]) => some.map(hostOf))
    const range = ranges.find(([from, to]) => from <= slot && slot <= to)
    if (range === undefined) throw fault('store_away', `Redis: no node of the cluster has slot ${slot}`)
    return { at: hostOf(range[2]!), nodes }
  }
}

function makeClient(
  { tls }: RedisAddress,
  { host, port }: Host,
  username: string | undefined,
  password: string | undefined,
  database: number,
) {
  const socket = { host, port, connectTimeout: CONNECT_MS, reconnectStrategy: false as const }
  return createClient({
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...{ database, disableOfflineQueue: true, disableClientInfo: true },
    socket: tls === undefined ? socket : { ...socket, tls: true as const, ...tls() },
  })
}

/** A client that is ready, by the first password that the server accepts. @throws what the client threw, Fault `store_refused` */
async function connect(address: RedisAddress, at: Host, account: Account, database: number): Promise<RedisClient> {
  let refused: unknown
  for (const password of account.passwords()) {
    const client = makeClient(address, at, account.username, password, database)
    // A call that fails reports it.
    client.on('error', () => {})
    // The handshake is bounded too: a server that hangs takes connections and answers nothing.
    const timer = setTimeout(() => client.destroy(), CONNECT_MS)
    try {
      await client.connect()
      return client
    } catch (error) {
      if (redisFault(error).code !== 'store_refused') throw error
      refused = error
    } finally {
      clearTimeout(timer)
    }
  }
  throw refused
}
