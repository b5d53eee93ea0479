import { fault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { type Containing, isContaining } from './api.ts'
import { EXTENSION, extensionOf, isEmpty, objectOf } from './members.ts'
import { type Flaw, member, pathOf, setMember, type TreePath } from './tree.ts'

/** Our word in names of fields, paths, extensions and schemes. */
export const OWN_WORD = 'svc'

type Format = 'classic' | 'oas'

const LISTS = 'version_data.versions.*.extended_paths'

/** Where definitions hold addresses that may be those of other APIs (`svc://orders/v2`). */
const ADDRESSES: Readonly<Record<Format, readonly TreePath[]>> = {
  classic: [
    ...['proxy.target_url', 'proxy.target_list.*', 'version_data.versions.*.override_target'],
    ...[`${LISTS}.url_rewrites.*.rewrite_to`, `${LISTS}.url_rewrites.*.triggers.*.rewrite_to`],
  ].map(pathOf),
  oas: [
    ...['upstream.url', 'upstream.loadBalancing.targets.*.url'],
    ...['middleware.operations.*.urlRewrite.rewriteTo', 'middleware.operations.*.urlRewrite.triggers.*.rewriteTo'],
  ].map((path) => [EXTENSION, ...pathOf(path)]),
}

/** Schemes of addresses that are those of no API. */
const OTHER_SCHEMES = new Set(
  'http https h2c ws wss grpc grpcs tcp tls udp unix file env secrets vault consul kv'.split(' '),
)
const SCHEME = /^\s*([a-z][a-z0-9]*):\/\//i
/** The name that a vendor gives the extension. */
export const EXTENSION_NAME = /^x-([a-z][a-z0-9]*)-api-gateway$/

/** Our word and its aliases (`compat.vendor_aliases`): each is accepted wherever ours is. */
export function ownWords(aliases: readonly string[]): readonly string[] {
  return [OWN_WORD, ...aliases]
}

/** The word for answers to a caller that asks for one; undefined = ours. A caller that asks for none gets the first alias. */
export function answeredWord(asked: string, aliases: readonly string[]): string | undefined {
  if (asked === OWN_WORD) return undefined
  return aliases.includes(asked) ? asked : aliases[0]
}

/** The alias that the bytes of a definition use for our word; undefined = none. */
export function wordIn(bytes: Uint8Array, aliases: readonly string[]): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return aliases.find((word) => text.includes(extensionName(word)) || text.includes(`${word}://`))
}

/** A definition in our words. */
export interface OwnWords {
  readonly definition: JsonObject
  /** The word that it used in their place; undefined = ours. */
  readonly alias: string | undefined
  /** Warnings of meanings of absence that were written down. */
  readonly warnings: readonly Flaw[]
}

/**
 * Writes our word in a definition where it has a vendor's (`compat.vendor_aliases`): the name of the extension and addresses of other APIs.
 * Writes down what the absence of a member means to that vendor: rules hold for every request whose path contains theirs, or as `matching`
 * says (`compat.path_matching`).
 * `toVendorWords` writes answers the same way.
 * @throws Fault `definition_invalid` when a document has the extension under two names
 */
export function toOwnWords(
  format: Format,
  definition: JsonObject,
  aliases: readonly string[],
  matching: Containing = 'contains',
): OwnWords {
  const used = format === 'oas' ? aliases.filter((word) => word !== OWN_WORD && hasExtension(definition, word)) : []
  const [word] = used
  if (used.length > 1 || (word !== undefined && member(definition, EXTENSION) !== undefined)) {
    const names = [EXTENSION, ...used.map(extensionName)].join(', ')
    throw fault('definition_invalid', `${names}: only one may be there`)
  }
  const ours = word === undefined ? definition : renamed(definition, extensionName(word), EXTENSION)
  const renames: Flaw[] = []
  const named = word === undefined ? ours : withDeclaredNames(withMatching(ours, matching), renames)
  let alias = word
  const own = withSchemes(format, named, (scheme) => {
    if (!aliases.includes(scheme)) return undefined
    alias ??= scheme
    return OWN_WORD
  })
  return {
    definition: own,
    alias: alias === OWN_WORD ? undefined : alias,
    warnings: [...matchingNotes(ours, own), ...renames],
  }
}

/** Writes a vendor's word in a definition where ours is, and what absence means to us; without an alias the definition stays as it is. */
export function toVendorWords(format: Format, definition: JsonObject, alias: string | undefined): JsonObject {
  if (alias === undefined || alias === OWN_WORD) return definition
  const addressed = withSchemes(format, definition, (scheme) => (scheme === OWN_WORD ? alias : undefined))
  if (format === 'oas') return renamed(withMatching(addressed, 'openapi'), EXTENSION, extensionName(alias))
  return (member(addressed, 'path_matching') ?? '') === '' ? { ...addressed, path_matching: 'exact' } : addressed
}

/** The words of vendors that a definition uses where ours would be, whether they are aliases here or not. */
export function vendorWordsIn(format: Format, definition: JsonObject): string[] {
  const words = new Set(
    format === 'oas' ? Object.keys(definition).flatMap((name) => EXTENSION_NAME.exec(name)?.[1] ?? []) : [],
  )
  withSchemes(format, definition, (scheme) => {
    if (!OTHER_SCHEMES.has(scheme)) words.add(scheme)
    return undefined
  })
  const names = [...words].filter((word) => word !== OWN_WORD)
  // Addresses of a document are below its extension, which may have another name.
  const [first] = format === 'oas' ? names : []
  if (first === undefined || member(definition, EXTENSION) !== undefined) return names
  return [...new Set([...names, ...vendorWordsIn(format, renamed(definition, extensionName(first), EXTENSION))])]
}

/** A message of ours in the word that a caller uses. */
export function inWord(text: string, word: string | undefined): string {
  return word === undefined || word === OWN_WORD
    ? text
    : text.replace(/(?<![\w$])svc(?=:\/\/)|(?<=\bx-)svc(?=-)/g, word)
}

/** True for a word other than ours. */
export const isVendorWord = (word: string): boolean => word !== OWN_WORD

/** The name of the extension in a vendor's word. */
export const extensionName = (word: string): string => `x-${word}-api-gateway`
const hasExtension = (document: JsonObject, word: string) => member(document, extensionName(word)) !== undefined

/**
 * The document whose places of API keys have the names that its `components` declare: to the incumbent those count, whatever its extension
 * says. Each that changes is noted.
 */
function withDeclaredNames(document: JsonObject, notes: Flaw[]): JsonObject {
  const path = [EXTENSION, 'server', 'authentication', 'securitySchemes']
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  let changed: Json = document
  for (const [scheme, { in: place, name, type }] of Object.entries(declared).filter(isPlace)) {
    if (type !== 'apiKey') continue
    const at = [...path, scheme, place, 'name']
    changed = changedAt(changed, at, (own) => {
      if (own === '' || own === name) return own
      notes.push({
        at,
        reason: `is now "${name}", the name that components declare, as where the definition comes from`,
      })
      return name
    })
  }
  return changed as JsonObject
}

/** A scheme as documents declare it. */
type DeclaredPlace = { readonly in: string; readonly name: string; readonly type: Json }
function isPlace(entry: [string, Json]): entry is [string, DeclaredPlace & JsonObject] {
  const [, scheme] = entry
  return isObject(scheme) && typeof scheme.in === 'string' && typeof scheme.name === 'string' && scheme.name !== ''
}

/** The document with `server.pathMatching`, unless it says so itself. What is no object is left for the schema to refuse. */
function withMatching(document: JsonObject, matching: Containing | 'openapi'): JsonObject {
  const extension = extensionOf(document)
  const server = extension === undefined ? undefined : (member(extension, 'server') ?? {})
  if (server === undefined || server === null || !isObject(server)) return document
  const { pathMatching: named, ...rest } = server
  // Absence means it to us, so that what was read in a vendor's word and sent back is what it was.
  if (matching !== 'openapi' && named === 'openapi') return { ...document, [EXTENSION]: { ...extension, server: rest } }
  if (named !== undefined) return document
  return { ...document, [EXTENSION]: { ...extension, server: { ...server, pathMatching: matching } } }
}

/** A classic definition that came from a vendor, with the matching of its lists that it takes for granted, unless it says so itself. */
export function withVendorMatching(classic: JsonObject, matching: Containing): JsonObject {
  const said = member(classic, 'path_matching') ?? ''
  return said === '' ? { ...classic, path_matching: matching } : classic
}

/**
 * The classic definition as it is stored where it names no matching. Nothing in it names its product: where one of the words that it may
 * use is a vendor's, a new one matches as there, and a program that does not know the member and leaves it out means no change. `stored`
 * is the definition that it replaces.
 */
export function withMatchingOf(
  classic: JsonObject,
  words: readonly string[],
  matching: Containing,
  stored?: JsonObject | undefined,
): JsonObject {
  if (!words.some(isVendorWord)) return classic
  const { path_matching: said, ...rest } = classic
  // Absence means it to us, so that what was read in a vendor's word and sent back is what it was.
  if (said === 'exact') return rest
  const before = stored === undefined ? matching : member(stored, 'path_matching')
  return isContaining(before) ? withVendorMatching(classic, before) : classic
}

const HOLDS: Readonly<Record<Containing, string>> = {
  contains: 'contains its path',
  begins: 'begins with its path',
  ends: 'ends with its path',
  whole: 'is its path',
}
const nowMatches = (matching: Containing) =>
  `is now "${matching}": each rule holds for every request whose path ${HOLDS[matching]}, as where the definition comes from`

/** Says of a classic definition with lists how they match since it came from a vendor; undefined where it has none, or said so itself. */
export function vendorMatchingNote(before: JsonObject, after: JsonObject): string | undefined {
  const versions = Object.values(objectOf(objectOf(after, 'version_data'), 'versions'))
  const lists = versions.flatMap((version) => ['extended_paths', 'paths'].map((name) => objectOf(version, name)))
  const matching = member(after, 'path_matching')
  if (before === after || !isContaining(matching) || lists.every((each) => Object.values(each).every(isEmpty)))
    return undefined
  return nowMatches(matching)
}

/** The same of the extension of a document. */
function matchingNotes(before: JsonObject, after: JsonObject): Flaw[] {
  const matchingOf = (document: JsonObject) => member(objectOf(extensionOf(document) ?? {}, 'server'), 'pathMatching')
  const operations = objectOf(objectOf(extensionOf(after) ?? {}, 'middleware'), 'operations')
  const matching = matchingOf(after)
  if (!isContaining(matching) || matchingOf(before) === matching || isEmpty(operations)) return []
  return [{ at: [EXTENSION, 'server', 'pathMatching'], reason: nowMatches(matching) }]
}

/** Keeps the order of members. */
function renamed(document: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name === from ? to : name, value]))
}

/** The definition with other schemes of addresses; itself where none changes. */
function withSchemes(
  format: Format,
  definition: JsonObject,
  wordFor: (scheme: string) => string | undefined,
): JsonObject {
  const address = (text: string) =>
    text.replace(SCHEME, (whole, scheme: string) => {
      const word = wordFor(scheme.toLowerCase())
      return word === undefined ? whole : `${word}://`
    })
  return ADDRESSES[format].reduce((changed, path) => changedAt(changed, path, address) as JsonObject, definition)
}

/** A copy with the texts at a path changed, `*` being every member or entry; the same value where none changes. */
function changedAt(value: Json, [step, ...rest]: TreePath, change: (text: string) => string): Json {
  if (step === undefined) return typeof value === 'string' ? change(value) : value
  if (typeof value !== 'object' || value === null) return value
  const names = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : []
  let copy: Json | undefined
  for (const name of names) {
    const before = (value as JsonObject)[name]!
    const after = changedAt(before, rest, change)
    if (after === before) continue
    copy ??= Array.isArray(value) ? [...value] : copyOf(value)
    if (Array.isArray(copy)) copy[Number(name)] = after
    else setMember(copy as JsonObject, name, after)
  }
  return copy ?? value
}

function copyOf(value: JsonObject): JsonObject {
  const copy: JsonObject = {}
  for (const [name, each] of Object.entries(value)) setMember(copy, name, each)
  return copy
}
