import { Fault, toFault } from '../../errors/fault.ts'
import type { Step, StepOutcome } from '../server/exchange.ts'
import { TracedExchange } from './traced-exchange.ts'

/** The same steps, each with a span, under the same names. */
export function spannedSteps(steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => {
    const spanned: Step = (x) => {
      const end = x instanceof TracedExchange ? x.observer.step(x, step.name) : undefined
      if (end === undefined) return step(x)
      try {
        const outcome = step(x)
        if (outcome instanceof Promise) return outcome.then(settled(end), failed(end))
        return settled(end)(outcome)
      } catch (error) {
        return failed(end)(error)
      }
    }
    return Object.defineProperty(spanned, 'name', { value: step.name })
  })
}

const settled = (end: (error: string) => void) => (outcome: StepOutcome) => {
  end(outcome instanceof Fault ? outcome.code : '')
  return outcome
}

const failed = (end: (error: string) => void) => (error: unknown) => {
  end(toFault(error).code)
  throw error
}
