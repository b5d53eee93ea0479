import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import { type Fault, fault } from '../../../errors/fault.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { type Flaw, fromPointer, getAt, member, toPointer, toWords } from '../definition/tree.ts'
import { isReference, VALUES, type ValueKind } from '../definition/values.ts'
import type { Schema } from '../schema/schema.ts'
import { CLASSIC_SCHEMA } from '../schema/schema-classic.ts'
import { EXTENSION_SCHEMA, OPENAPI_SCHEMA } from '../schema/schema-oas.ts'
import { CLASSIC_UNSERVED } from '../schema/schema-unserved-classic.ts'
import { EXTENSION_UNSERVED } from '../schema/schema-unserved-oas.ts'

/** Deepest nesting of a document that we take. */
const MAX_DEPTH = 64
const MAX_NODES = 1_000_000
const MAX_NAMED = 20

const SCHEMAS = {
  classic: CLASSIC_SCHEMA,
  classicUnserved: CLASSIC_UNSERVED,
  extension: EXTENSION_SCHEMA,
  extensionUnserved: EXTENSION_UNSERVED,
  openapi: OPENAPI_SCHEMA,
} satisfies Record<string, Schema>

export type SchemaName = keyof typeof SCHEMAS

/** Module state: a cache of immutable values: schemas of the source, compiled at their first use. */
const compiled = new Map<SchemaName, ValidateFunction>()
let ajv: Ajv | undefined

/** All schema errors of a value whose path is `root`. Compiles the schema at the first use. */
export function flawsOf(schema: SchemaName, value: Json, root: readonly string[] = []): Flaw[] {
  if (schema === 'openapi' && member(value, 'swagger') !== undefined && member(value, 'openapi') === undefined)
    return [{ at: [...root, 'swagger'], reason: `is Swagger ${member(value, 'swagger')}: ${CONVERT}` }]
  const validate = validatorOf(schema)
  if (validate(value)) return []
  return (validate.errors ?? [])
    .filter((error) => error.keyword !== 'propertyNames')
    .map((error) => toFlaw(error, root, value))
}

const CONVERT = 'convert it to OpenAPI 3 first, for example with swagger2openapi or editor.swagger.io'

/** @throws Fault `definition_invalid` that names the first 20 flaws; returns when there are none */
export function refuseFlaws(flaws: readonly Flaw[]): void {
  if (flaws.length > 0) throw definitionFault(flaws)
}

/** A Fault `definition_invalid` that names the first 20 flaws. */
export function definitionFault(flaws: readonly Flaw[]): Fault {
  const named = flaws.slice(0, MAX_NAMED).map(({ at, reason }) => `${toWords(at)}: ${reason}`)
  const more = flaws.length > MAX_NAMED ? [`and ${flaws.length - MAX_NAMED} more`] : []
  return fault('definition_invalid', [...named, ...more].join('; '))
}

/**
 * Refuses documents that are nested too deep or hold too much to be walked in good time; everything after this may recurse.
 * @throws Fault `definition_invalid`
 */
export function checkBounds(document: Json): void {
  let nodes = 0
  const walk = (value: Json, depth: number): void => {
    if (depth > MAX_DEPTH) throw fault('definition_invalid', `the document: is nested deeper than ${MAX_DEPTH} levels`)
    if (++nodes > MAX_NODES) throw fault('definition_invalid', `the document: holds more than ${MAX_NODES} values`)
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) for (const item of value) walk(item, depth + 1)
    else for (const name of Object.keys(value)) walk(value[name]!, depth + 1)
  }
  walk(document, 1)
}

function validatorOf(name: SchemaName): ValidateFunction {
  const known = compiled.get(name)
  if (known !== undefined) return known
  const validate = engine().compile(SCHEMAS[name] as JsonObject)
  compiled.set(name, validate)
  return validate
}

function engine(): Ajv {
  if (ajv !== undefined) return ajv
  ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strictRequired: false })
  ajv.addKeyword({ keyword: 'is', type: 'string', schemaType: 'string', errors: true, compile: textCheck })
  ajv.addKeyword({ keyword: 'names', type: 'object', schemaType: 'string', errors: true, compile: namesCheck })
  return ajv
}

/** Keyword `is`: the text passes a check of values.ts. */
function textCheck(kind: ValueKind): SchemaValidateFunction {
  const check: SchemaValidateFunction = (value: string) => {
    // Values kept elsewhere are refused by that name, wherever they are.
    const message = isReference(value) ? undefined : VALUES[kind](value)
    if (message === undefined) return true
    check.errors = [{ keyword: 'is', message, params: {} }]
    return false
  }
  return check
}

/** Keyword `names`: the names of an object's members pass it. */
function namesCheck(kind: ValueKind): SchemaValidateFunction {
  const check: SchemaValidateFunction = (value: JsonObject, context?: DataValidationCxt) => {
    check.errors = Object.keys(value).flatMap((name) => {
      const message = VALUES[kind](name)
      const instancePath = `${context?.instancePath ?? ''}${toPointer([name])}`
      return message === undefined ? [] : [{ keyword: 'names', message, params: {}, instancePath }]
    })
    return check.errors.length === 0
  }
  return check
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'an object',
}

function toFlaw(error: ErrorObject, root: readonly string[], whole: Json): Flaw {
  const inner = fromPointer(error.instancePath) ?? []
  const at = [...root, ...inner]
  if (error.propertyName !== undefined) at.push(error.propertyName)
  if (error.keyword === 'required') return { at: [...at, String(error.params.missingProperty)], reason: 'is missing' }
  const value = getAt(whole, inner)
  // YAML reads 1.0, 2024-01-31 and true without quotes as what they look like.
  const isUnquoted =
    error.keyword === 'type' &&
    error.params.type === 'string' &&
    (typeof value === 'number' || typeof value === 'boolean')
  return { at, reason: `${reasonOf(error)}${isUnquoted ? `, not ${value}: put it in quotes` : ''}` }
}

function reasonOf(error: ErrorObject): string {
  const { keyword, params } = error
  if (keyword === 'type') return `must be ${KINDS[[params.type].flat()[0]] ?? 'of another type'}`
  if (keyword === 'enum')
    return `must be one of ${(params.allowedValues as Json[])
      .filter((word) => word !== null)
      .map((word) => JSON.stringify(word))
      .join(', ')}`
  if (keyword === 'minimum') return `must be at least ${params.limit}`
  if (keyword === 'maximum') return `must be at most ${params.limit}`
  if (keyword === 'maxItems' || keyword === 'maxProperties') return `must not hold more than ${params.limit} entries`
  if (keyword === 'pattern') return `must look like ${params.pattern}`
  return error.message ?? 'is not valid'
}
