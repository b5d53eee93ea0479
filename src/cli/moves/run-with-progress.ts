import { openProgress, stoppable } from '../commands/progress.ts'
import type { MoveStep } from './plan.ts'
import { runSteps, type SyncRun } from './run.ts'

export interface NamedRun extends Pick<SyncRun, 'place' | 'order'> {
  /** That of the command. */
  readonly name: string
  readonly json: boolean
  readonly onDone: (step: MoveStep) => void
  /** Of a step that the dashboard refuses; absent = the run ends there. */
  readonly onRefused?: (step: MoveStep, why: string) => void
}

/** Does the steps of a plan and shows how far they are. A signal ends the run between two objects; another run continues from there. */
export async function runWithProgress({ place, order, name, json, onDone, onRefused }: NamedRun): Promise<void> {
  const progress = openProgress({ unit: 'objects', json })
  const done = (step: MoveStep) => {
    progress.clear()
    onDone(step)
    progress.advance(1)
  }
  const refused = (step: MoveStep, why: string) => {
    progress.clear()
    onRefused!(step, why)
    progress.advance(1)
  }
  progress.begin(
    name,
    order.reduce((sum, group) => sum + group.length, 0),
  )
  await stoppable('the run was stopped', (stop) =>
    runSteps({ place, order, stop, done, ...(onRefused && { refused }) }),
  ).finally(() => progress.end())
}
