import { fileURLToPath } from 'node:url'
import { LOAD_CORE, output, REAL_TIME, type Started } from './processes.ts'

/** The measurements of one run of wrk. Latencies in milliseconds. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly perSecond: number
  /** Answers other than 2xx and 3xx. */
  readonly badStatus: number
  /** Connections refused, reads and writes that failed, requests that timed out. */
  readonly socketErrors: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

export interface LoadOptions {
  /** Scheme, host and port; the path comes from the requests. */
  readonly url: string
  readonly seconds: number
  readonly connections?: number
  readonly script: 'requests.lua' | 'numbered.lua' | 'tokens.lua'
  /** Arguments of the script. */
  readonly args: readonly string[]
  /** True = it waits for nothing else that runs on its core, see `Started.putAhead`. */
  readonly ahead?: boolean
}

/** Loads a server from the load core: one thread, keep-alive, as fast as it answers. */
export async function load(options: LoadOptions): Promise<Load> {
  const printed = await output('taskset', [
    '-c',
    String(LOAD_CORE),
    ...(options.ahead ? ['chrt', ...REAL_TIME, '1'] : []),
    'wrk',
    '-t1',
    `-c${options.connections ?? 64}`,
    `-d${options.seconds}s`,
    '--timeout',
    '10s',
    '-s',
    fileURLToPath(new URL(options.script, import.meta.url)),
    options.url,
    '--',
    ...options.args,
  ])
  const line = /^RESULT (.*)$/m.exec(printed)?.[1]
  if (line === undefined) throw new Error(`wrk said: ${printed}`)
  const result = JSON.parse(line) as Omit<Load, 'perSecond'>
  return { ...result, perSecond: result.requests / result.seconds }
}

/** @throws Error unless every answer was a good one */
export function checkClean(name: string, result: Load): void {
  if (result.badStatus === 0 && result.socketErrors === 0) return
  throw new Error(
    `${name}: ${result.badStatus} bad answers, ${result.socketErrors} socket errors in ${result.requests} requests`,
  )
}

/** A run of wrk, and the CPU time that the loaded process took for a request, all threads. */
export interface Measured extends Load {
  readonly cpuMicros: number
}

/**
 * Loads the server of a process. @throws Error unless every response was 2xx; with `mayRefuse` others are only
 * counted, and no part of `perSecond`
 */
export async function measureLoad(
  name: string,
  started: Started,
  options: LoadOptions,
  mayRefuse = false,
): Promise<Measured> {
  const before = started.cpuMs()
  const run = await load(options)
  checkClean(name, mayRefuse ? { ...run, badStatus: 0 } : run)
  const perSecond = (run.requests - run.badStatus) / run.seconds
  return { ...run, perSecond, cpuMicros: ((started.cpuMs() - before) / run.requests) * 1000 }
}
