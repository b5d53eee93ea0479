import { prebuilt } from '../../../errors/fault.ts'
import { type Exchange, SENT, type Step, type StepOutcome } from '../../server/exchange.ts'
import type { UpstreamResilience } from '../../upstream/resilience.ts'
import type { Targets } from '../../upstream/target.ts'
import { requestFields, sendToTarget } from './forward.ts'

const ALL_DOWN = prebuilt('upstream_all_down')
const NONE_FOUND = prebuilt('upstream_unresolved', 'DNS names no target')

/** `forward` of an API with resilience rules: to the next target that is not down, with an eye on what becomes of it. */
export function forwardWithRetries(resilience: UpstreamResilience, targets: Targets, preserveHost: boolean): Step {
  const hand = (x: Exchange, chosen: Targets): StepOutcome => {
    // An explained request takes no turn.
    const target = x.dry ? chosen.after(chosen.list[0]!) : chosen.next()
    if (target === undefined) {
      x.breaker?.leave(x.breakerTurn)
      return chosen.list.length === 0 ? NONE_FOUND : ALL_DOWN
    }
    if (x.dry) return SENT
    resilience.begin(x)
    sendToTarget(x, target, preserveHost)
    return SENT
  }
  return function forward(x) {
    x.requestHead = requestFields(x)
    const chosen = x.operation?.targets ?? targets
    return chosen.opening === undefined ? hand(x, chosen) : chosen.opening.then(() => hand(x, chosen))
  }
}
