import { performance } from 'node:perf_hooks'
import type { Fault } from '../../errors/fault.ts'
import type { HealthCheck } from '../../model/apis/definition/upstream-resilience.ts'
import type { OriginUser } from '../../wire/connect/origin.ts'
import type { Origin } from '../../wire/connect/origin-port.ts'
import { Fields } from '../../wire/http1/fields.ts'
import type { AnswerHead } from '../../wire/http1/response-head.ts'
import { fieldLines } from '../server/field-lines.ts'
import type { Target } from './target.ts'

/**
 * Sends a target one probe on a separate connection, in the same way as requests: TLS, client certificate and pins are
 * those of the target. Returns '' when it is healthy, else the reason. Never rejects.
 */
export function probe(target: Target, check: HealthCheck): Promise<string> {
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
