import { openSync } from 'node:fs'
import { hostname } from 'node:os'
import pino from 'pino'
import type { Config } from '../config/schema.ts'
import { productVersion } from '../config/version.ts'
import { Fault, fault } from '../errors/fault.ts'
import type { Log, LogFields, ProcessNames } from '../model/logs/log.ts'
import { BackgroundSink } from '../runtime/line-sink.ts'

export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `stdout`, `stderr`, or the path of a file that is appended to. */
  readonly destination: string
  readonly about?: ProcessNames
}

/** The product's log, with what only the process that made it may do. */
export interface ProductLog extends Log {
  /** Flushes and closes the destination. */
  close(): Promise<void>
}

/** The backlog of a destination that accepts no lines; further lines are lost. */
const MAX_BACKLOG_BYTES = 8 << 20
const MASK = '[masked]'
const SECRET_NAME = /secret|passw|authorization|cookie|token|credential|private|^(api_?|access_?|raw_?)?key$|pem$/i
const DEPTH = 4

/** The members of each line about this process. */
function processNames({ gateway }: Config, role: string): ProcessNames {
  return { node: gateway.node_name === '' ? hostname() : gateway.node_name, role, version: productVersion() }
}

/** Makes the log of this process, by its settings. */
export function openLog(config: Config, role: string): ProductLog {
  return makeLog({ level: config.log.level, destination: 'stdout', about: processNames(config, role) })
}

/**
 * Makes the product's log: JSON lines by pino, written without waiting. Values under names that speak of secrets are masked at any depth.
 * @throws Fault `setting_invalid` when the file cannot be opened
 */
export function makeLog(settings: LogSettings): ProductLog {
  const sink = openLineSink(settings.destination)
  const target = {
    write(line: string): void {
      if (sink.backlogBytes < MAX_BACKLOG_BYTES) sink.write(line)
    },
  }
  const logger = pino(
    { level: settings.level, base: settings.about ?? null, serializers: { err: (error) => error } },
    target,
  )
  return {
    debug: (fields, message) => logger.debug(masked(fields), message),
    info: (fields, message) => logger.info(masked(fields), message),
    warn: (fields, message) => logger.warn(masked(fields), message),
    error: (fields, message) => logger.error(masked(fields), message),
    close: () => sink.close(),
  }
}

/**
 * Opens `stdout`, `stderr` or a file (appended to) for whole lines.
 * @throws Fault `setting_invalid` when the file cannot be opened
 */
export function openLineSink(destination: string): BackgroundSink {
  if (destination === 'stdout') return new BackgroundSink(1, false)
  if (destination === 'stderr') return new BackgroundSink(2, false)
  try {
    return new BackgroundSink(openSync(destination, 'a', 0o640), true)
  } catch (error) {
    throw fault('setting_invalid', `the log file ${destination} cannot be opened: ${(error as Error).message}`, error)
  }
}

/** A copy of the fields that pino can write: secrets masked, errors as plain objects, bounded in depth. */
function masked(fields: LogFields): Record<string, unknown> {
  const copy: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(fields)) copy[name] = SECRET_NAME.test(name) ? MASK : plain(value, DEPTH)
  return copy
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return plainError(value, depth)
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (depth === 0) return '[deep]'
  if (Array.isArray(value)) return value.map((member) => plain(member, depth - 1))
  const copy: Record<string, unknown> = Object.create(null)
  for (const [name, member] of Object.entries(value))
    copy[name] = SECRET_NAME.test(name) ? MASK : plain(member, depth - 1)
  return copy
}

function plainError(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: error.message,
    ...(error instanceof Fault ? { code: error.code } : { stack: error.stack }),
    ...(error.cause === undefined || depth === 0 ? {} : { cause: plain(error.cause, depth - 1) }),
  }
}
