import { toFault } from '../../errors/fault.ts'
import { findBlockers, targetAllowsDuplicates } from '../moves/blockers.ts'
import type { FileFlaw } from '../moves/files.ts'
import type { MoveKind, RemoteObject, TargetDashboard } from '../moves/kind.ts'
import { ordered } from '../moves/order.ts'
import type { MoveStep, TargetState } from '../moves/plan.ts'
import type { ImportCandidate, ImportRefusal } from './candidate.ts'

/** The steps, changes and refusals that an import has collected so far, and the objects that later ones may refer to. */
export interface ImportState {
  readonly steps: MoveStep[]
  readonly changed: Map<MoveStep, readonly string[]>
  readonly refused: ImportRefusal[]
  /** Objects that exist already are kept, whatever state they are in. */
  kept: number
  /** The objects that exist, and those that will. */
  readonly current: Map<MoveKind, Map<string, RemoteObject>>
}

/** The state of an import that has compared nothing yet. */
export function initialImportState(current: TargetState): ImportState {
  const copy = new Map([...current].map(([kind, all]) => [kind, new Map(all)] as const))
  return { steps: [], changed: new Map(), refused: [], kept: 0, current: copy }
}

/**
 * Adds the objects that can be created as they are to the steps, and the reasons of the others to the refusals. A refused object does not
 * stop the others. @throws Fault `dashboard_away`, `dashboard_refused`
 */
export async function selectImportable(
  place: TargetDashboard,
  settled: ImportState,
  candidates: readonly ImportCandidate[],
  isThere: (candidate: ImportCandidate) => boolean = () => false,
): Promise<void> {
  const { current } = settled
  let steps: MoveStep[] = []
  const changes = new Map<MoveStep, readonly string[]>()
  const first = new Map<string, string>()
  for (const candidate of candidates) {
    const { kind, identity, from, body } = candidate
    if (current.get(kind)?.has(identity) || isThere(candidate)) settled.kept++
    else if (first.has(identity))
      settled.refused.push({ from, why: `has the same ${kind.identityAt} as ${first.get(identity)}` })
    else {
      const step: MoveStep = { kind, identity, act: 'create', file: from, body, there: undefined, changes: [] }
      first.set(identity, from)
      steps.push(step)
      changes.set(step, candidate.changes)
    }
  }
  for (;;) {
    const flaws = await flawsOf(place, steps, current)
    if (flaws.size === 0) break
    for (const [from, why] of flaws) settled.refused.push({ from, why })
    const left = steps.filter(({ file }) => !flaws.has(file))
    if (left.length === steps.length) throw toFault(new Error('an obstacle belongs to no object'))
    steps = left
  }
  for (const step of steps) {
    settled.steps.push(step)
    settled.changed.set(step, changes.get(step)!)
    const all = current.get(step.kind) ?? new Map<string, RemoteObject>()
    current.set(step.kind, all.set(step.identity, { identity: step.identity, body: step.body!, at: step.identity }))
  }
}

/** The first error of each, by its place in the source. */
async function flawsOf(
  place: TargetDashboard,
  steps: readonly MoveStep[],
  current: TargetState,
): Promise<Map<string, string>> {
  if (steps.length === 0) return new Map()
  const collide = await targetAllowsDuplicates(place, steps)
  const { flaws } = ordered({ dir: '', steps, current, mayCollide: collide })
  const all = flaws.length > 0 ? flaws : await findBlockers({ dir: '', place, steps, current, allowMissing: false })
  const found = new Map<string, string>()
  for (const flaw of all) if (!found.has(flaw.file)) found.set(flaw.file, lineOf(flaw))
  return found
}

function lineOf({ field, why, name }: FileFlaw): string {
  return `${field}: ${why} (${name})`
}
