import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { boundsFlaw, isBoundedBySchema } from './body-bounds.ts'
import type { Call } from './call.ts'
import type { Route } from './route.ts'

/** Parameters that may name several, one each time. */
const MAY_REPEAT: ReadonlySet<string> = new Set(['labels', 'tags', 'policy_ids', 'state', 'api_id', 'auth_type'])

type Check = (call: Call) => void

/**
 * Makes one check of what a route declares of query and body.
 * It @throws Fault `query_invalid`, `body_invalid` (400) naming what is wrong, `body_malformed` (403)
 */
export function checks(route: Pick<Route, 'path' | 'access' | 'query' | 'body' | 'bodyIs' | 'invalid'>): Check {
  const list: Check[] = Object.entries(route.query ?? {}).map(([name, schema]) => queryCheck(name, schema))
  if (route.body !== undefined && isBoundedBySchema(route)) list.push(boundsCheck(route.body, route))
  if (route.body !== undefined && route.bodyIs === undefined) list.push(bodyCheck(route.body, route.invalid))
  return (call) => {
    for (const check of list) check(call)
  }
}

/** Compiles at the first call: a start that compiled all of the several hundred schemas would take a third longer. */
function compiledOnce(schema: TSchema): () => Validator {
  let validator: Validator | undefined
  return () => (validator ??= Compile(schema))
}

function queryCheck(name: string, schema: TSchema): Check {
  const validator = compiledOnce(schema)
  return (call) => {
    for (const text of MAY_REPEAT.has(name) ? call.queryAll(name) : [call.query(name)]) {
      if (text !== '' && !readings(text).some((value) => validator().Check(value)))
        throw fault('query_invalid', `The value of ${name} is not valid`)
    }
  }
}

/** The meaning of a text in a query. */
function readings(text: string): unknown[] {
  if (text === 'true' || text === 'false') return [text, text === 'true']
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? [text, Number(text)] : [text]
}

function boundsCheck(schema: TSchema, { bodyIs, invalid }: Pick<Route, 'bodyIs' | 'invalid'>): Check {
  return (call) => {
    const flaw = boundsFlaw(schema, bodyIs === undefined ? call.json() : looselyRead(call, bodyIs))
    if (flaw !== undefined) throw bodyFault(flaw, invalid)
  }
}

/** A body that the call itself reads, as JSON or a form: one that is neither is refused there. */
function looselyRead(call: Call, bodyIs: Route['bodyIs']): Json {
  const reads = [() => call.json(), () => Object.fromEntries(call.form())]
  for (const read of bodyIs === 'form' ? reads.slice(1) : reads) {
    try {
      return read()
    } catch {}
  }
  return null
}

function bodyFault(where: string, message: string | undefined) {
  return message === undefined
    ? fault('body_invalid', where)
    : fault('body_refused', where === '' ? message : `${message.replace(/\.$/, '')}: ${where}`)
}

function bodyCheck(schema: TSchema, message: string | undefined): Check {
  const validator = compiledOnce(schema)
  return (call) => {
    const body = call.json()
    if (validator().Check(body)) return
    absentNulls(schema, body)
    if (validator().Check(body)) return
    const [first] = validator().Errors(body)
    const where =
      first === undefined ? '' : `${first.instancePath.slice(1).replaceAll('/', '.')} ${first.message}`.trim()
    throw bodyFault(where, message)
  }
}

/**
 * Takes null for absent in a body, in place, wherever its schema has no null: programs in Go write lists and values so that are not set.
 * A list or map that must be there is empty.
 */
function absentNulls(schema: object, value: Json): void {
  const { properties, required, items } = schema as JsonObject
  for (const option of optionsOf(schema as JsonObject)) absentNulls(option, value)
  if (Array.isArray(value) && isObject(items)) for (const entry of value) absentNulls(items, entry)
  if (!isObject(value) || !isObject(properties)) return
  for (const [name, member] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || !isObject(member)) continue
    const held = value[name]!
    if (held !== null) absentNulls(member, held)
    else if (!takesNull(member)) {
      const empty = Array.isArray(required) && required.includes(name) ? emptyOf(member) : undefined
      if (empty === undefined) delete value[name]
      else value[name] = empty
    }
  }
}

function optionsOf({ anyOf, oneOf, allOf }: JsonObject): JsonObject[] {
  return [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
}

/** True where the schema names null, or no type at all. */
function takesNull(schema: JsonObject): boolean {
  const options = optionsOf(schema)
  if (options.length > 0) return options.some(takesNull)
  if (Array.isArray(schema.enum)) return schema.enum.includes(null)
  if (Object.hasOwn(schema, 'const')) return schema.const === null
  return schema.type === undefined || schema.type === 'null'
}

function emptyOf({ type, patternProperties }: JsonObject): Json | undefined {
  if (type === 'array') return []
  return patternProperties === undefined ? undefined : {}
}
