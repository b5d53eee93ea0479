import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads'
import type { FaultCode } from '../errors/catalog.ts'
import { Fault, fault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import { type End, type Started, Supervisor } from '../runtime/supervisor.ts'

export interface ThreadOptions {
  /** Module that the thread runs. It posts `{ news: 'listening', port }` or `{ news: 'failed', code, message }`. */
  readonly module: URL
  readonly name: string
  /** Called for each start: what the thread gets as `workerData`, and what of it is handed over. */
  readonly data: () => {
    readonly workerData: object
    readonly transferList?: Transferable[]
    /** Called when this one has ended, whatever it was at. */
    readonly onEnd?: () => void
  }
  readonly log: Log
  /** Wait before it is started again, doubling; absent = a second. */
  readonly firstWaitMs?: number
  /** How long it may take to stop before it is ended; absent = five seconds. */
  readonly stopWithinMs?: number
  /** Bounds of its memory; absent = those of a thread that serves no traffic. */
  readonly memory?: ResourceLimits
  /** A cell that is 1 while it listens, for other threads. */
  readonly serving?: Int32Array
}

/** A thread that is started again when it ends. */
export interface SupervisedThread {
  /** True while it listens. */
  up(): boolean
  readonly port: number
  /** Its last message that it listens. */
  readonly news: ListeningNews
  /** Says that it will be stopped: it serves until then. */
  drain(): void
  stop(): Promise<void>
  /** Ends it at once, as a crash would: it is started again. */
  end(): Promise<void>
}

const FIRST_WAIT_MS = 1000
const MOST_WAIT_MS = 30_000
const START_WITHIN_MS = 120_000
const STOP_WITHIN_MS = 5000
/** The young generation of a thread that serves no traffic would be 48 MB without a bound, most of it unused. */
const MEMORY = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 12 }

/** The report of a thread that listens. */
export interface ListeningNews {
  readonly port: number
  readonly tlsPort?: number | undefined
  readonly controlPort?: number | undefined
}

type News = Partial<ListeningNews> & { readonly news?: unknown; readonly code?: FaultCode; readonly message?: string }

/**
 * Starts a thread and supervises it: when it ends, or cannot be restarted, it is restarted after 1 s, doubling to 30 s,
 * for any reason.
 * @throws Fault that the thread reports when it cannot even start the first time
 */
export async function superviseThread(options: ThreadOptions): Promise<SupervisedThread> {
  const { name, log, firstWaitMs = FIRST_WAIT_MS, stopWithinMs = STOP_WITHIN_MS } = options
  let current: Worker | undefined
  const supervisor = new Supervisor<ListeningNews>({
    begin() {
      const { started, worker } = startThread(options)
      current = worker
      return started
    },
    report(report) {
      if (report.event === 'started again') return
      if (report.event === 'not started')
        log.error({ thread: name, cause: report.error }, `the ${name} thread could not be started`)
      const why = report.event === 'ended' ? 'has ended' : 'did not start'
      log.warn({ thread: name, wait_ms: report.waitMs }, `the ${name} thread ${why}; it is started again`)
    },
    ...{ firstWaitMs, mostWaitMs: MOST_WAIT_MS, startWithinMs: START_WITHIN_MS, stopWithinMs },
    // One that listens has started well.
    settledAfterMs: 0,
  })
  await supervisor.start()
  return {
    up: () => supervisor.up,
    get port() {
      return supervisor.value?.port ?? 0
    },
    get news() {
      return supervisor.value ?? { port: 0 }
    },
    drain: () => current?.postMessage('drain'),
    stop: () => supervisor.stop(),
    end: async () => void (await current?.terminate()),
  }
}

/** Ready with the port that it listens on. */
function startThread({ module, name, data, log, memory = MEMORY, serving }: ThreadOptions): {
  worker: Worker
  started: Started<ListeningNews>
} {
  const { onEnd, ...given } = data()
  const worker = new Worker(module, { name, ...given, resourceLimits: memory })
  const serves = (is: boolean) => serving && Atomics.store(serving, 0, Number(is))
  let listens = false
  const ready = new Promise<ListeningNews>((resolve, reject) => {
    worker.on('message', ({ news, port = 0, code, message, ...more }: News) => {
      if (news === 'listening') {
        listens = true
        serves(true)
        resolve({ port, ...more })
      } else if (news === 'failed') reject(new Fault(code ?? 'internal', message))
    })
    worker.on('error', (error) => {
      log.error({ thread: name, cause: error }, `the ${name} thread failed`)
      reject(fault('internal', `the ${name} thread failed`, error))
    })
    worker.on('exit', () => reject(fault('internal', `the ${name} thread ended before it listened`)))
  })
  const ended = new Promise<End>((resolve) =>
    worker.on('exit', (status) => {
      serves(false)
      onEnd?.()
      resolve({ how: `with status ${status}`, kind: 'failed' })
    }),
  )
  const kill = () => void worker.terminate()
  const stop = () => {
    // One that does not listen yet would not hear it.
    if (listens) worker.postMessage('stop')
    else kill()
  }
  return { worker, started: { ready, ended, kill, stop } }
}
