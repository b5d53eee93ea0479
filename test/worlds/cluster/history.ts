// The observations of clients of a cluster, and whether they can have come from one thing that does everything at once and in some order.

/** One call of a client. Times are of one clock, in milliseconds. */
export interface Operation<Input, Output> {
  readonly input: Input
  readonly calledAt: number
  /** Infinity: nobody heard the answer, so it may have had its effect, may have it yet, or never. */
  readonly answeredAt: number
  /** undefined = nobody heard it. */
  readonly output: Output | undefined
}

/** How one thing alone would behave. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /** The possible state after a call with this answer; undefined where it would not have answered so. */
  step(state: State, input: Input, output: Output | undefined): State | undefined
  /** Equal for equal states. */
  name(state: State): string
}

/**
 * True when the calls have an order that the model could have answered in, each at some moment between its call and its answer.
 * Searched as by Wing and Gong, without going the same way twice (Lowe). At most 30 calls.
 */
export function isLinearizable<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): boolean {
  const all = 2 ** history.length - 1
  const heard = history.reduce((bits, { output }, i) => (output === undefined ? bits : bits | (1 << i)), 0)
  const seen = new Set<string>()
  const search = (left: number, state: State): boolean => {
    if ((left & heard) === 0) return true
    const place = `${left} ${model.name(state)}`
    if (seen.has(place)) return false
    seen.add(place)
    // A call that was made after the response of another comes after it.
    const soonest = Math.min(
      ...history.map(({ answeredAt }, i) => (left & (1 << i) ? answeredAt : Number.POSITIVE_INFINITY)),
    )
    return history.some(({ input, output, calledAt }, i) => {
      if (!(left & (1 << i)) || calledAt > soonest) return false
      const next = model.step(state, input, output)
      return next !== undefined && search(left & ~(1 << i), next)
    })
  }
  if (history.length > 30) throw new RangeError(`${history.length} calls are too many to search`)
  return search(all, model.initial)
}

/** The result of using a refresh token: the next one, or a refusal. */
export type Refreshed = { readonly gave: string } | 'refused'

/** The refresh tokens of one grant: the one that is good; '' = the grant was ended. */
type Family = string

/**
 * Refresh tokens of one grant (RFC 9700 section 4.14.2): the newest can be used once and gives the next; the use of an older one revokes
 * them all. `first`: the one that the grant began with.
 */
export function refreshModel(first: string): Model<Family, string, Refreshed> {
  return {
    initial: first,
    name: (good) => good,
    step(good, token, output) {
      if (good === '' || token !== good) return output === 'refused' || output === undefined ? '' : undefined
      if (output === 'refused') return undefined
      // Nobody knows the next one.
      return output === undefined ? `what came of ${token}` : output.gave
    },
  }
}

/** One use of a token that is revoked at some time. */
export interface Use {
  readonly node: number
  readonly calledAt: number
  readonly answeredAt: number
  readonly accepted: boolean
}

export interface Revocation {
  readonly node: number
  readonly calledAt: number
  /** Infinity: nobody heard the answer. */
  readonly answeredAt: number
}

/**
 * The breaches of the promise for a revoked token, in words: it is good before, refused at once where it was revoked, elsewhere at the
 * latest at `dueAt`, and no node that has refused it accepts it again.
 */
export function revocationFaults(
  uses: readonly Use[],
  revoked: Revocation,
  dueAt: (node: number, revokedAt: number) => number,
): string[] {
  const faults: string[] = []
  const refusedAt = new Map<number, number>()
  for (const { node, answeredAt, accepted } of uses) {
    if (accepted) continue
    if (answeredAt < revoked.calledAt) faults.push(`node ${node} refused it before it was revoked`)
    refusedAt.set(node, Math.min(answeredAt, refusedAt.get(node) ?? Number.POSITIVE_INFINITY))
  }
  for (const { node, calledAt, accepted } of uses) {
    if (!accepted) continue
    const due = node === revoked.node ? revoked.answeredAt : dueAt(node, revoked.answeredAt)
    if (calledAt > due)
      faults.push(`node ${node} took it ${Math.round(calledAt - revoked.answeredAt)} ms after the answer`)
    if (calledAt > (refusedAt.get(node) ?? Number.POSITIVE_INFINITY))
      faults.push(`node ${node} took it after a refusal`)
  }
  return faults
}

/** One call that takes a permit of a quota. */
export interface Taking {
  readonly calledAt: number
  readonly answeredAt: number
  /** undefined = nobody heard. */
  readonly outcome: 'taken' | 'used up' | undefined
}

/**
 * The breaches of the promise of a quota, in words: never more than `max`; refused only when all but `held` (the permits that nodes may
 * have) are used.
 */
export function quotaFaults(takings: readonly Taking[], { max, held }: { max: number; held: number }): string[] {
  const taken = takings.filter(({ outcome }) => outcome === 'taken').length
  const faults = taken > max ? [`${taken} calls of a quota of ${max}`] : []
  for (const { answeredAt, outcome } of takings) {
    if (outcome !== 'used up') continue
    const before = takings.filter((other) => other.outcome !== 'used up' && other.calledAt < answeredAt).length
    if (before < max - held) faults.push(`refused when at most ${before} of ${max} were taken`)
  }
  return faults
}
