import { fork } from 'node:child_process'
import type { Roles } from '../compose.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { FaultCode } from '../errors/catalog.ts'
import { Fault, fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import type { LineMerger } from '../runtime/line-merger.ts'
import { type End, type Started, Supervisor } from '../runtime/supervisor.ts'

/** The parts that a worker process runs. */
export interface WorkerCommand {
  readonly loaded: LoadedConfig
  readonly roles: Roles
  /** From 1. */
  readonly worker: number
}

/** The messages of a worker to the process that started it. */
export type WorkerMessage =
  | { readonly news: 'serving'; readonly greeting: readonly string[] }
  | { readonly news: 'failed'; readonly code: FaultCode; readonly message: string }

export interface SuperviseWorkerOptions {
  readonly order: WorkerCommand
  readonly log: Log
  /** Where its standard output goes. */
  readonly output: LineMerger
  /** Threads of V8 beside the one that serves. */
  readonly helpers: number
  /** How long it may take to stop, in milliseconds, before it is killed. */
  readonly stopWithinMs: number
  /** Called when restarting it is pointless. */
  readonly giveUp: (error: Fault) => void
}

/** A process that is started again when it ends. */
export interface SupervisedWorker {
  /** Runs while the first start goes well. @throws Fault that the process reports */
  readonly serving: Promise<readonly string[]>
  /** `delayMs`: it keeps accepting for so long. */
  stop(delayMs: number): Promise<void>
}

/** The message to a worker process after its command. */
export interface StopCommand {
  readonly stopAfterMs: number
}

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 30_000
/** One that has served for this long is in order: what ended it then is no fault of its start. */
const IN_ORDER_AFTER_MS = 60_000
/** Ends in a row, each before it was in order, after which it is given up. */
const MOST_ENDS = 5

/** Starts a worker process and keeps it: when it ends by itself it is started again after 0.2 s, doubling to 30 s. */
export function superviseWorker({
  order,
  log,
  output,
  helpers,
  stopWithinMs,
  giveUp,
}: SuperviseWorkerOptions): SupervisedWorker {
  const { worker } = order
  const supervisor = new Supervisor<readonly string[]>({
    begin: () => startProcess(order, output, helpers),
    report(report) {
      if (report.event === 'started again') return
      if (report.event === 'not started')
        log.error({ worker, cause: toFault(report.error) }, 'cannot start a gateway worker')
      log.warn({ worker, how: report.end.how, wait_ms: report.waitMs }, 'worker exited, restarting')
    },
    ...{ firstWaitMs: FIRST_WAIT_MS, mostWaitMs: LONGEST_WAIT_MS, stopWithinMs, settledAfterMs: IN_ORDER_AFTER_MS },
    giveUp: {
      after: MOST_ENDS,
      run: (ends, { how }) =>
        giveUp(fault('internal', `gateway worker ${worker} ended ${ends} times soon after its start, last ${how}`)),
    },
  })
  return { serving: supervisor.start(), stop: (delayMs) => supervisor.stop(delayMs) }
}

/** Ready with its greeting. */
function startProcess(order: WorkerCommand, output: LineMerger, helpers: number): Started<readonly string[]> {
  const child = fork(new URL('./worker-process.ts', import.meta.url), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: 'advanced',
    execArgv: [...process.execArgv, `--v8-pool-size=${helpers}`],
  })
  const ended = new Promise<End>((resolve) => {
    child.once('exit', (code, signal) =>
      // A worker that was asked to end did so normally.
      resolve({
        how: signal === null ? `with status ${code}` : `by ${signal}`,
        kind: code === 0 ? 'orderly' : 'failed',
      }),
    )
    // No process could be made at all: no descriptors, no memory.
    child.on('error', (cause) => resolve({ how: `before it began: ${cause.message}`, kind: 'unmade', cause }))
  })
  // Where no process could be made, it has neither, and tells why by `error`.
  if (child.stdout) void output.pass(child.stdout).catch(() => {})
  if (child.connected) child.send(order, () => {})
  const ready = new Promise<readonly string[]>((resolve, reject) => {
    child.on('message', (said: WorkerMessage) => {
      if (said.news === 'serving') resolve(said.greeting)
      else reject(new Fault(said.code, said.message))
    })
    void ended.then(({ how }) =>
      reject(fault('internal', `gateway worker ${order.worker} ended ${how} before it served`)),
    )
  })
  return {
    ...{ ready, ended },
    stop(stopAfterMs) {
      const command: StopCommand = { stopAfterMs }
      if (child.connected) child.send(command, () => {})
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
