import { createClient } from '@redis/client'
import { fault } from '../../errors/fault.ts'
import type { Account, Host, RedisAddress } from './address.ts'
import { redisFault } from './faults.ts'

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
