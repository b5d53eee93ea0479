import { createClient } from '@redis/client'
import { type Fault, fault } from '../../errors/fault.ts'
import { isUnknownScript, redisFault } from './faults.ts'
import type { Script } from './scripts.ts'

const CONNECT_MS = 2_000
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000
/** A call that got no answer for so long: the connection is given up. */
const STALLED_MS = 1_000
const LOOK_MS = 250

export interface RedisOptions {
  /** `redis[s]://[user:password@]host[:port][/database]` */
  readonly url: string
  /** PEM of the authority that the server's certificate is checked against; undefined = those of the system. */
  readonly ca?: string
  /** Called when Redis becomes unreachable, with the reason, and when it is back, with undefined. */
  readonly onChange?: (trouble: Fault | undefined) => void
}

type Client = ReturnType<typeof makeClient>

/**
 * The connection to Redis, re-established for ever when it is lost, with growing waits that differ from node to node. Nothing waits
 * for it: while it is away every call fails at once.
 */
export class RedisConnection {
  private readonly options: RedisOptions
  private client: Client
  private trouble: Fault | undefined = fault('store_away', 'Redis: not connected yet')
  private closed = false
  /** When the calls that have no answer yet were made; in order, as answers come. */
  private readonly open: { readonly sinceMs: number }[] = []
  private readonly watch: NodeJS.Timeout
  private waiting: (() => void)[] = []

  /** @throws Fault `setting_invalid` when the URL is none */
  constructor(options: RedisOptions) {
    this.options = options
    this.client = this.connect()
    this.watch = setInterval(() => this.look(), LOOK_MS)
    this.watch.unref()
  }

  /** Why Redis cannot be asked now; undefined when it can. */
  get fault(): Fault | undefined {
    return this.trouble
  }

  /** Resolves when the connection is open or was refused, or after `withinMs` anyway. */
  settled(withinMs: number): Promise<void> {
    if (this.trouble === undefined || this.closed) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Runs a script; it is sent whole when Redis does not know it yet. @throws Fault `store_away`, `store_full`, `store_read_only`, `store_refused` */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await this.send(['EVALSHA', script.sha, ...rest])
    } catch (error) {
      if (!isUnknownScript(error)) throw redisFault(error)
      return this.command(['EVAL', script.text, ...rest])
    }
  }

  /** Runs a command. Throws as `run`. */
  async command(words: readonly string[]): Promise<unknown> {
    try {
      return await this.send(words)
    } catch (error) {
      throw redisFault(error)
    }
  }

  /** Closes the socket. Calls without a response fail. */
  close(): void {
    this.closed = true
    clearInterval(this.watch)
    this.trouble = fault('store_away', 'Redis: the connection is closed')
    this.client.destroy()
    this.wake()
  }

  private async send(words: readonly string[]): Promise<unknown> {
    if (this.trouble !== undefined) throw this.trouble
    const call = { sinceMs: performance.now() }
    this.open.push(call)
    try {
      return await this.client.sendCommand(words)
    } finally {
      // Answers come in the order of the calls, so it is among the first.
      this.open.splice(this.open.indexOf(call), 1)
    }
  }

  private connect(): Client {
    const client = makeClient(this.options)
    // Without a listener a lost server would end the process.
    client.on('error', (error) => this.away(client, error))
    client.on('ready', () => this.ready(client))
    client.connect().catch((error: unknown) => this.away(client, error))
    return client
  }

  private ready(client: Client): void {
    if (client !== this.client || this.closed) return
    this.trouble = undefined
    this.options.onChange?.(undefined)
    this.wake()
  }

  private away(client: Client, error: unknown): void {
    if (client !== this.client || this.closed) return
    const known = this.trouble !== undefined
    this.trouble = redisFault(error)
    if (!known) this.options.onChange?.(this.trouble)
    if (this.trouble.code === 'store_refused') this.wake()
  }

  /** A server that takes calls and answers none is as good as gone. */
  private look(): void {
    const oldest = this.open[0]
    if (oldest === undefined || performance.now() - oldest.sinceMs < STALLED_MS) return
    const stalled = this.client
    this.away(stalled, new Error(`no answer for ${STALLED_MS} ms`))
    this.client = this.connect()
    stalled.destroy()
  }

  private wake(): void {
    const all = this.waiting
    this.waiting = []
    for (const one of all) one()
  }
}

function makeClient({ url, ca }: RedisOptions) {
  try {
    const secure = url.startsWith('rediss:')
    const reconnectStrategy = (retries: number) =>
      Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10)) * (0.5 + Math.random() / 2)
    const socket = { connectTimeout: CONNECT_MS, reconnectStrategy }
    return createClient({
      url,
      disableOfflineQueue: true,
      disableClientInfo: true,
      socket: secure ? { ...socket, tls: true as const, ...(ca !== undefined && { ca }) } : socket,
    })
  } catch {
    // Without its cause, which quotes the URL and so the password.
    throw fault(
      'setting_invalid',
      'the URL of Redis is not of the form redis[s]://[user:password@]host[:port][/database]',
    )
  }
}
