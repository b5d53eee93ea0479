import { type Transferable, Worker } from 'node:worker_threads'
import type { FaultCode } from '../errors/catalog.ts'
import { Fault, fault } from '../errors/fault.ts'
import type { Log } from '../model/log.ts'

export interface ThreadOptions {
  /** Module that the thread runs. It posts `{ news: 'listening', port }` or `{ news: 'failed', code, message }`. */
  readonly module: URL
  readonly name: string
  /** Called for each start: what the thread gets as `workerData`, and what of it is handed over. */
  readonly data: () => { readonly workerData: object; readonly transferList?: Transferable[] }
  readonly log: Log
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
const STOP_WITHIN_MS = 5000
const OLD_SPACE_MB = 1024

/**
 * Starts a thread and keeps it: when it ends by itself it is started again after 1 s, doubling to 30 s.
 * @throws Fault that the thread reports when it cannot even start the first time
 */
export async function keepThread({ module, name, data, log }: ThreadOptions): Promise<KeptThread> {
  let worker: Worker | undefined
  let up = false
  let stopping = false
  let port = 0
  let waitMs = FIRST_WAIT_MS
  let timer: NodeJS.Timeout | undefined

  const start = () =>
    new Promise<void>((resolve, reject) => {
      const thread = new Worker(module, {
        name,
        ...data(),
        resourceLimits: { maxOldGenerationSizeMb: OLD_SPACE_MB },
      })
      worker = thread
      thread.on('message', (said: { news?: unknown; port?: number; code?: FaultCode; message?: string }) => {
        if (said.news === 'listening') {
          up = true
          port = said.port ?? 0
          waitMs = FIRST_WAIT_MS
          resolve()
        } else if (said.news === 'failed') reject(new Fault(said.code ?? 'internal', said.message))
      })
      thread.on('error', (error) => {
        log.error({ thread: name, cause: error }, `the ${name} thread failed`)
        reject(fault('internal', `the ${name} thread failed`, error))
      })
      thread.on('exit', () => {
        const first = !up && port === 0
        up = false
        if (stopping || first) return
        log.warn({ thread: name, wait_ms: waitMs }, `the ${name} thread has ended; it is started again`)
        timer = setTimeout(() => start().catch(() => {}), waitMs)
        waitMs = Math.min(waitMs * 2, MOST_WAIT_MS)
      })
    })

  await start()
  return {
    up: () => up,
    get port() {
      return port
    },
    async stop() {
      stopping = true
      clearTimeout(timer)
      const ending = worker
      if (ending === undefined || !up) return
      const ended = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
      ending.postMessage('stop')
      const bound = setTimeout(() => void ending.terminate(), STOP_WITHIN_MS)
      await ended
      clearTimeout(bound)
    },
  }
}
