import { Fault } from '../../../errors/fault.ts'
import { challenged } from '../../oauth/challenge.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'

/** The state of a request before the first attempt, and the response when none succeeds. */
interface Tries {
  /** Fields of the answer; challenges of tries that another one makes up for are taken back. */
  readonly before: string
  /** The refusal of a token that was known and not proved to be the sender's, with its challenge: it says more than that of others. */
  readonly unproved?: { readonly refusal: Fault; readonly fields: string }
}

/**
 * Accepts callers who meet all schemes of one of the alternatives, tried in order. The last scheme of an alternative gives the session;
 * when none is met, the answer is the refusal of a token that lacks its proof, else that of the last alternative. An API that takes tokens
 * says where they come from, also where the last alternative is another method.
 */
export function authenticateSeveral(alternatives: readonly (readonly Step[])[]): Step {
  return function authenticateSeveral(x) {
    return x.skipAuthentication ? undefined : attempt(x, alternatives, 0, 0, { before: x.answerExtra })
  }
}

function attempt(
  x: Exchange,
  alternatives: readonly (readonly Step[])[],
  which: number,
  from: number,
  tries: Tries,
): StepOutcome | Promise<StepOutcome> {
  const steps = alternatives[which]!
  for (let at = from; at < steps.length; at++) {
    const end = steps[at]!(x)
    if (end === undefined) continue
    if (!(end instanceof Promise)) return next(x, alternatives, which, end, tries)
    return end.then((late) =>
      late === undefined ? attempt(x, alternatives, which, at + 1, tries) : next(x, alternatives, which, late, tries),
    )
  }
  x.alternative = which
  return undefined
}

function next(
  x: Exchange,
  alternatives: readonly (readonly Step[])[],
  which: number,
  end: StepOutcome,
  { before, unproved: known }: Tries,
): StepOutcome | Promise<StepOutcome> {
  // Of several credentials in one scheme nobody can say which counts, also where another scheme is met.
  if (!(end instanceof Fault) || end.code === 'credential_repeated') return end
  const unproved = known ?? (isUnproved(end) ? { refusal: end, fields: x.answerExtra } : undefined)
  if (which + 1 < alternatives.length) {
    x.session = undefined
    x.answerExtra = before
    return attempt(x, alternatives, which + 1, 0, { before, ...(unproved && { unproved }) })
  }
  if (unproved === undefined) {
    const namesSchemes = x.chain?.metadataAddress === undefined || x.answerExtra.includes('WWW-Authenticate: ')
    return namesSchemes ? end : challenged(x, end, '', 'off')
  }
  x.answerExtra = unproved.fields
  return unproved.refusal
}

function isUnproved({ code }: Fault): boolean {
  return code === 'token_proof_missing' || code === 'token_proof_invalid'
}
