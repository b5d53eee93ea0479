import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { type Recipient, sealFor } from '../../model/secrets/recipient-seal.ts'
import { FORMAT, fileText, INDEX_FILE, namesIn, sealPlace } from './files.ts'
import type { MoveKind, RemoteObject } from './kind.ts'
import { type Path, valueAt, withValueAt } from './paths.ts'
import { escapeAllPlaceholders, resolvePlaceholders, SECRET_PLACEHOLDER, takesFromEnvironment } from './placeholders.ts'
import { fileName, omitMembers, renderJson } from './rendered.ts'
import { isNarrow, type MoveSelection, selectionJson } from './selection.ts'

const INDEX_HEAD = ['format', 'kinds']

/** Secrets are sealed for a recipient, or left out. */
export type SecretRule = { readonly recipient: Recipient; readonly seed: string } | 'kept'

/** Path of an object's file below its folder. */
export function pathOfObject(kind: MoveKind, identity: string): string {
  return `${kind.folder}/${fileName(identity)}.json`
}

/** An object as its file has it, before marks of the environment are taken over. */
function filedBody(kind: MoveKind, { identity, body }: RemoteObject, rule: SecretRule): JsonObject {
  const places = kind.secrets(body)
  const marked = looksMarked(JSON.stringify(body)) ? escapeAllPlaceholders(body) : body
  let filed: Json = rule === 'kept' && kind.own !== undefined ? omitMembers(marked as JsonObject, ...kind.own) : marked
  for (const place of places) {
    const secret = valueAt(body, place)
    if (typeof secret !== 'string' || valueAt(filed, place) === undefined) continue
    filed = withValueAt(filed, place, rule === 'kept' ? SECRET_PLACEHOLDER : seal(kind, identity, place, secret, rule))
  }
  return filed as JsonObject
}

/** The text of the file for an object. */
export function filedText(kind: MoveKind, there: RemoteObject, rule: SecretRule): string {
  // Most objects need no change in files: they are written once.
  if (kind.own === undefined && kind.secrets(there.body).length === 0) {
    const text = renderJson(there.body, kind.head)
    if (!looksMarked(text)) return text
  }
  return renderJson(filedBody(kind, there, rule), kind.head)
}

function looksMarked(text: string): boolean {
  return text.includes('${') || text.includes('$sealed') || text.includes('$$')
}

function seal(kind: MoveKind, identity: string, place: Path, secret: string, rule: SecretRule & object): string {
  return sealFor(rule.recipient, rule.seed, sealPlace(kind, identity, place), secret)
}

/** The parts of a dump. */
export interface Dump {
  readonly dir: string
  readonly selection: MoveSelection
  /** The selection of the folder afterwards. */
  readonly held: MoveSelection
  readonly kinds: readonly MoveKind[]
  readonly objects: readonly { readonly kind: MoveKind; readonly there: RemoteObject }[]
  readonly rule: SecretRule
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface DumpResult {
  readonly written: number
  readonly unchanged: number
  /** Files of objects that are no more. */
  readonly removed: readonly string[]
}

/**
 * Writes objects to their files, each by a rename, so that an interrupted dump leaves no half file. What a file takes from the
 * environment stays so, as long as it says the same. Of sorts that are dumped whole, files of objects that are no more go.
 */
export function writeDump(dump: Dump): DumpResult {
  const { dir, objects, rule, env } = dump
  const counts = { written: 0, unchanged: 0 }
  const paths = new Set<string>()
  const folders = new Folders(dir)
  const index = { format: FORMAT, ...selectionJson(dump.held) }
  // Until its end nobody takes what is missing for what was deleted.
  folders.put(INDEX_FILE, renderJson({ ...index, unfinished: true }, INDEX_HEAD))
  for (const { kind, there } of objects) {
    const path = pathOfObject(kind, there.identity)
    if (paths.has(path)) throw fault('files_unreadable', `two objects would be written to ${path}`)
    paths.add(path)
    const before = fileText(dir, path)
    const body = filedBody(kind, there, rule)
    const kept = before !== undefined && takesFromEnvironment(before) ? withMarksOf(before, body, env) : body
    const text = renderJson(kept, kind.head)
    if (text === before) counts.unchanged++
    else {
      folders.put(path, text)
      counts.written++
    }
  }
  const removed = staleFiles(dump, paths)
  for (const path of removed) rmSync(join(dir, path), { force: true })
  folders.put(INDEX_FILE, renderJson(index, INDEX_HEAD))
  return { ...counts, removed }
}

function staleFiles({ dir, selection, kinds }: Dump, paths: ReadonlySet<string>): string[] {
  if (isNarrow(selection)) return []
  const whole = kinds.filter(({ choice }) => selection.kinds.get(choice) === 'all')
  const all = whole.flatMap(({ folder }) => namesIn(join(dir, folder)).map((name) => `${folder}/${name}`))
  return all.filter((path) => !paths.has(path))
}

/** The new body with the texts of the file before that take something from the environment and say the same. */
function withMarksOf(before: string, body: JsonObject, env: Dump['env']): JsonObject {
  let old: Json
  try {
    old = JSON.parse(before) as Json
  } catch {
    return body
  }
  const reader = { env, open: () => undefined, flaw: () => {} }
  const [was, is] = [resolvePlaceholders(old, reader), resolvePlaceholders(body, reader)]
  let next: Json = body
  for (const path of markedPlaces(old)) {
    const value = valueAt(is, path)
    if (value !== undefined && JSON.stringify(value) === JSON.stringify(valueAt(was, path)))
      next = withValueAt(next, path, valueAt(old, path)!)
  }
  return next as JsonObject
}

function markedPlaces(value: Json, path: Path = []): Path[] {
  if (typeof value === 'string') return takesFromEnvironment(value) ? [path] : []
  if (Array.isArray(value)) return value.flatMap((item, index) => markedPlaces(item, [...path, index]))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => markedPlaces(item, [...path, name]))
}

/** Writes files below a folder, and makes the folders that they need. */
class Folders {
  readonly #dir: string
  readonly #made = new Set<string>()

  constructor(dir: string) {
    this.#dir = dir
  }

  /** @throws Fault `files_unwritable` */
  put(path: string, text: string): void {
    const target = join(this.#dir, path)
    const temporary = `${target}.${process.pid}.tmp`
    try {
      this.#make(dirname(target))
      writeFileSync(temporary, text)
      renameSync(temporary, target)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw fault('files_unwritable', `${target} cannot be written (${(error as NodeJS.ErrnoException).code})`, error)
    }
  }

  #make(folder: string): void {
    if (this.#made.has(folder)) return
    mkdirSync(folder, { recursive: true })
    this.#made.add(folder)
  }
}
