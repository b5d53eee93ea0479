import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Fault, fault } from '../../errors/fault.ts'
import type { CommandContext } from '../commands/command.ts'
import { unservedLines } from './await-nodes.ts'
import { findBlockers, targetAllowsDuplicates } from './blockers.ts'
import { openTarget, readTargetState } from './dashboard-target.ts'
import { type FileFlaw, type Folder, indexBefore, located, readFolder, readIndex } from './files.ts'
import type { MoveKind } from './kind.ts'
import { kindsOf, MOVE_KINDS } from './kinds.ts'
import { neededOption, recipientOf, sealIdentityOf, selectionOf, variablesOf } from './options.ts'
import { ordered, type PlanOrder } from './order.ts'
import { expectedFiles, type Mode, type MovePlan, planMoves } from './plan.ts'
import { doneLine, flawLine, planJson, planLines, warningsOf, withNoun } from './report-lines.ts'
import { runWithProgress } from './run.ts'
import { checkWithoutSecrets } from './secret-places.ts'
import { dumpSelection, type MoveSelection, narrowSelection, selectionAfterDump, selects } from './selection.ts'
import { writeDump } from './write-files.ts'

/** The exit status of a comparison that found a difference. */
const DRIFT = 2
const MOST_FLAWS = 100

/** `gatehouse dump`: writes what a dashboard has into files. */
export async function dump({ env, options, cwd, print }: CommandContext): Promise<number> {
  const dir = resolve(cwd, neededOption(options, 'target', 'the folder to write to'))
  const withSecrets = options.secrets === true
  const recipient = withSecrets ? recipientOf(options, env) : undefined
  const place = await openTarget(options, env, { withSecrets })
  const selection = dumpSelection(selectionOf(options))
  const held = selectionAfterDump(indexBefore(dir, MOVE_KINDS), selection)
  const kinds = kindsOf(new Set(selection.kinds.keys()))
  const read = await readTargetState(place, withPolicies(kinds, selection))
  refuse(read.flaws)
  const bodies = (name: string) => {
    return [...read.current]
      .filter(([kind]) => kind.name === name)
      .flatMap(([, all]) => [...all.values()].map(({ body }) => body))
  }
  const isMeant = selects(selection, { apis: bodies('apis'), policies: bodies('policies') })
  const objects = kinds.flatMap((kind) =>
    [...read.current.get(kind)!.values()]
      .filter(({ identity, body }) => isMeant(kind, identity, body))
      .map((there) => ({ kind, there })),
  )
  refuse(unknownIn(selection, kinds, objects))
  const rule = recipient === undefined ? 'kept' : { recipient, seed: place.secret }
  const result = writeDump({ dir, selection, held, kinds, objects, rule, env: variablesOf(options, env) })
  if (options.json === true) print(JSON.stringify({ target: dir, ...result, removed: [...result.removed] }, null, 2))
  else {
    for (const path of result.removed) print(`removed ${path}`)
    print(
      `${withNoun(objects.length, 'object')} in ${dir}: ${withNoun(result.written, 'file')} written, ${result.unchanged} unchanged, ${result.removed.length} removed.`,
    )
  }
  return 0
}

/** `gatehouse validate`: checks files by themselves, with no dashboard at all. */
export function validate({ env, options, cwd, print }: CommandContext): number {
  const dir = folderOf(options, cwd)
  const selection = narrowSelection(readIndex(dir, MOVE_KINDS), selectionOf(options))
  const opening = { env: variablesOf(options, env), identity: sealIdentityOf(options, env) }
  const folder = readFolder(dir, kindsOf(new Set(selection.kinds.keys())), opening)
  const checked = folder.filed.map(({ kind, file, body }) => ({ kind, file, ...checkWithoutSecrets(kind, body) }))
  const flaws = [...folder.flaws, ...checked.flatMap((each) => located(dir, each.file, each.flaws))]
  const warnings = checked.flatMap((each) => warningsOf(each).map((warning) => ({ file: each.file, warning })))
  if (options.json === true) print(JSON.stringify({ objects: folder.filed.length, flaws, warnings }, null, 2))
  else {
    for (const flaw of flaws) print(flawLine(flaw))
    for (const { file, warning } of warnings) print(`warning: ${file}: ${warning}`)
    print(
      flaws.length === 0
        ? `${withNoun(folder.filed.length, 'object')} without a mistake.`
        : withNoun(flaws.length, 'mistake'),
    )
  }
  return flaws.length === 0 ? 0 : 1
}

/** `gatehouse diff`: what sync would do; status 2 when that is anything. */
export async function diff(context: CommandContext): Promise<number> {
  const { plan, order } = await planned(context, 'sync')
  tell(context, plan, order, false)
  return order.length === 0 ? 0 : DRIFT
}

/** `gatehouse sync`, `apply`, `publish`: show the plan, and with `--yes` do it. Without, status 2 says that there is something to do. */
export async function change(context: CommandContext, mode: Mode): Promise<number> {
  const { plan, order, place } = await planned(context, mode)
  const { options, print } = context
  const quiet = options.json === true
  if (order.length === 0 || options.yes !== true) {
    tell(context, plan, order, false)
    if (order.length === 0) return 0
    if (!quiet) print('Nothing was changed: --yes does it.')
    return DRIFT
  }
  if (!quiet) tell(context, plan, order, false)
  await runWithProgress({
    place,
    order,
    name: mode,
    json: quiet,
    onDone: (step) => void (quiet || print(doneLine(step))),
  })
  const unserved = await unservedLines(place, order.flat())
  if (quiet) print(planJson(plan, order, true, unserved))
  else for (const line of [...unserved.map((each) => `! ${each}`), 'Done.']) print(line)
  return unserved.length === 0 ? 0 : 1
}

async function planned({ env, options, cwd }: CommandContext, mode: Mode) {
  const dir = folderOf(options, cwd)
  const files = readIndex(dir, MOVE_KINDS)
  const selection = narrowSelection(files, selectionOf(options))
  refuseUndumped(dir, selection, files)
  const kinds = kindsOf(new Set(selection.kinds.keys()))
  const opening = { env: variablesOf(options, env), identity: sealIdentityOf(options, env) }
  const place = await openTarget(options, env, { withSecrets: opening.identity !== undefined })
  const all = withPolicies(kinds, selection)
  const { current, flaws: unclear } = await readTargetState(place, all)
  const folder: Folder = readFolder(dir, all, opening, expectedFiles(current))
  const plan = planMoves({ dir, folder, current, selection, mode, noDelete: options['no-delete'] === true })
  refuse([...unclear, ...plan.flaws])
  const { steps } = plan
  const { order, flaws } = ordered({ dir, steps, current, mayCollide: await targetAllowsDuplicates(place, steps) })
  refuse(flaws)
  const allowMissing = options['allow-missing'] === true
  refuse(await findBlockers({ dir, place, steps, current, allowMissing }))
  return { plan, order, place }
}

/** Which keys and clients belong to some APIs is seen by the APIs and policies, whether these are moved or not. */
function withPolicies(kinds: readonly MoveKind[], { tags, labels }: MoveSelection): MoveKind[] {
  const needed = tags.length + labels.length > 0 ? ['apis', 'policies'] : []
  return MOVE_KINDS.filter((kind) => kinds.includes(kind) || needed.includes(kind.name))
}

/** Refuses to delete objects that were never dumped: they are absent from the files because nobody wanted them there. */
function refuseUndumped(dir: string, { kinds }: MoveSelection, files: MoveSelection): void {
  for (const choice of kinds.keys()) {
    const folders = MOVE_KINDS.filter((kind) => kind.choice === choice).map(({ folder }) => folder)
    if (files.kinds.has(choice) || folders.some((folder) => existsSync(resolve(dir, folder)))) continue
    throw fault('files_unreadable', `${dir} holds no ${choice}: dump them first`)
  }
}

function unknownIn(
  { kinds: chosen }: MoveSelection,
  kinds: readonly MoveKind[],
  objects: readonly { readonly kind: MoveKind; readonly there: { readonly identity: string } }[],
): FileFlaw[] {
  return [...chosen].flatMap(([choice, ids]) => {
    const known = new Set(objects.filter(({ kind }) => kind.choice === choice).map(({ there }) => there.identity))
    const one = kinds.find((kind) => kind.choice === choice)?.one ?? choice
    const missing = ids === 'all' ? [] : ids.filter((id) => !known.has(id))
    return missing.map((id): FileFlaw => {
      return { name: 'not_there', file: '', line: 0, field: `--${choice}`, why: `the dashboard has no ${one} ${id}` }
    })
  })
}

function folderOf(options: CommandContext['options'], cwd: string): string {
  const dir = resolve(cwd, neededOption(options, 'path', 'the folder of a dump'))
  if (!existsSync(dir)) throw fault('files_unreadable', `there is no folder ${dir}`)
  return dir
}

function tell({ options, print }: CommandContext, plan: MovePlan, order: PlanOrder, done: boolean): void {
  if (options.json === true) print(planJson(plan, order, done))
  else for (const line of planLines(plan, order)) print(line)
}

/** @throws Fault `move_refused` with every flaw, one in a line */
function refuse(flaws: readonly FileFlaw[]): void {
  if (flaws.length === 0) return
  const more = flaws.length - MOST_FLAWS
  const lines = flaws.slice(0, MOST_FLAWS).map(flawLine)
  throw refusal([...lines, ...(more > 0 ? [`and ${more} more`] : []), 'Nothing was changed.'])
}

function refusal(lines: readonly string[]): Fault {
  return fault('move_refused', lines.join('\n'))
}
