import type { Clock } from '../../../model/time/clock.ts'
import type { Step } from '../../server/exchange.ts'
import { NOT_ADMITTED } from '../../upstream/breaker.ts'

/** Refuses requests of operations whose breaker is open. Comes directly before `forward`, so that nothing is admitted and not sent. */
export function checkBreaker(clock: Clock): Step {
  return function checkBreaker(x) {
    const breaker = x.operation?.breaker
    if (breaker === undefined) return undefined
    const mono = clock.mono()
    if (x.dry) return breaker.look(mono) === 'open' ? breaker.refusal(mono) : undefined
    const turn = breaker.admit(mono)
    if (turn === NOT_ADMITTED) return breaker.refusal(mono)
    x.breaker = breaker
    x.breakerTurn = turn
    return undefined
  }
}
