import type { HealthCheck, HealthRules } from '../../model/apis/definition/upstream-resilience.ts'
import { probe } from './probe.ts'
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
