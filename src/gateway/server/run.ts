import { Fault, fault, toFault } from '../../errors/fault.ts'
import type { Exchange, Reply, Step, StepOutcome } from './exchange.ts'

/**
 * Walks the steps of a chain. The first Reply or Fault ends the walk.
 * Answers at once as long as no step has to wait.
 * @throws Fault `internal` when no step ends the walk, which a compiled chain never lets happen
 */
export function run(steps: readonly Step[], x: Exchange, from = 0): Reply | Fault | Promise<Reply | Fault> {
  for (let i = from; i < steps.length; i++) {
    const end = steps[i]!(x)
    if (end === undefined) continue
    if (end instanceof Promise) return later(steps, x, i, end)
    return end
  }
  throw fault('internal', 'the chain ended without an answer')
}

async function later(steps: readonly Step[], x: Exchange, at: number, waiting: Promise<StepOutcome>) {
  try {
    const end = await waiting
    if (end !== undefined) return end
    // The client may have left meanwhile, and its exchange may have nobody to answer.
    if (x.aborted) return CLIENT_GONE
    return await run(steps, x, at + 1)
  } catch (error) {
    return toFault(error)
  }
}

const CLIENT_GONE = new Fault('client_gone')
