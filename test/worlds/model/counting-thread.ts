import { parentPort, workerData } from 'node:worker_threads'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { clockSince } from '../../../src/model/time/clock.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { SharedTables } from '../../../src/store/memory/shared-counters.ts'
import type { SharedCountMemory } from '../../../src/store/memory/shared-counts.ts'
import { seeded } from './naive.ts'

/** The data that a counting thread is started with. */
export interface CountingOrder {
  readonly memory: SharedCountMemory
  readonly number: number
  readonly origin: number
  readonly seed: number
  readonly max: number
  readonly windowMs: number
  /** It ends after so many calls, or so long. */
  readonly calls: number
  readonly forMs: number
  /** Longest random pause between two calls, in microseconds. */
  readonly mostPauseUs: number
  /** It claims its slots, and then waits within their locks until it is ended. */
  readonly stays: boolean
}

/** Its results: times of use that were admitted, and of calls that were refused. */
export interface Counted {
  readonly admitted: readonly number[]
  readonly refused: readonly number[]
}

const order = workerData as CountingOrder
const clock = clockSince(order.origin)
const tables = new SharedTables(order.memory, order.number)
const counters = new MemoryCounters(clock, tables)
const limits = [makeLimit('rate', 'hot|', order.max, order.windowMs), makeLimit('quota', 'hot|', 1e12, 0)]

if (order.stays) {
  tables.enter(limits)
  parentPort?.postMessage('entered')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const random = seeded(order.seed)
const admitted: number[] = []
const refused: number[] = []
const endsAt = clock.mono() + order.forMs
for (let call = 0; call < order.calls && clock.mono() < endsAt; call++) {
  const answer = counters.take(limits, { wall: clock.wall(), mono: clock.mono() })
  ;(answer === -1 ? admitted : refused).push(tables.rates.table.time)
  const until = performance.now() + (random() * order.mostPauseUs) / 1000
  while (performance.now() < until);
}
parentPort?.postMessage({ admitted, refused } satisfies Counted)
