import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const CLOCK_TICKS_PER_SECOND = 100
/** At rest: less than a twentieth of a core in so many pieces of time in a row. */
const IDLE_PIECES = 3
const IDLE_PIECE_MS = 1_000
const STOP_WITHIN_MS = 30_000
/** Where what is measured runs, and where load and upstream run. */
export const PROXY_CORE = 0
export const LOAD_CORE = 1

/** For `chrt`. */
export const REAL_TIME: readonly string[] = ['--fifo']

/** A free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** However the bench ends, nothing that it started keeps running. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.stderr.write(`ended by ${signal}\n`)
    process.exit(1)
  })
}

/** A process that the bench started, with everything that it started itself. */
export class Started {
  readonly name: string
  readonly pid: number
  readonly #child: ChildProcess

  constructor(name: string, child: ChildProcess) {
    if (child.pid === undefined) throw new Error(`${name} did not start`)
    this.name = name
    this.pid = child.pid
    this.#child = child
    running.add(child)
    child.once('exit', () => running.delete(child))
  }

  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** CPU time of the process and its descendants, all threads. The kernel counts in steps of 10 ms. */
  cpuMs(): number {
    let ticks = 0
    for (const pid of this.#tree()) {
      const parts = statOf(pid)
      ticks += Number(parts[11]) + Number(parts[12])
    }
    return (ticks / CLOCK_TICKS_PER_SECOND) * 1000
  }

  /** Resident memory of the process and its descendants. */
  rssBytes(): number {
    return this.#kilobytes('VmRSS') * 1024
  }

  #kilobytes(name: string): number {
    const line = new RegExp(`${name}:\\s+(\\d+)`)
    let kilobytes = 0
    for (const pid of this.#tree())
      kilobytes += Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
    return kilobytes
  }

  /** CPU time of the first thread, which is the gateway's. */
  mainThreadCpuMs(): number {
    const parts = statOf(`${this.pid}/task/${this.pid}`)
    return ((Number(parts[11]) + Number(parts[12])) / CLOCK_TICKS_PER_SECOND) * 1000
  }

  /** From now on `peakBytes` is the most resident memory since. */
  resetPeak(): void {
    for (const pid of this.#tree()) writeFileSync(`/proc/${pid}/clear_refs`, '5')
  }

  /** The most resident memory of the process and its descendants. */
  peakBytes(): number {
    return this.#kilobytes('VmHWM') * 1024
  }

  /** Moves all threads but the main one to another core. @throws Error when there are none */
  async moveOtherThreads(core: number): Promise<void> {
    const others = readdirSync(`/proc/${this.pid}/task`).filter((task) => Number(task) !== this.pid)
    if (others.length === 0) throw new Error(`${this.name} has one thread only`)
    for (const task of others) await output('taskset', ['-c', '-p', String(core), task])
  }

  /** Gives all its processes and threads real-time priority: they wait for nobody else on their core. @throws Error */
  async putAhead(): Promise<void> {
    for (const pid of this.#tree()) await output('chrt', ['--all-tasks', ...REAL_TIME, '--pid', '1', String(pid)])
  }

  /** Waits until it has next to nothing to do: what it does once after its start is no part of what a call takes. @throws Error */
  async settled(withinMs = 600_000): Promise<void> {
    const endsAt = performance.now() + withinMs
    for (let idle = 0; idle < IDLE_PIECES; ) {
      if (performance.now() > endsAt) throw new Error(`${this.name} never came to rest`)
      const before = this.cpuMs()
      await wait(IDLE_PIECE_MS)
      idle = this.cpuMs() - before < IDLE_PIECE_MS / 20 ? idle + 1 : 0
    }
  }

  /** Ends the process in order and waits for it. @throws Error when it has to be killed */
  async stop(): Promise<void> {
    if (this.ended) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    const late = AbortSignal.timeout(STOP_WITHIN_MS)
    const inTime = await Promise.race([ended.then(() => true), once(late, 'abort').then(() => false)])
    if (inTime) return
    this.#child.kill('SIGKILL')
    throw new Error(`${this.name} did not end on SIGTERM`)
  }

  #tree(): number[] {
    const parents = new Map<number, number>()
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      try {
        parents.set(Number(name), Number(statOf(Number(name))[1]))
      } catch {
        // it has ended meanwhile
      }
    }
    const tree = [this.pid]
    for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child)
    return tree
  }
}

/** Fields of /proc/pid/stat from the third on: state, parent, ... */
function statOf(place: number | string): string[] {
  const stat = readFileSync(`/proc/${place}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/**
 * Starts a command on one core, or on several (`0,1`). `env` is added to ours; output goes to `output` (default: only what is
 * wrong, to stderr).
 */
export function startPinned(
  name: string,
  core: number | string,
  command: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; output?: number } = {},
): Started {
  const child = spawn('taskset', ['-c', String(core), ...command], {
    stdio: ['ignore', options.output ?? 'ignore', options.output ?? 'inherit'],
    env: { ...process.env, ...options.env },
    cwd: options.cwd,
  })
  return new Started(name, child)
}

/** Waits until the port takes connections. @throws Error after `withinMs`, or when the process ends */
export async function waitForPort(started: Started, port: number, withinMs = 10_000): Promise<void> {
  const endsAt = performance.now() + withinMs
  while (performance.now() < endsAt && !started.ended) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (open === true) return
    await wait(20)
  }
  throw new Error(`${started.name} does not listen on ${port}`)
}

/** Runs a command to its end and answers what it printed. */
export async function output(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, [...args], { maxBuffer: 16 << 20 })
  return stdout
}
