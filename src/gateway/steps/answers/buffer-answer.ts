import type { ErrorOverrides } from '../../../model/apis/definition/api.ts'
import type { BodyRule } from '../../../model/apis/definition/operation.ts'
import type { ModuleSet } from '../../modules/module-set.ts'
import type { Step } from '../../server/exchange.ts'

/** Largest answer that is rewritten. */
export const MAX_BUFFERED_BYTES = 1_048_576

/** A part of an answer, or a packed one, cannot be rewritten. */
const ASKS_ELSE = ['accept-encoding', 'range', 'if-range']

/** Has the answer of the upstream read whole before it is sent on, where something is to be made of it (`answerBuffered`). */
export function bufferAnswer(
  rules: readonly (BodyRule | undefined)[],
  modules: ModuleSet | undefined,
): Step | undefined {
  const always = modules?.has('response') === true
  if (!always && rules.every((rule) => rule === undefined)) return undefined
  return function holdAnswer(x) {
    if (!always && x.operation?.answerBody === undefined) return undefined
    x.holdLimitBytes = MAX_BUFFERED_BYTES
    for (const name of ASKS_ELSE) x.request.drop(name)
    x.requestExtra += 'Accept-Encoding: identity\r\n'
    return undefined
  }
}

/** Has errors of the upstream read whole, where rules of the API may replace them. All other answers stream. */
export function bufferErrors(overrides: ErrorOverrides | undefined): Step | undefined {
  if (overrides === undefined) return undefined
  return function holdError(x) {
    if (x.holdLimitBytes > 0) return undefined
    x.holdLimitBytes = MAX_BUFFERED_BYTES
    x.holdFrom = 400
    return undefined
  }
}
