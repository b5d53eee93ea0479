import { Fault } from '../../errors/fault.ts'
import type { Exchange, Outcome, Step } from '../exchange.ts'

/**
 * Lets in whoever meets all schemes of one of the alternatives, tried in order. The last scheme of an alternative gives the session;
 * when none is met, the refusal of the last alternative is the answer.
 */
export function authenticateSeveral(alternatives: readonly (readonly Step[])[]): Step {
  return function authenticateSeveral(x) {
    return x.skipAuthentication ? undefined : attempt(x, alternatives, 0, 0, x.answerExtra)
  }
}

/** `before`: fields of the answer from before the first try; challenges of tries that another one makes up for are taken back. */
function attempt(
  x: Exchange,
  alternatives: readonly (readonly Step[])[],
  which: number,
  from: number,
  before: string,
): Outcome | Promise<Outcome> {
  const steps = alternatives[which]!
  for (let at = from; at < steps.length; at++) {
    const end = steps[at]!(x)
    if (end === undefined) continue
    if (!(end instanceof Promise)) return next(x, alternatives, which, end, before)
    return end.then((late) =>
      late === undefined ? attempt(x, alternatives, which, at + 1, before) : next(x, alternatives, which, late, before),
    )
  }
  return undefined
}

function next(
  x: Exchange,
  alternatives: readonly (readonly Step[])[],
  which: number,
  end: Outcome,
  before: string,
): Outcome | Promise<Outcome> {
  if (!(end instanceof Fault) || which + 1 === alternatives.length) return end
  x.session = undefined
  x.answerExtra = before
  return attempt(x, alternatives, which + 1, 0, before)
}
