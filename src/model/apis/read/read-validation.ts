import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { bareMediaType, isFormType, mediaTypeKey } from '../../network/media-type.ts'
import { holdingOf } from '../check/schema-keywords.ts'
import { refuseFlaws } from '../check/validate.ts'
import { NO_CODE, SchemaEngines, ValueSchemas } from '../check/value-schema.ts'
import { flagOf, isEmpty, numberOf, objectOf, textOf } from '../definition/members.ts'
import {
  type BodyCheck,
  type BodyTypeCheck,
  type FieldEncoding,
  type LazyCode,
  type ParameterCheck,
  type RequestCheck,
  STYLES,
  type ValueCheck,
  type ValueShape,
} from '../definition/operation.ts'
import { type Flaw, getAt, member, type TreePath, toPointer } from '../definition/tree.ts'
import { type DescribedOperation, describedAt, follow } from '../openapi/described.ts'
import { isJsonType } from './read-mock.ts'
import { type DefaultFiller, defaultText, SchemaDefaults } from './schema-defaults.ts'
import { isFlat, shapeAt, TEXT } from './value-shape.ts'

/** Members that say how a value is spelled; with one of them `contentType` has no effect (OpenAPI 3.1 section 4.8.15.1). */
const SPELLING = ['style', 'explode', 'allowReserved']
const QUERY_STYLES: readonly string[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']

/** The spellings of the fields of a form that `encoding` of a media type names, by name; `note` gets those that are not read. */
function readEncodings(
  document: JsonObject,
  mediaAt: TreePath,
  { members }: ValueShape,
  note: (flaw: Flaw) => void,
): ReadonlyMap<string, FieldEncoding> {
  const { object: media } = describedAt(document, mediaAt)
  const described = objectOf(media, 'encoding')
  const found = new Map<string, FieldEncoding>()
  for (const name of Object.keys(described)) {
    const encoding = member(described, name) ?? null
    const shape = members?.get(name)
    if (!isObject(encoding) || shape === undefined) continue
    const read = readEncoding(encoding, shape)
    if (typeof read === 'string') note({ at: [...mediaAt, 'encoding', name], reason: read })
    else if (read !== undefined) found.set(name, read)
  }
  return found
}

function readEncoding(encoding: JsonObject, shape: ValueShape): FieldEncoding | string | undefined {
  const isComposed = shape.items !== undefined || shape.members !== undefined
  if (SPELLING.some((name) => encoding[name] !== undefined)) {
    const style = textOf(encoding, 'style') || 'form'
    const known = STYLES.find((each) => each === style)
    if (known === undefined || !QUERY_STYLES.includes(style))
      return `has the style ${style}, which is not read in a form`
    const explode =
      typeof encoding.explode === 'boolean' ? encoding.explode : style === 'form' || style === 'deepObject'
    const isSpelled = style === 'deepObject' || isFlat(shape, style === 'form' && explode)
    return isSpelled ? { style: known, explode } : 'holds lists or objects that its style does not spell'
  }
  const types = textOf(encoding, 'contentType')
    .split(',')
    .map(bareMediaType)
    .filter((type) => type !== '')
  if (types.length === 0) return undefined
  // Items of a list are fields of their own.
  if (types.every(isJsonType)) return shape.items === undefined ? { style: 'json', explode: true } : undefined
  if (!isComposed || types.some(isJsonType)) return undefined
  return shape.members === undefined ? undefined : `holds ${types[0]}, which is not read: JSON and text are`
}

const DEFAULT_STATUS = 422

/** Fields that OpenAPI lets no parameter speak of: other parts of the description do. */
const NO_PARAMETERS = new Set(['accept', 'content-type', 'authorization'])

/** Most places that are listed as unchecked for one definition. */
const MOST_LISTED = 500
/** Most operations that are named for one place. */
const MOST_NAMED = 3

/** The schemas of a definition: those of each document are prepared once, however many of its operations are checked. */
export class RequestSchemas {
  readonly #byDocument = new Map<JsonObject, { readonly schemas: ValueSchemas; readonly defaults: SchemaDefaults }>()
  /** Standalone schemas, by their text. */
  readonly #byText = new Map<string, ValueSchemas>()
  readonly #unchecked = new Map<string, Noted>()
  #engines: SchemaEngines | undefined

  /** Parts of the definition that requests are not compared with although it asks for that, each with the operations that hold it. */
  get unchecked(): Flaw[] {
    const read = [...[...this.#byDocument.values()].map(({ schemas }) => schemas), ...this.#byText.values()]
    return [...this.#uncheckedParts(), ...read.flatMap(({ idle }) => idle)]
  }

  #uncheckedParts(): Flaw[] {
    const all = [...this.#unchecked.values()].map(({ flaw: { at, reason }, says, operations }) => {
      const [named, more] = [[...operations].slice(0, MOST_NAMED), operations.size - MOST_NAMED]
      return {
        at,
        reason: `${says} (${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}): ${reason}`,
      }
    })
    if (all.length <= MOST_LISTED) return all
    const more = { at: [], reason: `${all.length - MOST_LISTED} further parts are not checked` }
    return [...all.slice(0, MOST_LISTED), more]
  }

  /**
   * Reads an entry of `validate_request`: what the OpenAPI document says of the operation's parameters and body. What cannot be checked is
   * left out, and listed in `unchecked`. `fills`: defaults are filled in.
   * @throws Fault `definition_invalid` when it says nothing
   */
  described(entry: JsonObject, operation: DescribedOperation | undefined, path: string, fills: boolean): RequestCheck {
    if (operation === undefined) {
      refuseFlaws([{ at: ['paths', path], reason: 'is not described, but its requests are to be checked' }])
    }
    const { document, root, at } = operation!
    const { schemas, defaults } = this.#of(document, root)
    const note = (flaw: Flaw, says?: string) => this.#note(flaw, `${at.at(-1)!.toUpperCase()} ${path}`, says)
    const code = new JointCode()
    const source: Source = {
      document,
      at: (place) => this.#checkAt(schemas, place, code, note),
      fillAt(place) {
        if (!fills) return undefined
        const filler = defaults.at(place)
        code.addFound(filler.code)
        return filler
      },
      defaultOf: fills ? (place) => defaults.ofSchema(place) : undefined,
      note: (flaw, says) => note({ at: [...root, ...flaw.at], reason: flaw.reason }, says),
    }
    return {
      status: numberOf(entry, 'error_response_code') || DEFAULT_STATUS,
      path,
      parameters: parametersOf(operation!, source),
      body: bodyOf(operation!, source),
      code,
    }
  }

  /**
   * Reads an entry of `validate_json`: a schema in the definition, as JSON or in base64. What of it cannot be checked is left out, and
   * listed in `unchecked`.
   * @throws Fault `definition_invalid` when there is none
   */
  alone(entry: JsonObject, path: string, at: TreePath): RequestCheck {
    const schema = objectOf(entry, 'schema')
    const encoded = textOf(entry, 'schema_b64')
    const found =
      Object.keys(schema).length === 0 && encoded !== '' ? fromBase64(encoded, [...at, 'schema_b64']) : schema
    const text = JSON.stringify(found)
    const schemas = this.#byText.get(text) ?? new ValueSchemas(found, [...at, 'schema'], this.#engine())
    this.#byText.set(text, schemas)
    const code = new JointCode()
    const check = this.#checkAt(schemas, [], code, (flaw) => this.#note(flaw, path))
    const status = numberOf(entry, 'error_response_code') || DEFAULT_STATUS
    return { status, path, parameters: [], body: { required: true, types: undefined, json: check }, code }
  }

  #checkAt(schemas: ValueSchemas, at: TreePath, into: JointCode, note: (flaw: Flaw) => void): ValueCheck {
    const { check, unchecked, code } = schemas.at(at)
    for (const flaw of unchecked) note(flaw)
    if (code !== NO_CODE) into.add(code)
    return check
  }

  #note(flaw: Flaw, operation: string, says = 'is not checked'): void {
    const key = `${says} ${toPointer(flaw.at)}`
    const known = this.#unchecked.get(key) ?? { flaw, says, operations: new Set() }
    this.#unchecked.set(key, known)
    known.operations.add(operation)
  }

  #of(document: JsonObject, root: TreePath): { readonly schemas: ValueSchemas; readonly defaults: SchemaDefaults } {
    const known = this.#byDocument.get(document)
    if (known !== undefined) return known
    const schemas = new ValueSchemas(document, root, this.#engine())
    const fresh = { schemas, defaults: new SchemaDefaults(document, (at) => schemas.at(at)) }
    this.#byDocument.set(document, fresh)
    return fresh
  }

  #engine(): SchemaEngines {
    this.#engines ??= new SchemaEngines()
    return this.#engines
  }
}

/** A part of the description that has less effect than its author may expect. */
interface Noted {
  readonly flaw: Flaw
  readonly says: string
  readonly operations: Set<string>
}

/** The code of all schemas of one check. */
class JointCode implements LazyCode {
  readonly #parts: LazyCode[] = []
  readonly #found: (() => Iterable<LazyCode>)[] = []
  readonly #ready = new Set<boolean>()

  add(code: LazyCode): void {
    this.#parts.push(code)
  }

  /** Adds code that is listed when it is compiled, and has no details. */
  addFound(list: () => Iterable<LazyCode>): void {
    this.#found.push(list)
  }

  isReady(details: boolean): boolean {
    return this.#ready.has(details) || (this.#parts.length === 0 && this.#found.length === 0)
  }

  *compile(details: boolean): Generator<void> {
    for (const part of this.#parts) yield* part.compile(details)
    for (const list of this.#found)
      for (const part of list()) {
        yield
        yield* part.compile(false)
      }
    this.#ready.add(false).add(details)
  }
}

/** Where checks are read from. */
interface Source {
  readonly document: JsonObject
  /** The check of the schema at a path. */
  readonly at: (place: TreePath) => ValueCheck
  /** The filler of defaults of the schema at a path; undefined where none are filled in. */
  readonly fillAt: (place: TreePath) => DefaultFiller | undefined
  /** The default of the schema at a path; undefined where defaults are not filled in. */
  readonly defaultOf: ((place: TreePath) => Json | undefined) | undefined
  /** Notes that a part of the description is not checked, or whatever else `says` says. */
  readonly note: (flaw: Flaw, says?: string) => void
}

function fromBase64(text: string, at: TreePath): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64').toString('utf8'))
    if (isObject(value)) return value
  } catch {
    // reported below
  }
  return refuseFlaws([{ at, reason: 'must be a JSON object in base64' }]) as never
}

function bodyOf({ document, at }: DescribedOperation, source: Source): BodyCheck | undefined {
  const written = [...at, 'requestBody']
  const { object: body, at: bodyAt } = describedAt(document, written)
  if (getAt(document, written) !== undefined && follow(document, written).value === undefined)
    source.note({ at: written, reason: NOT_THERE })
  const content = objectOf(body, 'content')
  if (Object.keys(content).length === 0) {
    if (!isEmpty(body)) source.note({ at: bodyAt, reason: 'has no "content", which says what a body is' })
    return undefined
  }
  const types = new Map<string, BodyTypeCheck | undefined>()
  const names = Object.keys(content)
  for (const name of names) {
    const type = bareMediaType(name)
    const at = [...bodyAt, 'content', name]
    // One alone is the schema of its type, whatever its parameters are.
    const isAlone = names.every((other) => other === name || bareMediaType(other) !== type)
    const key = isAlone ? type : mediaTypeKey(name)
    if (types.has(key)) source.note({ at, reason: `is the same type as another that is listed before it` })
    else types.set(key, mediaCheck(source, at, type))
  }
  return { required: flagOf(body, 'required'), types, json: undefined }
}

/** The check of the bodies of a media type; undefined where any will do. */
function mediaCheck(source: Source, at: TreePath, type: string): BodyTypeCheck | undefined {
  const { object: media, at: mediaAt } = describedAt(source.document, at)
  const schemaAt = [...mediaAt, 'schema']
  for (const name of UNREAD_MEMBERS)
    if (media[name] !== undefined)
      source.note({ at: [...mediaAt, name], reason: 'is not read: "schema" and "encoding" are' })
  if (media.schema === undefined) return isJsonType(type) ? UNSPECIFIED : undefined
  if (isChecked(type)) return typeCheck(source, schemaAt, type)
  if (!takesAnyText(source.document, schemaAt))
    source.note({ at: schemaAt, reason: `holds ${type}, which is not read: JSON, forms and text are` })
  return undefined
}

/** Members of media types that OpenAPI 3.2 has for streams and for parts without names. */
const UNREAD_MEMBERS = ['itemSchema', 'itemEncoding', 'prefixEncoding']
const TAKING_TEXT = new Set(['type', 'format'])

/** True for the schemas of files, which say nothing but that there is one. */
function takesAnyText(document: JsonObject, at: TreePath): boolean {
  const schema = follow(document, at).value
  if (schema === true) return true
  if (!isObject(schema ?? null)) return false
  const { type, ...others } = schema as JsonObject
  const isText = type === undefined || [type].flat().includes('string')
  return isText && Object.keys(others).every((name) => holdingOf(name) === undefined || TAKING_TEXT.has(name))
}

/** True for media types whose bodies are read: JSON, forms and text, and ranges that hold them. */
function isChecked(type: string): boolean {
  return isJsonType(type) || isFormType(type) || /^(?:text\/.*|application\/\*|multipart\/\*|\*\/\*)$/.test(type)
}

function typeCheck(source: Source, at: TreePath, type: string): BodyTypeCheck | undefined {
  const { document, at: checkAt, fillAt, note } = source
  const shape = isJsonType(type) ? TEXT : shapeAt(document, at)
  const unread = new Set<string>()
  const noteField = (flaw: Flaw) => {
    unread.add(String(flaw.at.at(-1)))
    note(flaw)
  }
  const encodings = isFormType(type) ? readEncodings(document, at.slice(0, -1), shape, noteField) : NO_ENCODINGS
  const filler = fillAt(at)
  if (!isJsonType(type) && !type.endsWith('/*') && filler?.fills)
    note({ at, reason: `${type} is not written, JSON is` }, UNFILLED)
  return { check: checkAt(at), shape, encodings, unread, fill: filler?.fill }
}

const ANYTHING: ValueCheck = () => []
const NO_NAMES: ReadonlySet<string> = new Set()
const NOT_THERE = 'refers to what is not in the document'
const NO_ENCODINGS: BodyTypeCheck['encodings'] = new Map()
const UNSPECIFIED: BodyTypeCheck = {
  check: ANYTHING,
  shape: TEXT,
  encodings: NO_ENCODINGS,
  unread: NO_NAMES,
  fill: undefined,
}
const UNCHECKED_WHERE_DROPPED = 'is not checked unless gateway.allow_underscore_fields is on'
const DROPPED =
  'fields with "_" in their name are dropped without it, but for those that hold the credential or version of the API'
const UNFILLED = 'has a default that is not filled in'

/** Those of the operation, and those of its path that it does not say otherwise. */
function parametersOf({ document, at, itemAt }: DescribedOperation, source: Source): ParameterCheck[] {
  const found = new Map<string, ParameterCheck>()
  for (const holderAt of [itemAt, at]) {
    const list = describedAt(document, holderAt).object.parameters
    if (!Array.isArray(list)) continue
    for (const index of list.keys()) {
      const parameter = parameterAt(source, [...holderAt, 'parameters', String(index)])
      if (parameter?.in === 'path' && at[0] === 'paths' && !at[1]?.includes(`{${parameter.name}}`)) {
        source.note({ at: [...holderAt, 'parameters', String(index)], reason: `its path has no {${parameter.name}}` })
        continue
      }
      if (parameter !== undefined) found.set(`${parameter.in} ${parameter.name}`, parameter)
    }
  }
  const all = [...found.values()]
  return all.map((each) => (isSpread(each) ? { ...each, others: namesOfOthers(each, all) } : each))
}

/** True for an object whose members are parameters of their own. */
const isSpread = ({ in: place, style, explode, shape }: ParameterCheck) =>
  place === 'query' && style === 'form' && explode && shape.members !== undefined

/** Names of the other parameters of the query, those of the members of their objects included. */
function namesOfOthers(parameter: ParameterCheck, all: readonly ParameterCheck[]): ReadonlySet<string> {
  const others = all.filter((each) => each !== parameter && each.in === 'query')
  return new Set(others.flatMap((each) => [each.name, ...(isSpread(each) ? each.shape.members!.keys() : [])]))
}

function parameterAt(source: Source, from: TreePath): ParameterCheck | undefined {
  const parameter = unfilledParameterAt(source, from)
  const { document, defaultOf, note } = source
  if (parameter === undefined || defaultOf === undefined) return parameter
  const { object, at } = describedAt(document, from)
  const type = Object.keys(objectOf(object, 'content'))[0]
  const value = defaultOf(type === undefined ? [...at, 'schema'] : [...at, 'content', type, 'schema'])
  // A path has a value for each of its parameters, and what is required is refused where it is missing.
  if (value === undefined || (parameter.required && !mayBeDropped(parameter.in, parameter.name))) return parameter
  const text = defaultText(parameter, value)
  if (text === undefined)
    note({ at: from, reason: `its style does not spell it, or no ${parameter.in} holds it` }, UNFILLED)
  return text === undefined ? parameter : { ...parameter, fill: { value, text } }
}

/** True for fields that the gateway drops where it is set up so. */
const mayBeDropped = (place: ParameterCheck['in'], name: string) => place === 'header' && name.includes('_')

function unfilledParameterAt({ document, at: checkAt, note }: Source, from: TreePath): ParameterCheck | undefined {
  const { object, at } = describedAt(document, from)
  const leaveOut = (reason: string) => {
    note({ at: from, reason })
    return undefined
  }
  if (follow(document, from).value === undefined) return leaveOut(NOT_THERE)
  const place = textOf(object, 'in')
  const name = textOf(object, 'name')
  if (place === 'querystring') return leaveOut('is the whole of a query, which is not read: parameters of it are')
  if (!isPlace(place) || name === '') return leaveOut('must name a parameter and where it is')
  if (place === 'header' && NO_PARAMETERS.has(name.toLowerCase()))
    return leaveOut(`is ${name}: OpenAPI has other places for it, and no parameters of this name`)
  if (mayBeDropped(place, name)) note({ at: from, reason: DROPPED }, UNCHECKED_WHERE_DROPPED)
  if (object.schema === undefined && isEmpty(object.content))
    note({ at: from, reason: 'it has neither "schema" nor "content"' }, 'may have any value')
  else if (object.schema !== undefined && !isEmpty(object.content))
    note({ at: [...at, 'schema'], reason: '"content" counts beside it' })
  const base: ParameterCheck = {
    ...{ in: place, name: place === 'header' ? name.toLowerCase() : name },
    ...{
      required: place === 'path' || flagOf(object, 'required'),
      allowEmpty: flagOf(object, 'allowEmptyValue'),
    },
    ...{ style: 'unread', explode: false, shape: TEXT, others: NO_NAMES, check: ANYTHING, fill: undefined },
  }
  const unread = (reason: string) => {
    leaveOut(reason)
    // Members of an object have names of their own.
    return { ...base, required: base.required && (place === 'path' || place === 'header') }
  }
  const type = Object.keys(objectOf(object, 'content'))[0]
  if (type !== undefined) {
    const typed = [...at, 'content', type, 'schema']
    if (isJsonType(type) && getAt(document, typed) === undefined) return { ...base, style: 'json' }
    if (isJsonType(type)) return { ...base, style: 'json', check: checkAt(typed) }
    if (!type.startsWith('text/')) return unread(`holds ${type}, which is not read: JSON and text are`)
    return { ...base, style: 'simple', shape: TEXT, check: checkAt(typed) }
  }
  if (member(object, 'schema') === undefined) return base
  const style = textOf(object, 'style') || (place === 'query' || place === 'cookie' ? 'form' : 'simple')
  const known = STYLES.find((each) => each === style || (style === 'cookie' && each === 'form'))
  if (known === undefined || !PLACES[known].includes(place))
    return unread(`has the style ${style}, which is not read in a ${place}`)
  const explode = typeof object.explode === 'boolean' ? object.explode : known === 'form' || known === 'deepObject'
  const shape = shapeAt(document, [...at, 'schema'])
  if (known !== 'deepObject' && !isFlat(shape, known === 'form' && explode))
    return unread('holds lists or objects within a list or object, which its style does not spell')
  return { ...base, style: known, explode, shape, check: checkAt([...at, 'schema']) }
}

const PLACES: Readonly<Record<(typeof STYLES)[number], readonly string[]>> = {
  ...{ simple: ['path', 'header'], label: ['path'], matrix: ['path'] },
  ...{ form: ['query', 'cookie'], spaceDelimited: ['query'], pipeDelimited: ['query'], deepObject: ['query'] },
}

function isPlace(text: string): text is ParameterCheck['in'] {
  return ['path', 'query', 'header', 'cookie'].includes(text)
}
