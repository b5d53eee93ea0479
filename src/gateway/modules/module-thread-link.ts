import { Worker } from 'node:worker_threads'
import type { ModuleReport, ModuleTask, ThreadData } from './messages.ts'

/** The events of a thread for its owner. */
export interface ThreadListener {
  reported(report: ModuleReport): void
  /** A line that a module wrote. */
  wrote(line: string): void
  /** The thread is no more, without having been asked to end. */
  ended(reason: string): void
}

const MAX_LINE = 500
const PONG_MS = 250

/** One thread that runs the modules of an API. */
export class ThreadLink {
  readonly #worker: Worker
  readonly #running: Int32Array
  #ended = false
  #pong: (() => void) | undefined

  constructor(data: Omit<ThreadData, 'running'>, memoryMb: number, listener: ThreadListener) {
    this.#running = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const worker = new Worker(new URL(import.meta.url.replace(/module-thread-link\.([jt]s)$/, 'module-thread.$1')), {
      name: 'modules',
      workerData: { ...data, running: this.#running } satisfies ThreadData,
      // Nothing of this process: its environment and its arguments may hold secrets.
      env: {},
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 },
    })
    this.#worker = worker
    let reason = 'it ended itself'
    worker.on('message', (report: ModuleReport) => {
      if (report.kind === 'pong') this.#pong?.()
      else if (!this.#ended) listener.reported(report)
    })
    worker.on('error', (error) => {
      reason = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => {
      const unasked = !this.#ended
      this.#ended = true
      if (unasked) listener.ended(reason)
    })
    for (const stream of [worker.stdout, worker.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) if (line !== '') listener.wrote(line.slice(0, MAX_LINE))
      })
    }
    // A gateway that stops does not wait for modules.
    worker.unref()
  }

  /** Id of the call whose function runs at this moment; 0 = none, or one that resumed after a wait. */
  get running(): number {
    return Atomics.load(this.#running, 0)
  }

  send(id: number, task: ModuleTask): void {
    this.#worker.postMessage({ id, task })
  }

  /** True when the thread still takes messages. */
  async answers(): Promise<boolean> {
    this.#worker.postMessage({ ping: true })
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), PONG_MS)
      this.#pong = () => {
        clearTimeout(late)
        resolve(true)
      }
    })
  }

  /** Ends the thread in any state; its listener hears nothing more. */
  end(): void {
    this.#ended = true
    void this.#worker.terminate()
  }
}
