import { Worker } from 'node:worker_threads'
import { fault } from '../../../errors/fault.ts'
import type { Hit } from '../../../model/analytics/hit.ts'
import { ThreadClient } from '../../../model/threads/thread-rpc.ts'
import type { UsageQuery } from '../../ports/ports.ts'

/** The request to the thread. `journal`: rows that are not in the tables yet are added. */
export type UsageAsk =
  | { readonly sort: 'page'; readonly query: UsageQuery & { offset: number; limit: number }; readonly journal: boolean }
  /** Settles the rows of an answer; they are then asked for with its number. */
  | { readonly sort: 'open'; readonly query: UsageQuery; readonly journal: boolean }
  | { readonly sort: 'next'; readonly of: number }
  | { readonly sort: 'drop'; readonly of: number }

export interface UsagePage {
  readonly rows: Hit[]
  readonly total: number
}

/** Of `page` a page, of `open` the number of the answer, of `next` its next rows, undefined after the last; of `drop` nothing. */
export type UsageAnswer = UsagePage | number | readonly Hit[] | undefined

/** An answer that is too large for it costs the thread, not the process. */
const MEMORY_MB = 512

/**
 * Reads usage on a separate thread, for any duration: a year of many callers is seconds. The thread is started when it is first
 * needed, and again after it has ended.
 */
export class UsageLink {
  private readonly file: string
  private worker: Worker | undefined
  private client: ThreadClient<UsageAsk, UsageAnswer> | undefined
  private closed = false

  /** `file`: the database, which must be there when something is asked. */
  constructor(file: string) {
    this.file = file
  }

  /** A page and the number of all rows. @throws Fault `store_away`, `store_damaged` */
  async page(query: UsageQuery & { offset: number; limit: number }, journal: boolean): Promise<UsagePage> {
    return (await this.ask({ sort: 'page', query, journal })) as UsagePage
  }

  /** All rows, in batches; which ones is settled at the first. @throws Fault `store_away`, `store_damaged` */
  async *each(query: UsageQuery, journal: boolean): AsyncGenerator<Hit[]> {
    const of = (await this.ask({ sort: 'open', query, journal })) as number
    let ended = false
    try {
      for (;;) {
        const rows = (await this.ask({ sort: 'next', of })) as Hit[] | undefined
        ended = rows === undefined
        if (rows === undefined) return
        yield rows
      }
    } finally {
      // The caller has gone before the end.
      if (!ended) this.ask({ sort: 'drop', of }).catch(() => {})
    }
  }

  /** Ends the thread; what is asked meanwhile and later gets `store_away`. */
  async close(): Promise<void> {
    this.closed = true
    await this.worker?.terminate()
  }

  private async ask(ask: UsageAsk): Promise<UsageAnswer> {
    if (this.closed) throw fault('store_away', 'the store is closed')
    this.client ??= this.start()
    return this.client.ask(ask)
  }

  private start(): ThreadClient<UsageAsk, UsageAnswer> {
    const cache = process.env.NODE_COMPILE_CACHE
    const worker = new Worker(new URL(import.meta.url.replace(/usage-link\.([jt]s)$/, 'usage-thread.$1')), {
      name: 'store-usage',
      workerData: this.file,
      // Secrets in the environment are none of its business.
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    })
    this.worker = worker
    const client = new ThreadClient<UsageAsk, UsageAnswer>(worker)
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (this.client === client) this.client = undefined
      client.end(fault('store_away', 'the thread that reads usage has ended', cause))
    })
    return client
  }
}
