import type { HeaderTransform, OperationRule, Rules } from '../api.ts'
import type { Millis } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import { flagOf, numberOf, objectOf, objectsOf, textOf, textsOf } from './members.ts'
import { listedScopes } from './oauth-members.ts'
import { member } from './tree.ts'
import { expiryMs, isNever } from './values.ts'

type Draft = { -readonly [Member in keyof OperationRule]: OperationRule[Member] }

/** What an entry of each list of `extended_paths` says about its path. */
const LISTS: Readonly<Record<string, (rule: Draft, entry: JsonObject) => void>> = {
  white_list: (rule) => {
    rule.allow = true
  },
  black_list: (rule) => {
    rule.block = true
  },
  ignored: (rule) => {
    rule.ignoreAuthentication = true
  },
  rate_limit: (rule, entry) => {
    rule.rateLimit ??= readRate(entry)
  },
  size_limits: (rule, entry) => {
    rule.sizeLimitBytes ||= numberOf(entry, 'size_limit')
  },
  hard_timeouts: (rule, entry) => {
    rule.timeoutMs ||= Math.round(numberOf(entry, 'timeout') * 1000)
  },
  transform_headers: (rule, entry) => {
    rule.requestHeaders ??= readHeaders(entry, 'add_headers', 'delete_headers')
  },
  transform_response_headers: (rule, entry) => {
    rule.responseHeaders ??= readHeaders(entry, 'add_headers', 'delete_headers')
  },
  track_endpoints: (rule) => {
    rule.track = true
  },
  do_not_track_endpoints: (rule) => {
    rule.doNotTrack = true
  },
  oauth_scopes: (rule, entry) => {
    rule.scopes ??= listedScopes(member(entry, 'scopes'))
  },
}

const OLD_LISTS = ['white_list', 'black_list', 'ignored'] as const

/** Rules of one version of a classic definition, or of a definition that has none. */
export function readRules(version: JsonObject): Rules {
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
    operations: readOperations(version),
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

/**
 * Rules by path and method, each once. `extended_paths` counts unless it is switched off in so many words:
 * a block list that is written down must not be passed over because the switch was forgotten.
 */
function readOperations(version: JsonObject): OperationRule[] {
  const drafts = new Map<string, Draft>()
  const foldAll = flagOf(version, 'ignore_endpoint_case')
  const draftOf = (method: string, path: string, ignoreCase: boolean): Draft => {
    const key = `${ignoreCase ? 'i' : 'c'} ${method} ${path}`
    const known = drafts.get(key)
    if (known !== undefined) return known
    const fresh = emptyRule(method, path, ignoreCase)
    drafts.set(key, fresh)
    return fresh
  }
  if (version.use_extended_paths === false) {
    const paths = objectOf(version, 'paths')
    for (const list of OLD_LISTS) {
      for (const path of textsOf(paths, list)) LISTS[list]!(draftOf('', rooted(path), foldAll), {})
    }
    return [...drafts.values()]
  }
  const lists = objectOf(version, 'extended_paths')
  for (const [list, apply] of Object.entries(LISTS)) {
    for (const entry of objectsOf(lists, list)) {
      if (flagOf(entry, 'disabled')) continue
      const fold = foldAll || flagOf(entry, 'ignore_case')
      for (const method of methodsOf(entry)) apply(draftOf(method, rooted(textOf(entry, 'path')), fold), entry)
    }
  }
  // An upstream answers HEAD as GET, so what GET asks for is asked there too, unless HEAD speaks for itself.
  for (const { method, path, ignoreCase, scopes } of [...drafts.values()]) {
    if (method === 'GET' && scopes !== undefined) draftOf('HEAD', path, ignoreCase).scopes ??= scopes
  }
  return [...drafts.values()]
}

/** The entry's method; older definitions name it as a key of `method_actions`. */
function methodsOf(entry: JsonObject): string[] {
  const method = textOf(entry, 'method').toUpperCase()
  if (method !== '') return [method]
  const named = Object.keys(objectOf(entry, 'method_actions')).map((name) => name.toUpperCase())
  return named.length > 0 ? named : ['']
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}

function emptyRule(method: string, path: string, ignoreCase: boolean): Draft {
  return {
    method,
    path,
    ignoreCase,
    allow: false,
    block: false,
    ignoreAuthentication: false,
    sizeLimitBytes: 0,
    rateLimit: undefined,
    requestHeaders: undefined,
    responseHeaders: undefined,
    timeoutMs: 0,
    track: false,
    doNotTrack: false,
    scopes: undefined,
  }
}

function readHeaders(holder: JsonObject, add: string, remove: string): HeaderTransform | undefined {
  const added = Object.entries(objectOf(holder, add)).map(([name, value]) => [name, value ?? ''] as [string, string])
  const removed = textsOf(holder, remove)
  return added.length === 0 && removed.length === 0 ? undefined : { remove: removed, add: added }
}
