import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** Deepest object of an example. */
const DEEPEST = 6
/** Most members of an object whose members are all optional. */
const MOST_OPTIONAL = 6

const STORAGE_ID = '5e9d9544a1dcd60001d0ed20'

/** Values of texts of a form. */
const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-11-27T12:00:00Z',
  date: '2026-11-27',
  email: 'ada@example.com',
  uri: 'https://app.example.com/callback',
}

/** Values of texts that have no example, by the name of their member. */
const BY_NAME: Readonly<Record<string, string>> = {
  _id: STORAGE_ID,
  id: STORAGE_ID,
  api_id: 'orders',
  org_id: STORAGE_ID,
  client_id: 'bookkeeper',
  email: 'ada@example.com',
  email_address: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  message: 'ok',
  Message: 'ok',
  method: 'GET',
  name: 'Orders',
  path: '/orders/',
  url: 'https://orders.example.com/',
  version: '1',
}

/** An example of the values of a schema in the form of OpenAPI 3.0; `schemas` are the components that it refers to. */
function exampleOf(schema: JsonObject, schemas: JsonObject): Json {
  return exampleValue(schema, { schemas, name: '', depth: 0 })
}

interface Place {
  readonly schemas: JsonObject
  /** Name of the member that has the schema, '' at the root. */
  readonly name: string
  readonly depth: number
}

function exampleValue(schema: JsonObject, at: Place): Json {
  const named = referred(schema, at.schemas)
  if (named !== undefined) return exampleValue(named, at)
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined) return schema.default
  const { anyOf, allOf, enum: values, type } = schema
  if (Array.isArray(values)) return (values.find((each) => each !== '') ?? values[0])!
  if (Array.isArray(allOf) && allOf.length > 0) return mergedOf(allOf.filter(isObject), at)
  const [option] = Array.isArray(anyOf) ? anyOf.filter(isObject) : []
  if (option !== undefined) return exampleValue(option, at)
  if (type === 'object' || isObject(schema.properties ?? null)) return objectOf(schema, at)
  if (type === 'array') return listOf(schema, at)
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return numberOf(schema)
  return type === 'string' ? textOf(schema, at.name) : {}
}

function numberOf({ minimum, maximum }: JsonObject): number {
  return Math.min(Math.max(1, Number(minimum ?? 0)), Number(maximum ?? Number.POSITIVE_INFINITY))
}

/** Of parts that hold together; where one is no object, the first. */
function mergedOf(parts: readonly JsonObject[], at: Place): Json {
  const values = parts.map((part) => exampleValue(part, at))
  return values.every((value) => isObject(value)) ? Object.assign({}, ...values) : values[0]!
}

function objectOf({ properties, required, additionalProperties }: JsonObject, at: Place): JsonObject {
  const inside = (name: string): Place => ({ ...at, name, depth: at.depth + 1 })
  const members = Object.entries(isObject(properties ?? null) ? (properties as JsonObject) : {})
  if (at.depth >= DEEPEST) return {}
  if (members.length === 0)
    return isObject(additionalProperties ?? null)
      ? { name: exampleValue(additionalProperties as JsonObject, inside('name')) }
      : {}
  const needed = new Set(Array.isArray(required) ? required : [])
  const shown = needed.size > 0 ? members.filter(([name]) => needed.has(name)) : chosen(members)
  return Object.fromEntries(
    shown.map(([name, member]) => [name, isObject(member) ? exampleValue(member, inside(name)) : {}]),
  )
}

/** Members that have an example of their own say most. */
function chosen(members: readonly [string, Json][]): readonly [string, Json][] {
  const telling = members.filter(
    ([, member]) => isObject(member) && member.example !== undefined && member.example !== '',
  )
  return (telling.length > 0 ? telling : members).slice(0, MOST_OPTIONAL)
}

function listOf({ items, maxItems }: JsonObject, at: Place): Json[] {
  if (maxItems === 0 || at.depth >= DEEPEST) return []
  if (!isObject(items ?? null) || (items as JsonObject).not !== undefined) return []
  return [exampleValue(items as JsonObject, { ...at, name: at.name.replace(/s$/, ''), depth: at.depth + 1 })]
}

function textOf({ format, pattern, minLength }: JsonObject, name: string): string {
  const formatted = BY_FORMAT[String(format)]
  if (formatted !== undefined) return formatted
  if (String(pattern).includes('[0-9a-f]{24}')) return STORAGE_ID
  if (pattern === '^[0-9a-f]{64}$') return '5e'.repeat(32)
  const known = Object.hasOwn(BY_NAME, name) ? BY_NAME[name]! : 'text'
  return known.padEnd(Number(minLength ?? 0), 'x')
}

function referred({ $ref }: JsonObject, schemas: JsonObject): JsonObject | undefined {
  if (typeof $ref !== 'string') return undefined
  const named = schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
  return named !== undefined && isObject(named) ? named : {}
}

/**
 * An OpenAPI 3.0 document with an example at every body and answer in JSON: of `requests`, by the id of the operation, else one that follows from
 * the schema.
 */
export function withExamples(document: JsonObject, requests: Readonly<Record<string, Json>>): JsonObject {
  const schemas = (document.components as { readonly schemas: JsonObject }).schemas
  const filled = (content: JsonObject, given?: Json) =>
    Object.fromEntries(
      Object.entries(content).map(([type, body]) => {
        if (!isObject(body) || !isObject(body.schema ?? null) || !/json|urlencoded/.test(type)) return [type, body]
        return [type, { ...body, example: given ?? exampleOf(body.schema as JsonObject, schemas) }]
      }),
    )
  const operationOf = (operation: JsonObject): JsonObject => {
    const { requestBody, responses, operationId } = operation as Record<string, JsonObject>
    return {
      ...operation,
      ...(requestBody !== undefined && {
        requestBody: {
          ...requestBody,
          content: filled(requestBody.content as JsonObject, requests[String(operationId)]),
        },
      }),
      responses: Object.fromEntries(
        Object.entries(responses ?? {}).map(([status, response]) => {
          const isDone = isObject(response) && status.startsWith('2') && isObject(response.content ?? null)
          return [status, isDone ? { ...response, content: filled(response.content as JsonObject) } : response]
        }),
      ),
    }
  }
  const paths = Object.entries(document.paths as JsonObject).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item as JsonObject).map(([method, each]) => [method, operationOf(each as JsonObject)]),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}
