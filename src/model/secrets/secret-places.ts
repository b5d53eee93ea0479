import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { hasSecretQuery, isSecretName, MASK, redact, redactText } from './redact.ts'

/** Members by which entries of lists are known. */
const KNOWN_BY = ['name', 'id', 'path', 'url', 'method'] as const
/** Of those, what is enough by itself. */
const ENOUGH = ['name', 'id'] as const

/** True for a text that replaces a secret which is left out. */
type IsLeftOut = (text: string) => boolean

/**
 * Finds the originals of the entries of a list, to take left-out secrets from: by their names, several of one name by their order, and
 * entries without a name by their place. Returns an index for each entry; undefined = there is none, -1 = which one is not clear.
 */
export function twinsOf(
  list: readonly Json[],
  originals: readonly Json[],
  isLeftOut: IsLeftOut,
): (number | undefined)[] {
  const open = list.map((entry) => leavesOut(entry, isLeftOut))
  const [own, theirs] = [new AlikeEntries(list), new AlikeEntries(originals)]
  const paired = new Map<readonly number[], Pairs>()
  return list.map((entry, index) => {
    if (!open[index]) return undefined
    const known = isObject(entry) ? namesOf(entry, isLeftOut) : []
    if (!isObject(entry) || known.length === 0) return index < originals.length ? index : undefined
    const ways = [known, ...ENOUGH.filter((name) => known.length > 1 && known.includes(name)).map((name) => [name])]
    for (const names of ways) {
      const there = theirs.like(entry, names)
      if (there.length === 0) continue
      const here = own.like(entry, names)
      if (!paired.has(here)) paired.set(here, pairsOf(here, there, open))
      const pairs = paired.get(here)
      return pairs === undefined ? -1 : pairs.get(index)
    }
    return undefined
  })
}

/** Indexes of originals by those of entries; undefined = which belong together is not clear. */
type Pairs = ReadonlyMap<number, number> | undefined

/** Pairs alike entries with alike originals in their order, all of them or those that leave out secrets. Made once for all that are alike. */
function pairsOf(here: readonly number[], there: readonly number[], open: readonly boolean[]): Pairs {
  const those = here.length === there.length ? here : here.filter((at) => open[at])
  return those.length === there.length ? new Map(those.map((at, place) => [at, there[place]!])) : undefined
}

/** True where a secret is left out in a value, or in a part of it. */
function leavesOut(value: Json, isLeftOut: IsLeftOut): boolean {
  if (typeof value === 'string') return isLeftOut(value) || value.includes(MASK)
  if (Array.isArray(value)) return value.some((item) => leavesOut(item, isLeftOut))
  return isObject(value) && Object.values(value).some((item) => leavesOut(item, isLeftOut))
}

function namesOf(entry: JsonObject, isLeftOut: IsLeftOut): string[] {
  return KNOWN_BY.filter((name) => {
    const text = entry[name]
    return typeof text === 'string' && text !== '' && !isLeftOut(text)
  })
}

/** The entries of a list by what they are known by. A list is walked once for each set of members. */
class AlikeEntries {
  readonly #list: readonly Json[]
  readonly #byNames = new Map<string, ReadonlyMap<string, number[]>>()

  constructor(list: readonly Json[]) {
    this.#list = list
  }

  /** Indexes of the entries with the same values of these members. */
  like(entry: JsonObject, names: readonly string[]): readonly number[] {
    const id = names.join()
    const places = this.#byNames.get(id) ?? this.#placesBy(names)
    this.#byNames.set(id, places)
    return places.get(keyOf(entry, names)) ?? []
  }

  #placesBy(names: readonly string[]): Map<string, number[]> {
    const places = new Map<string, number[]>()
    for (const [index, entry] of this.#list.entries()) {
      if (!isObject(entry)) continue
      const key = keyOf(entry, names)
      const found = places.get(key)
      if (found === undefined) places.set(key, [index])
      else found.push(index)
    }
    return places
  }
}

/** An address may be written as it was shown: without what is secret of it. */
function keyOf(entry: JsonObject, names: readonly string[]): string {
  return JSON.stringify(
    names.map((name) => {
      const value = entry[name] ?? null
      return typeof value === 'string' ? redactText(value) : value
    }),
  )
}

/** Where a value is in a document: names of members and places in lists. */
export type SecretPath = readonly (string | number)[]

/** A text that is a secret, or holds one. */
interface Place {
  readonly path: SecretPath
  /** The mask for readers without access. */
  readonly masked: string
  /** True for values of forwarded header fields, with any name: they are secrets unless declared otherwise. */
  readonly header: boolean
}

/** A text with what decides about it. */
interface Found {
  readonly text: string
  readonly name: string
  /** Names of members on the way to it, its own last; those of pointers that members are called by too. */
  readonly names: readonly string[]
  readonly holder: JsonObject
}

/**
 * The table: which texts of definitions, keys, webhooks and metadata are secrets. What is shown, moved, sealed at rest and written to
 * the audit log follows from it.
 */
const RULES: readonly { readonly is: (found: Found) => boolean; readonly header?: true; readonly part?: true }[] = [
  { is: isNamedSecret },
  { is: isFieldOfSecret },
  { is: isSharedKey },
  { is: ({ text }) => text.includes('PRIVATE KEY-----') },
  { is: ({ text }) => text.includes('//') && USER_INFO.test(text), part: true },
  { is: hasSecretParameter, part: true },
  { is: isTellingBody },
  { is: isCheckBody, header: true },
  { is: isSentHeader, header: true },
]

/** Names that sound like secrets and are none, in addition to the general list. */
const HARMLESS = /algorithm|polic(?:y|ies)|scope|claim|method|redirect|cache|fields?$|^keys?$|^code$|header/i
const FIELD = /authori[sz]ation|cookie|secret|token|pass|api[_-]?key|credential/i
const MASKED_PARAMETER = /[?&;][^=?&;#\s"]+=\*\*\*(?:[&;#]|$)/
const USER_INFO = /\/\/(?:[^/?#@\s"]*:[^/?#@\s"]*|\*\*\*)@/
const ADDRESS = /url|uri|target|path|rewrite|location|endpoint|^to$/i
/** Members of OpenAPI documents that hold addresses. */
const DESCRIBED_ADDRESS = /^(?:url|[a-z]+Url)$/
const EXPRESSION = /pattern|regex/i
const CHECKS = /^(?:check_list|uptime_?tests|health_?checks?)$/i
const ASYMMETRIC = /^(?:rsa|ecdsa|eddsa)/i
const EXTENSION = /^x-[a-z0-9-]+-api-gateway$/i

/**
 * Every secret of a document. Of an OpenAPI document the extension is looked through: the rest is a description, in which addresses
 * alone may hold credentials.
 */
export function secretsOf(value: Json): Place[] {
  const places: Place[] = []
  const path: (string | number)[] = []
  const names: string[] = []
  const walk = (at: Json, name: string, holder: JsonObject): void => {
    if (typeof at === 'string') {
      if (at === '') return
      const found = { text: at, name, names, holder }
      const rule = RULES.find(({ is }) => is(found))
      if (rule === undefined) return
      places.push({
        path: [...path],
        masked: rule.part === true ? redactText(at) : MASK,
        header: rule.header === true,
      })
    } else if (Array.isArray(at))
      for (let index = 0; index < at.length; index++) {
        path.push(index)
        walk(at[index]!, name, holder)
        path.pop()
      }
    else if (isObject(at)) members(at)
  }
  const members = (at: JsonObject): void => {
    const isDescription = typeof at.openapi === 'string'
    for (const member of Object.keys(at)) {
      path.push(member)
      if (isDescription && !EXTENSION.test(member)) addSecretAddresses(places, at[member]!, path, member)
      else {
        const above = names.length
        if (member.startsWith('/')) for (const word of member.split('/').slice(1)) names.push(word)
        else names.push(member)
        walk(at[member]!, names.at(-1)!, at)
        names.length = above
      }
      path.pop()
    }
  }
  walk(value, '', {})
  return places
}

/** Adds addresses with credentials in a description: of servers, authorization servers, documentation. `path` leads to the value. */
function addSecretAddresses(places: Place[], value: Json, path: (string | number)[], name: string): void {
  const step = (at: string | number, child: Json, called: string) => {
    // Most values are no addresses: neither the call nor the step is worth its time for them.
    if (typeof child !== 'object' && (typeof child !== 'string' || !DESCRIBED_ADDRESS.test(called))) return
    path.push(at)
    addSecretAddresses(places, child, path, called)
    path.pop()
  }
  if (typeof value === 'string') {
    const isTelling =
      DESCRIBED_ADDRESS.test(name) && ((value.includes('//') && USER_INFO.test(value)) || hasSecretQuery(value))
    if (isTelling) places.push({ path: [...path], masked: redactText(value), header: false })
  } else if (Array.isArray(value)) for (let index = 0; index < value.length; index++) step(index, value[index]!, name)
  else if (isObject(value)) for (const member of Object.keys(value)) step(member, value[member]!, member)
}

/** A document as records of it are read: nobody needs its secrets there. */
export function redactDocument(document: Json): Json {
  return redact(withoutSecrets(document))
}

/** The document for readers who may not see its secrets; the same object where it has none. */
export function withoutSecrets<Document extends Json>(document: Document): Document {
  const edited = new EditedCopy(document)
  for (const { path, masked } of secretsOf(document)) edited.put(path, masked)
  return edited.value as Document
}

/**
 * The replacement of a document, with its stored secrets where the sent ones are blank or masked.
 * Entries of lists are matched by their names or ids, else by their positions.
 */
export function mergeSecrets<Document extends Json>(sent: Document, stored: Json): Document {
  const edited = new EditedCopy(sent)
  const entries = new ListTwins()
  for (const { path, masked } of secretsOf(stored)) {
    const there = twinOf(sent, stored, path, entries)
    const text = there && textAt(sent, there)
    if (there !== undefined && (text === '' || text === masked)) edited.put(there, String(textAt(stored, path)))
  }
  return edited.value as Document
}

/** Where a document contains the mask instead of a secret; undefined = nowhere. */
export function maskIn(document: Json): SecretPath | undefined {
  return secretsOf(document).find(({ path }) => {
    const text = textAt(document, path) ?? ''
    return text === MASK || text.includes(`//${MASK}@`) || MASKED_PARAMETER.test(text)
  })?.path
}

function isNamedSecret({ name }: Found): boolean {
  return isSecretName(name) && !HARMLESS.test(name)
}

/** Fields are written as {name, value} too, and then the name is in a value. */
function isFieldOfSecret({ name, holder }: Found): boolean {
  return name === 'value' && typeof holder.name === 'string' && FIELD.test(holder.name)
}

/** The key that JSON Web Tokens are checked with is a secret where both sides hold the same; else it is a public key, or an address. */
function isSharedKey({ text, name, names, holder }: Found): boolean {
  if (/^https?:/i.test(text)) return false
  if (name === 'jwt_source') return !ASYMMETRIC.test(String(holder.jwt_signing_method ?? ''))
  if (name !== 'source') return false
  const method = holder.signingMethod ?? holder.signing_method
  // Of an issuer of tokens, a key without a kind is a secret.
  if (method === undefined) return names.includes('providers') && names.at(-2) === 'jwt'
  return !ASYMMETRIC.test(String(method))
}

/** Credentials in the query of an address, whole or a path: of an upstream, a rewrite, a receiver of events. */
function hasSecretParameter({ text, name }: Found): boolean {
  if (!text.includes('?')) return false
  const isAddress = text.includes('//') || text.startsWith('/') || ADDRESS.test(name)
  return isAddress && !EXPRESSION.test(name) && hasSecretQuery(text)
}

/** The body that a check of upstreams sends. */
function isCheckBody({ name, names }: Found): boolean {
  return name === 'body' && names.some((each) => CHECKS.test(each))
}

/** Such a body that speaks of secrets, in plain text or in base64. */
function isTellingBody(found: Found): boolean {
  return isCheckBody(found) && (FIELD.test(found.text) || FIELD.test(Buffer.from(found.text, 'base64').toString()))
}

/** Members that hold the values of fields by their names. */
const FIELD_MAPS: ReadonlySet<string> = new Set(['global_headers', 'header_map'])

/** Header fields that go to an upstream or to a receiver of events; those of answers are no secrets. */
function isSentHeader({ name, names }: Found): boolean {
  const [above = '', twoAbove = ''] = [names.at(-2), names.at(-3)]
  if (FIELD_MAPS.has(above)) return true
  if (above === 'add_headers') return names.includes('transform_headers')
  if (name === 'value' && above === 'add') return twoAbove === 'transformRequestHeaders'
  if (name === 'value' && above === 'headers') return !names.includes('mockResponse')
  return above === 'headers' && names.some((each) => CHECKS.test(each))
}

function textAt(value: Json, path: SecretPath): string | undefined {
  let at: Json | undefined = value
  for (const step of path) at = childOf(at, step)
  return typeof at === 'string' ? at : undefined
}

function childOf(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined
  return value !== undefined && isObject(value) && Object.hasOwn(value, String(step)) ? value[String(step)] : undefined
}

/** A value with other texts in some places. What is on the way to them is copied once, however many they are. */
class EditedCopy {
  readonly #copies = new Set<Json>()
  readonly #top: { value: Json }

  constructor(value: Json) {
    this.#top = { value }
  }

  get value(): Json {
    return this.#top.value
  }

  /** Every step of the path must be there. */
  put(path: SecretPath, text: string): void {
    let holder: Record<string | number, Json> = this.#top
    let at: string | number = 'value'
    for (const step of path) {
      holder = holder[at] = this.#copyOf(holder[at]!) as Record<string | number, Json>
      at = step
    }
    holder[at] = text
  }

  #copyOf(value: Json): Json {
    if (this.#copies.has(value)) return value
    const copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) }
    this.#copies.add(copy)
    return copy
  }
}

/** Where `sent` has what `stored` has at `path`; undefined = nowhere. */
function twinOf(sent: Json, stored: Json, path: SecretPath, lists: ListTwins): SecretPath | undefined {
  const twin: (string | number)[] = []
  let [left, right]: [Json | undefined, Json | undefined] = [sent, stored]
  for (const step of path) {
    const isEntry = typeof step === 'number' && Array.isArray(left) && Array.isArray(right)
    const at = isEntry ? lists.placeOf(left as readonly Json[], right as readonly Json[], step) : step
    left = childOf(left, at)
    if (left === undefined) return undefined
    right = childOf(right, step)
    twin.push(at)
  }
  return twin
}

/** Finds the entries of lists that were sent, by those that are stored. Each list is walked once, however many of its entries are sought. */
class ListTwins {
  readonly #places = new Map<readonly Json[], ReadonlyMap<number | undefined, number>>()

  /** The place of an entry; -1 = none. */
  placeOf(sent: readonly Json[], stored: readonly Json[], place: number): number {
    const known = this.#places.get(sent)
    const twins = known ?? new Map(twinsOf(sent, stored, isMasked).map((original, at) => [original, at]))
    if (known === undefined) this.#places.set(sent, twins)
    return twins.get(place) ?? -1
  }
}

const isMasked = (text: string) => text === '' || text === MASK
