/** Fields of a log event besides its sentence. Values under names like `secret` or `authorization` are masked. */
export type LogFields = Readonly<Record<string, unknown>>

/** The product's log as its parts see it: fixed fields first, then one sentence. Never blocks and never throws. */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

/** The members of each line about the process that wrote it. */
export interface ProcessNames {
  readonly node: string
  /** `all`, `gateway` or `dashboard`. */
  readonly role: string
  /** Of the product. */
  readonly version: string
}

/** A log that keeps nothing, for tests and tools. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
}

/**
 * Where finished lines of text go (the access log). Writing never waits: what a slow disk has not taken yet is
 * `backlogBytes`, and the caller decides from which size on it throws lines away instead.
 */
export interface LineSink {
  /** Bytes handed over and not yet written. */
  readonly backlogBytes: number
  /** Takes whole lines, each ended by a line feed. False when they could not be taken. */
  write(lines: string): boolean
  /** Flushes, within bounds, and closes the file. */
  close(): Promise<void>
}
