import { type Fault, fault } from '../../errors/fault.ts'
import type { ModulePhase, ModuleRules } from '../../model/apis/definition/api.ts'
import type { Log } from '../../model/logs/log.ts'
import type { ModuleOutcome, ModuleReport, ModuleTask, ThreadData } from './messages.ts'
import { ThreadLink } from './module-thread-link.ts'

/** Bounds of all modules of a gateway. */
export interface ModuleBounds {
  readonly timeoutMs: number
  readonly memoryMb: number
}

interface Call {
  readonly id: number
  readonly task: ModuleTask
  readonly settle: (end: ModuleOutcome | Fault) => void
  timer: NodeJS.Timeout
  /** Threads that ended during it, without an error of its own as far as we know. */
  tries: number
}

interface Thread {
  readonly link: ThreadLink
  readonly calls: Map<number, Call>
  ready: boolean
  /** True = takes no more calls, and ends with the last it has. */
  retired: boolean
  /** True while it is asked whether it still answers. */
  suspect: boolean
}

const MAX_AT_ONCE = 32
const MAX_WAITING = 1000
/** Bytes of bodies that wait or are worked on, of requests and answers. */
const MAX_HELD_BYTES = 67_108_864
/** A call that so many threads ended under is not tried again. */
const MAX_TRIES = 3
/** Longest wait for a thread: a new one takes a tenth of a second, and more on a busy machine. */
const WAIT_MS = 5000
const LOAD_MS = 10_000
const RESTART_FIRST_MS = 100
const RESTART_MOST_MS = 30_000

/**
 * The modules of one API, on a separate thread. A call that takes too long, throws or uses too much memory is answered with a specific
 * fault; where the thread ends with it, the other calls are sent to the next thread, and so may run twice.
 */
export class ModuleSet {
  readonly #rules: ModuleRules
  readonly #apiId: string
  readonly #data: Omit<ThreadData, 'running'>
  readonly #bounds: ModuleBounds
  readonly #log: Log
  #thread: Thread | undefined
  #waiting: Call[] = []
  #lastId = 0
  /** Threads in a row that ended without having done anything. */
  #failures = 0
  #restartTimer: NodeJS.Timeout | undefined
  /** Why the modules cannot be loaded; '' = they can, as far as is known. */
  #broken = ''
  /** True = one call at a time, until it shows which of them ends threads. */
  #careful = false
  #closing = false
  #heldBytes = 0

  constructor(apiId: string, rules: ModuleRules, files: ThreadData['files'], bounds: ModuleBounds, log: Log) {
    this.#apiId = apiId
    this.#rules = rules
    this.#data = { files, refs: Object.values(rules.refs).flat(), config: rules.config }
    this.#bounds = bounds
    this.#log = log
    this.#start()
  }

  /** True when the API calls modules there. */
  has(phase: ModulePhase): boolean {
    return this.#rules.refs[phase].length > 0
  }

  /** Longest body of a request that every function of the phase which is shown it may be shown; 0 = none of them is. */
  bodyLimitBytes(phase: ModulePhase): number {
    const bounds = this.#rules.refs[phase].map(({ bodyLimitBytes }) => bodyLimitBytes).filter((bytes) => bytes > 0)
    return bounds.length === 0 ? 0 : Math.min(...bounds)
  }

  /**
   * Calls the modules of a phase.
   * @throws Fault `module_failed`, `module_timeout`, `modules_away`
   */
  async call(phase: ModulePhase, about: Omit<ModuleTask, 'refs'>): Promise<ModuleOutcome> {
    const bytes = (about.request.body?.length ?? 0) + (about.answer?.body.length ?? 0)
    this.#heldBytes += bytes
    try {
      const end = await new Promise<ModuleOutcome | Fault>((settle) => {
        if (this.#broken !== '') settle(fault('module_failed', this.#broken))
        else if (this.#waiting.length >= MAX_WAITING) settle(fault('modules_away', 'too many calls wait for them'))
        else if (this.#heldBytes > MAX_HELD_BYTES)
          settle(fault('modules_away', 'too many bytes of bodies wait for them'))
        else this.#enqueue({ ...about, refs: this.#rules.refs[phase] }, settle)
      })
      if (end instanceof Error) throw end
      return end
    } finally {
      this.#heldBytes -= bytes
    }
  }

  /** Reloads the modules; calls that are under way end on the thread that they began on. */
  reload(): void {
    this.#broken = ''
    this.#failures = 0
    clearTimeout(this.#restartTimer)
    this.#restartTimer = undefined
    if (this.#thread !== undefined) this.#retire(this.#thread)
    this.#start()
  }

  /** Ends the thread once nothing is under way. A request that still comes starts a new one. */
  close(): void {
    this.#closing = true
    if (this.#thread !== undefined && this.#waiting.length === 0) this.#retire(this.#thread)
  }

  #enqueue(task: ModuleTask, settle: Call['settle']): void {
    this.#lastId = (this.#lastId % 0x3fffffff) + 1
    const call: Call = { id: this.#lastId, task, settle, timer: this.#await(() => this.#tooLate(call)), tries: 0 }
    this.#waiting.push(call)
    this.#feed()
  }

  #await(act: () => void): NodeJS.Timeout {
    return setTimeout(act, WAIT_MS)
  }

  #timer(act: () => void): NodeJS.Timeout {
    return setTimeout(act, this.#bounds.timeoutMs)
  }

  #feed(): void {
    if (this.#waiting.length === 0) return
    if (this.#thread === undefined) this.#start()
    const thread = this.#thread
    if (thread === undefined || !thread.ready) return
    while (this.#waiting.length > 0 && thread.calls.size < (this.#careful ? 1 : MAX_AT_ONCE)) {
      const call = this.#waiting.shift()!
      clearTimeout(call.timer)
      call.timer = this.#timer(() => this.#expired(thread, call))
      thread.calls.set(call.id, call)
      thread.link.send(call.id, call.task)
    }
    if (this.#waiting.length > 0) return
    this.#careful = false
    if (this.#closing) this.#retire(thread)
  }

  #start(): void {
    if (this.#thread !== undefined || this.#restartTimer !== undefined || this.#broken !== '') return
    const thread: Thread = {
      link: new ThreadLink(this.#data, this.#bounds.memoryMb, {
        reported: (report) => this.#reported(thread, report),
        wrote: (line) => this.#log.info({ api_id: this.#apiId }, `a module writes: ${line}`),
        ended: (reason) => this.#ended(thread, reason),
      }),
      calls: new Map(),
      ready: false,
      retired: false,
      suspect: false,
    }
    this.#thread = thread
    setTimeout(() => {
      if (!thread.ready && this.#thread === thread) this.#ended(thread, 'the modules took too long to load')
    }, LOAD_MS).unref()
  }

  #reported(thread: Thread, report: ModuleReport): void {
    if (report.kind === 'ready') {
      thread.ready = true
      this.#feed()
    } else if (report.kind === 'broken') this.#cannotLoad(thread, report.reason)
    else if (report.kind !== 'pong') {
      const call = thread.calls.get(report.id)
      if (call === undefined) return // answered before: it took too long
      if (report.kind === 'done') this.#failures = 0
      this.#settle(thread, call, report.kind === 'done' ? report.outcome : fault('module_failed', report.reason))
    }
  }

  #settle(thread: Thread, call: Call, end: ModuleOutcome | Fault): void {
    clearTimeout(call.timer)
    thread.calls.delete(call.id)
    call.settle(end)
    if (thread.retired && thread.calls.size === 0) thread.link.end()
    else this.#feed()
  }

  /** No thread took the call in time. */
  #tooLate(call: Call): void {
    this.#waiting = this.#waiting.filter((each) => each !== call)
    call.settle(fault('modules_away', 'no thread took the call in time'))
  }

  #expired(thread: Thread, call: Call): void {
    const culprit = thread.link.running
    if ((thread.suspect || (culprit !== 0 && culprit !== call.id)) && call.tries < MAX_TRIES) {
      // It may wait behind another, whose own time ends soon or has ended.
      call.tries++
      call.timer = this.#timer(() => this.#expired(thread, call))
      return
    }
    thread.calls.delete(call.id)
    call.settle(fault('module_timeout', `longer than ${this.#bounds.timeoutMs} ms`))
    if (culprit !== 0) this.#abandon(thread)
    else void this.#retireOrEnd(thread)
  }

  /** A function that waits forever blocks nobody; one that resumed after a wait and never returns blocks all. */
  async #retireOrEnd(thread: Thread): Promise<void> {
    this.#retire(thread)
    this.#feed()
    if (thread.calls.size === 0) return
    thread.suspect = true
    const answers = await thread.link.answers()
    thread.suspect = false
    if (answers) return
    this.#careful = true
    this.#abandon(thread)
  }

  #retire(thread: Thread): void {
    thread.retired = true
    if (this.#thread === thread) this.#thread = undefined
    if (thread.calls.size === 0) thread.link.end()
  }

  #cannotLoad(thread: Thread, reason: string): void {
    this.#log.error({ api_id: this.#apiId }, `cannot load modules: ${reason}`)
    thread.link.end()
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#broken = reason
    for (const call of this.#waiting.splice(0)) {
      clearTimeout(call.timer)
      call.settle(fault('module_failed', reason))
    }
  }

  /** The thread ended by itself: for want of memory, or because a module had it so. */
  #ended(thread: Thread, reason: string): void {
    this.#log.warn({ api_id: this.#apiId }, `module thread exited: ${reason}`)
    const culprit = thread.calls.get(thread.link.running)
    if (culprit === undefined) this.#careful = true
    else this.#settle(thread, culprit, fault('module_failed', reason))
    this.#abandon(thread)
  }

  /** Ends a thread; its calls go to the next one. */
  #abandon(thread: Thread): void {
    thread.link.end()
    this.#failures++
    const again: Call[] = []
    for (const call of thread.calls.values()) {
      clearTimeout(call.timer)
      call.tries++
      if (call.tries > MAX_TRIES) call.settle(fault('module_failed', 'threads keep ending under it'))
      else again.push(call)
    }
    thread.calls.clear()
    for (const call of again) call.timer = this.#await(() => this.#tooLate(call))
    this.#waiting.unshift(...again)
    if (this.#thread === thread) this.#thread = undefined
    this.#restart()
  }

  /** The second failure in a row waits, and each further one twice as long. */
  #restart(): void {
    if (this.#failures < 2) {
      this.#feed()
      return
    }
    const waitMs = Math.min(RESTART_FIRST_MS * 2 ** (this.#failures - 2), RESTART_MOST_MS)
    this.#restartTimer ??= setTimeout(() => {
      this.#restartTimer = undefined
      this.#feed()
    }, waitMs).unref()
  }
}
