import { LOAD_CORE, output, type Started } from './processes.ts'

export interface H2Options {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  /** Requests in flight on each connection. */
  readonly streams: number
  readonly headers: readonly string[]
  /** File that is sent as the body of each request; absent = GET. */
  readonly bodyFile?: string
  /** Over HTTP/1.1 instead. */
  readonly http1?: boolean
}

/** The measurements of one run of h2load. Latencies in milliseconds. */
export interface H2Measured {
  readonly perSecond: number
  readonly requests: number
  readonly meanMs: number
  readonly cpuMicros: number
}

/** Share of bad answers that is let pass, and not counted: nginx drops some calls of gRPC when it renews a connection. */
const MAX_BAD_SHARE = 0.01

/** Loads the server of a process over HTTP/2. @throws Error when more than a few answers were bad */
export async function measureH2(name: string, started: Started, options: H2Options): Promise<H2Measured> {
  const before = started.cpuMs()
  const printed = await output('taskset', [
    ...['-c', String(LOAD_CORE), 'h2load', '-t1', `-c${options.connections}`, `-m${options.streams}`],
    ...(options.http1 === true ? ['--h1'] : []),
    ...['-D', String(options.seconds)],
    ...options.headers.flatMap((header) => ['-H', header]),
    ...(options.bodyFile === undefined ? [] : ['-d', options.bodyFile]),
    options.url,
  ])
  const found = (pattern: RegExp) => Number(pattern.exec(printed)?.[1] ?? Number.NaN)
  const good = found(/status codes: (\d+) 2xx/)
  const bad = [/(\d+) 3xx/, /(\d+) 4xx/, /(\d+) 5xx/, /(\d+) errored/, /(\d+) timeout/].map(found)
  const worst = bad.reduce((sum, count) => sum + count, 0)
  if (!(good > 0) || !(worst <= good * MAX_BAD_SHARE)) throw new Error(`${name}: h2load said ${printed}`)
  return {
    perSecond: good / options.seconds,
    requests: good,
    meanMs: millis(/time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)/.exec(printed)),
    cpuMicros: ((started.cpuMs() - before) / good) * 1000,
  }
}

function millis(found: RegExpExecArray | null): number {
  const unit = { us: 0.001, ms: 1, s: 1000 }[found?.[2] ?? ''] ?? Number.NaN
  return Number(found?.[1]) * unit
}
