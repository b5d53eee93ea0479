import { parseBodyTemplate, TemplateFlaw } from '../../body-templates/parse.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import type { PausedWork } from '../../threads/paused-work.ts'
import type { Millis } from '../../time/clock.ts'
import { refuseFlaws } from '../check/validate.ts'
import {
  type CacheRules,
  type HeaderTransform,
  isContaining,
  type OperationCacheRule,
  type OperationRule,
  type PathMatching,
  type Rules,
} from '../definition/api.ts'
import { flagOf, numberOf, objectOf, objectsOf, textOf, textsOf } from '../definition/members.ts'
import type {
  BodyRule,
  RequestCheck,
  RewriteRule,
  Trigger,
  TriggerRule,
  TriggerSource,
} from '../definition/operation.ts'
import { type Flaw, member, type TreePath } from '../definition/tree.ts'
import { durationMs, expiryMs, isNever } from '../definition/values.ts'
import type { Described } from '../openapi/described.ts'
import { listedScopes } from './oauth-members.ts'
import { readMock, readReply } from './read-mock.ts'
import { readBreaker } from './read-upstream.ts'
import type { RequestSchemas } from './read-validation.ts'

/** Seconds of paths in the plain list where the API says none: those of the product that definitions come from. */
const PLAIN_LIST_S = 60

/** Reads `cache_options`; undefined where the cache is not switched on, which operations need too. */
export function readCache(classic: JsonObject): CacheRules | undefined {
  const options = objectOf(classic, 'cache_options')
  if (!flagOf(options, 'enable_cache')) return undefined
  return {
    allSafe: flagOf(options, 'cache_all_safe_requests'),
    timeoutS: numberOf(options, 'cache_timeout'),
    statuses: statusesOf(options),
    byHeaders: textsOf(options, 'cache_by_headers').map((name) => name.toLowerCase()),
    upstreamDecides: flagOf(options, 'enable_upstream_cache_control'),
    lifetimeHeader: textOf(options, 'cache_control_ttl_header').toLowerCase(),
    shared: flagOf(options, 'share_between_keys'),
    keepCookies: flagOf(options, 'store_set_cookie'),
    staleWhileRevalidateS: numberOf(options, 'stale_while_revalidate'),
    staleIfErrorS: numberOf(options, 'stale_if_error'),
  }
}

/** Reads an entry of `advance_cache_config`. */
function readOperationCache(entry: JsonObject): OperationCacheRule {
  return { timeoutS: numberOf(entry, 'timeout'), defaultS: 0, statuses: statusesOf(entry) }
}

/** The rule of paths in the plain list `cache`. */
const PLAIN_CACHE_RULE: OperationCacheRule = { timeoutS: 0, defaultS: PLAIN_LIST_S, statuses: [] }

/** Paths of the plain list `cache`, whose answers are stored as the API says. */
export function plainCachePaths(lists: JsonObject): string[] {
  return textsOf(lists, 'cache')
}

function statusesOf(holder: JsonObject): number[] {
  const list: Json | undefined = member(holder, 'cache_response_codes')
  return Array.isArray(list) ? list.filter((status) => typeof status === 'number') : []
}

/** Where a trigger looks, in the words of both formats. The classic form has one expression for each name, and one for the body. */
export const TRIGGER_SOURCES: readonly {
  readonly in: TriggerSource
  readonly oas: string
  readonly classic: string
}[] = [
  { in: 'header', oas: 'header', classic: 'header_matches' },
  { in: 'query', oas: 'query', classic: 'query_val_matches' },
  { in: 'path', oas: 'path', classic: 'path_part_matches' },
  { in: 'session', oas: 'sessionMetadata', classic: 'session_meta_matches' },
  { in: 'context', oas: 'requestContext', classic: 'request_context_matches' },
  { in: 'body', oas: 'requestBody', classic: 'payload_matches' },
]

/** The single expression for bodies has no name. */
const BODY = 'payload'

/** Reads an entry of `url_rewrites`. */
export function readRewrite(entry: JsonObject): RewriteRule {
  return {
    pattern: textOf(entry, 'match_pattern'),
    rewriteTo: textOf(entry, 'rewrite_to'),
    triggers: objectsOf(entry, 'triggers').map(readTrigger),
  }
}

function readTrigger(trigger: JsonObject): Trigger {
  const options = objectOf(trigger, 'options')
  return {
    all: textOf(trigger, 'on') === 'all',
    rules: TRIGGER_SOURCES.flatMap((source) => rulesOf(options, source)),
    rewriteTo: textOf(trigger, 'rewrite_to'),
  }
}

function rulesOf(options: JsonObject, source: (typeof TRIGGER_SOURCES)[number]): TriggerRule[] {
  const held = objectOf(options, source.classic)
  // Programs in Go write the one for bodies always, with an empty pattern where there is none.
  if (source.in === 'body') return textOf(held, 'match_rx') === '' ? [] : [ruleOf(source.in, BODY, held)]
  return Object.keys(held).map((name) => ruleOf(source.in, name, objectOf(held, name)))
}

function ruleOf(place: TriggerSource, name: string, match: JsonObject): TriggerRule {
  return { in: place, name, pattern: textOf(match, 'match_rx'), negate: match.reverse === true }
}

/** Reads an entry of `transform` or `transform_response`. @throws Fault `definition_invalid`, which the checks of a save come before */
function readBodyTransform(entry: JsonObject): BodyRule {
  const read = readTemplate(entry)
  if (typeof read === 'string') refuseFlaws([{ at: SOURCE, reason: read }])
  return read as BodyRule
}

/** The errors of such an entry; templates in other languages are not checked. */
export function bodyTransformFlaws(entry: JsonObject): Flaw[] {
  const data = objectOf(entry, 'template_data')
  if (textOf(data, 'template_mode') === 'file' || !isTemplateInput(textOf(data, 'input_type'))) return []
  const read = readTemplate(entry)
  return typeof read === 'string' ? [{ at: SOURCE, reason: read }] : []
}

/** True for the types of bodies that templates take: JSON, and XML. */
export function isTemplateInput(type: string): boolean {
  return ['', 'json', 'xml'].includes(type.toLowerCase())
}

const SOURCE = ['template_data', 'template_source']

/** The rule, or why there is none. */
function readTemplate(entry: JsonObject): BodyRule | string {
  const data = objectOf(entry, 'template_data')
  const source = textOf(data, 'template_source').replace(/\s/g, '')
  if (source === '') return 'is missing, and templates in files are not served'
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source)) return 'must be a template in base64'
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(source, 'base64'))
    const input = textOf(data, 'input_type').toLowerCase() === 'xml' ? 'xml' : 'json'
    return { template: parseBodyTemplate(text), input, session: flagOf(data, 'enable_session') }
  } catch (error) {
    return error instanceof TemplateFlaw ? error.message : 'must be a template in UTF-8'
  }
}

/** The context of reading entries. */
interface Source {
  readonly described: Described
  readonly schemas: RequestSchemas
  readonly matching: PathMatching
  /** Path of the entry in its version. */
  readonly at: TreePath
}

type Draft = { -readonly [Member in keyof OperationRule]: OperationRule[Member] }

/** The path settings of an entry of each list of `extended_paths`. */
const LISTS: Readonly<Record<string, (rule: Draft, entry: JsonObject, from: Source) => void>> = {
  white_list: (rule, entry) => {
    rule.allow = true
    rule.mock ??= readReply(entry, rule.method)
  },
  black_list: (rule) => {
    rule.block = true
  },
  internal: (rule) => {
    rule.internal = true
  },
  ignored: (rule, entry) => {
    rule.ignoreAuthentication = true
    rule.mock ??= readReply(entry, rule.method)
  },
  rate_limit: (rule, entry) => {
    rule.rateLimit ??= readRate(entry)
  },
  size_limits: (rule, entry) => {
    rule.sizeLimitBytes ||= numberOf(entry, 'size_limit')
  },
  hard_timeouts: (rule, entry) => {
    rule.timeoutMs ||= durationMs(textOf(entry, 'duration')) || Math.round(numberOf(entry, 'timeout') * 1000)
  },
  transform_headers: (rule, entry) => {
    rule.requestHeaders ??= readHeaders(entry, 'add_headers', 'delete_headers')
  },
  transform_response_headers: (rule, entry) => {
    rule.responseHeaders ??= readHeaders(entry, 'add_headers', 'delete_headers')
  },
  circuit_breakers: (rule, entry) => {
    rule.breaker ??= readBreaker(entry)
  },
  track_endpoints: (rule) => {
    rule.track = true
  },
  do_not_track_endpoints: (rule) => {
    rule.doNotTrack = true
  },
  mock_response: (rule, entry, { described }) => {
    rule.mock ??= readMock(entry, described.find(rule.method, rule.path), rule.path)
  },
  validate_request: (rule, entry, { schemas, described, matching }) => {
    if (member(entry, 'enabled') === false) return
    // Where such matching comes from, defaults are always filled in.
    const fills = (member(entry, 'fill_defaults') ?? isContaining(matching)) === true
    const operation = described.find(rule.method, rule.path)
    rule.checks = [...rule.checks, schemas.described(entry, operation, rule.path, fills)]
  },
  validate_json: (rule, entry, { schemas, at }) => {
    rule.checks = [...rule.checks, schemas.alone(entry, rule.path, at)]
  },
  url_rewrites: (rule, entry) => {
    rule.rewrite ??= readRewrite(entry)
  },
  method_transforms: (rule, entry) => {
    rule.toMethod ||= textOf(entry, 'to_method').toUpperCase()
  },
  transform: (rule, entry) => {
    rule.requestBody ??= readBodyTransform(entry)
  },
  transform_response: (rule, entry) => {
    rule.answerBody ??= readBodyTransform(entry)
  },
  advance_cache_config: (rule, entry) => {
    rule.cache ??= readOperationCache(entry)
  },
  oauth_scopes: (rule, entry) => {
    rule.scopes ??= listedScopes(member(entry, 'scopes'))
  },
}

export const NO_CHECKS: readonly RequestCheck[] = []

const OLD_LISTS = ['white_list', 'black_list', 'ignored'] as const

/**
 * Rules of one version of a classic definition, or of a definition that has none; `described` finds the operations of the OpenAPI
 * document that goes with it. Where one operation serves a request, those without rules are among them.
 * @throws Fault `definition_invalid` where what is asked of an operation needs a description that is missing or cannot be used
 */
export function* readingRules(
  version: JsonObject,
  matching: PathMatching,
  described: Described,
  schemas: RequestSchemas,
): PausedWork<Rules> {
  const timeoutMs = flagOf(version, 'global_enforce_timeout_disabled')
    ? 0
    : (durationMs(textOf(version, 'global_enforce_timeout')) ?? 0)
  return {
    expiresAt: readExpiry(textOf(version, 'expires')),
    overrideTarget: textOf(version, 'override_target'),
    requestHeaders: flagOf(version, 'global_headers_disabled')
      ? undefined
      : readHeaders(version, 'global_headers', 'global_headers_remove'),
    responseHeaders: flagOf(version, 'global_response_headers_disabled')
      ? undefined
      : readHeaders(version, 'global_response_headers', 'global_response_headers_remove'),
    sizeLimitBytes: flagOf(version, 'global_size_limit_disabled') ? 0 : numberOf(version, 'global_size_limit'),
    ...(timeoutMs > 0 && { timeoutMs }),
    operations: yield* readOperations(version, matching, described, schemas),
  }
}

/** Instant of an expiry that the schema has checked. */
export function readExpiry(text: string): Millis | undefined {
  return isNever(text) ? undefined : expiryMs(text)
}

/** A limit of so many calls per so many seconds; undefined when either is 0 or it is switched off. */
export function readRate(limit: JsonObject): OperationRule['rateLimit'] {
  const rate = numberOf(limit, 'rate')
  const perMs = Math.round(numberOf(limit, 'per') * 1000)
  if (flagOf(limit, 'disabled') || rate < 1 || perMs < 1) return undefined
  return { rate, perMs }
}

/** True when the lists of `extended_paths` count; without the switch those of `paths` do. */
export function usesExtendedPaths(version: JsonObject): boolean {
  return flagOf(version, 'use_extended_paths')
}

/** Rules by path and method, each once. */
function* readOperations(
  version: JsonObject,
  matching: PathMatching,
  described: Described,
  schemas: RequestSchemas,
): PausedWork<OperationRule[]> {
  const drafts = new Map<string, Draft>()
  const foldAll = flagOf(version, 'ignore_endpoint_case')
  const draftOf = (method: string, path: string, ignoreCase: boolean): Draft => {
    const key = keyOf(method, path, ignoreCase)
    const known = drafts.get(key)
    if (known !== undefined) return known
    const fresh = emptyRule(method, path, ignoreCase)
    drafts.set(key, fresh)
    return fresh
  }
  if (!usesExtendedPaths(version)) {
    const paths = objectOf(version, 'paths')
    for (const list of OLD_LISTS) {
      for (const path of textsOf(paths, list))
        LISTS[list]!(draftOf('', rooted(path, matching), foldAll), {}, { described, schemas, matching, at: [] })
    }
    return [...drafts.values()]
  }
  const lists = objectOf(version, 'extended_paths')
  for (const [list, apply] of Object.entries(LISTS)) {
    for (const [index, entry] of objectsOf(lists, list).entries()) {
      yield
      if (flagOf(entry, 'disabled')) continue
      const fold = foldAll || flagOf(entry, 'ignore_case')
      const from = { described, schemas, matching, at: ['extended_paths', list, String(index)] }
      for (const method of entryMethods(list, entry)) {
        const draft = draftOf(method, rooted(textOf(entry, 'path'), matching), fold)
        if (!lacksAction(list, entry, method)) {
          apply(draft, entry, from)
          continue
        }
        draft.block = true
        // Where any path is allowed, every other is refused.
        draft.allow ||= list === 'white_list'
      }
    }
  }
  for (const path of plainCachePaths(lists)) draftOf('', rooted(path, matching), foldAll).cache ??= PLAIN_CACHE_RULE
  if ((matching === 'openapi' || isContaining(matching)) && drafts.size > 0) {
    const known = new Set([...drafts.values()].map(({ method, path }) => `${method} ${path}`))
    for (const { method, path } of described.list()) if (!known.has(`${method} ${path}`)) draftOf(method, path, foldAll)
  }
  // Rules for GET hold for HEAD where nothing else is said of it. Where something is, scopes and cache are still those of GET.
  for (const { method, path, ignoreCase, scopes, cache } of drafts.values()) {
    const head = method === 'GET' ? drafts.get(keyOf('HEAD', path, ignoreCase)) : undefined
    if (head === undefined) continue
    head.scopes ??= scopes
    head.cache ??= cache
  }
  return [...drafts.values()]
}

function keyOf(method: string, path: string, ignoreCase: boolean): string {
  return `${ignoreCase ? 'i' : 'c'} ${method} ${path}`
}

/** Lists whose entries may have `method_actions` by method, which then count alone. */
const BY_ACTION: ReadonlySet<string> = new Set<string>(OLD_LISTS)
/** In place of a method, where an entry names none: no request has it. */
const NO_METHOD = '(none)'
/** In place of a method: all of them. */
export const ANY_METHOD = ''
/** Lists whose entries hold for every method where they name none. In `ignored` such an entry would open the path to everybody. */
const FOR_ANY_METHOD: ReadonlySet<string> = new Set(['white_list', 'black_list'])

/**
 * The methods that an entry of a list speaks of, in its own letter case, which must be that of the request; `ANY_METHOD` alone = all. An
 * entry that never holds counts all the same: where any path is allowed, every other is refused.
 */
export function entryMethods(list: string, entry: JsonObject): string[] {
  const actions = BY_ACTION.has(list) ? member(entry, 'method_actions') : undefined
  const byAction = isObject(actions ?? null)
  const named = byAction ? Object.keys(actions as JsonObject) : [textOf(entry, 'method')]
  const methods = named.filter((name) => name !== '')
  if (methods.length > 0) return methods
  return [!byAction && FOR_ANY_METHOD.has(list) ? ANY_METHOD : NO_METHOD]
}

/** True where `method_actions` names a method and no action for it: such requests are refused, whatever the list. */
export function lacksAction(list: string, entry: JsonObject, method: string): boolean {
  const action = BY_ACTION.has(list) ? member(objectOf(entry, 'method_actions'), method) : undefined
  return isObject(action ?? null) && textOf(action as JsonObject, 'action') === ''
}

/** The path from its first slash. Where it is looked for anywhere in a path it is an expression: `admin`, `^/users`. */
function rooted(path: string, matching: PathMatching): string {
  const isExpression = isContaining(matching) && path !== ''
  // The end of an empty expression is that of every path.
  if (path === '' && (matching === 'ends' || matching === 'whole')) return '/*'
  return isExpression || path.startsWith('/') ? path : `/${path}`
}

function emptyRule(method: string, path: string, ignoreCase: boolean): Draft {
  return {
    method,
    path,
    ignoreCase,
    allow: false,
    block: false,
    internal: false,
    ignoreAuthentication: false,
    sizeLimitBytes: 0,
    rateLimit: undefined,
    requestHeaders: undefined,
    responseHeaders: undefined,
    timeoutMs: 0,
    track: false,
    doNotTrack: false,
    mock: undefined,
    checks: NO_CHECKS,
    requestBody: undefined,
    answerBody: undefined,
    rewrite: undefined,
    toMethod: '',
    cache: undefined,
    scopes: undefined,
  }
}

/** True for an operation that nothing is said of. */
export function isEmptyRule(rule: OperationRule): boolean {
  const empty = emptyRule(rule.method, rule.path, rule.ignoreCase)
  return (Object.keys(rule) as (keyof OperationRule)[]).every((member) => rule[member] === empty[member])
}

function readHeaders(holder: JsonObject, add: string, remove: string): HeaderTransform | undefined {
  // A field is set once: of spellings of one name the last one counts.
  const byName = Object.entries(objectOf(holder, add)).map(
    ([name, value]) => [name.toLowerCase(), [name, value ?? ''] as [string, string]] as const,
  )
  const added = [...new Map(byName).values()]
  const removed = textsOf(holder, remove)
  return added.length === 0 && removed.length === 0 ? undefined : { remove: removed, add: added }
}
