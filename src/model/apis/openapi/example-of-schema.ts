import type { Json, JsonObject } from '../../json/json.ts'
import { member, setMember, type TreePath } from '../definition/tree.ts'
import { describedAt } from './described.ts'

const MAX_DEPTH = 10
/** Values that one example may hold, so that a schema that refers to itself widely stays small. */
const MAX_VALUES = 1000

const BY_TYPE: Readonly<Record<string, Json>> = { string: 'string', number: 0, integer: 0, boolean: true, null: null }

/** A value of the shape that a schema of the document asks for: its own example, default or first choice where it has one. */
export function exampleOfSchema(document: JsonObject, at: TreePath): Json {
  const budget = { left: MAX_VALUES }
  return valueAt(document, at, 0, budget)
}

function valueAt(document: JsonObject, from: TreePath, depth: number, budget: { left: number }): Json {
  const { object: schema, at } = describedAt(document, from)
  if (depth > MAX_DEPTH || --budget.left < 0) return null
  const said = ownExample(schema)
  if (said !== undefined) return said
  const inner = (...names: string[]) => valueAt(document, [...at, ...names], depth + 1, budget)
  for (const choice of ['oneOf', 'anyOf']) if (member(schema[choice], '0') !== undefined) return inner(choice, '0')
  const made: JsonObject = {}
  let isObject = schema.type === 'object' || schema.properties !== undefined
  const parts = Array.isArray(schema.allOf) ? schema.allOf.length : 0
  for (let i = 0; i < parts; i++) {
    const part = inner('allOf', String(i))
    if (typeof part !== 'object' || part === null || Array.isArray(part)) continue
    isObject = true
    for (const name of Object.keys(part)) setMember(made, name, part[name]!)
  }
  if (schema.type === 'array') return schema.items === undefined ? [] : [inner('items')]
  const { object: properties } = describedAt(document, [...at, 'properties'])
  for (const name of Object.keys(properties)) setMember(made, name, inner('properties', name))
  if (isObject) return made
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  return BY_TYPE[String(type)] ?? null
}

function ownExample(schema: JsonObject): Json | undefined {
  return (
    member(schema, 'example') ??
    member(schema.examples, '0') ??
    member(schema, 'default') ??
    member(schema, 'const') ??
    member(schema.enum, '0')
  )
}
