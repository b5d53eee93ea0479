import { setImmediate, setTimeout } from 'node:timers'
import type { Config } from '../../config/schema.ts'
import type { LineSink, ProcessNames } from '../../model/logs/log.ts'
import type { GoawayReason } from '../../wire/http2/goaway.ts'
import { outcomeOf } from './outcome.ts'
import { Sample } from './sample.ts'

export interface AccessLogOptions {
  /** Requests that may wait to be written; more are dropped and counted. */
  readonly capacity?: number
  /** Longest wait before waiting requests are written; 0 = only when `highWater` is reached or `drain` is called. */
  readonly flushMs?: number
  /** From so many waiting requests on, they are written in the next turn. */
  readonly highWater?: number
  /** Names the process in each line. */
  readonly about?: ProcessNames
  /** Which lines are written: `info` all, `warn` those of refused, failed and cut requests, `error` those of failures of ours. */
  readonly level?: AccessLevel
  /** Of requests that went well, one in so many is written. */
  readonly sample?: number
  /** Most bytes that wait for the disk. Over it lines are dropped, so that a slow disk slows nobody. */
  readonly maxBacklogBytes?: number
}

export type AccessLevel = 'info' | 'warn' | 'error'

/** As pino numbers them. */
const LEVELS: Readonly<Record<AccessLevel, number>> = { info: 30, warn: 40, error: 50 }
const LINES_PER_TURN = 256
const PATH_CHARACTERS = 2048
const KEY_CHARACTERS = 8

/**
 * The access log: one JSON line for each finished request. A request only copies its sample into a ring;
 * text is made and written later, in batches, through a sink that never waits.
 */
export class AccessLog {
  readonly #sink: LineSink
  readonly #ring: Sample[]
  readonly #flushMs: number
  readonly #highWater: number
  readonly #maxBacklogBytes: number
  readonly #level: number
  /** One request in so many is logged. */
  readonly #oneIn: number
  /** The last members of each line. */
  readonly #end: string
  #sampled = 0
  #from = 0
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #turn: NodeJS.Immediate | undefined
  #dropped = 0
  #reportedDropped = 0
  #written = 0

  constructor(sink: LineSink, options: AccessLogOptions = {}) {
    this.#sink = sink
    const capacity = options.capacity ?? 4096
    this.#ring = Array.from({ length: capacity }, () => new Sample())
    this.#flushMs = options.flushMs ?? 100
    this.#highWater = Math.min(options.highWater ?? 512, capacity)
    this.#level = LEVELS[options.level ?? 'info']
    this.#oneIn = options.sample ?? 1
    this.#end = endOf(options.about)
    this.#maxBacklogBytes = options.maxBacklogBytes ?? 8 << 20
  }

  /** Requests whose line was thrown away because lines came faster than they could be written. */
  get dropped(): number {
    return this.#dropped
  }

  get written(): number {
    return this.#written
  }

  /** Takes note of a finished request. Copies; the sample may be reused at once. */
  push(sample: Sample): void {
    const level = levelOf(sample)
    if (level < this.#level) return
    if (level === LEVELS.info && this.#oneIn > 1 && this.#sampled++ % this.#oneIn !== 0) return
    this.#add(sample)
  }

  /** Takes note of an HTTP/2 connection that was ended because of what its client sent. `wallMs` in Unix milliseconds. */
  pushGoaway(reason: GoawayReason, clientIp: string, wallMs: number): void {
    if (LEVELS.warn < this.#level) return
    const sample = new Sample()
    sample.wallMs = wallMs
    sample.goaway = reason
    sample.clientIp = clientIp
    this.#add(sample)
  }

  #add(sample: Sample): void {
    if (this.#count === this.#ring.length) {
      this.#dropped++
      return
    }
    this.#ring[(this.#from + this.#count) % this.#ring.length]!.copyForLog(sample)
    this.#count++
    if (this.#count === 1 && this.#flushMs > 0) this.#arm()
    if (this.#count === this.#highWater) this.#drainSoon()
  }

  /** Writes a batch of what waits; more follow in later turns. */
  drain(): void {
    const lines = Math.min(this.#count, LINES_PER_TURN)
    const room = this.#sink.backlogBytes < this.#maxBacklogBytes
    let text = room ? this.#droppedLine() : ''
    for (let i = 0; i < lines; i++) {
      const sample = this.#ring[this.#from]!
      if (room) text += formatLine(sample, this.#oneIn) + this.#end
      sample.reset()
      this.#from = (this.#from + 1) % this.#ring.length
    }
    this.#count -= lines
    if (room && (text === '' || this.#sink.write(text))) this.#written += lines
    else this.#dropped += lines
    if (this.#count > 0) this.#drainSoon()
  }

  /** Writes everything that waits and closes the sink. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    while (this.#count > 0) this.drain()
    clearImmediate(this.#turn)
    await this.#sink.close()
  }

  #arm(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.drain()
    }, this.#flushMs)
    this.#timer.unref()
  }

  #drainSoon(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined
      this.drain()
    })
  }

  #droppedLine(): string {
    const dropped = this.#dropped - this.#reportedDropped
    if (dropped === 0) return ''
    this.#reportedDropped = this.#dropped
    return `{"level":40,"time":${Date.now()},"msg":"access log lines dropped","dropped":${dropped}}\n`
  }
}

/** The parts of a gateway that its access log depends on. */
interface AccessLogParts {
  readonly accessLog: LineSink | undefined
  readonly config: Config
  readonly dashboard: unknown
  readonly nodeName: string
  readonly version: string
}

/** Opens the access log as the settings say; undefined = none is written. */
export function openAccessLog(parts: AccessLogParts): AccessLog | undefined {
  const { accessLog, config, dashboard, nodeName: node, version } = parts
  if (accessLog === undefined) return undefined
  const { access_log_level: level, access_log_sample: sample } = config.gateway
  const role = dashboard === undefined ? 'gateway' : 'all'
  return new AccessLog(accessLog, { level, sample, about: { node, role, version } })
}

/**
 * The line of one request. Names and levels are those of pino, so that its tools read it.
 * The query is left out: it may contain tokens and keys. Outside text is escaped by JSON.
 */
function formatLine(s: Sample, sampled: number): string {
  // Of a connection, not of a request.
  if (s.method === '' && s.goaway !== '')
    return `{"level":${LEVELS.warn},"time":${s.wallMs},"msg":"connection ended","goaway":"${s.goaway}","client_ip":${JSON.stringify(s.clientIp)}`
  const level = levelOf(s)
  const path = s.path.length > PATH_CHARACTERS ? s.path.slice(0, PATH_CHARACTERS) : s.path
  let line = `{"level":${level},"time":${s.wallMs},"msg":"request","request_id":${JSON.stringify(s.requestId)},"api_id":${JSON.stringify(s.apiId)}`
  line += `,"method":${JSON.stringify(s.method)},"path":${JSON.stringify(path)},"status":${s.status},"total_ms":${round(s.totalMs)}`
  if (s.upstreamMs >= 0) line += `,"upstream_ms":${round(s.upstreamMs)}`
  line += `,"bytes_in":${s.bytesIn},"bytes_out":${s.bytesOut},"client_ip":${JSON.stringify(s.clientIp)}`
  if (s.keyHash !== '') line += `,"key":"${s.keyHash.slice(0, KEY_CHARACTERS)}"`
  if (s.version !== '') line += `,"api_version":${JSON.stringify(s.version)}`
  if (s.faultCode !== '') line += `,"fault":"${s.faultCode}"`
  line += `,"outcome":"${outcomeOf(s.cutBy)}"`
  if (s.cutBy !== '') line += `,"cut":"${s.cutBy}"`
  if (s.goaway !== '') line += `,"goaway":"${s.goaway}"`
  if (s.traceId !== '') line += `,"trace_id":"${s.traceId}"`
  if (sampled > 1 && level === LEVELS.info) line += `,"sampled":${sampled}`
  return line
}

/** The level of a line: failures on our side or behind are errors, what callers did wrong or broke off warnings. */
function levelOf({ status, cutBy }: Sample): number {
  if (status >= 500 || (cutBy !== '' && cutBy !== 'client' && cutBy !== 'goaway')) return LEVELS.error
  return status >= 400 || cutBy !== '' ? LEVELS.warn : LEVELS.info
}

function endOf(about: ProcessNames | undefined): string {
  return about === undefined ? '}\n' : `,${JSON.stringify(about).slice(1)}\n`
}

/** To the microsecond: more digits are noise and bytes. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
