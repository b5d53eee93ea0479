import type { CacheRules, OperationCacheRule } from '../../model/apis/definition/api.ts'
import type { Millis } from '../../model/time/clock.ts'
import { type Directives, deltaSeconds, directiveSeconds, readDirectives, readTargeted } from './directives.ts'
import { readHttpDate } from './http-date.ts'

/** The freshness fields of an upstream response, as received. */
export interface LifeFields {
  readonly cacheControl: readonly string[]
  /** Of `CDN-Cache-Control` (RFC 9213). */
  readonly targeted: readonly string[]
  /** '' where there is none, as with all texts here. */
  readonly expires: string
  readonly date: string
  readonly etag: string
  readonly lastModified: string
  /** Of the header that the API names. */
  readonly lifetime: string
}

/** How long an answer may be given. Seconds from when it was made. */
export interface FreshnessLife {
  readonly freshS: number
  readonly staleWhileRevalidateS: number
  readonly staleIfErrorS: number
  /** True = never without asking the upstream (`no-cache`). */
  readonly revalidates: boolean
  /** True = never when stale, even if the request allows it (section 4.2.4). */
  readonly strict: boolean
  /** True = also for requests whose variants do not depend on `Authorization` (section 3.5). */
  readonly open: boolean
}

/** Statuses that caches may choose to store where nothing is said (RFC 9110 section 15.1), but for 206 and 501. */
const CHOSEN: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414])
const NEVER: ReadonlySet<number> = new Set([206, 304])

/** Reads what the fields of an answer say about its life. */
export function readLifeFields(
  all: (lowerName: string) => readonly string[],
  rules: CacheRules,
  words: readonly string[],
): LifeFields {
  const first = (name: string) => all(name)[0] ?? ''
  return {
    cacheControl: all('cache-control'),
    targeted: all('cdn-cache-control'),
    expires: all('expires').join(', '),
    date: first('date'),
    etag: first('etag'),
    lastModified: first('last-modified'),
    lifetime: rules.upstreamDecides ? lifetimeOf(first, rules, words) : '',
  }
}

/** Fields (lower case) with which an upstream asks for its answer to be stored, and for how many seconds. */
export function actionFields(word: string): readonly [action: string, seconds: string] {
  return [`x-${word}-cache-action-set`, `x-${word}-cache-action-set-ttl`]
}

/** Seconds by the field that the API names, else by those of `actionFields`; '' where the upstream has none of them. */
function lifetimeOf(first: (name: string) => string, rules: CacheRules, words: readonly string[]): string {
  const named = rules.lifetimeHeader === '' ? '' : first(rules.lifetimeHeader)
  if (named !== '') return named
  for (const [action, seconds] of words.map(actionFields)) {
    const own = rules.lifetimeHeader === '' ? first(seconds) : ''
    if (own !== '') return own
    if (first(action) !== '') return String(rules.timeoutS)
  }
  return ''
}

/**
 * Decides whether an answer may be stored, and for how long (RFC 9111 section 3); undefined = it may not. `guarded`: the request had
 * an `Authorization` that the answer could be meant for alone (section 3.5). Nothing is guessed: without a word of the upstream an
 * answer is given as long as the API says, or not at all.
 */
export function storableLife(
  status: number,
  fields: LifeFields,
  rules: CacheRules,
  operation: OperationCacheRule | undefined,
  now: Millis,
  guarded: boolean,
): FreshnessLife | undefined {
  if (!rules.upstreamDecides && timeoutOf(rules, operation) === 0) return undefined
  // It goes before `Cache-Control` and `Expires`, which are not looked at then (RFC 9213 section 2.2).
  const targeted = readTargeted(fields.targeted)
  const directives = targeted ?? readDirectives(fields.cacheControl)
  const explicitS = explicitLife(targeted === undefined ? fields : { ...fields, expires: '' }, directives, rules, now)
  if (!isChosen(status, rules, operation, explicitS !== undefined)) return undefined
  // `no-store` beside `must-understand` is for caches that do not know the status (section 5.2.2.3).
  const understands = directives.has('must-understand') && CHOSEN.has(status)
  if (directives.has('must-understand') && !understands) return undefined
  if ((directives.has('no-store') && !understands) || directives.has('private')) return undefined
  const must = directives.has('must-revalidate')
  const open = must || directives.has('public') || directives.has('s-maxage')
  if (guarded && !open) return undefined
  const revalidates = directives.has('no-cache')
  const freshS = revalidates ? 0 : lifeOf(explicitS, rules, operation)
  if (freshS === undefined) return undefined
  const forbidden = must || revalidates || directives.has('proxy-revalidate')
  // `s-maxage` forbids stale answers as `proxy-revalidate` does, but not those that the upstream allows beside it in so many words.
  const strict = forbidden || directives.has('s-maxage')
  const stale = (name: string, usualS: number) =>
    forbidden ? 0 : (directiveSeconds(directives, name) ?? (strict ? 0 : usualS))
  const staleWhileRevalidateS = stale('stale-while-revalidate', rules.staleWhileRevalidateS)
  const staleIfErrorS = stale('stale-if-error', rules.staleIfErrorS)
  const useful = freshS > 0 || fields.etag !== '' || fields.lastModified !== ''
  if (!useful && staleWhileRevalidateS === 0 && staleIfErrorS === 0) return undefined
  return { freshS, staleWhileRevalidateS, staleIfErrorS, revalidates, strict, open }
}

function isChosen(
  status: number,
  rules: CacheRules,
  operation: OperationCacheRule | undefined,
  explicit: boolean,
): boolean {
  if (status < 200 || NEVER.has(status)) return false
  const listed = operation !== undefined && operation.statuses.length > 0 ? operation.statuses : rules.statuses
  if (listed.length > 0) return listed.includes(status)
  return CHOSEN.has(status) || (explicit && rules.upstreamDecides)
}

/** Seconds that the upstream names (section 4.2.1); undefined when it says nothing. */
function explicitLife(fields: LifeFields, directives: Directives, rules: CacheRules, now: Millis): number | undefined {
  if (rules.upstreamDecides && fields.lifetime !== '') return deltaSeconds(fields.lifetime) ?? 0
  const named = directiveSeconds(directives, 's-maxage') ?? directiveSeconds(directives, 'max-age')
  if (named !== undefined) return named
  if (fields.expires === '') return undefined
  const expires = readHttpDate(fields.expires, now)
  if (expires === undefined) return 0
  const date = readHttpDate(fields.date, now) ?? now
  return Math.max(0, Math.floor((expires - date) / 1000))
}

/** The freshness that the API allows. An upstream may shorten it, never lengthen it, unless it decides. */
function lifeOf(
  explicitS: number | undefined,
  rules: CacheRules,
  operation: OperationCacheRule | undefined,
): number | undefined {
  if (rules.upstreamDecides) return explicitS
  const timeoutS = timeoutOf(rules, operation)
  return explicitS === undefined ? timeoutS : Math.min(timeoutS, explicitS)
}

function timeoutOf(rules: CacheRules, operation: OperationCacheRule | undefined): number {
  return operation?.timeoutS || rules.timeoutS || (operation?.defaultS ?? 0)
}

/** Seconds of age that an answer has when it arrives (section 4.2.3): what its fields say, or the time that it took. */
export function initialAge(age: string, date: string, now: Millis, tookMs: number): number {
  const made = readHttpDate(date, now)
  // Dates have no fractions of seconds.
  const apparentS = made === undefined ? 0 : Math.max(0, Math.floor(now / 1000) - made / 1000)
  return Math.max(apparentS, (deltaSeconds(age.split(',')[0]!.trim()) ?? 0) + tookMs / 1000)
}
