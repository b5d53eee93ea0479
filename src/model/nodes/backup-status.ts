import type { MetricRegistry } from '../metrics/metric-registry.ts'
import type { Millis } from '../time/clock.ts'
import type { PartHealth } from './health.ts'

const SUCCESS = 0
const FAILURES = 1
const FAILED = 2

/** How the backups of a running server go. One thread writes it, all read it. */
export class BackupStatus {
  /** Shared between threads: time of the last success, number of failures, 1 = the last one failed. */
  readonly cells: Float64Array<SharedArrayBuffer>
  readonly intervalMs: Millis

  /** `intervalMinutes`: `backup.interval_minutes`. */
  constructor(
    intervalMinutes: number,
    cells = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT)),
  ) {
    this.intervalMs = intervalMinutes * 60_000
    this.cells = cells
  }

  /** When the last one was complete; 0 = none is there. */
  get lastSuccess(): Millis {
    return this.cells[SUCCESS]!
  }

  /** Fails where the last one failed, or is older than two intervals. The value is its age. */
  health(now: Millis): PartHealth {
    const part = 'backup'
    const ageMs = Math.max(0, now - this.lastSuccess)
    const age = this.lastSuccess === 0 ? {} : ({ value: ageMs / 1000, unit: 's' } as const)
    if (this.cells[FAILED] === 1)
      return { part, status: 'fail', output: 'The last backup failed: the log says why', ...age }
    if (this.lastSuccess > 0 && ageMs > 2 * this.intervalMs)
      return { part, status: 'fail', output: 'The last backup is older than two intervals', ...age }
    return { part, status: 'pass', ...age }
  }

  succeeded(at: Millis): void {
    this.cells[SUCCESS] = at
    this.cells[FAILED] = 0
  }

  failed(): void {
    this.cells[FAILURES]! += 1
    this.cells[FAILED] = 1
  }

  offerMetrics(metrics: MetricRegistry): void {
    metrics.offer('svc_backup_last_success_timestamp_seconds', () => this.lastSuccess / 1000)
    metrics.offer('svc_backup_failures_total', () => this.cells[FAILURES]!)
  }
}
