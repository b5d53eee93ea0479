import { setTimeout as wait } from 'node:timers/promises'
import { type Fault, fault } from '../../errors/fault.ts'
import { DurationHistogram } from '../../model/metrics/metric-registry.ts'
import { hasMoved, isOutage, isUnknownScript, redisFault } from './faults.ts'
import { type RedisClient, RedisLocator, readRedisAddress } from './locate.ts'
import type { Script } from './scripts.ts'

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000
/** A call that got no answer for so long: the connection is given up. */
const STALLED_MS = 1_000
const LOOK_MS = 250
/** A connection that carried nothing for so long is tried: who is idle notices as well. */
const IDLE_MS = 1_000
/** The lifetime of the key that is written to find out whether Redis accepts writes. */
const TRIAL_KEPT_MS = 10_000
const DURATION_BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000]

export interface RedisOptions {
  /** `storage.redis_url`, see `readRedisAddress`. */
  readonly url: string
  /** Called when Redis takes no calls any more, or no writes, with the reason, and once it does again, with undefined. */
  readonly onChange?: (trouble: Fault | undefined) => void
}

/**
 * The connection to the Redis that takes writes, re-established for ever when it is lost, with growing waits that differ from node to node. Nothing waits
 * for it: while it is away every call fails at once. A Redis that answers but takes no writes (out of memory, a replica) is as good as
 * away. It is back when a trial write succeeds.
 */
export class RedisConnection {
  private readonly options: RedisOptions
  private readonly trialKey: string
  private readonly locator: RedisLocator
  private client: RedisClient | undefined
  /** Tries to connect since Redis was available. */
  private retries = 0
  private trouble: Fault | undefined = fault('store_away', 'Redis: not connected yet')
  private closed = false
  /** When the calls that have no answer yet were made; in order, as answers come. */
  private readonly open: { readonly sinceMs: number }[] = []
  private readonly watch: NodeJS.Timeout
  private waiting: (() => void)[] = []
  /** The client on which a trial write is on its way. */
  private triedOn: RedisClient | undefined
  private answeredMs = 0
  /** Of calls that were answered. */
  readonly durations = new DurationHistogram(DURATION_BOUNDS_MS)

  /** `trialKey`: written to find out whether Redis takes writes; in the slot of all others. @throws Fault `setting_invalid` when the URL is none */
  constructor(options: RedisOptions, trialKey: string) {
    this.options = options
    this.trialKey = trialKey
    this.locator = new RedisLocator(readRedisAddress(options.url), trialKey)
    void this.connect()
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
      if (!isUnknownScript(error)) throw this.noteFailure(error)
      return this.command(['EVAL', script.text, ...rest])
    }
  }

  /** Runs a command. Throws as `run`. */
  async command(words: readonly string[]): Promise<unknown> {
    try {
      return await this.send(words)
    } catch (error) {
      throw this.noteFailure(error)
    }
  }

  /** Closes the socket. Calls without a response fail. */
  close(): void {
    this.closed = true
    clearInterval(this.watch)
    this.trouble = fault('store_away', 'Redis: the connection is closed')
    this.client?.destroy()
    this.wake()
  }

  private send(words: readonly string[]): Promise<unknown> {
    return this.trouble === undefined ? this.sendOn(this.client!, words) : Promise.reject(this.trouble)
  }

  private async sendOn(client: RedisClient, words: readonly string[]): Promise<unknown> {
    const call = { sinceMs: performance.now() }
    this.open.push(call)
    try {
      const answer = await client.sendCommand(words)
      this.answeredMs = performance.now()
      this.durations.add((this.answeredMs - call.sinceMs) / 1000)
      return answer
    } finally {
      // Answers come in the order of the calls, so it is among the first.
      this.open.splice(this.open.indexOf(call), 1)
    }
  }

  /** Tries until there is a connection. */
  private async connect(): Promise<void> {
    while (!this.closed) {
      if (this.retries > 0) {
        const restMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.retries - 1, 10))
        await wait(restMs * (0.5 + Math.random() / 2), undefined, { ref: false })
      }
      this.retries++
      try {
        const client = await this.locator.open((ended, error) => this.onLost(ended, error))
        if (this.closed) return client.destroy()
        this.client = client
        return this.try()
      } catch (error) {
        this.markAway(error)
      }
    }
  }

  /** Writes on trial: a Redis that takes writes is available. */
  private try(): void {
    const { client } = this
    if (this.closed || client === undefined || this.triedOn === client) return
    this.triedOn = client
    this.sendOn(client, ['SET', this.trialKey, '1', 'PX', String(TRIAL_KEPT_MS)])
      .then(
        () => this.onAvailable(client),
        (error) => this.onUnavailable(client, error),
      )
      .finally(() => {
        if (this.triedOn === client) this.triedOn = undefined
      })
  }

  private onAvailable(client: RedisClient): void {
    if (client !== this.client || this.closed || this.trouble === undefined) return
    this.retries = 0
    this.trouble = undefined
    this.options.onChange?.(undefined)
    this.wake()
  }

  /** Returns the fault of a call. Where Redis answered that it serves no calls for now, also marks it as away: the next calls fail at once. */
  private noteFailure(error: unknown): Fault {
    if (isOutage(error) && this.client !== undefined) this.onUnavailable(this.client, error)
    return redisFault(error)
  }

  /** It answered, but takes no writes: another may. */
  private onUnavailable(client: RedisClient, error: unknown): void {
    if (this.locator.mayMove && hasMoved(error)) this.onLost(client, error)
    else if (client === this.client) this.markAway(error)
  }

  /** The connection ended, or another server is to be asked. */
  private onLost(client: RedisClient, error: unknown): void {
    if (client !== this.client || this.closed) return
    this.client = undefined
    this.markAway(error)
    client.destroy()
    void this.connect()
  }

  private markAway(error: unknown): void {
    if (this.closed) return
    const known = this.trouble !== undefined
    this.trouble = redisFault(error)
    if (!known) this.options.onChange?.(this.trouble)
    if (this.trouble.code === 'store_refused') this.wake()
  }

  /** A server that takes calls and answers none is as good as gone. */
  private look(): void {
    const oldest = this.open[0]
    const now = performance.now()
    if (oldest === undefined || now - oldest.sinceMs < STALLED_MS) {
      if (this.trouble !== undefined || now - this.answeredMs >= IDLE_MS) this.try()
      return
    }
    if (this.client !== undefined) this.onLost(this.client, new Error(`no answer for ${STALLED_MS} ms`))
  }

  private wake(): void {
    const all = this.waiting
    this.waiting = []
    for (const one of all) one()
  }
}

const WITHIN_MS = 3_000

/** The policy of Redis for when it has no memory left; '' where it does not say. @throws Fault `store_away`, `store_refused`, `setting_invalid` */
export async function evictionPolicy(url: string): Promise<string> {
  const connection = new RedisConnection({ url }, 'gatehouse:{counts}:trial')
  try {
    await connection.settled(WITHIN_MS)
    await connection.command(['PING'])
    // Not every account may ask, and not every service knows the command.
    const answer = await connection.command(['CONFIG', 'GET', 'maxmemory-policy']).catch(() => [])
    const values = Array.isArray(answer) ? answer : Object.values(answer as object)
    return String(values.at(-1) ?? '')
  } finally {
    connection.close()
  }
}
