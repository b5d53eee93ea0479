import { Fault, fault, toFault } from '../../errors/fault.ts'
import type { StepTime } from '../record/step-time.ts'
import type { Exchange, Reply, Step, StepOutcome } from './exchange.ts'

/**
 * Walks the steps of a chain. The first Reply or Fault ends the walk.
 * Answers at once as long as no step has to wait.
 * @throws Fault `internal` when no step ends the walk, which a compiled chain never lets happen
 */
export function run(steps: readonly Step[], x: Exchange, from = 0): Reply | Fault | Promise<Reply | Fault> {
  if (x.stepTimes !== undefined) return runTimed(steps, x, x.stepTimes, from)
  for (let i = from; i < steps.length; i++) {
    const end = steps[i]!(x)
    if (end === undefined) continue
    if (end instanceof Promise) return later(steps, x, i, end)
    return end
  }
  throw endless()
}

/** The same for a request whose steps are timed. Steps that lead into other chains last as long as those. */
function runTimed(steps: readonly Step[], x: Exchange, times: StepTime[], from: number) {
  for (let i = from; i < steps.length; i++) {
    const step = steps[i]!
    const beganAt = performance.now()
    const time = { name: step.name, atMs: beganAt - x.startedAt, ms: 0 }
    times.push(time)
    try {
      const end = step(x)
      if (end instanceof Promise) return later(steps, x, i, timed(end, time, beganAt))
      if (end !== undefined) return end
    } finally {
      time.ms = performance.now() - beganAt
    }
  }
  throw endless()
}

async function timed(waiting: Promise<StepOutcome>, time: StepTime, beganAt: number): Promise<StepOutcome> {
  try {
    return await waiting
  } finally {
    time.ms = performance.now() - beganAt
  }
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

const endless = () => fault('internal', 'the chain ended without an answer')

const CLIENT_GONE = new Fault('client_gone')
