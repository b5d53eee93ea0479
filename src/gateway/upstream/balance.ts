import type { Clock } from '../../model/time/clock.ts'
import type { Target, Targets } from './target.ts'
import type { TargetsHealth } from './target-health.ts'

/** A target with its weight, and the function that releases its origin. */
export interface WeightedTarget {
  readonly target: Target
  readonly weight: number
  /** Those with a higher number are asked when none with a lower one can be (RFC 2782, priority). */
  readonly tier: number
  release(): void
}

/**
 * Targets, skipping those that are down. Selection is smooth weighted round-robin over the others: it meets the
 * weights exactly under any load, and a target that fails fast does not attract requests, as it would with least-busy selection.
 */
export class Balance implements Targets {
  readonly #health: TargetsHealth
  readonly #clock: Clock
  #held: readonly WeightedTarget[] = []
  /** Targets that may be asked, by tier; no tier is empty. */
  #tiers: readonly (readonly Target[])[] = []
  #order: readonly number[] = []
  #turn = 0
  #generation = -1
  list: readonly Target[] = []
  /** Resolves when the targets are known; undefined once they are. */
  opening: Promise<void> | undefined

  constructor(health: TargetsHealth, clock: Clock) {
    this.#health = health
    this.#clock = clock
  }

  /** Switches to these targets and releases the previous ones. */
  replace(held: readonly WeightedTarget[]): void {
    const before = this.#held
    this.#held = held
    this.list = held.map(({ target }) => target)
    this.#generation = -1
    for (const each of before) each.release()
  }

  next(): Target | undefined {
    this.#look()
    const { length } = this.#order
    if (length === 0) return undefined
    if (this.#turn >= length) this.#turn = 0
    return this.#tiers[0]![this.#order[this.#turn++]!]
  }

  asked(): readonly Target[] {
    this.#look()
    return this.#tiers[0] ?? []
  }

  after(target: Target, unreached = 0): Target | undefined {
    this.#look()
    let left = unreached
    for (const tier of this.#tiers) {
      if (left < tier.length) return this.#following(target, tier)
      left -= tier.length
    }
    return this.#following(target, this.#tiers[0] ?? [])
  }

  close(): void {
    this.replace([])
  }

  /** The first of a tier behind a target of any. */
  #following(target: Target, tier: readonly Target[]): Target | undefined {
    const at = this.list.indexOf(target)
    for (let step = 1; step <= this.list.length; step++) {
      const next = this.list[(at + step) % this.list.length]!
      if (tier.includes(next)) return next
    }
    return undefined
  }

  /** Recalculates the turns when other targets may be asked than before. */
  #look(): void {
    const health = this.#health
    health.review(this.#clock.mono())
    if (this.#generation === health.generation) return
    this.#generation = health.generation
    const usable = this.#held.filter(({ target }) => target.health === undefined || health.usable(target.health))
    const tiers = [...Map.groupBy(usable, ({ tier }) => tier)].sort(([a], [b]) => a - b).map(([, tier]) => tier)
    this.#tiers = tiers.map((tier) => tier.map(({ target }) => target))
    this.#order = weightedRoundRobin((tiers[0] ?? []).map(({ weight }) => weight))
    this.#turn = 0
  }
}

/**
 * Lays out one round of turns so that targets of unlike weight alternate as evenly as they can
 * (smooth weighted round-robin): weights 5, 1, 1 give a a b a c a a. A round has at most 1,000 turns.
 */
export function weightedRoundRobin(weights: readonly number[]): number[] {
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
