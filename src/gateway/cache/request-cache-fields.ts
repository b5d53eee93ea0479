import type { Millis } from '../../model/time/clock.ts'
import { equalsAt } from '../../wire/http1/chars.ts'
import { FIELD, type Fields } from '../../wire/http1/fields.ts'
import { directiveSeconds, readDirectives } from './directives.ts'
import { readHttpDate } from './http-date.ts'
import type { StoredAnswer } from './stored-answer.ts'

/** The cache-related fields of a request, as bits. */
export const CACHE_FIELDS = {
  /** Cache-Control. */
  directives: 1,
  /** If-None-Match or If-Modified-Since. */
  condition: 2,
  /** If-Match or If-Unmodified-Since: a matter for the upstream. */
  upstream: 4,
  authorization: 8,
  /** Range. */
  range: 16,
} as const

/** The fields by the length of their names, so that one walk over a head compares hardly any name. */
const BY_LENGTH: readonly (readonly (readonly [name: string, asks: number])[] | undefined)[] = byLength()

function byLength() {
  const table: [string, number][][] = []
  const put = (name: string, asks: number) => {
    table[name.length] = [...(table[name.length] ?? []), [name, asks]]
  }
  put('cache-control', CACHE_FIELDS.directives)
  for (const name of ['if-none-match', 'if-modified-since']) put(name, CACHE_FIELDS.condition)
  for (const name of ['if-match', 'if-unmodified-since']) put(name, CACHE_FIELDS.upstream)
  put('range', CACHE_FIELDS.range)
  return Array.from(table)
}

/** The cache directives of a request, in forwarded fields. */
export function cacheFieldsOf(request: Fields): number {
  const { spans, text } = request
  let asks = 0
  for (let at = 0, end = request.count * 5; at < end; at += 5) {
    const number = spans[at + 4]!
    if (number !== FIELD.other) {
      if (number === FIELD.authorization) asks |= CACHE_FIELDS.authorization
      continue
    }
    const list = BY_LENGTH[spans[at + 1]! - spans[at]!]
    if (list === undefined) continue
    for (const [name, bit] of list) if (equalsAt(text, spans[at]!, spans[at + 1]!, name)) asks |= bit
  }
  return asks
}

/** The limits of a client (RFC 9111 section 5.2.1). Seconds; undefined = none. */
export interface RequestCacheControl {
  readonly noStore: boolean
  readonly noCache: boolean
  readonly onlyIfCached: boolean
  readonly maxAgeS: number | undefined
  readonly minFreshS: number | undefined
  /** Infinity for any. */
  readonly maxStaleS: number | undefined
}

/** Of a client that says nothing. */
export const NO_CACHE_CONTROL: RequestCacheControl = {
  noStore: false,
  noCache: false,
  onlyIfCached: false,
  maxAgeS: undefined,
  minFreshS: undefined,
  maxStaleS: undefined,
}

/** Reads the Cache-Control of a request. */
export function readRequestCacheControl(request: Fields): RequestCacheControl {
  const directives = readDirectives(request.all('cache-control'))
  return {
    noStore: directives.has('no-store'),
    noCache: directives.has('no-cache'),
    onlyIfCached: directives.has('only-if-cached'),
    maxAgeS: directiveSeconds(directives, 'max-age'),
    minFreshS: directiveSeconds(directives, 'min-fresh'),
    maxStaleS:
      directives.get('max-stale') === '' ? Number.POSITIVE_INFINITY : directiveSeconds(directives, 'max-stale'),
  }
}

/** True when an answer may be given without asking the upstream (RFC 9111 section 4). */
export function satisfies(answer: StoredAnswer, wants: RequestCacheControl, now: number): boolean {
  const { bornAt, life } = answer.parts
  if (wants.noCache || life.revalidates) return false
  if (wants.maxAgeS !== undefined && now - bornAt > wants.maxAgeS * 1000) return false
  if (wants.minFreshS !== undefined) return answer.isWithin(now, -wants.minFreshS)
  if (now < answer.freshUntil) return true
  return wants.maxStaleS !== undefined && !life.strict && answer.isWithin(now, wants.maxStaleS)
}

/** True when the client has this answer already, by its conditions (RFC 9110 section 13.2.2, RFC 9111 section 4.3.2). */
export function isKnownToClient(request: Fields, answer: StoredAnswer, now: Millis): boolean {
  if (answer.status !== 200) return false
  const { etag, lastModified, date } = answer.parts.fields
  const tags = request.all('if-none-match')
  if (tags.length > 0) return tags.some((list) => list.trim() === '*' || holdsTag(list, etag))
  const since = readHttpDate(request.get('if-modified-since') ?? '', now)
  const modified = readHttpDate(lastModified === '' ? date : lastModified, now)
  return since !== undefined && modified !== undefined && modified <= since
}

/** Weak comparison (RFC 9110 section 8.8.3.2). */
function holdsTag(list: string, etag: string): boolean {
  if (etag === '') return false
  const opaque = etag.replace(/^W\//, '')
  return [...list.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque)
}
