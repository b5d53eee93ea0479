import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** The member of a schema that holds its description, where the check itself is done where the value is read. */
export const DESCRIBED = 'described'

/**
 * Options of a schema that checks little because what is sent is checked where it is read: the document describes it as `shape`.
 */
export function describedAs(shape: object): { readonly [DESCRIBED]: object } {
  return { [DESCRIBED]: shape }
}

/** The same for a body whose members are those of an answer, none of them required. */
export function describedMembers(title: string, properties: object): { readonly [DESCRIBED]: object } {
  return describedAs({ title, type: 'object', properties: sentMembers(properties) })
}

/** Ids are made here or named by the path: what is sent for them counts nowhere, be it of their form or not. */
function sentMembers(properties: object): object {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const { pattern: _form, ...rest } = schema as JsonObject
    return [name, name === 'id' || name === '_id' ? rest : schema] as const
  })
  return Object.fromEntries(entries)
}

/** The same for a body whose further members are kept, or read. */
export function describedOpenMembers(title: string, properties: object): { readonly [DESCRIBED]: object } {
  return describedAs({ title, type: 'object', properties: sentMembers(properties), additionalProperties: true })
}

/** Options of a schema for a value of several forms, which is any value to generators: most have an unhandy type for such a choice. */
export function describedAsAnyOf(...forms: readonly object[]): { readonly [DESCRIBED]: object } {
  return describedAs({ [MIXED]: forms })
}

/** The member of a schema that names the forms of a value of which some are lists. */
const MIXED = 'x-svc-any-of'

/** The member of a schema that names further forms that are taken in its place, which generators need not know. */
export const ALSO = 'x-svc-also'

/** The members of a schema that hold lists of forms of a value. */
export const FORMS: readonly string[] = [MIXED, ALSO]

const MOST_NAMES = 50
const MOST_SHORT = 2_147_483_647

/** A value that is null whatever happens: 3.0 has no type for it. */
const ALWAYS_NULL: JsonObject = { type: 'object', nullable: true, description: 'Always null.' }

/** Keywords of JSON Schema that OpenAPI 3.0 does not have, and our own. */
const DROPPED: ReadonlySet<string> = new Set(
  ['$schema', '$id', 'title', 'const', 'patternProperties', 'propertyNames', 'contentMediaType', 'examples'].concat([
    'contentEncoding',
    'is',
    'names',
    DESCRIBED,
    'anyOf',
    'oneOf',
    'allOf',
    'items',
    'properties',
    'type',
    'enum',
  ]),
)

/**
 * Schemas in the form of OpenAPI 3.0, which every generator reads: objects with members become named components, equal ones the same. The name is
 * the `title` of a schema, else it follows from the place where it is first used.
 */
export class ComponentSchemas {
  readonly #schemas = new Map<string, JsonObject>()

  /** The components, in the order of the alphabet. */
  get all(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** The schema at a place; `name` is that of a component, where it becomes one and has no title. */
  refer(schema: Json, name: string): JsonObject {
    if (!isObject(schema)) return {}
    if (typeof schema.$ref === 'string') return schema
    if (isObject(schema[DESCRIBED])) return this.refer(withTextOf(schema, schema[DESCRIBED]), name)
    const options = optionsOf(schema)
    if (options !== undefined) return this.#union(schema, options, name)
    if (Array.isArray(schema[MIXED])) return this.#mixed(schema, schema[MIXED].filter(isObject), name)
    const types = typesOf(schema)
    const isNullable = types.includes('null')
    const [type, ...others] = types.filter((each) => each !== 'null')
    if (type === undefined && isNullable) return { ...ALWAYS_NULL }
    if (others.length > 0)
      return this.#union(
        schema,
        types.map((each) => ({ ...schema, type: each })),
        name,
      )
    const plain = this.#plain(schema, type, name)
    return isNullable ? nullable(plain) : plain
  }

  #plain(schema: JsonObject, type: string | undefined, name: string): JsonObject {
    const own = String(schema.title ?? name)
    const values = valuesOf(schema)
    const made: JsonObject = {
      ...(type !== undefined && { type }),
      ...Object.fromEntries(Object.entries(schema).filter(([key]) => !DROPPED.has(key))),
      ...(values !== undefined && enumOf(values)),
      ...(schema.contentEncoding === 'base64' && { format: 'byte' }),
      ...(type === 'integer' && !isShort(schema) && { format: 'int64' }),
    }
    if (Array.isArray(schema.allOf))
      made.allOf = schema.allOf.map((part, at) => this.refer(part, `${own}Part${at + 1}`))
    if (Array.isArray(schema[ALSO]))
      made[ALSO] = schema[ALSO].map((form, at) => this.refer(form, `${own}Also${at + 1}`))
    if (type === 'array') made.items = isObject(schema.items) ? this.refer(schema.items, singularOf(own)) : {}
    if (isObject(schema.additionalProperties)) {
      const value = this.refer(schema.additionalProperties, `${own}Value`)
      made.additionalProperties = Object.keys(value).length === 0 ? true : value
    }
    const [pattern] = isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : []
    if (pattern !== undefined) made.additionalProperties = this.refer(pattern, `${own}Value`)
    exclusive(made, 'minimum', 'exclusiveMinimum')
    exclusive(made, 'maximum', 'exclusiveMaximum')
    const members = Object.entries(isObject(schema.properties) ? schema.properties : {})
    if (members.length === 0) return withoutEmpty(made)
    made.properties = Object.fromEntries(
      members.map(([member, each]) => [member, this.#member(member, each, `${own}${wordsOf(member)}`)]),
    )
    return this.#component(withoutEmpty(made), own)
  }

  /** `_id` and `id` become one name in most languages: generators of Go read this one. */
  #member(member: string, schema: Json, name: string): JsonObject {
    const made = this.refer(schema, name)
    return member === '_id' && made.$ref === undefined ? { ...made, 'x-go-name': 'StorageID' } : made
  }

  #union(schema: JsonObject, options: readonly JsonObject[], name: string): JsonObject {
    const own = String(schema.title ?? name)
    const real = withoutEmptyText(options.filter((option) => !isNull(option)))
    const text = schema.description === undefined ? {} : { description: schema.description }
    const values = real.map(valuesOf)
    if (real.length > 1 && values.every((each) => each !== undefined)) {
      const made = { type: typeof values.flat()[0], ...text, enum: values.flat() as Json[] }
      return real.length < options.length ? nullable(made) : made
    }
    const parts = real.map((option, at) =>
      this.refer(option, real.length === 1 ? own : `${own}${'ABCDEFGH'[at] ?? at}`),
    )
    // A choice without a type in Go, Java or TypeScript is any value to generators, and its forms are named for readers: a list beside something
    // else, one of several forms or null, and objects with members that differ in letter case alone.
    const isNullable = real.length < options.length
    const isMixed =
      parts.length > 1 && (parts.some((part) => part.type === 'array') || isNullable || this.#areAlike(parts))
    if (isMixed) return { ...text, [MIXED]: isNullable ? [...parts, { ...ALWAYS_NULL }] : parts }
    const made = parts.length === 1 ? parts[0]! : { ...text, anyOf: parts }
    if (isNullable) return { ...nullable(made), ...text }
    return made.$ref === undefined ? { ...made, ...text } : made
  }

  #mixed({ description }: JsonObject, options: readonly JsonObject[], name: string): JsonObject {
    const parts = options.map((option, at) => this.refer(option, `${name}${'ABCDEFGH'[at] ?? at}`))
    return { ...(description !== undefined && { description }), [MIXED]: parts }
  }

  /** True where members of objects have names that differ in letter case alone: generators make one object of all. */
  #areAlike(parts: readonly JsonObject[]): boolean {
    const names = new Set(parts.flatMap((part) => Object.keys(objectOf(this.#schemas.get(nameIn(part))?.properties))))
    return new Set([...names].map((name) => name.toLowerCase())).size < names.size
  }

  /** Adds a member to the objects that a schema refers to: once all schemas are there, as equal ones are one component till then. */
  addMember(schema: Json | undefined, member: string, described: JsonObject): void {
    if (!isObject(schema)) return
    for (const part of [schema.anyOf, schema[MIXED]])
      if (Array.isArray(part)) for (const each of part) this.addMember(each, member, described)
    const found = this.#schemas.get(nameIn(schema))
    if (found === undefined || found.type !== 'object' || found.additionalProperties === true) return
    const known = objectOf(found.properties)
    // Generators make one name of two that differ in letter case alone.
    const isTaken = Object.keys(known).some((name) => name.toLowerCase() === member.toLowerCase())
    if (!isTaken) found.properties = { ...known, [member]: described }
  }

  #component(schema: JsonObject, wanted: string): JsonObject {
    for (const [name, known] of this.#schemas) if (isDeepStrictEqual(known, schema)) return referenceTo(name)
    // Go takes a file of this name for a test.
    const own = wanted.endsWith('Test') ? `${wanted}Entry` : wanted
    for (let number = 1; number < MOST_NAMES; number++) {
      const name = number === 1 ? own : `${own}${number}`
      if (this.#schemas.has(name)) continue
      this.#schemas.set(name, schema)
      return referenceTo(name)
    }
    throw new Error(`too many schemas have the name ${wanted}`)
  }
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const nameIn = ({ $ref }: JsonObject): string => String($ref ?? '').slice('#/components/schemas/'.length)

const referenceTo = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })

const isNull = (schema: JsonObject) => schema.type === 'null' || schema.const === null

function withTextOf({ description }: JsonObject, described: JsonObject): JsonObject {
  return description === undefined || described.title !== undefined ? described : { ...described, description }
}

/** An empty text is taken for an empty list or object, and many generators have no type for such a choice. */
function withoutEmptyText(options: readonly JsonObject[]): readonly JsonObject[] {
  const isEmpty = (option: JsonObject): boolean =>
    optionsOf(option)?.every((each) => isNull(each) || isEmpty(each)) ?? isDeepStrictEqual(valuesOf(option), [''])
  const isHolder = (option: JsonObject) => typesOf(option).some((type) => type === 'array' || type === 'object')
  return options.some(isHolder) ? options.filter((option) => !isEmpty(option)) : options
}

function optionsOf({ anyOf, oneOf }: JsonObject): JsonObject[] | undefined {
  const list = anyOf ?? oneOf
  return Array.isArray(list) ? list.filter(isObject) : undefined
}

function typesOf({ type, const: only, enum: values, properties, patternProperties }: JsonObject): string[] {
  if (Array.isArray(type)) return type.map(String)
  if (typeof type === 'string') return [type]
  if (only !== undefined) return [only === null ? 'null' : typeof only]
  if (Array.isArray(values) && values.length > 0)
    return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))]
  return properties === undefined && patternProperties === undefined ? [] : ['object']
}

function valuesOf({ const: only, enum: values }: JsonObject): Json[] | undefined {
  if (only !== undefined) return [only]
  return Array.isArray(values) ? values.filter((value) => value !== null) : undefined
}

/** A list of values; of one number its bounds: generators of Java write constants of numbers that do not compile. */
function enumOf(values: readonly Json[]): JsonObject {
  const [only, ...others] = values
  if (typeof only !== 'number' || others.length > 0) return { enum: [...values] }
  return { ...(Number.isInteger(only) && { type: 'integer' }), minimum: only, maximum: only }
}

/** A reference takes no member beside it, and `nullable` counts only beside a type. */
function nullable(schema: JsonObject): JsonObject {
  if (schema.$ref !== undefined) return { type: 'object', nullable: true, allOf: [schema] }
  return { ...schema, nullable: true }
}

/** Whole numbers are of 32 bits to generators of Java, unless the format says otherwise: only what is bounded is left to that. */
function isShort({ format, maximum, exclusiveMaximum }: JsonObject): boolean {
  return (
    format !== undefined || [maximum, exclusiveMaximum].some((most) => typeof most === 'number' && most <= MOST_SHORT)
  )
}

/** A bound that is excluded is a flag beside it. */
function exclusive(schema: JsonObject, bound: string, flag: string): void {
  if (typeof schema[flag] !== 'number') return
  schema[bound] = schema[flag]
  schema[flag] = true
}

function withoutEmpty(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.required) || schema.required.length > 0) return schema
  const { required: _none, ...rest } = schema
  return rest
}

function wordsOf(member: string): string {
  return member
    .split(/[^A-Za-z0-9]+/)
    .map(capital)
    .join('')
}

function singularOf(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(?:ss|us)$/.test(name) || !name.endsWith('s')) return `${name}Item`
  return name.slice(0, -1)
}

// Schemas of what the product answers and takes, as JSON.

export const text: JsonObject = { type: 'string' }
export const whole: JsonObject = { type: 'integer' }
export const amount: JsonObject = { type: 'number' }
export const flag: JsonObject = { type: 'boolean' }
export const time: JsonObject = { type: 'string', format: 'date-time' }

/** A list of these. */
export const arrayOf = (items: JsonObject): JsonObject => ({ type: 'array', items })
/** A text that is one of these. */
export const oneOf = (...values: string[]): JsonObject => ({ type: 'string', enum: values })

/** A schema with a description. */
export const said = (schema: JsonObject, description: string): JsonObject => ({ ...schema, description })

/** An object of these members, all of them required but those of `optional`. */
export function closedObjectOf(
  title: string,
  members: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  return { title, type: 'object', required: Object.keys(members), properties: { ...members, ...optional } }
}

/** The same for an object that keeps members which are not described. */
export function openObjectOf(
  title: string,
  members: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  return { ...closedObjectOf(title, members, optional), additionalProperties: true }
}

/** The text with a capital letter in front. */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
