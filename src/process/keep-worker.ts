import { type ChildProcess, fork } from 'node:child_process'
import type { Roles } from '../compose.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { FaultCode } from '../errors/catalog.ts'
import { Fault, fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import type { LineFunnel } from './line-funnel.ts'

/** What a worker process is told to run. */
export interface WorkerOrder {
  readonly loaded: LoadedConfig
  readonly roles: Roles
  /** From 1. */
  readonly worker: number
}

/** What it tells the process that started it. */
export type WorkerNews =
  | { readonly news: 'serving'; readonly greeting: readonly string[] }
  | { readonly news: 'failed'; readonly code: FaultCode; readonly message: string }

export interface KeepWorkerOptions {
  readonly order: WorkerOrder
  readonly log: Log
  /** Where its standard output goes. */
  readonly output: LineFunnel
  /** Threads of V8 beside the one that serves. */
  readonly helpers: number
  /** How long it may take to stop, in milliseconds, before it is killed. */
  readonly stopWithinMs: number
  /** Told when starting it again is of no use. */
  readonly giveUp: (error: Fault) => void
}

/** A process that is started again when it ends. */
export interface KeptWorker {
  /** Runs while the first start goes well. @throws Fault that the process reports */
  readonly serving: Promise<readonly string[]>
  stop(): Promise<void>
}

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 30_000
/** One that has served for this long is in order: what ended it then is no fault of its start. */
const IN_ORDER_AFTER_MS = 60_000
/** Ends in a row, each before it was in order, after which it is given up. */
const MOST_ENDS = 5
const ORDERLY = 'with status 0'
/** No process could be made at all: no descriptors, no memory. */
const UNMADE = 'before it began'

/** Starts a worker process and keeps it: when it ends by itself it is started again after 0.2 s, doubling to 30 s. */
export function keepWorker({ order, log, output, helpers, stopWithinMs, giveUp }: KeepWorkerOptions): KeptWorker {
  let child: ChildProcess | undefined
  let ended: Promise<string> | undefined
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let ends = 0
  let unmade = 0
  const { worker } = order

  const begin = () => {
    const startedAt = performance.now()
    const begun = startProcess(order, output, helpers)
    child = begun.child
    ended = begun.ended
    return { ...begun, lived: () => performance.now() - startedAt }
  }
  const again = (how: string, livedMs: number) => {
    if (stopping) return
    // That none can be made says nothing of the worker: it is tried until one can.
    if (how.startsWith(UNMADE)) unmade++
    else unmade = 0
    // One that was told to end did so in order.
    if (how === ORDERLY) ends = 0
    else if (unmade === 0) ends = livedMs < IN_ORDER_AFTER_MS ? ends + 1 : 1
    if (ends >= MOST_ENDS) {
      giveUp(fault('internal', `gateway worker ${worker} ended ${ends} times soon after its start, last ${how}`))
      return
    }
    const failures = ends + unmade
    const waitMs = failures === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
    log.warn({ worker, how, wait_ms: waitMs }, 'worker exited, restarting')
    timer = setTimeout(() => {
      try {
        const { serving, ended, lived } = begin()
        serving.catch((error) => log.error({ worker, cause: toFault(error) }, 'cannot start a gateway worker'))
        void ended.then((next) => again(next, lived()))
      } catch (error) {
        again(`${UNMADE}: ${toFault(error).message}`, 0)
      }
    }, waitMs)
  }

  const first = begin()
  void first.serving.then(
    () => first.ended.then((how) => again(how, first.lived())),
    () => {},
  )
  return {
    serving: first.serving,
    async stop() {
      stopping = true
      clearTimeout(timer)
      if (child?.connected) child.send('stop', () => {})
      const bound = setTimeout(() => child?.kill('SIGKILL'), stopWithinMs)
      await ended
      clearTimeout(bound)
    },
  }
}

/** `ended` tells how, in words. */
function startProcess(order: WorkerOrder, output: LineFunnel, helpers: number) {
  const child = fork(new URL('./worker-process.ts', import.meta.url), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: 'advanced',
    execArgv: [...process.execArgv, `--v8-pool-size=${helpers}`],
  })
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? `with status ${code}` : `by ${signal}`))
    child.on('error', (error) => resolve(`${UNMADE}: ${error.message}`))
  })
  // Where no process could be made, it has neither, and tells why by `error`.
  if (child.stdout) void output.pass(child.stdout).catch(() => {})
  if (child.connected) child.send(order, () => {})
  const serving = new Promise<readonly string[]>((resolve, reject) => {
    child.on('message', (said: WorkerNews) => {
      if (said.news === 'serving') resolve(said.greeting)
      else reject(new Fault(said.code, said.message))
    })
    void ended.then((how) => reject(fault('internal', `gateway worker ${order.worker} ended ${how} before it served`)))
  })
  return { child, ended, serving }
}
