import { type FileFlaw, located } from './files.ts'
import type { Claim, MoveKind, RemoteObject } from './kind.ts'
import { MOVE_KINDS } from './kinds.ts'
import type { MoveStep, TargetState } from './plan.ts'

/** Steps that may be done at the same time; the groups one after the other. */
export type PlanOrder = readonly (readonly MoveStep[])[]

const FIRST_RENAME = 'a label that goes in this run has it: give that another name first'

interface Holder {
  readonly there: RemoteObject
  readonly step: MoveStep | undefined
}

/** The objects to put in order. */
export interface Ordering {
  readonly dir: string
  readonly steps: readonly MoveStep[]
  readonly current: TargetState
  /** The target stores APIs that want one listen path, and serves the first of them. */
  readonly mayCollide: boolean
}

/**
 * Puts steps in an order in which each finds what it needs: what is named before what names it, what frees a listen path or a name
 * before what takes it, other deletions last. What two want at once, and what changes hands in a circle, is a flaw.
 */
export function ordered({ dir, steps, current, mayCollide }: Ordering): { order: PlanOrder; flaws: FileFlaw[] } {
  const groups: MoveStep[][] = []
  const flaws: FileFlaw[] = []
  const early = new Set<MoveStep>()
  for (const kind of MOVE_KINDS) {
    const own = steps.filter((step) => step.kind === kind)
    const isFree = mayCollide && kind.name === 'apis'
    const found = isFree ? freely(own) : groupsOf(dir, kind, own, current.get(kind) ?? new Map<string, RemoteObject>())
    flaws.push(...found.flaws)
    for (const step of found.freed) early.add(step)
    groups.push(found.freed, ...found.groups)
  }
  const late = [...MOVE_KINDS].reverse().map((kind) => {
    return steps.filter((step) => step.kind === kind && step.act === 'delete' && !early.has(step))
  })
  return { order: [...groups, ...late].filter((group) => group.length > 0), flaws }
}

/** In any order. */
function freely(steps: readonly MoveStep[]): ReturnType<typeof groupsOf> {
  return { groups: [steps.filter(({ act }) => act !== 'delete')], freed: [], flaws: [] }
}

function groupsOf(dir: string, kind: MoveKind, steps: readonly MoveStep[], there: ReadonlyMap<string, RemoteObject>) {
  const writes = steps.filter(({ act }) => act !== 'delete')
  const flaws: FileFlaw[] = []
  const freed = new Set<MoveStep>()
  const after = new Map<MoveStep, Set<MoveStep>>()
  if (writes.length > 0) {
    const byIdentity = new Map(steps.map((step) => [step.identity, step]))
    const holders = holdersOf(kind, there, byIdentity)
    const wanted = new Map<string, MoveStep[]>()
    for (const step of writes) {
      after.set(step, new Set())
      for (const claim of kind.claims(step.body!)) {
        const rival = (wanted.get(claim.what) ?? []).find((other) => clash(kind, step, other.body!))
        if (rival !== undefined) flaws.push(...taken(dir, step, claim, `${rival.file} wants it too`))
        wanted.set(claim.what, [...(wanted.get(claim.what) ?? []), step])
        for (const holder of holders.get(claim.what) ?? []) {
          if (holder.there.identity === step.identity || !clash(kind, step, holder.there.body)) continue
          // A label goes only when no API carries it any more, and they follow later.
          if (holder.step?.act === 'delete' && kind.name !== 'labels') freed.add(holder.step)
          else if (holder.step?.act === 'delete') flaws.push(...taken(dir, step, claim, FIRST_RENAME))
          else if (holder.step !== undefined && !keeps(kind, holder.step, claim, step))
            after.get(step)!.add(holder.step)
          else if (rival === undefined)
            flaws.push(...taken(dir, step, claim, `${kind.one} ${holder.there.identity} of the target has it`))
        }
      }
    }
  }
  const { groups, circle } = layers(writes, after)
  for (const step of circle) {
    const why = `${kind.one} ${[...after.get(step)!].map(({ identity }) => identity).join(', ')} has it now and gives it away in this run: do it in two`
    flaws.push(...located(dir, step.file, [{ name: 'swap', path: kind.claims(step.body!)[0]?.path ?? [], why }]))
  }
  return { groups, freed: [...freed], flaws }
}

function holdersOf(kind: MoveKind, there: ReadonlyMap<string, RemoteObject>, steps: ReadonlyMap<string, MoveStep>) {
  const holders = new Map<string, Holder[]>()
  for (const each of there.values())
    for (const { what } of kind.claims(each.body)) {
      const all = holders.get(what)
      const holder = { there: each, step: steps.get(each.identity) }
      if (all === undefined) holders.set(what, [holder])
      else all.push(holder)
    }
  return holders
}

/** True when a step leaves its object with what another step wants. */
function keeps(kind: MoveKind, holder: MoveStep, claim: Claim, wanting: MoveStep): boolean {
  return kind.claims(holder.body!).some(({ what }) => what === claim.what) && clash(kind, wanting, holder.body!)
}

function clash(kind: MoveKind, step: MoveStep, other: MoveStep['body'] & object): boolean {
  return kind.canCoexist?.(step.body!, other) !== true
}

function taken(dir: string, step: MoveStep, { flaw, path }: Claim, why: string): FileFlaw[] {
  return located(dir, step.file, [{ name: flaw, path, why }])
}

/** Steps in groups of which each waits for none but those before; what waits in a circle is left over. */
function layers(steps: readonly MoveStep[], after: ReadonlyMap<MoveStep, ReadonlySet<MoveStep>>) {
  const groups: MoveStep[][] = []
  const done = new Set<MoveStep>()
  let rest = [...steps]
  while (rest.length > 0) {
    const ready = rest.filter((step) => [...(after.get(step) ?? [])].every((other) => done.has(other)))
    if (ready.length === 0) return { groups, circle: rest }
    for (const step of ready) done.add(step)
    groups.push(ready)
    rest = rest.filter((step) => !done.has(step))
  }
  return { groups, circle: [] }
}
