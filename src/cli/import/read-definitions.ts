import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { fault } from '../../errors/fault.ts'
import type { Containing } from '../../model/apis/definition/api.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import {
  EXTENSION_NAME,
  extensionName,
  OWN_WORD,
  vendorMatchingNote,
  vendorWordsIn,
  withVendorMatching,
} from '../../model/apis/definition/vendor-words.ts'
import { asSavable } from '../../model/apis/read/read.ts'
import { isObject, type Json, type JsonObject, withoutSchemaName } from '../../model/json/json.ts'
import { lostNumber } from '../../model/json/json-body.ts'
import { textAt } from '../moves/kind.ts'
import { APIS, holdsDocument } from '../moves/kind-apis.ts'
import { POLICIES } from '../moves/kind-policies.ts'
import { omitMembers } from '../moves/rendered.ts'
import type { ImportCandidate, ImportRefusal, Read } from './candidate.ts'

/** Larger ones are refused by every save. */
const MOST_TEMPLATE_BYTES = 1 << 20
const OF_OAS = ['transformRequestBody', 'transformResponseBody']

/** A definition with the templates that it has in files written into it, and what was done, in words. */
interface Inlined {
  readonly body: JsonObject
  readonly changes: readonly string[]
  /** Why a template cannot be read. */
  readonly refused: readonly string[]
}

/**
 * Writes body templates into a definition of either format: those that name a file, which is looked for below `folder`, the folder that the
 * gateway before ran in. Without one they stay as they are, and the save refuses them by their place.
 */
function inlineTemplates(body: JsonObject, folder: string | undefined): Inlined {
  if (folder === undefined) return { body, changes: [], refused: [] }
  const changes: string[] = []
  const refused: string[] = []
  const read = (path: string): string | undefined => {
    const found = templateIn(folder, path)
    if ('why' in found) refused.push(`the template ${path} ${found.why}`)
    else changes.push(`the template ${path} is now within it`)
    return 'why' in found ? undefined : found.base64
  }
  const walk = (value: Json, name: string): Json => {
    if (Array.isArray(value)) return value.map((each) => walk(each, name))
    if (!isObject(value)) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, key)]))
    if (name === 'template_data' && inner.template_mode === 'file' && isPath(inner.template_source)) {
      const base64 = read(inner.template_source)
      return base64 === undefined ? inner : { ...inner, template_mode: 'blob', template_source: base64 }
    }
    if (OF_OAS.includes(name) && isPath(inner.path) && (inner.body ?? '') === '') {
      const { path, ...rest } = inner
      const base64 = read(path as string)
      return base64 === undefined ? inner : { ...rest, body: base64 }
    }
    return inner
  }
  return { body: walk(body, '') as JsonObject, changes, refused }
}

const isPath = (value: Json | undefined): value is string => typeof value === 'string' && value !== ''

/** A file below the folder, whether its path there was absolute or not. */
function templateIn(folder: string, path: string): { readonly base64: string } | { readonly why: string } {
  try {
    const file = realpathSync(join(folder, path))
    if (!file.startsWith(`${realpathSync(folder)}${sep}`)) return { why: 'is not in the folder of --templates' }
    const { size } = statSync(file)
    if (size === 0 || size > MOST_TEMPLATE_BYTES) return { why: size === 0 ? 'is empty' : 'is larger than 1 MB' }
    return { base64: readFileSync(file).toString('base64') }
  } catch (error) {
    return { why: `cannot be read (${(error as NodeJS.ErrnoException).code}) in the folder of --templates` }
  }
}

const MOST_BYTES = 64 << 20

/** Definitions, and the objects that they contain. */
export interface Definitions extends Read {
  /** Prefixes in the source where ours is `svc`. */
  readonly words: ReadonlySet<string>
  /** Policies among them. */
  readonly policies: Policies
}

export interface Policies extends Read {
  /** Ids of the source's storage, by which keys and clients may name policies. */
  readonly renamed: ReadonlyMap<string, string>
}

/**
 * The API definitions of a folder: classic ones, bare or within `api_definition`, and OpenAPI documents, in our words;
 * and the policies beside them. Index files are passed over; a file that cannot be read is refused, and stops no other.
 * @throws Fault `files_unreadable` when the folder is not found
 */
export function readDefinitions(
  folder: string,
  { matching = 'contains', templates }: ReadDefinitionsOptions = {},
): Definitions {
  const { found, refused } = documentsIn(folder)
  const read: Read = { candidates: [], refused }
  const words = new Set<string>()
  const files = found.filter(({ body }) => kindOf(body) === 'api')
  const names = new Set(files.map(({ file }) => file))
  for (const { file, body: found } of files) {
    const { body, changes, refused: missing } = inlineTemplates(found, templates)
    if (missing.length > 0) refused.push({ from: file, why: missing.join('; ') })
    else readDefinition(file, body, { names, words, read, matching, templates: changes })
  }
  for (const { file, body } of found)
    if (kindOf(body) === 'other') read.refused.push({ from: file, why: 'is neither an API nor a policy' })
  return { ...read, words, policies: policiesIn(found.filter(({ body }) => kindOf(body) === 'policy')) }
}

interface ReadDefinitionsOptions {
  /** Where rules hold there. */
  readonly matching?: Containing | undefined
  /** Folder of templates in files; undefined = they stay where they are. */
  readonly templates?: string | undefined
}

interface Reading {
  readonly names: ReadonlySet<string>
  readonly words: Set<string>
  readonly read: Read
  readonly matching: Containing
  /** Changes of its templates, in words. */
  readonly templates: readonly string[]
}

function readDefinition(file: string, body: JsonObject, { names, words, read, matching, templates }: Reading): void {
  const document = holdsDocument(body.oas) ? body.oas : body
  const definition = isObject(body.api_definition) ? body.api_definition : body
  // Its half of a pair; the other half says everything.
  if (definition.is_oas === true && document === body && typeof body.openapi !== 'string') {
    if (!names.has(file.replace(/\.json$/, '-oas.json')) && !names.has(file.replace(/^api-/, 'oas-')))
      read.refused.push({ from: file, why: 'is the classic half of an OpenAPI definition whose other half is missing' })
    return
  }
  const extensions = Object.keys(document).filter((name) => EXTENSION_NAME.test(name))
  if (extensions.length > 1) {
    read.refused.push({ from: file, why: `has several extensions: ${extensions.join(', ')}` })
    return
  }
  const changes = [...templates]
  const format = document !== body || typeof document.openapi === 'string' ? 'oas' : 'classic'
  for (const word of vendorWordsIn(format, format === 'oas' ? document : definition)) {
    words.add(word)
    const isExtension = extensions.includes(extensionName(word))
    changes.push(isExtension ? `${extensionName(word)} is now ${EXTENSION}` : `${word}:// is now ${OWN_WORD}://`)
  }
  const normal = APIS.normal(format === 'oas' ? withNamedMatching(body, document, matching) : omitMembers(body, 'oas'))
  const saved = savable(format === 'oas' ? normal : matchedAsThere(normal, matching, changes))
  if (textAt(saved.body, 'api_id') === '') {
    read.refused.push({ from: file, why: 'is neither an API with an id nor a policy' })
    return
  }
  read.candidates.push(candidateOf(saved.body, file, [...changes, ...saved.changes]))
}

/** The body with the matching of its document's rules written down, where it has a vendor's extension and names none. */
function withNamedMatching(body: JsonObject, document: JsonObject, matching: Containing): JsonObject {
  const name = Object.keys(document).find((each) => EXTENSION_NAME.test(each) && each !== EXTENSION)
  const extension = name === undefined ? undefined : document[name]
  if (name === undefined || !isObject(extension ?? null)) return body
  const { server = {} } = extension as JsonObject
  if (!isObject(server) || server.pathMatching !== undefined) return body
  const named = { ...document, [name]: { ...(extension as JsonObject), server: { ...server, pathMatching: matching } } }
  return document === body ? named : { ...body, oas: named }
}

/** Lists of classic definitions hold there for every path that contains theirs. */
function matchedAsThere(body: JsonObject, matching: Containing, changes: string[]): JsonObject {
  const { api_definition: classic } = body
  if (!isObject(classic)) return body
  const matched = withVendorMatching(classic, matching)
  const note = vendorMatchingNote(classic, matched)
  if (note !== undefined) changes.push(`path_matching ${note}`)
  return { ...body, api_definition: matched }
}

/** The policies of a file or a folder: one, a list, or a map by id in each file. @throws Fault `files_unreadable` */
export function readPolicyFiles(path: string): Policies {
  const { found, refused } = documentsIn(path)
  // A folder may hold APIs beside them.
  const policies = policiesIn(found.filter(({ body }) => kindOf(body) !== 'api'))
  return { ...policies, refused: [...refused, ...policies.refused] }
}

function policiesIn(found: readonly Found[]): Policies {
  const read: Read = { candidates: [], refused: [] }
  const renamed = new Map<string, string>()
  for (const { file, body } of found) {
    const normal = POLICIES.normal(body)
    const id = textAt(normal, 'id')
    const older = textAt(body, '_id')
    if (older !== '' && older !== id) renamed.set(older, id)
    if (id === '') read.refused.push({ from: file, why: 'a policy without id' })
    else read.candidates.push({ kind: POLICIES, identity: id, from: `${file} (${id})`, body: normal, changes: [] })
  }
  return { ...read, renamed }
}

/** The kind of object that a file holds. Whatever names neither is taken for an API, whose checks say what is missing. */
function kindOf(body: JsonObject): 'api' | 'policy' | 'other' {
  if (isObject(body.api_definition) || holdsDocument(body.oas) || body.openapi !== undefined || isObject(body.proxy))
    return 'api'
  if (body.access_rights !== undefined || body.partitions !== undefined) return 'policy'
  return body.api_id === undefined && (body.kind !== undefined || body.provider_type !== undefined) ? 'other' : 'api'
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

function documentsIn(path: string): { found: Found[]; refused: ImportRefusal[] } {
  const isWhole = isFolder(path)
  if (!isWhole && statSync(path, { throwIfNoEntry: false }) === undefined)
    throw fault('files_unreadable', `there is no ${path}`)
  const refused: ImportRefusal[] = []
  const found = (isWhole ? jsonFiles(path) : [basename(path)]).flatMap((name) => {
    const value = parsed(isWhole ? join(path, name) : path)
    if (typeof value === 'string') {
      refused.push({ from: name, why: value })
      return []
    }
    const objects = isIndex(value.json) ? [] : objectsIn(value.json)
    if (objects.length === 0 && !isIndex(value.json)) refused.push({ from: name, why: 'holds no JSON object' })
    return objects.map((body) => ({ file: name, body }))
  })
  return { found, refused }
}

/** True for the list of files that tools write into their folder. */
function isIndex(value: Json): boolean {
  if (!isObject(value)) return false
  const lists = ['files', 'policies', 'assets'].map((name) => value[name]).filter(Array.isArray)
  return (
    lists.length > 0 && lists.every((list) => list.every((each) => isObject(each) && typeof each.file === 'string'))
  )
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

/** The content of a file; a text says why it cannot be read. */
function parsed(file: string): { readonly json: Json } | string {
  try {
    if (statSync(file).size > MOST_BYTES) return 'is too large'
    const text = readFileSync(file, 'utf8')
    const json = JSON.parse(text) as Json
    const lost = lostNumber(text, json)
    if (lost !== undefined) return lost
    return { json: isObject(json) ? withoutSchemaName(json) : json }
  } catch (error) {
    // The parser quotes the text, which may hold a secret.
    return error instanceof SyntaxError ? 'is no JSON' : `cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
}
