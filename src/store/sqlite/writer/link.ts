import { type ResourceLimits, Worker } from 'node:worker_threads'
import { type Fault, fault } from '../../../errors/fault.ts'
import type { Log } from '../../../model/logs/log.ts'
import type { WatchedThread } from '../../../model/metrics/metric-registry.ts'
import { faultOf } from '../../../model/threads/thread-rpc.ts'
import { type End, type Started, Supervisor } from '../../../runtime/supervisor.ts'
import type { FeedEvent, Revision } from '../../ports/ports.ts'
import { eventOf, type PreparedCommit } from '../../prepare/prepare.ts'
import { ThreadEndGuard } from '../hits/thread-end-guard.ts'
import {
  type FromWriter,
  type NumberedWrite,
  type ToWriter,
  unpackResults,
  type Write,
  type WriteResult,
  type WriterData,
  type WriterStart,
} from './messages.ts'

interface LinkOptions extends WriterData {
  /** Called with the commits of a group, in order, before their writers get their answers. */
  readonly onEvents: (events: readonly FeedEvent[]) => void
  readonly resourceLimits?: ResourceLimits
}

interface Waiting {
  readonly write: Write
  readonly resolve: (value: number) => void
  readonly reject: (fault: Fault) => void
}

/** Longer than the writer packs anything. */
const PACKING_MS = 1_000

/**
 * This thread's end of the writer thread. When the writer ends, what waits gets `store_away`, and so does what comes later,
 * until the owner calls `start` again.
 */
export class WriterLink {
  /** Revision of the last commit that the feed has reported. */
  revision: Revision = 0
  private readonly options: LinkOptions
  private worker: Worker | undefined
  /** Of the thread that was started last. */
  private uncut = new ThreadEndGuard()
  /** Set when that one is ended from here. */
  private ending: Promise<void> | undefined
  private closing: Promise<void> | undefined
  private starting = false
  private nextNumber = 1
  private waiting = new Map<number, Waiting>()
  /** Commits that got no answer when the writer ended; it may have made them durable. */
  private unanswered = new Map<number, PreparedCommit>()
  private batch: NumberedWrite[] = []
  private drained: (() => void) | undefined
  private readonly endListeners = new Set<(cause: Fault) => void>()

  constructor(options: LinkOptions) {
    this.options = options
  }

  /** True while writes are taken. */
  get up(): boolean {
    return this.worker !== undefined && this.closing === undefined
  }

  /**
   * Starts the writer thread and resolves when it accepts writes. After one that ended, the feed first reports what that one
   * committed without telling. @throws Fault of `openWritable`, `store_away` when the thread cannot be started
   */
  async start(): Promise<void> {
    if (this.worker !== undefined || this.starting) throw fault('internal', 'the writer was started already')
    if (this.closing !== undefined) throw fault('store_away', 'the store is closed')
    this.starting = true
    try {
      await this.startThread()
    } finally {
      this.starting = false
    }
  }

  /**
   * Writes; resolves with the result once it is durable.
   * @throws Fault of the write, `store_full`, `store_away`
   */
  write(write: Write): Promise<number> {
    if (!this.up)
      return Promise.reject(fault('store_away', this.closing ? 'the store is closed' : 'the writer is away'))
    return new Promise((resolve, reject) => {
      const number = this.nextNumber++
      if (this.waiting.size === 0) this.worker?.ref()
      this.waiting.set(number, { write, resolve, reject })
      // Everything that this turn writes goes over in one message: every request of a turn has its own microtasks.
      if (this.batch.length === 0) setImmediate(() => this.flush())
      this.batch.push({ number, write })
    })
  }

  /** Calls the listener whenever the writer ends without having been closed. Answers the function that ends it. */
  onEnd(listener: (cause: Fault) => void): () => void {
    this.endListeners.add(listener)
    return () => this.endListeners.delete(listener)
  }

  /** How busy the thread is; undefined while there is none. */
  utilization(): ReturnType<WatchedThread['utilization']> {
    return this.worker?.performance.eventLoopUtilization()
  }

  /** Lets everything accepted be written and reported, calls `last`, then ends the thread. */
  close(last: () => void = () => {}): Promise<void> {
    this.closing ??= this.end(last)
    return this.closing
  }

  /** Ends the thread at once, as a crash would: for tests, and for an owner that finds it stuck. */
  terminate(): Promise<void> {
    this.ending ??= this.cut()
    return this.ending
  }

  private async cut(): Promise<void> {
    if (this.worker === undefined) return
    this.uncut.take(PACKING_MS)
    await this.worker.terminate()
  }

  private startThread(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = this.spawn()
      let lastError: unknown
      let ready = false
      worker.on('message', (message: FromWriter) => {
        if (message.type === 'ready') {
          if (this.closing !== undefined) return void worker.terminate()
          ready = true
          this.worker = worker
          this.catchUp(message)
          this.hold()
          resolve()
        } else if (message.type === 'refused') reject(faultOf(message.fault))
        else if (message.type === 'done') this.settle(unpackResults(message.results))
      })
      worker.on('error', (error) => {
        lastError = error
      })
      worker.on('exit', (status) => {
        const cause = fault('store_away', `the writer thread ended with status ${status}`, lastError)
        if (ready) this.ended(cause)
        else reject(cause)
      })
    })
  }

  private async end(last: () => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.drained = resolve
      this.settleIfDrained()
    })
    last()
    const worker = this.worker
    if (worker === undefined) return
    worker.ref()
    const gone = new Promise((resolve) => worker.on('exit', resolve))
    worker.postMessage({ type: 'close' } satisfies ToWriter)
    await gone
  }

  private settleIfDrained(): void {
    if (this.waiting.size === 0) this.drained?.()
  }

  private spawn(): Worker {
    const { file, limitBytes, resourceLimits } = this.options
    const cache = process.env.NODE_COMPILE_CACHE
    this.uncut = new ThreadEndGuard()
    this.ending = undefined
    return new Worker(new URL(import.meta.url.replace(/link\.([jt]s)$/, 'writer.$1')), {
      name: 'store-writer',
      workerData: { file, limitBytes, uncut: this.uncut.cell } satisfies WriterStart,
      // Secrets in the environment are none of its business.
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      execArgv: [],
      ...(resourceLimits && { resourceLimits }),
    })
  }

  private flush(): void {
    if (this.batch.length === 0) return
    const writes = this.batch
    this.batch = []
    const transfer = writes.flatMap(({ write }) => transferred(write))
    this.worker?.postMessage({ type: 'writes', writes } satisfies ToWriter, transfer)
  }

  private settle(results: readonly WriteResult[]): void {
    const events: FeedEvent[] = []
    for (const result of results) {
      const write = this.waiting.get(result.number)?.write
      if (write?.sort === 'commit' && 'value' in result)
        events.push(eventOf(write.commit, result.value, result.ended ?? []))
    }
    this.tell(events)
    for (const result of results) {
      const waiting = this.waiting.get(result.number)
      this.waiting.delete(result.number)
      if ('value' in result) waiting?.resolve(result.value)
      else waiting?.reject(faultOf(result.fault))
    }
    this.hold()
  }

  private catchUp({ revision, lastGroup }: FromWriter & { type: 'ready' }): void {
    const events: FeedEvent[] = []
    for (const [number, committed, ended = []] of lastGroup) {
      const commit = this.unanswered.get(number)
      if (commit !== undefined && committed > this.revision) events.push(eventOf(commit, committed, ended))
    }
    this.unanswered = new Map()
    this.tell(events)
    this.revision = revision
  }

  private tell(events: readonly FeedEvent[]): void {
    if (events.length === 0) return
    this.revision = events.at(-1)!.revision
    this.options.onEvents(events)
  }

  private ended(cause: Fault): void {
    this.worker = undefined
    this.batch = []
    const lost = this.waiting
    this.waiting = new Map()
    for (const [number, { write }] of lost) if (write.sort === 'commit') this.unanswered.set(number, write.commit)
    for (const { reject } of lost.values()) reject(cause)
    this.settleIfDrained()
    if (this.closing !== undefined) return
    for (const listener of this.endListeners) listener(cause)
  }

  /** A thread with nothing to do must not keep the process alive; one that owes an answer must. */
  private hold(): void {
    this.settleIfDrained()
    if (this.waiting.size === 0 && this.closing === undefined) this.worker?.unref()
  }
}

/** Memory that goes over instead of being copied. */
function transferred(write: Write): ArrayBuffer[] {
  if (write.sort === 'hits') return [write.pack.numbers.buffer]
  if (write.sort === 'samples') return write.samples.map(({ words }) => words.buffer)
  if (write.sort === 'quotas') return [write.counts.buffer]
  return []
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** A writer that has worked for so long had no lasting fault: the next wait is the first one again. */
const SETTLED_MS = 60_000

/**
 * Starts the writer, which runs now, again whenever it ends: after a second, then after twice as long each time, up to 30 s.
 * Answers the function that stops it; the writer itself is its owner's to close.
 */
export function superviseWriter(link: WriterLink, log: Log): () => void {
  let isFirst = true
  const supervisor = new Supervisor<void>({
    begin() {
      const start = isFirst ? Promise.resolve() : link.start()
      isFirst = false
      return followed(link, start)
    },
    report(report) {
      if (report.event === 'started again') log.warn({}, 'the store accepts writes again')
      else if (report.event === 'not started') log.error({ err: report.error }, 'cannot restart the store writer')
    },
    ...{ firstWaitMs: FIRST_WAIT_MS, mostWaitMs: LONGEST_WAIT_MS, stopWithinMs: 0, settledAfterMs: SETTLED_MS },
    isBackground: true,
  })
  const stopListening = link.onEnd((cause) => {
    log.error(
      { err: cause, cause: cause.cause },
      'the store writer ended; reads work, writes are refused until it is back',
    )
  })
  void supervisor.start()
  return () => {
    stopListening()
    void supervisor.stop()
  }
}

/** Its end is that of the writer, or that nobody asks any more. */
function followed(link: WriterLink, ready: Promise<void>): Started<void> {
  let settle: (end: End) => void = () => {}
  const ended = new Promise<End>((resolve) => {
    settle = resolve
  })
  const stopListening = link.onEnd((cause) => end(cause))
  const end = (cause?: unknown) => {
    stopListening()
    settle({ how: 'it ended', kind: 'failed', cause })
  }
  return { ready, ended, stop: () => end(), kill: () => end() }
}
