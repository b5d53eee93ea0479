import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import type { ExpectedFile, Filed, FileFlaw, Folder } from './files.ts'
import { located } from './files.ts'
import type { MoveFlaw, MoveKind, RemoteObject } from './kind.ts'
import { isUserBody } from './kind-keys.ts'
import { type Path, pathText } from './paths.ts'
import { isSecretSentinel } from './placeholders.ts'
import { omitMembers, renderJson, sameJson } from './rendered.ts'
import { fillSecrets, type MissingSecret } from './secret-places.ts'
import { type MoveSelection, selects } from './selection.ts'
import { filedText, pathOfObject } from './write-files.ts'

/** The extent of a run: `sync` does everything, `apply` deletes nothing, `publish` only creates what does not exist. */
export type Mode = 'sync' | 'apply' | 'publish'

/** One thing to do. */
export interface MoveStep {
  readonly kind: MoveKind
  readonly identity: string
  readonly act: 'create' | 'update' | 'delete'
  /** The file that asks for it; of a deletion ''. */
  readonly file: string
  /** As it is to be, with its secrets; of a deletion undefined. */
  readonly body: JsonObject | undefined
  readonly there: RemoteObject | undefined
  /** Fields that differ, of an update. */
  readonly changes: readonly string[]
}

export interface MovePlan {
  readonly steps: readonly MoveStep[]
  readonly unchanged: number
  readonly flaws: readonly FileFlaw[]
}

/** All objects of some sorts that a dashboard has, by sort and identity. */
export type TargetState = ReadonlyMap<MoveKind, ReadonlyMap<string, RemoteObject>>

/** The file content of every object of a dashboard, without secrets; an identical object is unchanged. */
export function expectedFiles(current: TargetState): Map<string, ExpectedFile> {
  const expected = new Map<string, ExpectedFile>()
  for (const [kind, all] of current)
    for (const there of all.values())
      expected.set(pathOfObject(kind, there.identity), { text: filedText(kind, there, 'kept'), there })
  return expected
}

/** Plans the changes that make the dashboard equal to the files, within the selection. */
export function planMoves(given: {
  readonly dir: string
  readonly folder: Folder
  readonly current: TargetState
  readonly selection: MoveSelection
  readonly mode: Mode
  readonly noDelete: boolean
}): MovePlan {
  const { dir, folder, current, selection, mode } = given
  const flaws: FileFlaw[] = [...folder.flaws]
  const steps: MoveStep[] = []
  let unchanged = 0
  const isMeant = selects(selection, knownBodies(folder, current))
  const filed = new Map<MoveKind, Map<string, Filed>>()
  for (const each of folder.filed) {
    const all = filed.get(each.kind) ?? new Map<string, Filed>()
    filed.set(each.kind, all.set(each.identity, each))
  }
  for (const [kind, there] of current) {
    const files = filed.get(kind) ?? new Map<string, Filed>()
    for (const identity of [...new Set([...files.keys(), ...there.keys()])].sort()) {
      const [file, stored] = [files.get(identity), there.get(identity)]
      const meant = [file?.body, stored?.body].some((body) => body !== undefined && isMeant(kind, identity, body))
      if (!meant) continue
      if (file?.unchanged) unchanged++
      else if (file !== undefined) {
        const step = stepFor(file, stored)
        flaws.push(...located(dir, file.file, 'step' in step ? step.flaws : []))
        if (step.step === undefined) unchanged++
        else if (mode === 'publish' && step.step.act === 'update') flaws.push(alreadyThere(step.step))
        else steps.push(step.step)
      } else if (mode === 'sync' && !given.noDelete && kind.deletable) steps.push(deletion(kind, stored!))
    }
  }
  flaws.push(...unknownIds(selection, filed, current))
  return { steps, unchanged, flaws }
}

function stepFor(file: Filed, there: RemoteObject | undefined): { step: MoveStep | undefined; flaws: MoveFlaw[] } {
  const { kind, identity } = file
  const missing: MissingSecret[] = []
  const said = there === undefined ? file.body : withoutKeptOwn(kind, file.body)
  const filled = fillSecrets(said, there?.body, missing) as JsonObject
  const body = withOwn(kind, filled, there)
  const flaws: MoveFlaw[] = missing.map((each) => ({ name: 'secret_missing', ...each }))
  if (there === undefined && kind.choice === 'keys' && isUserBody(body) && body.password_hash === undefined)
    flaws.push({
      name: 'secret_missing',
      path: ['user_name'],
      why: 'its password is not in the files, and the target has none',
    })
  const step = { kind, identity, file: file.file, body, there }
  if (there === undefined) return { step: { ...step, act: 'create', changes: [] }, flaws }
  if (sameJson(body, there.body)) return { step: undefined, flaws }
  return {
    step: { ...step, act: 'update', changes: differences(there.body, body, secretsOf(kind, there.body, body)) },
    flaws,
  }
}

function deletion(kind: MoveKind, there: RemoteObject): MoveStep {
  return { kind, identity: there.identity, act: 'delete', file: '', body: undefined, there, changes: [] }
}

function alreadyThere({ file, identity, kind }: MoveStep): FileFlaw {
  const why = `the target has this ${kind.one} (${identity}), and another one: apply changes what is there`
  return { name: 'already_there', file, line: 1, field: kind.identityAt, why }
}

/** A secret that is an object's own, and that nobody could open, is as good as not there: the dashboard keeps what it has. */
function withoutKeptOwn({ own = [] }: MoveKind, body: JsonObject): JsonObject {
  return omitMembers(body, ...own.filter((name) => isSecretSentinel(body[name])))
}

/** Keeps members that the file does not mention. */
function withOwn({ own = [] }: MoveKind, body: JsonObject, there: RemoteObject | undefined): JsonObject {
  const kept = own.filter((name) => !Object.hasOwn(body, name) && there?.body[name] !== undefined)
  return kept.length === 0 ? body : { ...body, ...Object.fromEntries(kept.map((name) => [name, there!.body[name]!])) }
}

function secretsOf(kind: MoveKind, ...bodies: readonly JsonObject[]): Set<string> {
  return new Set(bodies.flatMap((body) => kind.secrets(body).map(pathText)))
}

const MOST_CHANGES = 20
const LONGEST = 60

/** The fields that differ, each with before and after; nothing of a secret but that it differs. */
function differences(before: Json, after: Json, secrets: ReadonlySet<string>): string[] {
  const found: string[] = []
  collect(before, after, [], (path, was, is) => {
    const field = pathText(path)
    const hidden = [...secrets].some(
      (secret) => secret === field || secret.startsWith(`${field}.`) || secret.startsWith(`${field}[`),
    )
    found.push(hidden ? `${field}: another secret` : `${field}: ${short(was)} -> ${short(is)}`)
  })
  if (found.length <= MOST_CHANGES) return found
  return [...found.slice(0, MOST_CHANGES), `and ${found.length - MOST_CHANGES} more`]
}

type Difference = (path: Path, was: Json | undefined, is: Json | undefined) => void

function collect(was: Json | undefined, is: Json | undefined, path: Path, found: Difference): void {
  if (was !== undefined && is !== undefined && sameJson(was, is)) return
  if (isObject(was) && isObject(is)) {
    for (const name of [...new Set([...Object.keys(was), ...Object.keys(is)])].sort())
      collect(was[name], is[name], [...path, name], found)
    return
  }
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length) {
    for (const [index, item] of was.entries()) collect(item, is[index], [...path, index], found)
    return
  }
  if (was !== is) found(path, was, is)
}

function short(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text
}

function knownBodies({ filed }: Folder, current: TargetState) {
  const bodies = (name: string) => [
    ...filed.filter(({ kind }) => kind.name === name).map(({ body }) => body),
    ...[...current]
      .filter(([kind]) => kind.name === name)
      .flatMap(([, all]) => [...all.values()].map(({ body }) => body)),
  ]
  return { apis: bodies('apis'), policies: bodies('policies') }
}

/** Requested IDs that do not exist. */
function unknownIds(
  { kinds }: MoveSelection,
  filed: ReadonlyMap<MoveKind, ReadonlyMap<string, Filed>>,
  current: TargetState,
): FileFlaw[] {
  return [...kinds].flatMap(([choice, ids]) => {
    if (ids === 'all') return []
    const known = [...current.keys()].filter((kind) => kind.choice === choice)
    const isThere = (id: string) => known.some((kind) => filed.get(kind)?.has(id) || current.get(kind)?.has(id))
    return ids
      .filter((id) => !isThere(id))
      .map((id): FileFlaw => {
        return {
          name: 'not_there',
          file: '',
          line: 0,
          field: `--${choice}`,
          why: `${id} is neither in the files nor in the target`,
        }
      })
  })
}

/** True when an object is still what it was when the plan was made. */
export function isSame(kind: MoveKind, now: RemoteObject, then: RemoteObject): boolean {
  return renderJson(now.body, kind.head) === renderJson(then.body, kind.head)
}
