import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { PATH_METHODS } from '../convert/convert-operations.ts'
import { EXTENSION, objectOf } from '../definition/members.ts'
import { type Flaw, member, type TreePath } from '../definition/tree.ts'
import { IdleWords, idleDialect } from './idle-keywords.ts'

const DESCRIBED = ['summary', 'description']
const OPERATION = ['tags', 'externalDocs', 'operationId', 'parameters', 'requestBody', 'responses', 'callbacks']
const SPELLING = ['style', 'explode', 'allowReserved']
const STREAMS = ['prefixEncoding', 'itemEncoding']

/** The members that OpenAPI has in its objects. */
const MEMBERS = {
  document: [
    ...['openapi', '$self', 'info', 'jsonSchemaDialect', 'servers', 'paths', 'webhooks', 'components', 'security'],
    ...['tags', 'externalDocs'],
  ],
  'path item': [...DESCRIBED, '$ref', 'servers', 'parameters', 'query', 'additionalOperations', ...PATH_METHODS],
  operation: [...DESCRIBED, ...OPERATION, 'deprecated', 'security', 'servers'],
  parameter: [
    ...['name', 'in', 'required', 'deprecated', 'allowEmptyValue', 'example', 'examples', 'schema', 'content', '$ref'],
    ...DESCRIBED,
    ...SPELLING,
  ],
  'request body': [...DESCRIBED, 'content', 'required', '$ref'],
  'media type': ['schema', 'itemSchema', 'example', 'examples', 'encoding', '$ref', ...STREAMS],
  encoding: ['contentType', 'headers', ...SPELLING, 'encoding', ...STREAMS],
  response: [...DESCRIBED, 'headers', 'content', 'links', '$ref'],
  example: [...DESCRIBED, 'value', 'externalValue', 'dataValue', 'serializedValue', '$ref'],
} as const satisfies Readonly<Record<string, readonly string[]>>

type Kind = keyof typeof MEMBERS

/** Members of OpenAPI that are kept and do nothing here. */
const IDLE: ReadonlyMap<string, string> = new Map([
  ['document webhooks', 'they describe requests that the service sends'],
  ['operation callbacks', 'they describe requests that the service sends'],
  ['encoding headers', 'fields of parts are not compared'],
  ['example externalValue', 'it is not fetched, and no mock is made of it'],
])

/** Parts of an OpenAPI document, schemas apart, that OpenAPI does not have in their place, or that have no effect here. */
export function idleMembers(document: JsonObject): Flaw[] {
  const words = new IdleWords()
  const visit = (kind: Kind, value: Json | undefined, at: TreePath): JsonObject => {
    if (!isObject(value)) return {}
    for (const name of Object.keys(value)) {
      if (name.startsWith('x-') || name === EXTENSION) continue
      const isKnown = (MEMBERS[kind] as readonly string[]).includes(name)
      const reason = isKnown ? IDLE.get(`${kind} ${name}`) : `OpenAPI 3 has no such member in its object "${kind}"`
      if (reason !== undefined) words.note([...at, name], { reason, ...(!isKnown && { among: MEMBERS[kind] }) })
    }
    return value
  }
  const each = (kind: Kind, holder: JsonObject, name: string, at: TreePath, next?: Visit) => {
    const all = member(holder, name)
    if (typeof all !== 'object' || all === null) return
    for (const key of Object.keys(all)) {
      // Other maps have no extensions: `x-` may begin the name of an example or component.
      if (name === 'responses' && at[0] === 'paths' && key.startsWith('x-')) continue
      const path = [...at, name, key]
      const inner = visit(kind, member(all, key), path)
      next?.(inner, path)
    }
  }
  const media: Visit = (value, at) => {
    each('encoding', value, 'encoding', at)
    each('example', value, 'examples', at)
  }
  const content: Visit = (value, at) => each('media type', value, 'content', at, media)
  const operation: Visit = (value, at) => {
    each('parameter', value, 'parameters', at, content)
    content(visit('request body', value.requestBody, [...at, 'requestBody']), [...at, 'requestBody'])
    each('response', value, 'responses', at, content)
  }
  const item: Visit = (value, at) => {
    each('parameter', value, 'parameters', at, content)
    for (const method of PATH_METHODS) operation(visit('operation', value[method], [...at, method]), [...at, method])
  }
  visit('document', document, [])
  const { jsonSchemaDialect: dialect } = document
  const idleness = dialect === undefined ? undefined : idleDialect(dialect)
  if (idleness !== undefined) words.note(['jsonSchemaDialect'], idleness)
  each('path item', { paths: pathsOf(document) }, 'paths', [], item)
  const components = objectOf(document, 'components')
  each('parameter', components, 'parameters', ['components'], content)
  each('request body', components, 'requestBodies', ['components'], content)
  each('response', components, 'responses', ['components'], content)
  each('example', components, 'examples', ['components'])
  return words.flaws
}

type Visit = (value: JsonObject, at: TreePath) => void

function pathsOf(document: JsonObject): JsonObject {
  const paths = objectOf(document, 'paths')
  return Object.fromEntries(Object.keys(paths).flatMap((path) => (path.startsWith('/') ? [[path, paths[path]!]] : [])))
}
