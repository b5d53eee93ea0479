import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { isGatewayField } from '../../network/wire-fields.ts'
import { type PatternWork, spendPatternWork, TOO_MUCH_WORK } from '../../patterns/pattern-work.ts'
import { MOST_ENTRIES } from '../check/compile-cost.ts'
import type { CheckedSchema } from '../check/value-schema.ts'
import { flagOf, objectOf } from '../definition/members.ts'
import type { FillDefaults, LazyCode, ParameterCheck } from '../definition/operation.ts'
import { getAt, member, setMember, type TreePath, toPointer } from '../definition/tree.ts'
import { VALUES } from '../definition/values.ts'
import { follow } from '../openapi/described.ts'

/** Most schemas that the defaults of one document are read from; values below others are left as they are. */
const MOST_READ = 20_000

/** Units of `PatternWork` for a value, and for each of its members that is looked at. */
const WORK_OF_VALUE = 50
const WORK_OF_MEMBER = 20
/** For each character of a default that is put in: a short body may ask for a long one 100,000 times. */
const WORK_OF_CHARACTER = 4

interface Default {
  readonly value: Json
  /** Characters of its JSON. */
  readonly length: number
}

/** The defaults of one schema. */
interface Filler {
  /** By the names of properties. */
  readonly defaults: Map<string, Default>
  readonly members: Map<string, Filler>
  /** Of members that `properties` does not name. */
  others: Filler | undefined
  items: Filler | undefined
  /** Schemas that hold for the same value: `$ref` and `allOf`. */
  parts: Filler[]
  choices: Choice[]
  /** Names that `properties` has. */
  readonly named: Set<string>
  /** False where neither it nor a schema behind it has a default. */
  fills: boolean
  /** True once nothing of it changes any more. */
  closed: boolean
}

/** Alternatives of `oneOf` and `anyOf`: the one that the value fits with its defaults fills it in. */
interface Choice {
  readonly single: boolean
  readonly alternatives: readonly Alternative[]
}

interface Alternative {
  readonly filler: Filler
  /** Read when it is first asked for. */
  readonly schema: () => Pick<CheckedSchema, 'fits' | 'code'>
}

/** Fills in the defaults of the values of one schema. They are read when they are first asked for. */
export interface DefaultFiller {
  /** False where there is nothing to fill in. */
  readonly fills: boolean
  readonly fill: FillDefaults
  /** Each piece of code that it runs. */
  readonly code: () => Iterable<LazyCode>
}

/** Reads the defaults that the schemas of a document give to members of objects, those of each schema once. */
export class SchemaDefaults {
  readonly #document: JsonObject
  readonly #schemaAt: (at: TreePath) => ReturnType<Alternative['schema']>
  readonly #known = new Map<string, Filler>()
  readonly #waiting: { readonly filler: Filler; readonly at: TreePath }[] = []

  /** `schemaAt` reads the schema at a path. */
  constructor(document: JsonObject, schemaAt: (at: TreePath) => ReturnType<Alternative['schema']>) {
    this.#document = document
    this.#schemaAt = schemaAt
  }

  /** The filler of values of the schema at a path. */
  at(at: TreePath): DefaultFiller {
    let known: Filler | undefined
    const root = () => {
      known ??= this.#read(at)
      return known
    }
    return {
      get fills() {
        return root().fills
      },
      fill: (value, account) => filledWithin(root(), value, account),
      code: () => codeBehind(root()),
    }
  }

  #read(at: TreePath): Filler {
    const root = this.#filler(at)
    const fresh: Filler[] = []
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      this.#readOne(next.filler, next.at)
      fresh.push(next.filler)
    }
    cutCircles(fresh)
    mark(fresh)
    return root
  }

  /** The default of the schema at a path: its own, or that of its reference or of the first part of `allOf` that has one. */
  ofSchema(at: TreePath): Json | undefined {
    const own = this.#defaultOf(at)
    if (own !== undefined) return own
    const { value: schema, at: found } = follow(this.#document, at)
    const parts = isObject(schema ?? null) ? (schema as JsonObject).allOf : undefined
    if (!Array.isArray(parts)) return undefined
    return parts
      .map((_each, index) => this.#defaultOf([...found, 'allOf', String(index)]))
      .find((each) => each !== undefined)
  }

  #defaultOf(at: TreePath): Json | undefined {
    const own = member(getAt(this.#document, at), 'default')
    return own ?? member(follow(this.#document, at).value, 'default') ?? undefined
  }

  /** The filler of the schema at a path, which waits to be read where it is new. */
  #filler(at: TreePath): Filler {
    const key = toPointer(at)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const filler: Filler = {
      ...{ defaults: new Map(), members: new Map(), others: undefined, items: undefined, parts: [], choices: [] },
      ...{ named: new Set<string>(), fills: false, closed: false },
    }
    if (this.#known.size >= MOST_READ) return filler
    this.#known.set(key, filler)
    this.#waiting.push({ filler, at })
    return filler
  }

  #readOne(filler: Filler, at: TreePath): void {
    const schema = getAt(this.#document, at)
    if (schema === undefined || !isObject(schema)) return
    const inner = (...path: string[]) => this.#filler([...at, ...path])
    for (const name of Object.keys(objectOf(schema, 'properties'))) {
      filler.named.add(name)
      const value = this.#isReadOnly([...at, 'properties', name])
        ? undefined
        : this.#defaultOf([...at, 'properties', name])
      if (value !== undefined) filler.defaults.set(name, { value, length: JSON.stringify(value).length })
      filler.members.set(name, inner('properties', name))
    }
    if (isObject(schema.additionalProperties ?? null) && schema.patternProperties === undefined)
      filler.others = inner('additionalProperties')
    if (isObject(schema.items ?? null)) filler.items = inner('items')
    if (typeof schema.$ref === 'string') {
      const target = follow(this.#document, at)
      if (target.value !== undefined) filler.parts.push(this.#filler(target.at))
    }
    const listed = (keyword: string) => {
      const list = schema[keyword]
      return Array.isArray(list) ? list.map((_each, index) => [...at, keyword, String(index)]) : []
    }
    for (const part of listed('allOf')) filler.parts.push(this.#filler(part))
    for (const keyword of ['oneOf', 'anyOf']) {
      const alternatives = listed(keyword).map((each) => this.#alternative(each))
      // A schema with more is not compiled.
      if (alternatives.length > 0 && alternatives.length <= MOST_ENTRIES)
        filler.choices.push({ single: keyword === 'oneOf', alternatives })
    }
  }

  #alternative(at: TreePath): Alternative {
    let known: ReturnType<Alternative['schema']> | undefined
    const schema = () => {
      known ??= this.#schemaAt(at)
      return known
    }
    return { filler: this.#filler(at), schema }
  }

  #isReadOnly(at: TreePath): boolean {
    const own = getAt(this.#document, at)
    return [own, follow(this.#document, at).value].some((schema) => flagOf(schema, 'readOnly'))
  }
}

const fillsChoice = ({ alternatives }: Choice) => alternatives.some(({ filler }) => filler.fills)
const inPlaceOf = ({ parts, choices }: Filler): Edge[] => [
  ...parts.map((to) => ({ to, by: to })),
  ...choices.flatMap((by) => by.alternatives.map(({ filler }) => ({ to: filler, by }))),
]

/** A way to a schema that holds for the same value: by itself, or by the choice that it is an alternative of. */
interface Edge {
  readonly to: Filler
  readonly by: Filler | Choice
}

/** Takes out references by which a schema leads to itself without looking at a part of the value. Linear. */
function cutCircles(fillers: readonly Filler[]): void {
  const states = new Map<Filler, 'open' | 'done'>()
  const stepTo = (filler: Filler) => {
    states.set(filler, 'open')
    return { filler, edges: inPlaceOf(filler), next: 0, cut: new Set<Filler | Choice>() }
  }
  for (const start of fillers) {
    if (states.has(start)) continue
    const path = [stepTo(start)]
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { filler, edges, cut } = step
      const edge = edges[step.next++]
      if (edge === undefined) {
        states.set(filler, 'done')
        path.pop()
        if (cut.size === 0) continue
        filler.parts = filler.parts.filter((part) => !cut.has(part))
        filler.choices = filler.choices.filter((choice) => !cut.has(choice))
      } else if (cut.has(edge.by)) continue
      else if (states.get(edge.to) === 'open') cut.add(edge.by)
      else if (!edge.to.closed && !states.has(edge.to)) path.push(stepTo(edge.to))
    }
  }
}

/** The code of all the choices that a filler leads to and that fill something in. */
function* codeBehind(root: Filler): Generator<LazyCode> {
  const reached = new Set([root])
  for (const filler of reached) {
    if (!filler.fills) continue
    for (const each of below(filler)) reached.add(each)
    for (const { alternatives } of filler.choices.filter(fillsChoice))
      for (const { schema } of alternatives) yield schema().code
  }
}

function below(filler: Filler): Filler[] {
  const { members, others, items } = filler
  const inPlace = inPlaceOf(filler).map(({ to }) => to)
  return [...members.values(), others, items, ...inPlace].filter((each) => each !== undefined)
}

/** Marks the fillers that lead to a default. */
function mark(fillers: readonly Filler[]): void {
  const from = new Map<Filler, Filler[]>()
  const marked: Filler[] = []
  for (const filler of fillers) {
    const next = below(filler)
    for (const each of next) {
      if (each.closed) continue
      const known = from.get(each)
      if (known === undefined) from.set(each, [filler])
      else known.push(filler)
    }
    if (filler.defaults.size > 0 || next.some(({ fills }) => fills)) marked.push(filler)
  }
  for (let next = marked.pop(); next !== undefined; next = marked.pop()) {
    if (next.fills) continue
    next.fills = true
    for (const each of from.get(next) ?? []) marked.push(each)
  }
  for (const filler of fillers) filler.closed = true
}

/** @throws Fault `patterns_over_budget` where schemas lead too far */
function filledWithin(filler: Filler, value: unknown, account: PatternWork): unknown {
  try {
    return filled(filler, value, account)
  } catch (error) {
    throw error instanceof RangeError ? TOO_MUCH_WORK : error
  }
}

/** The value with defaults: the same one where it lacks none. */
function filled(filler: Filler, given: unknown, account: PatternWork): unknown {
  if (!filler.fills || typeof given !== 'object' || given === null) return given
  spendPatternWork(account, WORK_OF_VALUE)
  let value: unknown = given
  for (const choice of filler.choices) if (fillsChoice(choice)) value = chosen(choice, value, account)
  for (const part of filler.parts) value = filled(part, value, account)
  if (Array.isArray(value)) return withItems(filler, value, account)
  return isObject(value as Json) ? withMembers(filler, value as JsonObject, account) : value
}

function chosen({ single, alternatives }: Choice, value: unknown, account: PatternWork): unknown {
  let found: { readonly value: unknown } | undefined
  for (const { filler, schema } of alternatives) {
    const candidate = filled(filler, value, account)
    if (!schema().fits(candidate, account)) continue
    if (!single) return candidate
    if (found !== undefined) return value
    found = { value: candidate }
  }
  return found === undefined ? value : found.value
}

function withItems({ items }: Filler, list: unknown[], account: PatternWork): unknown[] {
  if (items === undefined || !items.fills) return list
  spendPatternWork(account, WORK_OF_MEMBER * list.length)
  const made = list.map((item) => filled(items, item, account))
  return made.some((item, index) => item !== list[index]) ? made : list
}

function withMembers(filler: Filler, object: JsonObject, account: PatternWork): JsonObject {
  const { defaults, members, others, named } = filler
  spendPatternWork(account, WORK_OF_MEMBER * (defaults.size + members.size))
  let made = object
  const put = (name: string, value: Json) => {
    if (made === object) made = copyOf(object)
    setMember(made, name, value)
  }
  for (const [name, { value, length }] of defaults) {
    if ((member(made, name) ?? null) !== null) continue
    spendPatternWork(account, WORK_OF_CHARACTER * (name.length + length))
    put(name, value)
  }
  const fill = (name: string, inner: Filler) => {
    const before = member(made, name)
    const after = filled(inner, before, account) as Json
    if (after !== before) put(name, after)
  }
  for (const [name, inner] of members) if (inner.fills) fill(name, inner)
  if (others === undefined || !others.fills) return made
  const names = Object.keys(made)
  spendPatternWork(account, WORK_OF_MEMBER * names.length)
  for (const name of names) if (!named.has(name)) fill(name, others)
  return made
}

function copyOf(object: JsonObject): JsonObject {
  const copy: JsonObject = {}
  for (const name of Object.keys(object)) setMember(copy, name, object[name]!)
  return copy
}

/** A name that a cookie can have, and a value (RFC 6265 section 4.1.1). */
const COOKIE = /^[!#$%&'*+.^`|~\w-]+=[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/

/**
 * A default as a request spells it in the style of its parameter (RFC 6570, as OpenAPI 3.1 section 4.8.12.3 says): `name=value` pairs of a
 * query, the value of a field, or a cookie with its name. undefined where it cannot be spelled or sent.
 */
export function defaultText(parameter: Omit<ParameterCheck, 'fill'>, value: Json): string | undefined {
  const { in: place, name, style } = parameter
  if (place === 'path' || style === 'unread') return undefined
  if (place === 'query') return queryText(parameter, value)
  const text = style === 'json' ? JSON.stringify(value) : listText(value, ',', parameter.explode, String)
  if (text === undefined) return undefined
  if (place === 'header') return isGatewayField(name) || VALUES.fieldValue(text) !== undefined ? undefined : text
  const cookie = `${name}=${text}`
  return COOKIE.test(cookie) ? cookie : undefined
}

function queryText({ name, style, explode }: Omit<ParameterCheck, 'fill'>, value: Json): string | undefined {
  const pair = (key: string, text: string) => `${escaped(key)}=${text}`
  if (style === 'json') return pair(name, escaped(JSON.stringify(value)))
  const isComposed = typeof value === 'object' && value !== null
  if (!isComposed || (!explode && style !== 'deepObject')) {
    const separator = style === 'spaceDelimited' ? '+' : style === 'pipeDelimited' ? '%7C' : ','
    const text = listText(value, separator, false, escaped)
    return text === undefined ? undefined : pair(name, text)
  }
  const keyOf = (key: string) => (Array.isArray(value) ? name : style === 'deepObject' ? `${name}[${key}]` : key)
  const entries = Object.entries(value as JsonObject)
  if (entries.some(([, each]) => scalarText(each) === undefined)) return undefined
  return entries.map(([key, each]) => pair(keyOf(key), escaped(scalarText(each)!))).join('&')
}

/** A scalar, or those of a flat list or object behind one another. */
function listText(
  value: Json,
  separator: string,
  explode: boolean,
  spell: (text: string) => string,
): string | undefined {
  if (typeof value !== 'object' || value === null) return spell(scalarText(value) ?? '')
  const texts = Object.entries(value as JsonObject).map(([key, each]) => {
    const text = scalarText(each)
    if (text === undefined || Array.isArray(value)) return text && spell(text)
    return explode ? `${spell(key)}=${spell(text)}` : `${spell(key)}${separator}${spell(text)}`
  })
  return texts.includes(undefined) ? undefined : texts.join(separator)
}

const scalarText = (value: Json): string | undefined => (typeof value === 'object' ? undefined : String(value))

/** As forms spell it (application/x-www-form-urlencoded). */
function escaped(text: string): string {
  const hex = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, hex)
}
