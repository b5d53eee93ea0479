import { performance } from 'node:perf_hooks'
import type { NodeLoad } from '../../model/nodes/node.ts'
import type { Metrics } from './metrics.ts'

/** A rate covers at least this long, so that reports in quick succession do not each describe a moment. */
const WINDOW_MS = 10_000

/** Tells how busy this node is, from what is counted anyway: nothing is done for a request. */
export class LoadMeter {
  readonly #metrics: Metrics
  readonly #connections: () => number
  #since = performance.now()
  #requests = 0
  #loop = performance.eventLoopUtilization()

  /** `connections`: those of clients that are open now. */
  constructor(metrics: Metrics, connections: () => number) {
    this.#metrics = metrics
    this.#connections = connections
  }

  /** The load since it was asked last, or longer: over ten seconds at least, once it has been there as long. */
  read(): NodeLoad {
    const now = performance.now()
    const elapsedMs = Math.max(1, now - this.#since)
    const requests = requestsOf(this.#metrics)
    // Counts of an API that has gone are gone with it.
    const fresh = Math.max(0, requests - this.#requests)
    const { utilization } = performance.eventLoopUtilization(this.#loop)
    if (elapsedMs >= WINDOW_MS) {
      this.#since = now
      this.#requests = requests
      this.#loop = performance.eventLoopUtilization()
    }
    return {
      requests_per_second: rounded((fresh * 1000) / elapsedMs, 10),
      connections: this.#connections(),
      busy: rounded(utilization, 1000),
      memory_bytes: process.memoryUsage.rss(),
    }
  }
}

function requestsOf(metrics: Metrics): number {
  let sum = 0
  for (const [, { statusCounts, otherStatuses }] of metrics.labelledApis()) {
    sum += otherStatuses
    for (const count of statusCounts) sum += count
  }
  return sum
}

function rounded(value: number, parts: number): number {
  return Math.round(value * parts) / parts
}
