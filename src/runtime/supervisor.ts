/** How a process or thread ended: `orderly` = on request; `unmade` = it could not be created, which says nothing of it. */
export interface End {
  readonly how: string
  readonly kind: 'orderly' | 'unmade' | 'failed'
  readonly cause?: unknown
}

/** A thread or process that was started, from then until it has ended. */
export interface Started<Ready> {
  /** Resolves when it serves. Rejects when it cannot, or ends before. */
  readonly ready: Promise<Ready>
  /** Resolves when it has ended; never rejects. Also where `ready` has rejected, after `kill`. */
  readonly ended: Promise<End>
  /** Asks it to end, whether it serves yet or not; one that accepts work keeps accepting for so long. */
  stop(delayMs: number): void
  /** Ends it at once, whatever it does. */
  kill(): void
}

/** The reports of a supervisor to the log. */
export type SupervisorReport =
  | { readonly event: 'ended'; readonly end: End; readonly waitMs: number }
  | { readonly event: 'not started'; readonly error: unknown; readonly end: End; readonly waitMs: number }
  | { readonly event: 'started again' }

export interface SupervisorOptions<Ready> {
  /** Starts one. What it throws is a start that failed. */
  readonly begin: () => Started<Ready>
  readonly report: (report: SupervisorReport) => void
  /** Wait before the next start, doubling up to `mostWaitMs` with each that fails. */
  readonly firstWaitMs: number
  readonly mostWaitMs: number
  /** Longest start, after which it is killed; absent = no bound. */
  readonly startWithinMs?: number
  /** Longest end, after which it is killed. */
  readonly stopWithinMs: number
  /** One that served, and lived for so long from its start, was in order: the next wait is the first one again. */
  readonly settledAfterMs: number
  /** Failures in a row after which it is not started again; one that could not be made does not count. */
  readonly giveUp?: { readonly after: number; readonly run: (failures: number, last: End) => void }
  /** True: a wait for the next start does not keep the process. */
  readonly isBackground?: boolean
}

/**
 * Keeps a thread or process running: when it ends by itself, or its start fails of whatever, it is started again after a wait. Only the
 * first start may fail for good, and `stop` ends it at any moment, a start that is on its way included.
 */
export class Supervisor<Ready> {
  readonly #options: SupervisorOptions<Ready>
  #current: Started<Ready> | undefined
  #value: Ready | undefined
  #up = false
  #stopping = false
  #failures = 0
  #unmade = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: SupervisorOptions<Ready>) {
    this.#options = options
  }

  /** True while it serves. */
  get up(): boolean {
    return this.#up
  }

  /** The value that the last one was ready with; undefined before the first. */
  get value(): Ready | undefined {
    return this.#value
  }

  /** Starts it for the first time. @throws whatever keeps it from serving; it is then no more, and not started again */
  async start(): Promise<Ready> {
    const started = await this.#attempt()
    if ('error' in started) throw started.error
    return started.value
  }

  /** Resolves when it has ended and stays away. `delayMs`: it keeps accepting for so long. */
  async stop(delayMs = 0): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    const current = this.#current
    if (current === undefined) return
    current.stop(delayMs)
    const bound = setTimeout(() => current.kill(), delayMs + this.#options.stopWithinMs)
    await current.ended
    clearTimeout(bound)
  }

  /** Never rejects. */
  async #attempt(): Promise<{ readonly value: Ready } | { readonly error: unknown; readonly end: End }> {
    const { begin, startWithinMs } = this.#options
    const beganAt = performance.now()
    let late: NodeJS.Timeout | undefined
    let current: Started<Ready> | undefined
    try {
      current = begin()
      const { kill } = current
      this.#current = current
      if (startWithinMs !== undefined) late = setTimeout(() => kill.call(current), startWithinMs)
      const value = await current.ready
      this.#value = value
      this.#up = true
      void current.ended.then((end) => this.#ended(end, performance.now() - beganAt))
      return { value }
    } catch (error) {
      if (current === undefined)
        return { error, end: { how: `before it began: ${error}`, kind: 'unmade', cause: error } }
      current.kill()
      const end = await current.ended
      this.#current = undefined
      return { error, end }
    } finally {
      clearTimeout(late)
    }
  }

  #ended(end: End, livedMs: number): void {
    this.#up = false
    this.#current = undefined
    const waitMs = this.#startLater(end, livedMs >= this.#options.settledAfterMs)
    if (waitMs !== undefined) this.#options.report({ event: 'ended', end, waitMs })
  }

  async #startAgain(): Promise<void> {
    const started = await this.#attempt()
    if ('value' in started) {
      if (!this.#stopping) this.#options.report({ event: 'started again' })
      return
    }
    const waitMs = this.#startLater(started.end, false)
    if (waitMs !== undefined)
      this.#options.report({ event: 'not started', error: started.error, end: started.end, waitMs })
  }

  /** How long from now it is started again, in milliseconds; undefined = it is not. */
  #startLater(end: End, wasInOrder: boolean): number | undefined {
    if (this.#stopping) return undefined
    const { firstWaitMs, mostWaitMs, giveUp, isBackground = false } = this.#options
    this.#unmade = end.kind === 'unmade' ? this.#unmade + 1 : 0
    if (end.kind === 'orderly') this.#failures = 0
    else if (end.kind === 'failed') this.#failures = wasInOrder ? 1 : this.#failures + 1
    if (giveUp !== undefined && this.#failures >= giveUp.after) {
      giveUp.run(this.#failures, end)
      return undefined
    }
    const tries = this.#failures + this.#unmade
    const waitMs = tries === 0 ? 0 : Math.min(firstWaitMs * 2 ** (tries - 1), mostWaitMs)
    this.#timer = setTimeout(() => void this.#startAgain(), waitMs)
    if (isBackground) this.#timer.unref()
    return waitMs
  }
}
