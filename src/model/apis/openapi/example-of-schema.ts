import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { definitionFault } from '../check/validate.ts'
import { textOf } from '../definition/members.ts'
import { member, setMember, type TreePath } from '../definition/tree.ts'
import { MAX_REFERENCES, referred } from './references.ts'

const MAX_DEPTH = 10
/** Values that one example may hold, so that a schema that refers to itself widely stays small. */
const MAX_VALUES = 1000
/** Values that are made from the schemas of one document, those of equal places once: about half a second. */
const MOST_MADE = 500_000
/** Characters of the examples of one document, those that are shared once. */
const MOST_CHARACTERS = 16_000_000

const BY_TYPE: Readonly<Record<string, Json>> = { string: 'string', number: 0, integer: 0, boolean: true, null: null }

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
    return this.#valueOf(schema, 0, { left: MAX_VALUES })
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

  #valueOf(from: Json | undefined, depth: number, budget: { left: number }): Json {
    const schema = this.#resolved(from)
    const known = this.#made.get(schema)?.[depth]
    // One that was cut short depends on what was left for it, which is all at the top.
    if (known !== undefined && (depth === 0 || known.values <= budget.left)) {
      budget.left -= known.values
      return known.value
    }
    if (--this.#valuesLeft < 0) this.#refuse(`${MOST_MADE} values`)
    const before = budget.left
    if (depth > MAX_DEPTH || --budget.left < 0) return null
    const value = this.#fresh(schema, depth, budget)
    if (depth > 0 && budget.left < 0) return value
    let made = this.#made.get(schema)
    if (made === undefined) {
      made = []
      this.#made.set(schema, made)
    }
    made[depth] = { value, values: before - budget.left }
    return value
  }

  #fresh(schema: JsonObject, depth: number, budget: { left: number }): Json {
    const said = ownExample(schema)
    if (said !== undefined) return said
    const inner = (part: Json | undefined) => this.#valueOf(part, depth + 1, budget)
    for (const choice of ['oneOf', 'anyOf']) {
      const first = member(schema[choice], '0')
      if (first !== undefined) return inner(first)
    }
    const value: JsonObject = {}
    let holdsMembers = schema.type === 'object' || schema.properties !== undefined
    for (const each of Array.isArray(schema.allOf) ? schema.allOf : []) {
      const part = inner(each)
      if (!isObject(part)) continue
      holdsMembers = true
      for (const name of Object.keys(part)) setMember(value, name, part[name]!)
    }
    if (schema.type === 'array') return schema.items === undefined ? [] : [inner(schema.items)]
    const properties = this.#resolved(schema.properties)
    for (const name of Object.keys(properties)) setMember(value, name, inner(properties[name]))
    if (holdsMembers) return value
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    return BY_TYPE[String(type)] ?? null
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

function ownExample(schema: JsonObject): Json | undefined {
  return (
    member(schema, 'example') ??
    member(schema.examples, '0') ??
    member(schema, 'default') ??
    member(schema, 'const') ??
    member(schema.enum, '0')
  )
}
