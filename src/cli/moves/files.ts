import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { fault } from '../../errors/fault.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { EXTENSION_NAME } from '../../model/apis/definition/vendor-words.ts'
import { isObject, type Json, type JsonObject, withoutSchemaName } from '../../model/json/json.ts'
import { LOST } from '../../model/json/json-body.ts'
import { placeOfLostNumber } from '../../model/json/large-integers.ts'
import { openSealed, type SealIdentity } from '../../model/secrets/recipient-seal.ts'
import { identityOf, type MoveFlaw, type MoveFlawName, type MoveKind, type RemoteObject } from './kind.ts'
import { type Path, pathText } from './paths.ts'
import { type PlaceholderResolver, resolvePlaceholders } from './placeholders.ts'
import { type MoveSelection, selectionIn } from './selection.ts'

/** The line number, from 1, of an offset in a text. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Offset of the value at a path in well-formed JSON; for a path that ends early, that of the last value on it. */
export function jsonOffset(text: string, path: Path): number {
  let found = 0
  new JsonWalk(text, (at, offset) => {
    if (at.length <= path.length && at.every((step, index) => String(step) === String(path[index]))) found = offset
  }).run()
  return found
}

/** The first member that an object of well-formed JSON names twice; undefined when there is none. */
export function twiceNamed(text: string): { readonly path: Path; readonly offset: number } | undefined {
  let found: { path: Path; offset: number } | undefined
  new JsonWalk(text, undefined, (path, offset) => {
    found ??= { path: [...path], offset }
  }).run()
  return found
}

/** Line of the value at a path of a YAML text; for a path that ends early, that of the last value on it. */
export function yamlLine(text: string, path: Path): number {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' })
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    const range = (node as { range?: readonly number[] } | undefined)?.range
    if (range !== undefined) return lines.linePos(range[0]!).line
  }
  return 1
}

type Seen = (path: readonly (string | number)[], offset: number) => void

/** Walks well-formed JSON by hand: the parser of the language tells no positions. */
class JsonWalk {
  readonly #text: string
  readonly #seen: Seen | undefined
  readonly #twice: Seen | undefined
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string, seen: Seen | undefined, twice?: Seen) {
    this.#text = text
    this.#seen = seen
    this.#twice = twice
  }

  run(): void {
    this.#space()
    this.#value(this.#at)
  }

  /** `from`: where the member begins, with its name. */
  #value(from: number): void {
    this.#seen?.(this.#path, from)
    const first = this.#text[this.#at]
    if (first === '{') this.#object()
    else if (first === '[') this.#list()
    else if (first === '"') this.#string()
    else this.#at += /^[^\s,\]}]+/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0].length ?? 1
  }

  #object(): void {
    const names = new Set<string>()
    this.#inside('}', () => {
      const from = this.#at
      const name = this.#string()
      this.#path.push(name)
      if (names.has(name)) this.#twice?.(this.#path, from)
      names.add(name)
      this.#space()
      this.#at++
      this.#space()
      this.#value(from)
      this.#path.pop()
    })
  }

  #list(): void {
    let index = 0
    this.#inside(']', () => {
      this.#path.push(index++)
      this.#value(this.#at)
      this.#path.pop()
    })
  }

  #inside(end: string, item: () => void): void {
    this.#at++
    this.#space()
    while (this.#at < this.#text.length && this.#text[this.#at] !== end) {
      item()
      this.#space()
      if (this.#text[this.#at] === ',') this.#at++
      this.#space()
    }
    this.#at++
  }

  #string(): string {
    const from = this.#at
    this.#at++
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    this.#at++
    return JSON.parse(this.#text.slice(from, this.#at)) as string
  }

  #space(): void {
    while (this.#at < this.#text.length && /\s/.test(this.#text[this.#at]!)) this.#at++
  }
}

export const INDEX_FILE = 'gatehouse.json'
/** Grows when files of before cannot be read as they were any more. */
export const FORMAT = 1
const MOST_BYTES = 64 << 20
const MOST_ALIASES = 100

/** One object of a folder. */
export interface Filed {
  readonly kind: MoveKind
  readonly identity: string
  /** Below the folder, with slashes. */
  readonly file: string
  /** Its content with placeholders replaced; a secret that stays as stored is `SECRET_SENTINEL`. */
  readonly body: JsonObject
  /** True when the file says exactly what the dashboard has, so that nobody needs to look closer. */
  readonly unchanged: boolean
}

/** An error and its place. */
export interface FileFlaw {
  readonly name: MoveFlawName
  readonly file: string
  readonly line: number
  readonly field: string
  readonly why: string
}

/** The content of a folder. */
export interface Folder {
  readonly filed: readonly Filed[]
  readonly flaws: readonly FileFlaw[]
}

/** The values and keys that placeholders in files are replaced with. */
export interface Opening {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly identity: SealIdentity | undefined
}

/** The file content of an object of the dashboard. */
export interface ExpectedFile {
  readonly text: string
  readonly there: RemoteObject
}

/**
 * The selection that a folder was dumped for; without the file that says so, the kinds that it has folders of. @throws Fault
 * `files_unreadable`
 */
export function readIndex(dir: string, kinds: readonly MoveKind[], mayBeUnfinished = false): MoveSelection {
  const text = fileText(dir, INDEX_FILE)
  if (text === undefined) {
    const held = kinds.filter(({ folder }) => isFolder(join(dir, folder)))
    if (held.length === 0) throw fault('files_unreadable', `${dir} holds no files of a dump`)
    return { kinds: new Map(held.map(({ choice }) => [choice, 'all'])), tags: [], labels: [] }
  }
  const index = parsedIndex(text)
  if (typeof index.format !== 'number' || index.format > FORMAT)
    throw fault(
      'files_unreadable',
      `version_unknown: ${INDEX_FILE}: format ${String(index.format)} is of another version`,
    )
  if (index.unfinished === true && !mayBeUnfinished)
    throw fault('files_unreadable', `the last dump into ${dir} was not finished: run it again`)
  return selectionIn(index, INDEX_FILE)
}

/** The selection that a folder was dumped for before; undefined for one that holds no dump. @throws Fault `files_unreadable` */
export function indexBefore(dir: string, kinds: readonly MoveKind[]): MoveSelection | undefined {
  return fileText(dir, INDEX_FILE) === undefined ? undefined : readIndex(dir, kinds, true)
}

/** Reads the objects of some kinds. `expected`, by file: what is exactly so is not looked at closer. */
export function readFolder(
  dir: string,
  kinds: readonly MoveKind[],
  opening: Opening,
  expected: ReadonlyMap<string, ExpectedFile> = new Map(),
): Folder {
  const filed: Filed[] = []
  const flaws: FileFlaw[] = []
  for (const kind of kinds) {
    const first = new Map<string, string>()
    for (const name of namesIn(join(dir, kind.folder))) {
      const file = `${kind.folder}/${name}`
      const read = readOne({ dir, file, kind, opening, expected: expected.get(file) })
      flaws.push(...read.flaws)
      if (read.filed === undefined) continue
      const { identity } = read.filed
      const other = first.get(identity)
      if (other === undefined) filed.push(read.filed)
      else flaws.push({ name: 'id_twice', file, line: 1, field: kind.identityAt, why: `${other} has ${identity} too` })
      first.set(identity, other ?? file)
    }
  }
  return { filed, flaws }
}

/** The same errors, with their line in the file. */
export function located(dir: string, file: string, flaws: readonly MoveFlaw[]): FileFlaw[] {
  if (flaws.length === 0) return []
  const text = fileText(dir, file) ?? ''
  const raw = parsed(text, isYaml(file)).value
  return flaws.map(({ name, path, why }) => {
    const inFile = pathInFile(path, raw)
    return { name, file, line: lineOf(text, file, inFile), field: pathText(inFile) || 'the document', why }
  })
}

interface One {
  readonly dir: string
  readonly file: string
  readonly kind: MoveKind
  readonly opening: Opening
  readonly expected: ExpectedFile | undefined
}

function readOne({ dir, file, kind, opening, expected }: One): { filed?: Filed; flaws: FileFlaw[] } {
  const refused = (name: MoveFlawName, why: string, line = 1): { flaws: FileFlaw[] } => {
    return { flaws: [{ name, file, line, field: 'the document', why }] }
  }
  // One that leads out of the folder would bring in what nobody has reviewed.
  if (isLink(join(dir, file))) return refused('file_unreadable', 'is a link, and links are not followed')
  const text = fileText(dir, file)
  if (text === undefined) return refused('file_unreadable', 'cannot be read, or is too large')
  if (expected !== undefined && expected.text === text) {
    const { identity, body } = expected.there
    return { filed: { kind, identity, file, body, unchanged: true }, flaws: [] }
  }
  const { value, malformed, line } = parsed(text, isYaml(file))
  if (malformed !== undefined) return refused('file_malformed', malformed, line)
  if (!isObject(value)) return refused('file_malformed', 'is no object')
  const flaws: MoveFlaw[] = []
  if (!isYaml(file)) {
    const twice = twiceNamed(text)
    if (twice !== undefined) flaws.push({ name: 'named_twice', path: twice.path, why: 'is there twice' })
  }
  const own = withoutSchemaName(value)
  const read = resolvePlaceholders(own, readerFor(kind, own, opening, flaws)) as JsonObject
  const body = kind.normal(read)
  const identity = identityOf(kind, body)
  if (identity === '') flaws.push({ name: 'id_missing', path: [kind.identityAt], why: 'is missing' })
  const found = located(dir, file, flaws)
  return identity === '' ? { flaws: found } : { filed: { kind, identity, file, body, unchanged: false }, flaws: found }
}

function readerFor(
  kind: MoveKind,
  raw: JsonObject,
  { env, identity }: Opening,
  flaws: MoveFlaw[],
): PlaceholderResolver {
  const owner = identityOf(kind, kind.normal(raw))
  return {
    env,
    open(sealed, path) {
      if (identity === undefined) return undefined
      try {
        return { text: openSealed(identity, sealPlace(kind, owner, path), sealed) }
      } catch (error) {
        return { why: error instanceof Error ? error.message : String(error) }
      }
    },
    flaw: (path, name, why) => flaws.push({ name, path, why }),
  }
}

/** The context that a sealed value is bound to: the object and the place in it. */
export function sealPlace(kind: MoveKind, identity: string, path: Path): string {
  return `${kind.name}/${identity}/${pathText(path)}`
}

/** Names of files of objects in a folder, sorted. */
export function namesIn(folder: string): string[] {
  if (!isFolder(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && /\.(?:json|ya?ml)$/.test(entry.name) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}

/** The text of a file below a folder; undefined when it cannot be read. */
export function fileText(dir: string, file: string): string | undefined {
  const path = join(dir, file)
  try {
    return statSync(path).size > MOST_BYTES ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function parsed(text: string, yaml: boolean): { value?: Json; malformed?: string; line?: number } {
  if (yaml) return parsedYaml(text)
  try {
    return checkedNumbers(text, JSON.parse(text) as Json)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const at = /at position (\d+)/.exec(message)?.[1]
    const line = at === undefined ? lineAt(text, text.length) : lineAt(text, Number(at))
    // The parser quotes the text, which may hold a secret.
    return { malformed: 'is not JSON from here on', line }
  }
}

function parsedYaml(text: string): { value?: Json; malformed?: string; line?: number } {
  const document = parseDocument(text, { version: '1.2', schema: 'core', logLevel: 'error' })
  const [first] = document.errors
  if (first !== undefined)
    return { malformed: `is not YAML from here on (${first.code})`, line: lineAt(text, first.pos[0]) }
  try {
    const value = document.toJS({ maxAliasCount: MOST_ALIASES }) as Json
    // Its reader has made numbers of them already.
    return checkedNumbers(JSON.stringify(value), value)
  } catch {
    return { malformed: 'its aliases make it too large', line: 1 }
  }
}

/** Dashboards refuse numbers that they could not give back. */
function checkedNumbers(text: string, value: Json): { value?: Json; malformed?: string } {
  const lost = placeOfLostNumber(text, value)
  return lost === undefined ? { value } : { malformed: `${lost}: ${LOST}` }
}

/** A file may hold the definition of an API without anything around it. */
function pathInFile(path: Path, raw: Json | undefined): Path {
  const [first, ...rest] = path
  const wraps = (first === 'oas' || first === 'api_definition') && isObject(raw) && !Object.hasOwn(raw, first)
  const within = wraps ? rest : path
  const document = wraps ? raw : isObject(raw) ? raw.oas : undefined
  // The extension, under the name that the file has for it.
  const at = within.indexOf(EXTENSION)
  const name =
    at === -1 || !isObject(document) ? undefined : Object.keys(document).find((each) => EXTENSION_NAME.test(each))
  return name === undefined ? within : within.with(at, name)
}

function lineOf(text: string, file: string, path: Path): number {
  if (isYaml(file)) return yamlLine(text, path)
  return text === '' ? 1 : lineAt(text, jsonOffset(text, path))
}

function parsedIndex(text: string): JsonObject {
  const { value } = parsed(text, false)
  if (!isObject(value)) throw fault('files_unreadable', `${INDEX_FILE} is no JSON object`)
  return value
}

function isYaml(file: string): boolean {
  return !file.endsWith('.json')
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
