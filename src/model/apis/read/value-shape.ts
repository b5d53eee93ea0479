import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import type { ScalarKind, ValueShape } from '../definition/operation.ts'
import { getAt, type TreePath } from '../definition/tree.ts'
import { follow } from '../openapi/described.ts'

/** Most schemas that one shape is read from; what lies behind is read as text. */
const MOST_READ = 2000
const MAX_DEPTH = 10

type Kind = ScalarKind | 'list' | 'object'

const KINDS: Readonly<Record<string, Kind>> = {
  ...{ string: 'text', number: 'number', integer: 'integer', boolean: 'boolean', null: 'null' },
  ...{ array: 'list', object: 'object' },
}
/** A number may be a whole one. */
const NUMBERS: readonly Kind[] = ['integer', 'number']
/** Kinds of a text, the ones that take fewer texts first. */
const SCALARS: readonly ScalarKind[] = ['integer', 'number', 'boolean', 'null', 'text']

/** A value that is a text. */
export const TEXT: ValueShape = { scalars: ['text'], items: undefined, members: undefined, rest: undefined }

/** The kinds of values by one schema; `kinds` undefined = it says nothing. */
interface Said {
  kinds: Set<Kind> | undefined
  items: Said | undefined
  members: Map<string, Said>
  rest: Said | undefined
}

/**
 * The shape of the values that the schema at a path of a document takes: of all its alternatives together. One that says nothing takes
 * texts.
 */
export function shapeAt(document: JsonObject, at: TreePath): ValueShape {
  return shapeOf(saidAt(document, at, 0, { left: MOST_READ }))
}

/** True when texts and lists of texts can spell it: it holds no lists or objects in a list or object. */
export function isFlat({ scalars, items, members, rest }: ValueShape, mayHoldLists: boolean): boolean {
  const isScalar = (shape: ValueShape) => shape.scalars.length > 0
  if (items !== undefined && !isScalar(items)) return false
  const fits = (shape: ValueShape) => isScalar(shape) || (mayHoldLists && isFlat(shape, false) && !shape.members)
  if (members !== undefined && ![...members.values(), ...(rest ? [rest] : [])].every(fits)) return false
  return scalars.length > 0 || items !== undefined || members !== undefined
}

function shapeOf({ kinds, items, members, rest }: Said): ValueShape {
  const taken = kinds ?? new Set<Kind>([members.size > 0 || rest ? 'object' : items === undefined ? 'text' : 'list'])
  const inner = [...members].map(([name, said]) => [name, shapeOf(said)] as const)
  return {
    scalars: SCALARS.filter((kind) => taken.has(kind) && !(kind === 'integer' && taken.has('number'))),
    items: taken.has('list') ? (items === undefined ? TEXT : shapeOf(items)) : undefined,
    members: taken.has('object') ? new Map(inner) : undefined,
    rest: taken.has('object') && rest !== undefined ? shapeOf(rest) : undefined,
  }
}

function saidAt(document: JsonObject, at: TreePath, depth: number, budget: { left: number }): Said {
  const schema = getAt(document, at)
  const said: Said = { kinds: undefined, items: undefined, members: new Map(), rest: undefined }
  if (!isObject(schema) || depth > MAX_DEPTH || --budget.left < 0) return said
  const inner = (...path: string[]) => saidAt(document, [...at, ...path], depth + 1, budget)
  said.kinds = kindsOf(schema)
  if (schema.items !== undefined && !Array.isArray(schema.items)) said.items = inner('items')
  for (const name of isObject(schema.properties) ? Object.keys(schema.properties) : [])
    said.members.set(name, inner('properties', name))
  if (isObject(schema.additionalProperties ?? null)) said.rest = inner('additionalProperties')
  for (const name of isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : []) {
    const named = inner('patternProperties', name)
    if (said.rest === undefined) said.rest = named
    else add(said.rest, named, either)
  }
  const listed = (keyword: string) => {
    const list = schema[keyword]
    return Array.isArray(list) ? list.map((_each, index) => inner(keyword, String(index))) : []
  }
  for (const part of listed('allOf')) add(said, part, both)
  if (typeof schema.$ref === 'string') {
    const found = follow(document, at)
    if (found.value !== undefined) add(said, saidAt(document, found.at, depth + 1, budget), both)
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const [first, ...more] = listed(keyword)
    if (first === undefined) continue
    for (const other of more) add(first, other, either)
    add(said, first, both)
  }
  if (schema.nullable === true) said.kinds?.add('null')
  return said
}

function kindsOf({ type, const: only, enum: choices }: JsonObject): Set<Kind> | undefined {
  const types = [type].flat().flatMap((name) => (name === 'number' ? NUMBERS : (KINDS[String(name)] ?? [])))
  if (types.length > 0) return new Set(types)
  const values = only !== undefined ? [only] : Array.isArray(choices) ? choices : []
  return values.length === 0
    ? undefined
    : new Set(values.flatMap((value) => (typeof value === 'number' ? NUMBERS : kindOf(value))))
}

function kindOf(value: Json): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return KINDS[typeof value]!
}

type Kinds = Set<Kind> | undefined
const both = (one: Kinds, other: Kinds): Kinds =>
  one === undefined ? other : other === undefined ? one : one.intersection(other)
const either = (one: Kinds, other: Kinds): Kinds =>
  one === undefined || other === undefined ? undefined : one.union(other)

function add(said: Said, other: Said, combine: (one: Kinds, other: Kinds) => Kinds): void {
  said.kinds = combine(said.kinds, other.kinds)
  if (said.items !== undefined && other.items !== undefined) add(said.items, other.items, combine)
  else said.items ??= other.items
  if (said.rest !== undefined && other.rest !== undefined) add(said.rest, other.rest, combine)
  else said.rest ??= other.rest
  for (const [name, member] of other.members) {
    const known = said.members.get(name)
    if (known === undefined) said.members.set(name, member)
    else add(known, member, combine)
  }
}
