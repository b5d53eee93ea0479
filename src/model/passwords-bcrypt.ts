import { Worker } from 'node:worker_threads'
import { fault } from '../errors/fault.ts'

/** `$2x$` was made by a flawed implementation: what it hashed is not what was typed. */
const HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/
const LIKE = /^\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}$/
const LEAST_COST = 4
/** Each more doubles the work: about a second at 14. */
const MOST_COST = 14
/** An unused thread ends after this long. */
const IDLE_MS = 10_000

/** True for what is meant as a bcrypt hash, also where it is none that we take. */
export function looksLikeBcrypt(text: string): boolean {
  return LIKE.test(text)
}

/** True for a bcrypt hash that others made (`$2a$`, `$2b$`, `$2y$`) and that costs no more than 14. */
export function isBcryptHash(text: string): boolean {
  const cost = Number(HASH.exec(text)?.[1])
  return cost >= LEAST_COST && cost <= MOST_COST
}

/**
 * True when the password is the one that was hashed; of it the first 72 bytes count, as bcrypt has it. The work is done on a
 * thread of its own, one after the other: it is plain JavaScript, and nobody else shall wait for it.
 * @throws Fault `internal` when the thread fails
 */
export function verifyBcrypt(stored: string, password: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const { worker, jobs } = thread()
    const number = ++last
    jobs.set(number, { resolve, reject })
    worker.ref()
    clearTimeout(idle)
    worker.postMessage({ number, stored, password })
  })
}

interface Job {
  readonly resolve: (right: boolean) => void
  readonly reject: (error: unknown) => void
}

interface Thread {
  readonly worker: Worker
  readonly jobs: Map<number, Job>
}

let running: Thread | undefined
let idle: NodeJS.Timeout | undefined
let last = 0

function thread(): Thread {
  if (running !== undefined) return running
  const worker = new Worker(
    new URL(import.meta.url.replace(/passwords-bcrypt\.([jt]s)$/, 'passwords-bcrypt-thread.$1')),
    { name: 'bcrypt', env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64 } },
  )
  const made: Thread = { worker, jobs: new Map() }
  running = made
  worker.on('message', ({ number, right }: { number: number; right: boolean }) => {
    made.jobs.get(number)?.resolve(right)
    made.jobs.delete(number)
    if (made.jobs.size > 0) return
    // A process that has nothing else to do ends.
    worker.unref()
    idle = setTimeout(() => end(made), IDLE_MS).unref()
  })
  worker.on('error', (error) => end(made, error))
  worker.on('exit', () => end(made))
  return made
}

function end(ended: Thread, cause?: unknown): void {
  if (running === ended) running = undefined
  for (const { reject } of ended.jobs.values())
    reject(fault('internal', 'the thread that checks bcrypt hashes ended', cause))
  ended.jobs.clear()
  void ended.worker.terminate()
}
