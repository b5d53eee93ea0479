import { Worker } from 'node:worker_threads'
import { fault } from '../../errors/fault.ts'

export interface TaskThreadOptions {
  /** Module of the thread; it calls `serveTasks`. */
  readonly module: URL
  readonly name: string
  /** Longest time for one task, from when the thread has it. */
  readonly withinMs: number
  readonly memoryMb: number
  /** Tasks that may wait for their turn, of all callers together. */
  readonly mostWaiting: number
}

/** The message of the thread for a task, or first, when it is ready to take one. */
export type TaskReport = { readonly ready: true } | { readonly done: unknown } | { readonly reason: string }

interface Job {
  readonly task: unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** An unused thread ends after this long. */
const IDLE_MS = 10_000
/** Loading the module is our own work; on a busy machine it may take a while. */
const START_WITHIN_MS = 60_000

/**
 * Runs work on untrusted input outside the event loop: one task at a time, on a thread that is terminated when a task exceeds its time or
 * memory. The next task gets a new thread. An idle thread does not keep the process. Callers take turns, so that nobody waits for all
 * tasks of another.
 */
export class TaskThread<Task, Result> {
  readonly #options: TaskThreadOptions
  /** By caller, who is next first. */
  readonly #waiting = new Map<string, Job[]>()
  #waitingCount = 0
  #worker: Worker | undefined
  #running: Job | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: TaskThreadOptions) {
    this.#options = options
  }

  /**
   * Does a task of a caller, such as an address. When too many wait, the newest task of the caller with most of them is refused.
   * @throws Error with the reason of the thread, or that the task exceeded its bounds; Fault `busy` (503) when too many wait
   */
  run(task: Task, caller = ''): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const jobs = this.#waiting.get(caller) ?? []
      jobs.push({ task, resolve: resolve as (result: unknown) => void, reject })
      this.#waiting.set(caller, jobs)
      this.#waitingCount++
      if (this.#waitingCount > this.#options.mostWaiting) this.#refuseOne()
      this.#next()
    })
  }

  #refuseOne(): void {
    const { mostWaiting, name } = this.#options
    const [caller, jobs] = [...this.#waiting].reduce((most, each) => (each[1].length >= most[1].length ? each : most))
    const refused = jobs.pop()!
    if (jobs.length === 0) this.#waiting.delete(caller)
    this.#waitingCount--
    refused.reject(fault('busy', `${mostWaiting} tasks wait for the ${name} thread`))
  }

  /** The oldest task of the caller whose turn it is. */
  #take(): Job | undefined {
    const next = this.#waiting.entries().next().value
    if (next === undefined) return undefined
    const [caller, jobs] = next
    const job = jobs.shift()
    this.#waiting.delete(caller)
    if (jobs.length > 0) this.#waiting.set(caller, jobs)
    this.#waitingCount--
    return job
  }

  #next(): void {
    if (this.#running !== undefined) return
    this.#running = this.#take()
    if (this.#running === undefined) {
      this.#worker?.unref()
      this.#within(IDLE_MS, () => this.#end('it is idle')).unref()
      return
    }
    if (this.#worker === undefined) this.#worker = this.#start()
    else this.#post(this.#worker, this.#running)
  }

  #post(worker: Worker, { task }: Job): void {
    const { withinMs } = this.#options
    worker.ref()
    this.#within(withinMs, () => this.#end(`it takes longer than ${withinMs / 1000} s`))
    worker.postMessage(task)
  }

  #start(): Worker {
    const { module, name, memoryMb } = this.#options
    this.#within(START_WITHIN_MS, () => this.#end('the thread does not start'))
    const worker = new Worker(module, {
      name,
      // The environment and the arguments of this process may hold secrets.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 },
    })
    worker.on('message', (report: TaskReport) => {
      if (worker !== this.#worker) return
      if (!('ready' in report)) this.#settle(report)
      else if (this.#running !== undefined) this.#post(worker, this.#running)
    })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (worker === this.#worker)
        this.#end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it is too large' : error.message)
    })
    worker.on('exit', () => {
      if (worker === this.#worker) this.#end('the thread ended')
    })
    return worker
  }

  #settle(report: TaskReport): void {
    const job = this.#running
    this.#running = undefined
    if ('done' in report) job?.resolve(report.done)
    else if ('reason' in report) job?.reject(new Error(report.reason))
    this.#next()
  }

  #end(reason: string): void {
    const worker = this.#worker
    this.#worker = undefined
    clearTimeout(this.#timer)
    void worker?.terminate()
    if (this.#running !== undefined) this.#settle({ reason })
  }

  #within(ms: number, late: () => void): NodeJS.Timeout {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(late, ms)
    return this.#timer
  }
}
