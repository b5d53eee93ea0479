import { performance } from 'node:perf_hooks'
import type { Fault } from '../../errors/fault.ts'
import type { HealthCheck, HealthRules } from '../../model/apis/definition/upstream-resilience.ts'
import type { OriginUser } from '../../wire/connect/origin.ts'
import type { Origin } from '../../wire/connect/origin-port.ts'
import { Fields } from '../../wire/http1/fields.ts'
import type { AnswerHead } from '../../wire/http1/response-head.ts'
import { fieldLines } from '../server/field-lines.ts'
import type { Target } from './target.ts'

/** Longest wait before a target's first check: not all APIs ask at once when a gateway starts. */
const FIRST_WITHIN_MS = 1000

/** Probes targets periodically, alongside requests and on separate connections. */
export class HealthChecks {
  readonly #rules: HealthRules
  readonly #checked: (target: Target, reason: string) => void
  readonly #timers = new Map<Target, NodeJS.Timeout | undefined>()

  /** `checked` gets the result of each round; '' = the target is healthy. */
  constructor(rules: HealthRules, checked: (target: Target, reason: string) => void) {
    this.#rules = rules
    this.#checked = checked
  }

  /** Checks these targets from now on, and no others. */
  follow(targets: readonly Target[]): void {
    for (const [target, timer] of this.#timers) {
      if (targets.includes(target)) continue
      clearTimeout(timer)
      this.#timers.delete(target)
    }
    for (const target of targets) {
      if (this.#timers.has(target)) continue
      const checks = this.#rules.checks.filter((check) => speaksOf(check, target))
      if (checks.length > 0)
        this.#wait(target, checks, Math.random() * Math.min(this.#rules.intervalMs, FIRST_WITHIN_MS))
    }
  }

  close(): void {
    this.follow([])
  }

  #wait(target: Target, checks: readonly HealthCheck[], ms: number): void {
    this.#timers.set(target, setTimeout(() => void this.#round(target, checks), ms).unref())
  }

  async #round(target: Target, checks: readonly HealthCheck[]): Promise<void> {
    const reasons = await Promise.all(checks.map((check) => probe(target, check)))
    if (!this.#timers.has(target)) return
    this.#checked(target, reasons.find((reason) => reason !== '') ?? '')
    const { intervalMs, downIntervalMs } = this.#rules
    this.#wait(target, checks, target.health?.down ? downIntervalMs : intervalMs)
  }
}

/** True when a check is asked of this target: one by a path of all, one by a URL of the target there. */
function speaksOf({ url }: HealthCheck, { upstream, authority }: Target): boolean {
  if (url.startsWith('/')) return true
  const parsed = URL.parse(url)
  return parsed?.host === authority && (parsed.protocol === 'https:') === upstream.options.secure
}

/**
 * Sends a target one probe on a separate connection, in the same way as requests: TLS, client certificate and pins are
 * those of the target. Returns '' when it is healthy, else the reason. Never rejects.
 */
function probe(target: Target, check: HealthCheck): Promise<string> {
  return new Promise((resolve) => new Probe(target, check, resolve))
}

class Probe implements OriginUser {
  readonly answer = new Fields()
  readonly #check: HealthCheck
  readonly #head: string
  readonly #connection: Origin
  readonly #timer: NodeJS.Timeout
  readonly #resolve: (reason: string) => void

  constructor(target: Target, check: HealthCheck, resolve: (reason: string) => void) {
    this.#check = check
    this.#resolve = resolve
    this.#head = headOf(target, check)
    this.#timer = setTimeout(() => {
      this.#connection.destroy()
      this.#end(`no answer within ${check.timeoutMs} ms`)
    }, check.timeoutMs).unref()
    this.#connection = target.upstream.open(this)
  }

  originReady(): void {
    const now = performance.now()
    this.#connection.ask(this.#check.method === 'HEAD', false, now)
    this.#connection.outlet!.text(this.#head)
    this.#connection.sent(now)
  }

  originInterim(): void {}

  originHead({ status }: AnswerHead): void {
    const { statuses } = this.#check
    const well = statuses.length === 0 ? status >= 200 && status < 300 : statuses.includes(status)
    this.#connection.destroy()
    this.#end(well ? '' : `status ${status}`)
  }

  originFailed(fault: Fault): void {
    this.#end(`${fault.code}: ${fault.message}`)
  }

  // The connection is let go with the head of the answer, so none of these is called.
  originBody(): void {}
  originTunnel(): void {}
  originTunnelEnd(): void {}
  originDrained(): void {}

  #end(reason: string): void {
    clearTimeout(this.#timer)
    this.#resolve(reason)
  }
}

/** Request and body, as text of one byte a character. */
function headOf(target: Target, { url, method, headers, body }: HealthCheck): string {
  const parsed = URL.parse(url, 'http://target')!
  const lines = fieldLines(headers)
  const bytes = Buffer.from(body, 'utf8')
  const framing = bytes.length > 0 || method === 'POST' || method === 'PUT' ? `Content-Length: ${bytes.length}\r\n` : ''
  return (
    `${method} ${parsed.pathname}${parsed.search} HTTP/1.1\r\nHost: ${target.authority}\r\nUser-Agent: gatehouse-health\r\n` +
    `${lines}${framing}Connection: close\r\n\r\n${bytes.toString('latin1')}`
  )
}
