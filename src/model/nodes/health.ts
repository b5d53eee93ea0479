import type { FaultCode } from '../../errors/catalog.ts'

/** What an installation depends on, by the names in `/hello`. */
export type Part = 'store' | 'redis' | 'feed' | 'copy' | 'disk' | 'outbox' | 'clock' | 'dashboard'

/**
 * The state of one part as it was last looked at, some seconds ago at most. `warn`: it works, and somebody should look at it. `fail`: it does
 * not do what it is there for.
 */
export interface PartHealth {
  readonly part: Part
  readonly status: 'pass' | 'warn' | 'fail'
  /** Why it does not pass, one sentence without secrets. */
  readonly output?: string
  /** What calls that need it are refused with; absent where none are. */
  readonly fault?: FaultCode
  /** What was measured, in `unit`. */
  readonly value?: number
  readonly unit?: 's' | 'bytes'
}
