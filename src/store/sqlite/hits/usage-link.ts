import { Worker } from 'node:worker_threads'
import { Fault, fault } from '../../../errors/fault.ts'
import type { Hit } from '../../../model/analytics/hit.ts'
import type { UsageQuery } from '../../ports/ports.ts'
import type { PlainFault } from '../writer/messages.ts'

/** The request to the thread. `journal`: rows that are not in the tables yet are added. */
export type UsageAsk =
  | { readonly sort: 'page'; readonly query: UsageQuery & { offset: number; limit: number }; readonly journal: boolean }
  /** Settles the rows of an answer; they are then asked for with its number. */
  | { readonly sort: 'open'; readonly query: UsageQuery; readonly journal: boolean }
  | { readonly sort: 'next'; readonly of: number }
  | { readonly sort: 'drop'; readonly of: number }

export interface NumberedAsk {
  readonly number: number
  readonly ask: UsageAsk
}

export interface UsagePage {
  readonly rows: Hit[]
  readonly total: number
}

export type UsageAnswer =
  | { readonly number: number; readonly page: UsagePage }
  /** Of `next`: undefined after the last. Of `open` and `drop`: undefined. */
  | { readonly number: number; readonly rows: Hit[] | undefined }
  | { readonly number: number; readonly fault: PlainFault }

interface Waiting {
  readonly resolve: (answer: UsageAnswer) => void
  readonly reject: (fault: Fault) => void
}

/** An answer that is too large for it costs the thread, not the process. */
const MEMORY_MB = 512

/**
 * Reads usage on a separate thread, for any duration: a year of many callers is seconds. The thread is started when it is first
 * needed, and again after it has ended.
 */
export class UsageLink {
  private readonly file: string
  private readonly waiting = new Map<number, Waiting>()
  private worker: Worker | undefined
  private nextNumber = 1
  private closed = false

  /** `file`: the database, which must be there when something is asked. */
  constructor(file: string) {
    this.file = file
  }

  /** A page and the number of all rows. @throws Fault `store_away`, `store_damaged` */
  async page(query: UsageQuery & { offset: number; limit: number }, journal: boolean): Promise<UsagePage> {
    const answer = await this.ask({ sort: 'page', query, journal })
    return 'page' in answer ? answer.page : { rows: [], total: 0 }
  }

  /** All rows, in batches; which ones is settled at the first. @throws Fault `store_away`, `store_damaged` */
  async *each(query: UsageQuery, journal: boolean): AsyncGenerator<Hit[]> {
    const { number: of } = await this.ask({ sort: 'open', query, journal })
    let ended = false
    try {
      for (;;) {
        const answer = await this.ask({ sort: 'next', of })
        ended = !('rows' in answer) || answer.rows === undefined
        if (ended) return
        yield (answer as { rows: Hit[] }).rows
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

  private ask(ask: UsageAsk): Promise<UsageAnswer> {
    if (this.closed) return Promise.reject(fault('store_away', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.worker ??= this.start()
      // Only an answer that is due keeps this thread alive.
      this.worker.ref()
      const number = this.nextNumber++
      this.waiting.set(number, { resolve, reject })
      this.worker.postMessage({ number, ask } satisfies NumberedAsk)
    })
  }

  private start(): Worker {
    const cache = process.env.NODE_COMPILE_CACHE
    const worker = new Worker(new URL(import.meta.url.replace(/usage-link\.([jt]s)$/, 'usage-thread.$1')), {
      name: 'store-usage',
      workerData: this.file,
      // Secrets in the environment are none of its business.
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    })
    let cause: unknown
    worker.on('message', (answer: UsageAnswer) => this.settle(answer))
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => this.ended(cause))
    return worker
  }

  private settle(answer: UsageAnswer): void {
    const one = this.waiting.get(answer.number)
    this.waiting.delete(answer.number)
    if (this.waiting.size === 0) this.worker?.unref()
    if ('fault' in answer) one?.reject(new Fault(answer.fault.code, answer.fault.detail))
    else one?.resolve(answer)
  }

  private ended(cause: unknown): void {
    this.worker = undefined
    const lost = [...this.waiting.values()]
    this.waiting.clear()
    for (const { reject } of lost) reject(fault('store_away', 'the thread that reads usage has ended', cause))
  }
}
