import { Agent, request } from 'node:http'
import type { Started } from './processes.ts'
import { quantile } from './report.ts'

export interface TimedCall {
  readonly path: string
  /** GET unless given. */
  readonly method?: string
  readonly body?: unknown
}

export interface TimedOptions {
  readonly url: string
  /** Of the caller, for `Authorization`. */
  readonly key: string
  /** Calls in all. */
  readonly count: number
  /** Number of concurrent callers, each on its own connection. 1 unless given. */
  readonly callers?: number
  readonly call: (i: number) => TimedCall
  /** No call begins after so long. */
  readonly longestMs?: number
  /** The process whose CPU time is measured. */
  readonly started?: Started
}

/** Durations of calls, to the last byte of the answer. Milliseconds. */
export interface Times {
  readonly count: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly slowest: number
  /** Bytes of the largest answer. */
  readonly bytes: number
  /** CPU time of a call, all threads of the server: what tells on a machine that others use too. 0 without `started`. */
  readonly cpuMs: number
}

/** Makes calls on kept connections and times each. @throws Error unless every answer is 200 */
export async function timed({ url, key, count, call, callers = 1, longestMs, started }: TimedOptions): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const times: number[] = []
  let bytes = 0
  let next = 0
  const cpuBefore = started?.cpuMs() ?? 0
  const from = performance.now()
  const endsAt = from + (longestMs ?? Number.POSITIVE_INFINITY)
  const one = async () => {
    while (next < count && performance.now() < endsAt) {
      const wanted = call(next++)
      const began = performance.now()
      bytes = Math.max(bytes, await send(url, agent, key, wanted))
      times.push(performance.now() - began)
    }
  }
  try {
    await Promise.all(Array.from({ length: callers }, one))
  } finally {
    agent.destroy()
  }
  const seconds = (performance.now() - from) / 1000
  const cpuMs = ((started?.cpuMs() ?? 0) - cpuBefore) / times.length
  return {
    ...{ count: times.length, perSecond: times.length / seconds, bytes, cpuMs },
    ...{ p50: quantile(times, 0.5), p99: quantile(times, 0.99), slowest: quantile(times, 1) },
  }
}

/** Answers the bytes of the body. */
function send(url: string, agent: Agent, key: string, { path, method = 'GET', body }: TimedCall): Promise<number> {
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const headers = { Authorization: key, ...(sent !== undefined && { 'Content-Type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { agent, method, headers }, (answer) => {
      let bytes = 0
      let text = ''
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (answer.statusCode !== 200) text += chunk
      })
      answer.once('error', reject)
      answer.once('end', () => {
        if (answer.statusCode === 200) resolve(bytes)
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`))
      })
    })
    asked.once('error', reject)
    asked.end(sent)
  })
}
