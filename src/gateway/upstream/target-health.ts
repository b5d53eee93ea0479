import type { EjectionRules, HealthRules } from '../../model/apis/definition/upstream-resilience.ts'
import type { Clock, MonoMillis } from '../../model/time/clock.ts'

/** The state of one target. */
export interface TargetHealth {
  /** URL of the target, as the definition or DNS names it. */
  readonly url: string
  /** Active checks say that it is down. */
  down: boolean
  /** Checks in a row that said the opposite of `down`. */
  contrary: number
  /** Active checks so far. */
  rounds: number
  /** Requests in a row that failed. */
  failures: number
  /** Left out until then because requests failed; 0 = it is not. */
  ejectedUntil: MonoMillis
  /** Ejections in a row: each is longer than the one before. */
  ejections: number
  returnedAt: MonoMillis
}

export interface TargetsHealthParts {
  readonly clock: Clock
  readonly checks: HealthRules | undefined
  readonly ejection: EjectionRules | undefined
  /** Called when a target goes down or out (`HostDown`), or comes back (`HostUp`). */
  readonly tell: (kind: 'HostDown' | 'HostUp', detail: Readonly<Record<string, string | number>>) => void
}

/** The targets of one API and how they are, by active checks and by what became of requests. */
export class TargetsHealth {
  readonly #parts: TargetsHealthParts
  readonly #targets = new Map<string, TargetHealth>()
  /** When the next ejection ends. */
  #reviewAt = Number.POSITIVE_INFINITY
  /** Grows whenever another set of targets may be asked. */
  generation = 0

  constructor(parts: TargetsHealthParts) {
    this.#parts = parts
  }

  /** The state of the target with this URL; a new one is healthy. */
  of(url: string): TargetHealth {
    const known = this.#targets.get(url)
    if (known !== undefined) return known
    const fresh = {
      url,
      down: false,
      contrary: 0,
      rounds: 0,
      failures: 0,
      ejectedUntil: 0,
      ejections: 0,
      returnedAt: 0,
    }
    this.#targets.set(url, fresh)
    return fresh
  }

  /**
   * Takes over what others know of the targets that are here too, as far as our rules can take it back: without checks nothing is down,
   * without ejection nothing is out.
   */
  takeOver(others: TargetsHealth): void {
    const { checks, ejection, clock } = this.#parts
    const mono = clock.mono()
    for (const target of this.#targets.values()) {
      const known = others.#targets.get(target.url)
      if (known === undefined) continue
      if (checks !== undefined) target.down = known.down
      if (ejection === undefined) continue
      target.failures = Math.min(known.failures, ejection.failures - 1)
      target.ejections = known.ejections
      target.returnedAt = known.returnedAt
      if (known.ejectedUntil <= mono || !this.#mayGo(ejection.maxShare)) continue
      target.ejectedUntil = Math.min(known.ejectedUntil, mono + ejection.maxMs)
      this.#reviewAt = Math.min(this.#reviewAt, target.ejectedUntil)
    }
    this.generation++
  }

  /** Forgets all targets but these. */
  retain(urls: ReadonlySet<string>): void {
    for (const url of this.#targets.keys()) if (!urls.has(url)) this.#targets.delete(url)
  }

  /** True when requests may be sent there. */
  usable(target: TargetHealth): boolean {
    return target.ejectedUntil === 0 && !(target.down && this.#parts.checks?.skip === true)
  }

  /** The state of each target. */
  states(): { target: string; state: 'up' | 'down' | 'ejected' }[] {
    this.review(this.#parts.clock.mono())
    return [...this.#targets.values()].map(({ url, down, ejectedUntil }) => ({
      target: url,
      state: down ? 'down' : ejectedUntil === 0 ? 'up' : 'ejected',
    }))
  }

  /** A request was answered. */
  succeeded(target: TargetHealth): void {
    target.failures = 0
  }

  /** A request failed: no answer, or one of 500 and above. The target is left out after so many in a row. */
  failed(target: TargetHealth, reason: string): void {
    const { ejection, clock } = this.#parts
    if (ejection === undefined || target.ejectedUntil !== 0 || ++target.failures < ejection.failures) return
    if (!this.#mayGo(ejection.maxShare)) return
    const mono = clock.mono()
    if (mono - target.returnedAt > ejection.maxMs) target.ejections = 0
    const forMs = Math.min(ejection.baseMs * ++target.ejections, ejection.maxMs)
    target.ejectedUntil = mono + forMs
    this.#reviewAt = Math.min(this.#reviewAt, target.ejectedUntil)
    this.generation++
    this.#parts.tell('HostDown', { target: target.url, reason: `ejected: ${reason}`, for_ms: forMs })
  }

  /** The result of a round of active checks; '' = the target is healthy. */
  checked(target: TargetHealth, reason: string): void {
    if (!this.#turns(target, reason)) return
    if (target.down) this.#parts.tell('HostDown', { target: target.url, reason: `check failed: ${reason}` })
    else this.#parts.tell('HostUp', { target: target.url })
  }

  /** The same of a target that another thread has checked, which has reported it. */
  checkedElsewhere(url: string, reason: string): void {
    const target = this.#targets.get(url)
    if (target !== undefined) this.#turns(target, reason)
  }

  /** True when the target goes down by this result, or comes back. */
  #turns(target: TargetHealth, reason: string): boolean {
    const { checks } = this.#parts
    target.rounds++
    if (checks === undefined) return false
    if (target.down === (reason !== '')) {
      target.contrary = 0
      return false
    }
    if (++target.contrary < (target.down ? checks.successes : checks.failures)) return false
    target.contrary = 0
    target.down = !target.down
    this.generation++
    return true
  }

  /** Takes back targets whose ejection is over. */
  review(mono: MonoMillis): void {
    if (mono < this.#reviewAt) return
    this.#reviewAt = Number.POSITIVE_INFINITY
    for (const target of this.#targets.values()) {
      if (target.ejectedUntil === 0) continue
      if (target.ejectedUntil > mono) {
        this.#reviewAt = Math.min(this.#reviewAt, target.ejectedUntil)
        continue
      }
      target.ejectedUntil = 0
      target.failures = 0
      target.returnedAt = mono
      this.generation++
      this.#parts.tell('HostUp', { target: target.url })
    }
  }

  /** True when one more target may be left out. */
  #mayGo(maxShare: number): boolean {
    let out = 0
    for (const target of this.#targets.values()) if (!this.usable(target)) out++
    // Ten percent of ten is one, despite floating point (0.1).
    return out + 1 <= Math.floor(this.#targets.size * maxShare + 1e-9)
  }
}
