import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { isMultiple } from '../check/schema-work.ts'
import { definitionFault } from '../check/validate.ts'
import { flagOf, objectOf, textOf } from '../definition/members.ts'
import { member, setMember, type TreePath } from '../definition/tree.ts'
import { type EffectiveSchema, effectiveSchema, fitsEffective, MAX_REFERENCES, referred } from './effective-schema.ts'
import { exampleText } from './example-of-text.ts'

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
/** Name of a root element that has none. */
const ROOT = 'root'
const NAME = /^[A-Za-z_][\w.-]*$/

/** A value as XML, by the `xml` members of its schema (OpenAPI 3.1 section 4.8.26). `resolve` follows references. */
function exampleXml(value: Json, schema: Json | undefined, resolve: (schema: Json) => JsonObject): string {
  const named = isObject(schema) ? textOf(schema, '$ref').split('/').at(-1)! : ''
  return HEAD + elements(value, schema === undefined ? [] : [schema], named || ROOT, resolve, true)
}

function elements(
  value: Json,
  schemas: readonly Json[],
  name: string,
  resolve: (schema: Json) => JsonObject,
  isRoot = false,
): string {
  const schema = effectiveSchema(schemas, resolve)
  const xml = objectOf(schema.keywords, 'xml')
  const own = nameOf(xml, name)
  if (Array.isArray(value)) {
    const isWrapped = isRoot || flagOf(xml, 'wrapped')
    const inner = value.map((item) => elements(item, schema.items, own, resolve)).join('')
    return isWrapped ? `<${own}${namespaceOf(xml)}>${inner}</${own}>` : inner
  }
  if (!isObject(value)) return `<${own}${namespaceOf(xml)}>${escaped(value)}</${own}>`
  let attributes = namespaceOf(xml)
  let content = ''
  for (const [key, inner] of Object.entries(value)) {
    const member = memberOf(schema, key, resolve)
    if (flagOf(member, 'attribute')) attributes += ` ${nameOf(member, key)}="${escaped(inner ?? '')}"`
    else content += elements(inner!, schema.properties.get(key) ?? [], key, resolve)
  }
  return `<${own}${attributes}>${content}</${own}>`
}

function memberOf(schema: EffectiveSchema, key: string, resolve: (schema: Json) => JsonObject): JsonObject {
  return objectOf(effectiveSchema(schema.properties.get(key) ?? [], resolve).keywords, 'xml')
}

function nameOf(xml: JsonObject, fallback: string): string {
  const name = textOf(xml, 'name') || fallback
  const prefix = textOf(xml, 'prefix')
  const plain = NAME.test(name) ? name : `_${name.replace(/[^\w.-]/g, '_')}`
  return NAME.test(prefix) ? `${prefix}:${plain}` : plain
}

function namespaceOf(xml: JsonObject): string {
  const [namespace, prefix] = [textOf(xml, 'namespace'), textOf(xml, 'prefix')]
  if (namespace === '') return ''
  return ` xmlns${NAME.test(prefix) ? `:${prefix}` : ''}="${escaped(namespace)}"`
}

function escaped(value: Json): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replace(/[<>&"]/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** Depth behind which members are left out that need not be there, and at which all end. */
const MAX_DEPTH = 8
const MAX_REQUIRED_DEPTH = 16
/** Values that one example may hold, so that a schema that refers to itself widely stays small. */
const MAX_VALUES = 1000
/** Values that are made from the schemas of one document, those of equal places once: about half a second. */
const MOST_MADE = 500_000
/** Characters of the examples of one document, those that are shared once. */
const MOST_CHARACTERS = 16_000_000

interface Made {
  readonly value: Json
  readonly values: number
}

/** Makes the examples of one document. What several operations refer to is made once, and how much is made in all is bounded. */
export class ExampleMaker {
  readonly #document: JsonObject
  readonly #root: TreePath
  readonly #targets = new Map<string, Json | undefined>()
  /** By schema and depth. */
  readonly #made = new Map<JsonObject, (Made | undefined)[]>()
  readonly #texts = new Map<Json, string>()
  #valuesLeft = MOST_MADE
  #charactersLeft = MOST_CHARACTERS

  constructor(document: JsonObject, root: TreePath) {
    this.#document = document
    this.#root = root
  }

  /**
   * A value of the shape that a schema of the document asks for: its own example, default or first choice where it has one.
   * @throws Fault `definition_invalid` when more is to be made than one document may ask for
   */
  ofSchema(schema: Json | undefined): Json {
    return this.#valueOf(schema === undefined ? [] : [schema], 0, { left: MAX_VALUES })
  }

  /** The value as XML, by the schema that says how. @throws Fault as `ofSchema` */
  xmlOf(value: Json, schema: Json | undefined): string {
    const text = exampleXml(value, schema, (each) => this.#resolved(each))
    this.charge(text.length)
    return text
  }

  /** The value as JSON. @throws Fault as `ofSchema` */
  textOf(value: Json): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    const text = JSON.stringify(value)
    this.charge(text.length)
    this.#texts.set(value, text)
    return text
  }

  /** @throws Fault `definition_invalid` when the examples of the document have too many characters */
  charge(characters: number): void {
    this.#charactersLeft -= characters
    if (this.#charactersLeft < 0) this.#refuse(`${MOST_CHARACTERS} characters`)
  }

  #refuse(bound: string): never {
    const reason = `must not make more than ${bound} of examples: let operations refer to the same responses or schemas`
    throw definitionFault([{ at: [...this.#root, 'paths'], reason }])
  }

  #valueOf(schemas: readonly Json[], depth: number, budget: { left: number }): Json {
    const schema = schemas.length === 1 ? this.#shared(schemas[0]) : NONE
    const known = schema === NONE ? undefined : this.#made.get(schema)?.[depth]
    // One that was cut short depends on what was left for it, which is all at the top.
    if (known !== undefined && (depth === 0 || known.values <= budget.left)) {
      budget.left -= known.values
      return known.value
    }
    if (--this.#valuesLeft < 0) this.#refuse(`${MOST_MADE} values`)
    const before = budget.left
    if (depth > MAX_REQUIRED_DEPTH || --budget.left < -MAX_VALUES) return null
    const value = this.#fresh(schemas, depth, budget)
    if (schema === NONE || (depth > 0 && budget.left < 0)) return value
    let made = this.#made.get(schema)
    if (made === undefined) {
      made = []
      this.#made.set(schema, made)
    }
    made[depth] = { value, values: before - budget.left }
    return value
  }

  #fresh(schemas: readonly Json[], depth: number, budget: { left: number }): Json {
    const schema = effectiveSchema(schemas, (each) => this.#resolved(each))
    this.#valuesLeft -= schema.parts
    const said = this.#said(schemas, schema)
    if (said !== undefined) return said
    const types = schema.types.filter((type) => type !== 'null')
    const type = types[0] ?? (schema.types.includes('null') ? 'null' : undefined)
    if (type === 'object') return this.#object(schema, depth, budget)
    if (type === 'array') return this.#list(schema, depth, budget)
    return scalarOf(type, schema.keywords)
  }

  /** The first value that the author gave and the schema takes. */
  #said(schemas: readonly Json[], schema: EffectiveSchema): Json | undefined {
    const isLeftOut = (name: string) => this.#isWriteOnly(schema.properties.get(name) ?? [])
    const given = schemas.flatMap((each) => givenValues(this.#resolved(each)))
    // An example of a part of an object is not one of the whole.
    if (!schema.types.includes('object')) given.push(...givenValues(schema.keywords))
    for (const value of given) {
      if (fitsEffective(value, schema, isLeftOut)) return value
      const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
      if (fitsEffective(number, schema, isLeftOut)) return number
      if (typeof value === 'number' && fitsEffective(String(value), schema, isLeftOut)) return String(value)
    }
    return undefined
  }

  #object(schema: EffectiveSchema, depth: number, budget: { left: number }): JsonObject {
    const value: JsonObject = {}
    const { keywords, properties, required } = schema
    const isDeep = depth > MAX_DEPTH
    for (const [name, schemas] of properties) {
      if ((isDeep || budget.left < 0) && !required.has(name)) continue
      if (schemas.includes(false) || this.#isWriteOnly(schemas)) continue
      setMember(value, name, this.#valueOf(schemas, depth + 1, budget))
    }
    const { additionalProperties: rest = {}, minProperties, maxProperties } = keywords
    const more = [...required].filter((name) => !properties.has(name))
    const least = typeof minProperties === 'number' ? Math.min(minProperties, MAX_VALUES) : 0
    for (let i = 1; Object.keys(value).length + more.length < least; i++) more.push(`additionalProp${i}`)
    for (const name of more) setMember(value, name, rest === false ? null : this.#valueOf([rest], depth + 1, budget))
    if (typeof maxProperties === 'number')
      for (const name of Object.keys(value).reverse())
        if (Object.keys(value).length > maxProperties && !required.has(name)) delete value[name]
    return value
  }

  #list({ keywords, items }: EffectiveSchema, depth: number, budget: { left: number }): Json[] {
    const { minItems, maxItems, uniqueItems, prefixItems } = keywords
    const least = typeof minItems === 'number' ? Math.min(minItems, MAX_VALUES) : 0
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(keywords.items) ? keywords.items : []
    const most = typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY
    const value = first.slice(0, most).map((item) => this.#valueOf([item], depth + 1, budget))
    const isDeep = depth > MAX_DEPTH || budget.left < 0
    const wanted = Math.min(Math.max(least, items.length === 0 || isDeep || first.length > 0 ? 0 : 1), most)
    while (value.length < wanted) {
      const item = items.length === 0 ? value.length : this.#valueOf(items, depth + 1, budget)
      value.push(uniqueItems === true && value.length > 0 ? this.#another(items, item, value.length) : item)
    }
    return value
  }

  /** A further value for a list whose items differ. */
  #another(items: readonly Json[], item: Json, index: number): Json {
    const schema = effectiveSchema(items, (each) => this.#resolved(each))
    const choice = member(schema.keywords.enum, String(index))
    if (choice !== undefined) return choice
    if (typeof item === 'number') return item + index * (Number(schema.keywords.multipleOf) || 1)
    if (typeof item === 'string') return exampleText(schema.keywords, index)
    return typeof item === 'boolean' ? index % 2 === 0 : item
  }

  #isWriteOnly(schemas: readonly Json[]): boolean {
    return schemas.some(
      (each) => flagOf(this.#resolved(each), 'writeOnly') || (isObject(each) && flagOf(each, 'writeOnly')),
    )
  }

  /** The schema that others may refer to as well. */
  #shared(from: Json | undefined): JsonObject {
    const isBare = isObject(from) && (from.$ref === undefined || Object.keys(from).length === 1)
    return isBare ? this.#resolved(from) : NONE
  }

  /** The object, references followed; an empty one where there is none. */
  #resolved(from: Json | undefined): JsonObject {
    let at = from
    for (let i = 0; i < MAX_REFERENCES; i++) {
      if (at === undefined || !isObject(at)) return NONE
      const reference = textOf(at, '$ref')
      if (reference === '') return at
      at = this.#target(reference)
    }
    return NONE
  }

  #target(reference: string): Json | undefined {
    if (this.#targets.has(reference)) return this.#targets.get(reference)
    const target = referred(this.#document, reference)
    this.#targets.set(reference, target)
    return target
  }
}

const NONE: JsonObject = {}

/** Values that an author gave in a schema: its examples, default, constant and choices. */
function givenValues(schema: JsonObject): Json[] {
  const { examples, enum: choices } = schema
  const [only, example, usual] = ['const', 'example', 'default'].map((name) => member(schema, name))
  const listed = Array.isArray(examples) ? examples : [member(examples, '0')]
  const all = [only, example, ...listed, usual, ...(Array.isArray(choices) ? choices : [])]
  return all.filter((value) => value !== undefined)
}

function scalarOf(type: string | undefined, keywords: JsonObject): Json {
  if (type === 'string') return exampleText(keywords)
  if (type === 'boolean') return true
  return type === 'integer' || type === 'number' ? numberOf(type, keywords) : null
}

/** A number within bounds that is a multiple of what it must be one of, 0 where it may be. */
function numberOf(type: string, keywords: JsonObject): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords
  const given = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : type === 'integer' ? 1 : 0
  const step = type === 'integer' ? wholeMultiple(given) : given
  const lower = boundOf(minimum, exclusiveMinimum, Math.max)
  const upper = boundOf(maximum, exclusiveMaximum, Math.min)
  const isWithin = (value: number) =>
    (lower === undefined || value > lower.at || (value === lower.at && !lower.open)) &&
    (upper === undefined || value < upper.at || (value === upper.at && !upper.open))
  const near = (at: number, by: number) =>
    step === 0 ? at + by : Number((Math.ceil(at / step - 1e-9) * step + by * step).toPrecision(12))
  const candidates = [0, ...[0, 1].flatMap((by) => (lower === undefined ? [] : [near(lower.at, by)]))]
  if (upper !== undefined) candidates.push(near(upper.at, 0), near(upper.at, -1), near(upper.at, -2))
  if (lower !== undefined && upper !== undefined) candidates.push((lower.at + upper.at) / 2)
  return candidates.find(isWithin) ?? 0
}

/** Most times that a step is taken until it is a whole number. */
const MOST_TIMES = 10_000

/** The first multiple of a step that is a whole number; the step where there is none near. */
function wholeMultiple(step: number): number {
  for (let times = 1; times <= MOST_TIMES; times++) {
    const whole = Math.round(step * times)
    if (whole > 0 && isMultiple(whole, step)) return whole
  }
  return step
}

interface NumberBound {
  readonly at: number
  readonly open: boolean
}

function boundOf(
  bound: Json | undefined,
  exclusive: Json | undefined,
  pick: (a: number, b: number) => number,
): NumberBound | undefined {
  if (typeof exclusive === 'number') {
    if (typeof bound === 'number' && pick(bound, exclusive) !== exclusive) return { at: bound, open: false }
    return { at: exclusive, open: true }
  }
  return typeof bound === 'number' ? { at: bound, open: exclusive === true } : undefined
}
