/** Of a budget, for those who are not known: the rest is kept for those who are. */
const STRANGERS_SHARE = 0.75
/** How many times what is left free afterwards an address or a caller may have: the first gets half, the next half of the rest. */
const CALLER_FACTOR = 1
/** The same for an organisation: three quarters, then three quarters of the rest. */
const ORGANISATION_FACTOR = 3
/** The same for the first piece of each, which may be large: fifteen sixteenths. */
const FIRST_FACTOR = 15

/** Whom a piece counts for. Each of them has a share. */
export interface BudgetHolder {
  /** Client address (`visitorOf`). */
  readonly address: string
  /** User, key or token; absent = not identified. */
  readonly caller?: string
  readonly organisation?: string
}

/**
 * A bound of bytes in memory or places in a queue, divided so that no address, caller or organisation can use it up: each
 * has at most a multiple of what stays free, so something is left for the next however many there are. An organisation that is the only
 * one has no share: there is nobody to leave something to.
 */
export class SharedBudget {
  readonly #most: number
  readonly #severalOrganisations: () => boolean
  readonly #held = new Map<string, number>()
  #total = 0

  /** `most`: of all together. `severalOrganisations`: true where there is another organisation, whether it holds anything or not. */
  constructor(most: number, severalOrganisations: () => boolean = () => true) {
    this.#most = most
    this.#severalOrganisations = severalOrganisations
  }

  /**
   * Takes more for a piece that has `own` already; false where that would be too much. A part of all is kept for holders that are `known`.
   * One piece alone always fits.
   */
  take(holder: BudgetHolder, more: number, own: number, known: boolean): boolean {
    const free = this.#most * (known ? 1 : STRANGERS_SHARE) - this.#total - more
    const names = namesOf(holder)
    if (this.#total > own) {
      if (free < 0) return false
      for (const { name, factor } of names) {
        if (factor === ORGANISATION_FACTOR && !this.#severalOrganisations()) continue
        const held = this.#held.get(name) ?? 0
        if (held + more > free * (held > own ? factor : FIRST_FACTOR)) return false
      }
    }
    this.#total += more
    for (const { name } of names) this.#held.set(name, (this.#held.get(name) ?? 0) + more)
    return true
  }

  /** Frees what a piece had. The holder is the one that took it. */
  giveBack(holder: BudgetHolder, amount: number): void {
    this.#total -= amount
    for (const { name } of namesOf(holder)) {
      const held = (this.#held.get(name) ?? 0) - amount
      if (held > 0) this.#held.set(name, held)
      else this.#held.delete(name)
    }
  }
}

function namesOf({ address, caller, organisation }: BudgetHolder): { name: string; factor: number }[] {
  const names = [{ name: `address ${address}`, factor: CALLER_FACTOR }]
  if (caller) names.push({ name: `caller ${caller}`, factor: CALLER_FACTOR })
  if (organisation) names.push({ name: `organisation ${organisation}`, factor: ORGANISATION_FACTOR })
  return names
}
