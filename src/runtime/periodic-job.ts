export interface PeriodicJobOptions {
  readonly everyMs: number
  readonly run: () => unknown
  /** Receives what a run failed with; the next run follows anyway. */
  readonly onError: (error: unknown) => void
  /** True: the first run begins at once, not after the first interval. */
  readonly atOnce?: boolean
}

/**
 * Runs a job again and again until it is closed. Runs never overlap: a time that comes while one is under way is left out. Nothing keeps the
 * process for it.
 */
export class PeriodicJob {
  readonly #options: PeriodicJobOptions
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined

  constructor(options: PeriodicJobOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#begin(), options.everyMs).unref()
    if (options.atOnce) this.#begin()
  }

  /** Begins no more runs. Resolves when the one that is under way has ended; never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  #begin(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async #run(): Promise<void> {
    try {
      await this.#options.run()
    } catch (error) {
      this.#options.onError(error)
    }
  }
}
