import { parentPort, Worker } from 'node:worker_threads'
import { fault, toFault } from '../../errors/fault.ts'
import { FairQueue } from './fair-queue.ts'
import { serveThread, ThreadClient } from './thread-rpc.ts'

const MOST_REASON = 300

export interface TaskThreadOptions<Task = never> {
  /** Module of the thread; it calls `serveTasks`. */
  readonly module: URL
  readonly name: string
  /** Longest time for one task, from when the thread has it. */
  readonly withinMs: number
  readonly memoryMb: number
  /** Tasks that may wait for their turn, of all callers together. */
  readonly mostWaiting: number
  /** True for a task that leaves so much garbage that its thread ends with it, before its result is used. */
  readonly isLarge?: (task: Task) => boolean
}

/** The questions to the thread: whether its module is loaded, and tasks. */
export type TaskQuestion<Task> = { readonly ready: true } | { readonly task: Task }

interface Job<Task, Result> {
  readonly task: Task
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

interface Running<Task, Result> {
  readonly client: ThreadClient<TaskQuestion<Task>, Result>
  /** Terminates the thread; a task that it has fails with the reason. Settles when its memory is free. */
  readonly end: (reason: string) => Promise<void>
}

/** An unused thread ends after this long. */
const IDLE_MS = 10_000
/** Loading the module is our own work; on a busy machine it may take a while. */
const START_WITHIN_MS = 60_000

/**
 * Runs work on untrusted input outside the event loop: one task at a time, on a thread that is terminated when a task exceeds its time or
 * memory. The next task gets a new thread. An idle thread does not keep the process. Callers take turns (`FairQueue`).
 */
export class TaskThread<Task, Result> {
  readonly #options: TaskThreadOptions<Task>
  readonly #waiting: FairQueue<Job<Task, Result>>
  #thread: Running<Task, Result> | undefined
  #isWorking = false
  #idle: NodeJS.Timeout | undefined

  constructor(options: TaskThreadOptions<Task>) {
    this.#options = options
    this.#waiting = new FairQueue(options.mostWaiting)
  }

  /**
   * Does a task of a caller, such as an address. When too many wait, the newest task of the caller with most of them is refused.
   * @throws Error with the reason of the thread, or that the task exceeded its bounds; Fault `busy` (503) when too many wait
   */
  run(task: Task, caller = ''): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const refused = this.#waiting.add(caller, { task, resolve, reject })
      const { mostWaiting, name } = this.#options
      refused?.reject(fault('busy', `${mostWaiting} tasks wait for the ${name} thread`))
      if (!this.#isWorking) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    clearTimeout(this.#idle)
    for (let job = this.#waiting.take(); job !== undefined; job = this.#waiting.take()) await this.#perform(job)
    this.#isWorking = false
    this.#idle = setTimeout(() => void this.#thread?.end('it is idle'), IDLE_MS).unref()
  }

  async #perform({ task, resolve, reject }: Job<Task, Result>): Promise<void> {
    const { withinMs, isLarge } = this.#options
    try {
      const thread = this.#thread ?? (await this.#start())
      const result = await ask(thread, { task }, withinMs, `it takes longer than ${withinMs / 1000} s`)
      if (isLarge?.(task)) await thread.end('its task is done')
      resolve(result)
    } catch (error) {
      reject(new Error(toFault(error).message))
    }
  }

  async #start(): Promise<Running<Task, Result>> {
    const { module, name, memoryMb } = this.#options
    const worker = new Worker(module, {
      name,
      // The environment and the arguments of this process may hold secrets.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 },
    })
    const client = new ThreadClient<TaskQuestion<Task>, Result>(worker)
    const thread: Running<Task, Result> = {
      client,
      end: async (reason) => {
        if (this.#thread === thread) this.#thread = undefined
        client.end(fault('internal', reason))
        await worker.terminate()
      },
    }
    worker.on('error', (error: NodeJS.ErrnoException) => {
      void thread.end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it is too large' : error.message)
    })
    worker.on('exit', () => void thread.end('the thread ended'))
    this.#thread = thread
    await ask(thread, { ready: true }, START_WITHIN_MS, 'the thread does not start')
    return thread
  }
}

/** Asks a thread, which is terminated when its answer is late. */
function ask<Task, Result>(
  { client, end }: Running<Task, Result>,
  question: TaskQuestion<Task>,
  withinMs: number,
  reason: string,
): Promise<Result> {
  const late = () => {
    void end(reason)
    return fault('internal', reason)
  }
  return client.ask(question, { withinMs, late })
}

/** The thread's side of a `TaskThread`: does each task with `work` and answers with its result, or with the reason of its failure. */
export function serveTasks<Task>(work: (task: Task) => unknown): void {
  // Libraries write what they think of hostile input to the console, a line for each byte.
  for (const name of ['log', 'info', 'warn', 'error'] as const) console[name] = () => {}
  serveThread<TaskQuestion<Task>, unknown>(parentPort!, async (question) => {
    if ('ready' in question) return undefined
    try {
      return await work(question.task)
    } catch (error) {
      throw new Error((error instanceof Error ? error.message : String(error)).slice(0, MOST_REASON))
    }
  })
}
