import { fault } from '../../errors/fault.ts'
import type { DiscoveryRules } from '../../model/apis/definition/upstream-resilience.ts'
import type { SrvAnswer, SrvRecord } from './dns-message.ts'
import { querySrv } from './query-srv.ts'

/** After a failure DNS is asked again so soon; no time to live is shorter. */
const LEAST_WAIT_MS = 1000

/** DNS may answer any bytes as a name. A single root means that the service does not exist (RFC 2782). */
const HOST = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/i

export interface DiscoveryParts {
  readonly rules: DiscoveryRules
  /** Addresses of DNS servers; none = those of the system. */
  readonly servers: readonly string[]
  /** Takes over the records of one answer, those of the first priority first. */
  readonly found: (records: readonly SrvRecord[]) => void
  readonly failed: (error: unknown) => void
}

/**
 * Asks DNS for the SRV records of a name whenever their time to live is over, and at least as often as the definition says.
 * The last result stays while DNS does not answer.
 */
export class SrvDiscovery {
  readonly #parts: DiscoveryParts
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  /** Resolves after the first DNS query, successful or not. */
  readonly opening: Promise<void>

  constructor(parts: DiscoveryParts) {
    this.#parts = parts
    this.opening = this.#ask()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#closing.abort()
  }

  async #ask(): Promise<void> {
    const { rules, servers, found, failed } = this.#parts
    const { signal } = this.#closing
    let ttlMs = 0
    try {
      const answer = await querySrv(rules.srvName, servers, signal)
      if (signal.aborted) return
      ttlMs = answer.ttlS * 1000
      found(inOrder(answer))
    } catch (error) {
      if (signal.aborted) return
      failed(error)
    }
    const waitMs = Math.min(rules.refreshMs, Math.max(ttlMs, LEAST_WAIT_MS))
    this.#timer = setTimeout(() => void this.#ask(), waitMs).unref()
  }
}

/** The records that name a target, those with the lowest number first, in a canonical order. */
function inOrder({ records }: SrvAnswer): SrvRecord[] {
  const there = records.filter(({ name, port }) => HOST.test(name) && port > 0)
  if (there.length === 0) throw fault('upstream_unresolved', 'DNS names no target')
  return there.sort(
    (a, b) => a.priority - b.priority || (a.name === b.name ? a.port - b.port : a.name < b.name ? -1 : 1),
  )
}
