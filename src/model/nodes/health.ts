import type { FaultCode } from '../../errors/catalog.ts'
import type { JsonObject } from '../json/json.ts'
import type { MetricRegistry } from '../metrics/metric-registry.ts'
import type { Millis } from '../time/clock.ts'

/** A part that a process depends on, by its name in `/hello`. */
export type Part =
  | 'store'
  | 'redis'
  | 'feed'
  | 'copy'
  | 'outbox'
  | 'disk'
  | 'clock'
  | 'dashboard'
  | 'workers'
  | 'backup'

const SYSTEM: ReadonlySet<Part> = new Set(['disk', 'clock', 'dashboard', 'workers', 'backup'])

type HealthStatus = 'pass' | 'warn' | 'fail'

/**
 * The state of one part as it was last looked at, some seconds ago at most. `warn`: it works, and an operator should look at it. `fail`: it
 * does not do its work.
 */
export interface PartHealth {
  readonly part: Part
  readonly status: HealthStatus
  /** Why it does not pass, in words without secrets. */
  readonly output?: string
  /** The refusal of calls that need it; absent where none are refused. */
  readonly fault?: FaultCode
  readonly value?: number
  /** Of `value`. */
  readonly unit?: 's' | 'bytes'
}

/** A store whose data was moved, or is being moved: reads are served. */
export const FROZEN_STORE: PartHealth = {
  part: 'store',
  status: 'warn',
  output: 'The store is frozen by migrate-store: it was moved or is being moved, and takes no writes',
}

/** A notification that waits for longer has been tried several times. */
const OUTBOX_WARNED_MS = 600_000

/** The state of the outbox by the time for which the oldest message that is to be delivered has waited; 0 = none waits. */
export function outboxHealth(waitingMs: Millis): PartHealth {
  const seen = { part: 'outbox', value: Math.max(0, waitingMs) / 1000, unit: 's' } as const
  if (waitingMs < OUTBOX_WARNED_MS) return { ...seen, status: 'pass' }
  return { ...seen, status: 'warn', output: 'A notification has waited for more than ten minutes' }
}

/**
 * The members of `details` in `/hello`, by part. `time`: RFC 3339. `withValues`: also what was measured, such as free bytes and ages,
 * which are for operators alone.
 */
export function healthDetails(
  parts: readonly PartHealth[],
  time: string,
  withValues: boolean,
): Record<string, JsonObject> {
  return Object.fromEntries(
    parts.map(({ part, status, output, value, unit }) => [
      part,
      {
        ...{ status, componentType: SYSTEM.has(part) ? 'system' : 'datastore', time },
        ...(output !== undefined && { output }),
        ...(withValues &&
          value !== undefined && { observedValue: Math.round(value * 1000) / 1000, observedUnit: unit ?? '' }),
      },
    ]),
  )
}

/** `pass` where all parts pass, `fail` where the process cannot do its work (`isRefused`) or nothing passes, else `warn`. */
export function overallStatus(parts: readonly PartHealth[], isRefused: boolean): HealthStatus {
  if (parts.every(({ status }) => status === 'pass')) return 'pass'
  return isRefused || parts.every(({ status }) => status === 'fail') ? 'fail' : 'warn'
}

/** How much a finding matters: an error keeps the installation from working, a warning is a risk, the rest is to be known. */
type Severity = 'error' | 'warning' | 'info'

/** Something that `gatehouse doctor` found. */
export interface Finding {
  readonly severity: Severity
  /** The part that was looked at. */
  readonly check: 'configuration' | 'settings' | 'store' | 'migrations' | 'clock' | 'ports' | 'certificates'
  readonly what: string
  /** A setting, a file, an address. */
  readonly where: string
  /** The remedy. */
  readonly action: string
}

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
