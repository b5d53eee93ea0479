import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fault } from '../../errors/fault.ts'
import { EXTENSION } from '../../model/apis/definition/extension.ts'
import { EXTENSION_NAME, extensionName, OWN_WORD, vendorWordsIn } from '../../model/apis/definition/vendor-words.ts'
import { asSavable } from '../../model/apis/read/savable.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { textAt } from '../moves/kind.ts'
import { APIS } from '../moves/kind-apis.ts'
import { POLICIES } from '../moves/kind-policies.ts'
import type { ImportCandidate, Read } from './candidate.ts'

const MOST_BYTES = 64 << 20

/** Definitions, and the objects that they contain. */
export interface Definitions extends Read {
  /** Prefixes in the source where ours is `svc`. */
  readonly words: ReadonlySet<string>
}

/**
 * The API definitions of a folder: classic ones, bare or within `api_definition`, and OpenAPI documents, in our words.
 * @throws Fault `files_unreadable`
 */
export function readDefinitions(folder: string): Definitions {
  const read: Read = { candidates: [], refused: [] }
  const words = new Set<string>()
  const files = documentsIn(folder)
  const fileNames = new Set(files.map(({ file }) => file))
  for (const { file, body } of files) {
    const document = isObject(body.oas) && Object.keys(body.oas).length > 0 ? body.oas : body
    const definition = isObject(body.api_definition) ? body.api_definition : body
    // Its half of a pair; the other half says everything.
    if (definition.is_oas === true && document === body && typeof body.openapi !== 'string') {
      if (!fileNames.has(file.replace(/\.json$/, '-oas.json')))
        read.refused.push({
          from: file,
          why: 'is the classic half of an OpenAPI definition whose other half is missing',
        })
      continue
    }
    const format = typeof document.openapi === 'string' ? 'oas' : 'classic'
    const names = Object.keys(document).filter((name) => EXTENSION_NAME.test(name))
    if (names.length > 1) {
      read.refused.push({ from: file, why: `has several extensions: ${names.join(', ')}` })
      continue
    }
    const changes: string[] = []
    for (const word of vendorWordsIn(format, format === 'oas' ? document : definition)) {
      words.add(word)
      const isExtension = names.includes(extensionName(word))
      changes.push(isExtension ? `${extensionName(word)} is now ${EXTENSION}` : `${word}:// is now ${OWN_WORD}://`)
    }
    const normal = APIS.normal(document === body ? body : document)
    const saved = savable(normal)
    read.candidates.push(candidateOf(saved.body, file, [...changes, ...saved.changes]))
  }
  return { ...read, words }
}

/** The policies of a file or a folder: one, a list, or a map by id in each file. @throws Fault `files_unreadable` */
export function readPolicyFiles(path: string): Read & { readonly renamed: ReadonlyMap<string, string> } {
  const read: Read = { candidates: [], refused: [] }
  const renamed = new Map<string, string>()
  for (const { file, body } of documentsIn(path)) {
    const normal = POLICIES.normal(body)
    const id = textAt(normal, 'id')
    const older = textAt(body, '_id')
    if (older !== '' && older !== id) renamed.set(older, id)
    if (id === '') read.refused.push({ from: file, why: 'a policy without id' })
    else read.candidates.push({ kind: POLICIES, identity: id, from: `${file} (${id})`, body: normal, changes: [] })
  }
  return { ...read, renamed }
}

/** With a definition that a save takes. */
function savable(body: JsonObject): { readonly body: JsonObject; readonly changes: readonly string[] } {
  const [format, member] = isObject(body.oas) ? (['oas', 'oas'] as const) : (['classic', 'api_definition'] as const)
  const definition = body[member]
  if (!isObject(definition)) return { body, changes: [] }
  const saved = asSavable(format, definition)
  return { body: { ...body, [member]: saved.definition }, changes: saved.changes }
}

function candidateOf(body: JsonObject, file: string, changes: readonly string[]): ImportCandidate {
  return { kind: APIS, identity: textAt(body, 'api_id'), from: file, body, changes }
}

interface Found {
  readonly file: string
  readonly body: JsonObject
}

function documentsIn(path: string): Found[] {
  const files = isFolder(path) ? jsonFiles(path).map((name) => join(path, name)) : [path]
  return files.flatMap((file) => objectsIn(parsed(file)).map((body) => ({ file: basename(file), body })))
}

function objectsIn(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject)
  if (!isObject(value)) return []
  const members = Object.entries(value)
  const isMap = members.length > 0 && members.every(([, each]) => isObject(each) && isObject(each.access_rights))
  if (!isMap) return [value]
  return members.map(([id, each]) => ({
    ...(textAt(each as JsonObject, '_id') === '' && { id }),
    ...(each as JsonObject),
  }))
}

function jsonFiles(path: string): string[] {
  return readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function parsed(file: string): Json {
  try {
    if (statSync(file).size > MOST_BYTES) throw new Error('is too large')
    return JSON.parse(readFileSync(file, 'utf8')) as Json
  } catch (error) {
    throw fault('files_unreadable', `${file}: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}
