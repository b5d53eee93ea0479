import { fault } from '../../errors/fault.ts'
import { Upstream, type UpstreamOptions } from '../../wire/upstream.ts'
import type { Target, Targets } from '../exchange.ts'

/** What of an upstream's settings the installation decides. */
export type UpstreamDefaults = Pick<
  UpstreamOptions,
  'connectTimeoutMs' | 'headTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs' | 'maxIdle' | 'idleKeepMs'
>

/**
 * All upstreams of the process: APIs with the same origin and settings share one, with its idle connections,
 * and it closes when the last of them is gone.
 */
export class UpstreamPool {
  readonly #defaults: UpstreamDefaults
  readonly #shared = new Map<string, { upstream: Upstream; users: number }>()

  constructor(defaults: UpstreamDefaults) {
    this.#defaults = defaults
  }

  /** Number of origins that are in use. */
  get size(): number {
    return this.#shared.size
  }

  /**
   * Opens the targets of an API; `close` of the answer lets them go again.
   * @throws Fault `definition_invalid` when a URL is not an absolute http or https URL
   */
  open(rules: {
    readonly targets: readonly { readonly url: string; readonly weight: number }[]
    readonly insecure: boolean
    readonly timeoutMs: number
  }): Targets & { close(): void } {
    const keys: string[] = []
    const weighted = rules.targets.filter(({ weight }) => Math.round(weight) > 0)
    const used = weighted.length > 0 ? weighted : rules.targets
    const list = used.map(({ url }) => {
      const { target, key } = this.#target(url, rules.insecure, rules.timeoutMs)
      keys.push(key)
      return target
    })
    const close = () => {
      for (const key of keys) this.#release(key)
      keys.length = 0
    }
    if (list.length === 1) {
      const only = list[0]!
      return { list, next: () => only, after: () => only, close }
    }
    const order = spread(used.map(({ weight }) => weight))
    let turn = 0
    const next = () => {
      if (turn >= order.length) turn = 0
      return list[order[turn++]!]!
    }
    const after = (target: Target) => list[(list.indexOf(target) + 1) % list.length]!
    return { list, next, after, close }
  }

  close(): void {
    for (const { upstream } of this.#shared.values()) upstream.close()
    this.#shared.clear()
  }

  #target(text: string, insecure: boolean, timeoutMs: number): { target: Target; key: string } {
    const url = URL.parse(text)
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw fault('definition_invalid', `target ${text}: not an absolute http or https URL`)
    }
    const secure = url.protocol === 'https:'
    const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
    const options: UpstreamOptions = { ...this.#defaults, host, port, secure, insecure }
    const timed = timeoutMs > 0 ? { ...options, headTimeoutMs: timeoutMs } : options
    const key = `${url.protocol}//${host} ${port} ${insecure} ${timed.headTimeoutMs}`
    const target: Target = {
      upstream: this.#acquire(key, timed),
      authority: url.host,
      basePath: url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname,
      query: url.search.slice(1),
    }
    return { target, key }
  }

  #acquire(key: string, options: UpstreamOptions): Upstream {
    const known = this.#shared.get(key)
    if (known !== undefined) {
      known.users++
      return known.upstream
    }
    const upstream = new Upstream(options)
    this.#shared.set(key, { upstream, users: 1 })
    return upstream
  }

  #release(key: string): void {
    const known = this.#shared.get(key)
    if (known === undefined || --known.users > 0) return
    this.#shared.delete(key)
    known.upstream.close()
  }
}

/**
 * Lays out one round of turns so that targets of unlike weight alternate as evenly as they can
 * (smooth weighted round-robin): weights 5, 1, 1 give a a b a c a a. A round has at most 1,000 turns.
 */
export function spread(weights: readonly number[]): number[] {
  const whole = weights.map((weight) => Math.max(0, Math.round(weight)))
  const sum = whole.reduce((total, weight) => total + weight, 0)
  if (sum === 0) return weights.map((_, index) => index)
  const divisor = whole.reduce(gcd, 0)
  const scale = Math.max(divisor, sum / 1000)
  const scaled = whole.map((weight) => (weight === 0 ? 0 : Math.max(1, Math.round(weight / scale))))
  const round = scaled.reduce((total, weight) => total + weight, 0)
  const current = scaled.map(() => 0)
  const order: number[] = []
  for (let turn = 0; turn < round; turn++) {
    let best = 0
    for (let i = 0; i < scaled.length; i++) {
      current[i] = current[i]! + scaled[i]!
      if (current[i]! > current[best]!) best = i
    }
    current[best] = current[best]! - round
    order.push(best)
  }
  return order
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}
