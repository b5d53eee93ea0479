import { closeSync, openSync, write, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import pino from 'pino'
import type { Config } from '../config/schema.ts'
import { productVersion } from '../config/version.ts'
import { Fault, fault } from '../errors/fault.ts'
import type { LineSink, Log, LogFields, ProcessNames } from '../model/logs/log.ts'

// Not pino's own destination: with a full disk its flush at exit tries for ever, and the process never ends.

const RETRY_MS = 100
const CLOSE_WITHIN_MS = 2000
/** Texts are joined up to this size for one write. */
const WRITE_CHARACTERS = 64 << 10

/**
 * Writes whole lines to an open file in the background, one write at a time. Lines that cannot be written (full disk,
 * closed pipe) are dropped and counted in `lostBytes`; callers never wait for them.
 */
class BackgroundSink implements LineSink {
  backlogBytes = 0
  /** Bytes thrown away because they could not be written. */
  lostBytes = 0
  readonly #file: number
  readonly #owned: boolean
  #queue: string[] = []
  #writing: Buffer | undefined
  #closed = false
  #whenIdle: (() => void) | undefined
  readonly #atExit = () => this.#writeNow()

  /** `file` is a descriptor; `owned` = close it in the end. */
  constructor(file: number, owned: boolean) {
    this.#file = file
    this.#owned = owned
    process.on('exit', this.#atExit)
  }

  write(lines: string): boolean {
    if (this.#closed) return false
    this.backlogBytes += Buffer.byteLength(lines)
    this.#queue.push(lines)
    if (this.#writing === undefined) this.#next()
    return true
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#writing !== undefined) await this.#idle()
    process.off('exit', this.#atExit)
    // A write that hangs still holds the file; the system takes it back at exit.
    if (this.#owned && this.#writing === undefined) closeSync(this.#file)
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      const bound = setTimeout(resolve, CLOSE_WITHIN_MS)
      this.#whenIdle = () => {
        clearTimeout(bound)
        resolve()
      }
    })
  }

  #next(): void {
    if (this.#queue.length === 0) {
      this.#writing = undefined
      this.#whenIdle?.()
      return
    }
    let characters = 0
    let count = 0
    while (count < this.#queue.length && characters < WRITE_CHARACTERS) characters += this.#queue[count++]!.length
    this.#send(Buffer.from(this.#queue.splice(0, count).join('')))
  }

  #send(bytes: Buffer): void {
    this.#writing = bytes
    write(this.#file, bytes, (error, written) => {
      if (error === null) {
        this.backlogBytes -= written
        if (written < bytes.length) this.#send(bytes.subarray(written))
        else this.#next()
        return
      }
      // A pipe whose reader is slow says so; everything else will not get better by asking again.
      if (error.code === 'EAGAIN') {
        setTimeout(() => this.#send(bytes), RETRY_MS)
        return
      }
      this.backlogBytes -= bytes.length
      this.lostBytes += bytes.length
      this.#next()
    })
  }

  /** The process ends: one try for what is left, and no waiting. */
  #writeNow(): void {
    // The current write may have succeeded: only what is queued after it is surely missing.
    const rest = this.#queue.join('')
    this.#queue = []
    try {
      if (rest !== '') writeSync(this.#file, rest)
    } catch {
      this.lostBytes += Buffer.byteLength(rest)
    }
  }
}

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
