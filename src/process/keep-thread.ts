import { type Transferable, Worker } from 'node:worker_threads'
import type { FaultCode } from '../errors/catalog.ts'
import { Fault, fault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'

export interface ThreadOptions {
  /** Module that the thread runs. It posts `{ news: 'listening', port }` or `{ news: 'failed', code, message }`. */
  readonly module: URL
  readonly name: string
  /** Called for each start: what the thread gets as `workerData`, and what of it is handed over. */
  readonly data: () => { readonly workerData: object; readonly transferList?: Transferable[] }
  readonly log: Log
  /** Wait before it is started again, doubling; absent = a second. */
  readonly firstWaitMs?: number
}

/** A thread that is started again when it ends. */
export interface KeptThread {
  /** True while it listens. */
  up(): boolean
  readonly port: number
  stop(): Promise<void>
}

const FIRST_WAIT_MS = 1000
const MOST_WAIT_MS = 30_000
const START_WITHIN_MS = 120_000
const STOP_WITHIN_MS = 5000
const OLD_SPACE_MB = 1024

type News = { readonly news?: unknown; readonly port?: number; readonly code?: FaultCode; readonly message?: string }

/**
 * Starts a thread and keeps it: when it ends by itself, or cannot be started again, it is started again after 1 s, doubling to 30 s,
 * whatever the reason.
 * @throws Fault that the thread reports when it cannot even start the first time
 */
export async function keepThread(options: ThreadOptions): Promise<KeptThread> {
  const thread = new ThreadKeeper(options)
  await thread.start()
  return thread
}

class ThreadKeeper implements KeptThread {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  #up = false
  #stopping = false
  #port = 0
  #waitMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#waitMs = options.firstWaitMs ?? FIRST_WAIT_MS
  }

  up(): boolean {
    return this.#up
  }

  get port(): number {
    return this.#port
  }

  /** Resolves when the thread listens. @throws whatever keeps it from that; the thread is then no more */
  async start(): Promise<void> {
    const { module, name, data } = this.#options
    const worker = new Worker(module, { name, ...data(), resourceLimits: { maxOldGenerationSizeMb: OLD_SPACE_MB } })
    this.#worker = worker
    const late = setTimeout(() => void worker.terminate(), START_WITHIN_MS)
    try {
      await this.#listening(worker)
    } catch (error) {
      await worker.terminate()
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    // One that does not listen yet would not hear it.
    if (this.#up) worker.postMessage('stop')
    else void worker.terminate()
    const bound = setTimeout(() => void worker.terminate(), STOP_WITHIN_MS)
    await ended
    clearTimeout(bound)
  }

  #listening(worker: Worker): Promise<void> {
    const { name, log } = this.#options
    return new Promise((resolve, reject) => {
      let listened = false
      worker.on('message', ({ news, port, code, message }: News) => {
        if (news === 'listening') {
          listened = true
          this.#up = true
          this.#port = port ?? 0
          this.#waitMs = this.#options.firstWaitMs ?? FIRST_WAIT_MS
          resolve()
        } else if (news === 'failed') reject(new Fault(code ?? 'internal', message))
      })
      worker.on('error', (error) => {
        log.error({ thread: name, cause: error }, `the ${name} thread failed`)
        reject(fault('internal', `the ${name} thread failed`, error))
      })
      worker.on('exit', () => {
        this.#up = false
        this.#worker = undefined
        reject(fault('internal', `the ${name} thread ended before it listened`))
        if (listened) this.#startAgain('has ended')
      })
    })
  }

  #startAgain(why: string): void {
    if (this.#stopping) return
    const { name, log } = this.#options
    log.warn({ thread: name, wait_ms: this.#waitMs }, `the ${name} thread ${why}; it is started again`)
    this.#timer = setTimeout(() => {
      this.start().catch((error) => {
        if (!this.#stopping) log.error({ thread: name, cause: error }, `the ${name} thread could not be started`)
        this.#startAgain('did not start')
      })
    }, this.#waitMs)
    this.#waitMs = Math.min(this.#waitMs * 2, MOST_WAIT_MS)
  }
}
