import { OAUTH_SCHEME } from '../../authentication/oauth-scheme.ts'
import { declares } from '../../authentication/scheme.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { unmatchablePath } from '../definition/defined-path.ts'
import { flagOf, isEmpty, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { getAt, member, pathOf, putAt, sameTree, setMember } from '../definition/tree.ts'
import { askedScopes, listedScopes } from '../read/oauth-members.ts'
import { entryMethods, lacksAction, TRIGGER_SOURCES } from '../read/read-rules.ts'
import { type Codec, copyPairs, DURATION, type Pair } from './convert-pairs.ts'
import { HEADERS } from './convert-table.ts'

/** `triggers` of `url_rewrites`, grouped by where they look, and of `urlRewrite`, in a list. */
const TRIGGERS: Codec = {
  toOas: (value) => (Array.isArray(value) ? value.map(triggerToOas) : undefined),
  toClassic: (value) => (Array.isArray(value) ? value.map(triggerToClassic) : undefined),
}

/** Methods that a path of an OpenAPI document can have, as its keys spell them. */
export const PATH_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

interface ListTwin {
  /** List of `extended_paths`. */
  readonly list: string
  /** Section of `middleware.operations.<operationId>`. */
  readonly section: string
  readonly pairs: readonly Pair[]
}

const NOT: Codec = {
  toOas: (value) => (typeof value === 'boolean' ? !value : undefined),
  toClassic: (value) => (typeof value === 'boolean' ? !value : undefined),
}

function twin(list: string, section: string, ...pairs: (readonly [string, string, Codec?])[]): ListTwin {
  const toPair = ([classic, oas, as]: readonly [string, string, Codec?]): Pair => ({
    classic: pathOf(classic),
    oas: pathOf(oas),
    ...(as === undefined ? {} : { as }),
  })
  return { list, section, pairs: pairs.map(toPair) }
}

const EDITS = [
  ['add_headers', 'add', HEADERS],
  ['delete_headers', 'remove'],
] as const

const TEMPLATE = [
  ['template_data.input_type', 'format'],
  ['template_data.template_source', 'body'],
  ['template_data.enable_session', 'enableSession'],
] as const

/** The common part of the lists of classic definitions and the sections of operations. */
export const OPERATION_TWINS: readonly ListTwin[] = [
  twin('white_list', 'allow', ['ignore_case', 'ignoreCase']),
  twin('black_list', 'block', ['ignore_case', 'ignoreCase']),
  twin('ignored', 'ignoreAuthentication', ['ignore_case', 'ignoreCase']),
  twin('internal', 'internal'),
  twin('rate_limit', 'rateLimit', ['rate', 'rate'], ['per', 'per', DURATION]),
  twin('size_limits', 'requestSizeLimit', ['size_limit', 'value']),
  twin('hard_timeouts', 'enforceTimeout', ['timeout', 'value'], ['duration', 'duration']),
  twin('track_endpoints', 'trackEndpoint'),
  twin('do_not_track_endpoints', 'doNotTrackEndpoint'),
  twin('transform_headers', 'transformRequestHeaders', ...EDITS),
  twin('transform_response_headers', 'transformResponseHeaders', ...EDITS),
  twin('transform', 'transformRequestBody', ...TEMPLATE),
  twin('transform_response', 'transformResponseBody', ...TEMPLATE),
  twin('method_transforms', 'transformRequestMethod', ['to_method', 'toMethod']),
  twin(
    'circuit_breakers',
    'circuitBreaker',
    ['threshold_percent', 'threshold'],
    ['samples', 'sampleSize'],
    ['return_to_service_after', 'coolDownPeriod'],
    ['disable_half_open_state', 'halfOpenStateEnabled', NOT],
  ),
  twin(
    'url_rewrites',
    'urlRewrite',
    ['match_pattern', 'pattern'],
    ['rewrite_to', 'rewriteTo'],
    ['triggers', 'triggers', TRIGGERS],
  ),
  twin(
    'validate_request',
    'validateRequest',
    ['error_response_code', 'errorResponseCode'],
    ['fill_defaults', 'fillDefaults'],
  ),
  twin(
    'mock_response',
    'mockResponse',
    ['code', 'code'],
    ['body', 'body'],
    ['headers', 'headers', HEADERS],
    ['from_oas_examples.enabled', 'fromOASExamples.enabled'],
    ['from_oas_examples.code', 'fromOASExamples.code'],
    ['from_oas_examples.content_type', 'fromOASExamples.contentType'],
    ['from_oas_examples.example_name', 'fromOASExamples.exampleName'],
  ),
  twin(
    'advance_cache_config',
    'cache',
    ['cache_key_regex', 'cacheByRegex'],
    ['cache_response_codes', 'cacheResponseCodes'],
    ['timeout', 'timeout'],
  ),
]

/** An operation of the document: its place, and its name in the extension. */
export interface Operation {
  readonly path: string
  /** Upper case. */
  readonly method: string
  readonly id: string
  readonly object: JsonObject
}

/** The operations of `paths`, in their order; `id` is '' for those that have none. */
export function operationsOf(document: JsonObject): Operation[] {
  const paths = objectOf(document, 'paths')
  return Object.keys(paths).flatMap((path) =>
    PATH_METHODS.flatMap((method) => {
      const object = member(paths[path], method)
      if (object === undefined || !isObject(object)) return []
      return [{ path, method: method.toUpperCase(), id: textOf(object, 'operationId'), object }]
    }),
  )
}

/** Writes the operations of the extension as lists of a version. True when there was anything to write. */
export function operationsToClassic(document: JsonObject, extension: JsonObject, version: JsonObject): boolean {
  const sections = objectOf(objectOf(extension, 'middleware'), 'operations')
  const lists: JsonObject = {}
  for (const { path, method, id } of operationsOf(document)) {
    const operation = id === '' ? undefined : member(sections, id)
    if (operation === undefined) continue
    for (const { list, section, pairs } of OPERATION_TWINS) {
      const held = member(operation, section)
      if (held === undefined || !isObject(held)) continue
      const entry: JsonObject = { path, method }
      if (!flagOf(held, 'enabled')) entry.disabled = true
      copyPairs(pairs, held, entry, 'toClassic')
      const known = member(lists, list)
      if (Array.isArray(known)) known.push(entry)
      else lists[list] = [entry]
    }
  }
  if (Object.keys(lists).length === 0) return false
  version.extended_paths = lists
  return true
}

/**
 * Writes the lists of a version as operations of the extension, and adds to `paths` those that the document lacks.
 * Entries that cannot be an operation (no method, a path without its slash, a second entry for one operation) are left out.
 */
export function operationsToOas(version: JsonObject, document: JsonObject, extension: JsonObject): void {
  const lists = objectOf(version, 'extended_paths')
  const ids = idsOf(document)
  for (const { list, section, pairs } of OPERATION_TWINS) {
    for (const entry of objectsOf(lists, list)) {
      const path = textOf(entry, 'path')
      // An expression may hold what no path of a document does: `/items\\z`.
      if (!path.startsWith('/') || unmatchablePath(path, true) !== undefined) continue
      const named = entryMethods(list, entry).filter((method) => !lacksAction(list, entry, method))
      for (const method of PATH_METHODS.filter((each) => named.includes(each.toUpperCase()))) {
        const id = ids.get(`${method} ${path}`) ?? addOperation(document, ids, path, method)
        const at = ['middleware', 'operations', id, section]
        if (getAt(extension, at) !== undefined) continue
        const held: JsonObject = { enabled: entry.disabled !== true && entry.enabled !== false }
        copyPairs(pairs, entry, held, 'toOas')
        putAt(extension, at, held)
      }
    }
  }
}

function idsOf(document: JsonObject): Map<string, string> {
  const ids = new Map<string, string>()
  for (const { path, method, id } of operationsOf(document)) {
    if (id !== '') ids.set(`${method.toLowerCase()} ${path}`, id)
  }
  return ids
}

/** The operation of the document at a path, made where there is none. */
function operationAt(document: JsonObject, path: string, method: (typeof PATH_METHODS)[number]): JsonObject {
  const known = getAt(document, ['paths', path, method])
  if (known !== undefined && isObject(known)) return known
  addOperation(document, idsOf(document), path, method)
  return getAt(document, ['paths', path, method]) as JsonObject
}

function addOperation(document: JsonObject, ids: Map<string, string>, path: string, method: string): string {
  const paths = member(document, 'paths')
  if (paths === undefined || !isObject(paths)) document.paths = {}
  const known = getAt(document, ['paths', path])
  const item: JsonObject = known !== undefined && isObject(known) ? known : withParameters(path)
  setMember(document.paths as JsonObject, path, item)
  const id = freshId(`${path.slice(1)}${method.toUpperCase()}`, new Set(ids.values()))
  const object = member(item, method)
  if (object !== undefined && isObject(object)) object.operationId = id
  else item[method] = { operationId: id, responses: { default: { description: 'Answer of the upstream' } } }
  ids.set(`${method} ${path}`, id)
  return id
}

/** Gives every operation of a document without an ID a new one. Changes the document. */
export function nameOperations(document: JsonObject): void {
  const operations = operationsOf(document)
  const taken = new Set(operations.map((operation) => operation.id))
  for (const { path, method, id, object } of operations) {
    if (id !== '') continue
    const fresh = freshId(`${path.slice(1)}${method}`, taken)
    taken.add(fresh)
    object.operationId = fresh
  }
}

function freshId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted
  for (let next = 2; taken.has(id); next++) id = `${wanted}_${next}`
  return id
}

/** OpenAPI wants every placeholder of a path declared. */
function withParameters(path: string): JsonObject {
  const names = [...new Set([...path.matchAll(/\{([^{}/]+)\}/g)].map((match) => match[1]!))]
  if (names.length === 0) return {}
  const parameters: Json[] = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  return { parameters }
}

function triggerToOas(trigger: Json): Json {
  const options = objectOf(trigger, 'options')
  const rules: Json[] = []
  for (const { oas, classic } of TRIGGER_SOURCES) {
    const held = objectOf(options, classic)
    if (oas === 'requestBody') {
      if (!isEmpty(held)) rules.push({ in: oas, ...matchToOas(held) })
    } else for (const name of Object.keys(held)) rules.push({ in: oas, name, ...matchToOas(objectOf(held, name)) })
  }
  return {
    condition: textOf(trigger, 'on') || 'any',
    rules,
    rewriteTo: textOf(trigger, 'rewrite_to'),
  }
}

function matchToOas(match: JsonObject): JsonObject {
  return { pattern: textOf(match, 'match_rx'), ...(match.reverse === true && { negate: true }) }
}

function triggerToClassic(trigger: Json): Json {
  const options: JsonObject = {}
  for (const rule of objectsOf(trigger, 'rules')) {
    const source = TRIGGER_SOURCES.find(({ oas }) => oas === textOf(rule, 'in'))
    if (source === undefined) continue
    const match: JsonObject = {
      match_rx: textOf(rule, 'pattern'),
      ...(member(rule, 'negate') === true && { reverse: true }),
    }
    if (source.in === 'body') options[source.classic] = match
    else {
      const held = objectOf(options, source.classic)
      setMember(held, textOf(rule, 'name'), match)
      options[source.classic] = held
    }
  }
  return { on: textOf(trigger, 'condition') || 'any', options, rewrite_to: textOf(trigger, 'rewriteTo') }
}

/** List of `extended_paths` that names scopes; ours, the incumbent has none. */
const LIST = 'oauth_scopes'

/** The security scheme of an API's authorization server: the first enabled one; undefined without one. */
export function oauthSchemeOf(document: JsonObject, extension: JsonObject): string | undefined {
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  const schemes = getAt(extension, pathOf('server.authentication.securitySchemes'))
  if (schemes === undefined || !isObject(schemes)) return undefined
  const names = Object.keys(schemes).filter(
    (name) => isObject(schemes[name] ?? null) && declares(OAUTH_SCHEME, objectOf(declared, name), schemes[name]!),
  )
  return names.find((name) => flagOf(schemes[name], 'enabled')) ?? names[0]
}

/** Writes the `security` of operations for the scheme as a list of a version. True when there was any. */
export function scopesToClassic(document: JsonObject, extension: JsonObject, version: JsonObject): boolean {
  const scheme = oauthSchemeOf(document, extension)
  if (scheme === undefined) return false
  const entries: Json[] = []
  for (const { path, method, object } of operationsOf(document)) {
    const scopes = askedScopes(member(object, 'security'), scheme)
    if (scopes !== undefined) entries.push({ path, method, scopes })
  }
  if (entries.length === 0) return false
  version.extended_paths = { ...objectOf(version, 'extended_paths'), [LIST]: entries }
  return true
}

/**
 * Writes the scopes of a version as `security` of operations, and adds to `paths` those that the document lacks. What cannot be an
 * operation, is switched off, or speaks of an operation a second time is left out.
 */
export function scopesToOas(version: JsonObject, document: JsonObject, extension: JsonObject): void {
  const scheme = oauthSchemeOf(document, extension)
  if (scheme === undefined) return
  const seen = new Set<string>()
  for (const entry of objectsOf(objectOf(version, 'extended_paths'), LIST)) {
    const path = textOf(entry, 'path')
    const method = PATH_METHODS.find((each) => each.toUpperCase() === textOf(entry, 'method'))
    const scopes = listedScopes(member(entry, 'scopes'))
    if (method === undefined || !path.startsWith('/') || scopes === undefined || entry.disabled === true) continue
    if (seen.has(`${method} ${path}`)) continue
    seen.add(`${method} ${path}`)
    const operation = operationAt(document, path, method)
    if (sameTree(askedScopes(member(operation, 'security'), scheme), scopes)) continue
    operation.security = (scopes.length === 0 ? [[]] : scopes).map((each) => {
      const group: JsonObject = {}
      setMember(group, scheme, each)
      return group
    })
  }
}
