import { parse } from 'yaml'
import { isJson, type Json, objectIn, objectsIn, textIn, textsIn } from './dashboard.ts'

/** One operation of an API. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly deprecated: boolean
  readonly parameters: readonly Parameter[]
  readonly body: readonly Parameter[]
  readonly answers: readonly { readonly status: string; readonly description: string }[]
  /** An answer as an example, as JSON; '' = none. */
  readonly example: string
}

/** A parameter of an operation, or a member of its body. */
export interface Parameter {
  readonly name: string
  readonly place: string
  readonly sort: string
  readonly needed: boolean
  readonly description: string
}

/** As much of an OpenAPI document as is shown. */
export interface ApiDocument {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly servers: readonly string[]
  readonly operations: readonly Operation[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']
const MOST_OPERATIONS = 300
const MOST_PARAMETERS = 100
const MOST_HOPS = 10

/** Reads an OpenAPI document, JSON or YAML; undefined for other text. */
export function readApiDocument(text: string): ApiDocument | undefined {
  const root = parsed(text)
  if (root === undefined || !isJson(root.paths)) return undefined
  const info = objectIn(root, 'info')
  const addresses = objectsIn(root, 'servers').map((server) => textIn(server, 'url'))
  return {
    title: textIn(info, 'title'),
    version: textIn(info, 'version'),
    description: textIn(info, 'description'),
    servers: addresses.filter((url) => /^https?:\/\//i.test(url)),
    operations: operationsOf(root, objectIn(root, 'paths')).slice(0, MOST_OPERATIONS),
  }
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = /^\s*\{/.test(text) ? JSON.parse(text) : parse(text, { maxAliasCount: 0 })
    return isJson(value) ? value : undefined
  } catch {
    return undefined
  }
}

function operationsOf(root: Json, paths: Json): Operation[] {
  return Object.keys(paths).flatMap((path) => {
    const item = followed(root, paths[path])
    return METHODS.filter((method) => isJson(item[method])).map((method) => operationOf(root, path, item, method))
  })
}

function operationOf(root: Json, path: string, item: Json, method: string): Operation {
  const operation = objectIn(item, method)
  const answers = objectIn(operation, 'responses')
  const statuses = Object.keys(answers)
  const good = statuses.find((status) => status.startsWith('2'))
  const [tag = ''] = textsIn(operation, 'tags')
  return {
    id: `${method}-${path}`.replace(/[^A-Za-z0-9]+/g, '-'),
    ...{ method: method.toUpperCase(), path, tag },
    summary: textIn(operation, 'summary') || textIn(operation, 'operationId') || path,
    description: textIn(operation, 'description'),
    deprecated: operation.deprecated === true,
    parameters: parametersOf(root, [...listIn(item, 'parameters'), ...listIn(operation, 'parameters')]),
    body: membersOf(root, contentOf(followed(root, operation.requestBody))),
    answers: statuses.map((status) => ({
      status,
      description: textIn(followed(root, answers[status]), 'description'),
    })),
    example: good === undefined ? '' : exampleOf(root, contentOf(followed(root, answers[good]))),
  }
}

/** Parameters without repetitions: of one name and place the last counts, that of the operation and not that of the path. */
function parametersOf(root: Json, listed: readonly unknown[]): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const entry of listed.slice(0, MOST_PARAMETERS)) {
    const parameter = followed(root, entry)
    const [name, place] = [textIn(parameter, 'name'), textIn(parameter, 'in')]
    found.set(`${place} ${name}`, {
      ...{ name, place, sort: sortOf(root, parameter.schema), needed: parameter.required === true },
      description: textIn(parameter, 'description'),
    })
  }
  return [...found.values()]
}

function membersOf(root: Json, content: Json): Parameter[] {
  const schema = followed(root, content.schema)
  const members = objectIn(schema, 'properties')
  const needed = new Set(textsIn(schema, 'required'))
  const names = Object.keys(members).slice(0, MOST_PARAMETERS)
  return names.map((name) => ({
    ...{ name, place: 'body', sort: sortOf(root, members[name]), needed: needed.has(name) },
    description: textIn(followed(root, members[name]), 'description'),
  }))
}

function sortOf(root: Json, schema: unknown): string {
  const found = followed(root, schema)
  const type = textIn(found, 'type') || textsIn(found, 'type').join(' or ')
  const values = Array.isArray(found.enum) ? found.enum.filter((value) => typeof value !== 'object') : []
  if (values.length > 0) return values.map(String).slice(0, MOST_PARAMETERS).join(' | ')
  return type === 'array' ? `list of ${textIn(followed(root, found.items), 'type') || 'values'}` : type || 'any'
}

function exampleOf(root: Json, content: Json): string {
  const [first] = Object.values(objectIn(content, 'examples'))
  const example = content.example ?? followed(root, first).value ?? followed(root, content.schema).example
  return example === undefined ? '' : JSON.stringify(example, null, 2)
}

/** The JSON content of a body or an answer, else the first one. */
function contentOf(holder: Json): Json {
  const content = objectIn(holder, 'content')
  const found = content['application/json'] ?? Object.values(content)[0]
  return isJson(found) ? found : {}
}

/** Follows a reference within the document; nothing is fetched, and circles end. */
function followed(root: Json, value: unknown): Json {
  let at = value
  for (let hops = 0; hops < MOST_HOPS && isJson(at) && typeof at.$ref === 'string'; hops++) {
    if (!at.$ref.startsWith('#/')) return {}
    at = at.$ref
      .slice(2)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((from, name) => (isJson(from) && Object.hasOwn(from, name) ? from[name] : undefined), root)
  }
  return isJson(at) && at.$ref === undefined ? at : {}
}

function listIn(json: Json, name: string): readonly unknown[] {
  const value = json[name]
  return Array.isArray(value) ? value : []
}
