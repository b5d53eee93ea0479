import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

/** The delay that is reported speaks of at least this long, so that two scrapers do not blind each other. */
const DELAY_WINDOW_MS = 10_000
const NANOS_PER_SECOND = 1e9

/**
 * Adds the metrics of the process: event loop delay, memory, CPU, version.
 * Answers the function that ends the measuring of the delay.
 */
export function offerProcessMetrics(metrics: Metrics, version: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let p99 = 0
  let since = performance.now()
  metrics.gauge(
    'svc_event_loop_delay_p99_seconds',
    'Delay of the event loop, 99th percentile of the last seconds.',
    () => {
      p99 = delay.percentile(99) / NANOS_PER_SECOND
      if (performance.now() - since < DELAY_WINDOW_MS) return p99
      since = performance.now()
      delay.reset()
      return p99
    },
  )
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.gauge('svc_heap_used_bytes', 'Heap in use by the gateway thread.', () => process.memoryUsage().heapUsed)
  metrics.counter('process_cpu_seconds', 'User and system CPU time spent.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.gauge('process_start_time_seconds', 'Start time since the Unix epoch.', startedAt)
  metrics.offer({
    name: 'svc_build_info',
    kind: 'gauge',
    help: 'Always 1; the labels tell the version.',
    read: () => [{ labels: { version, node: process.version }, value: 1 }],
  })
  return () => delay.disable()
}

function startedAt(): number {
  return Math.round(performance.timeOrigin) / 1000
}
