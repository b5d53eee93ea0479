import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { MetricRegistry, MetricSample, WatchedThread } from '../model/metrics/metric-registry.ts'
import { descriptorLimit } from '../model/nodes/descriptors.ts'

/** Reports of the last seconds cover at least this long, so that two scrapers do not blind each other. */
const WINDOW_MS = 10_000
const NANOS_PER_SECOND = 1e9
const OPEN_FILES = '/proc/self/fd'

/**
 * Adds the metrics of the process and of this thread: event loop, memory, CPU, descriptors, version. `thread` names this thread,
 * `others` are threads that only their owner can look at. Answers the function that ends the measuring of the delay.
 */
export function offerProcessMetrics(
  metrics: MetricRegistry,
  { version, thread, others = [] }: { version: string; thread: string; others?: readonly WatchedThread[] },
): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const windows = [{ name: thread, utilization: () => performance.eventLoopUtilization() }, ...others].map(
    (each) => new UtilizationWindow(each),
  )
  let since = performance.now()
  metrics.offer('svc_event_loop_delay_p99_seconds', () => {
    const p99 = delay.percentile(99) / NANOS_PER_SECOND
    if (performance.now() - since < WINDOW_MS) return p99
    since = performance.now()
    delay.reset()
    return p99
  })
  metrics.offer('svc_thread_utilization_ratio', () => windows.flatMap((window) => window.samples()))
  metrics.offer('svc_heap_used_bytes', () => process.memoryUsage().heapUsed)
  metrics.offer('process_resident_memory_bytes', () => process.memoryUsage.rss())
  metrics.offer('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  // The start of the process, also on a thread that started later.
  metrics.offer('process_start_time_seconds', () => Math.round(Date.now() - process.uptime() * 1000) / 1000)
  if (process.platform === 'linux') {
    const limit = descriptorLimit()
    metrics.offer('process_open_fds', openDescriptors)
    metrics.offer('process_max_fds', () => limit)
  }
  metrics.offer('svc_build_info', () => [{ labels: { version, node: process.version }, value: 1 }])
  return () => delay.disable()
}

/** Without the one that reads them. About 0.1 ms a thousand. */
function openDescriptors(): number {
  return readdirSync(OPEN_FILES).length - 1
}

class UtilizationWindow {
  readonly #thread: WatchedThread
  #since = performance.now()
  #start: ReturnType<WatchedThread['utilization']>

  constructor(thread: WatchedThread) {
    this.#thread = thread
    this.#start = thread.utilization()
  }

  samples(): MetricSample[] {
    const now = this.#thread.utilization()
    if (now === undefined) return []
    // A thread that was started again counts from its own beginning.
    const before = this.#start !== undefined && this.#start.active <= now.active ? this.#start : undefined
    const active = now.active - (before?.active ?? 0)
    const idle = now.idle - (before?.idle ?? 0)
    if (performance.now() - this.#since >= WINDOW_MS) {
      this.#since = performance.now()
      this.#start = now
    }
    const value = active + idle <= 0 ? 0 : Math.min(1, Math.max(0, active / (active + idle)))
    return [{ labels: { thread: this.#thread.name }, value }]
  }
}
