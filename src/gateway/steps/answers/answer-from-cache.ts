import { hash } from 'node:crypto'
import { prebuilt } from '../../../errors/fault.ts'
import { FIELD } from '../../../wire/http1/fields.ts'
import type { UpstreamRequest } from '../../cache/answer-draft.ts'
import type { Flight } from '../../cache/api-responses.ts'
import { CacheVisit, Invalidation, PartVisit } from '../../cache/cache-visit.ts'
import type { ChainCache } from '../../cache/chain-cache.ts'
import { asksForOneRange } from '../../cache/ranges.ts'
import { Refresh } from '../../cache/refresh.ts'
import {
  CACHE_FIELDS,
  cacheFieldsOf,
  NO_CACHE_CONTROL,
  type RequestCacheControl,
  readRequestCacheControl,
  satisfies,
} from '../../cache/request-cache-fields.ts'
import { serveStored } from '../../cache/serve-stored.ts'
import type { RequestProfile, StoredAnswer } from '../../cache/stored-answer.ts'
import { CORS_FIELDS } from '../../server/cors-fields.ts'
import { type Exchange, SENT, type Step, type StepOutcome } from '../../server/exchange.ts'
import type { Targets } from '../../upstream/target.ts'
import { forwardedCredentials } from '../authentication/drop-unverified.ts'
import { requestFields, requestHead } from '../forward/forward.ts'

const NOTHING_STORED = prebuilt('nothing_stored')

/** Methods that change nothing, and whose answers are not stored (RFC 9110 section 9.2.1). */
const HARMLESS: ReadonlySet<string> = new Set(['OPTIONS', 'TRACE'])

/** A request that may be answered from the cache, and what was found for it. */
interface Lookup {
  readonly uri: string
  readonly caller: string
  readonly way: RequestProfile
  readonly guarded: boolean
  readonly asks: number
}

/** Answers safe requests with stored answers (RFC 9111), and has the others' answers stored. The last step before `forward`. */
export function answerFromCache(
  cache: ChainCache | undefined,
  targets: Targets,
  preserveHost: boolean,
): Step | undefined {
  if (cache === undefined) return undefined
  const { responses, rules, pool, clock } = cache

  const find = (x: Exchange, { uri, caller, way, guarded }: Lookup): StoredAnswer | undefined => {
    const found = responses.find(uri, caller, way, x.request)
    return found !== undefined && guarded && !found.parts.life.open ? undefined : found
  }

  const answer = (x: Exchange, found: StoredAnswer, asks: number, now: number): StepOutcome => {
    if (x.dry) return { status: found.status, fields: '', body: undefined }
    serveStored(x, found, pool, asks, now)
    return SENT
  }

  const consider = (x: Exchange, lookup: Lookup, found: StoredAnswer | undefined, waited: boolean) => {
    const wants = (lookup.asks & CACHE_FIELDS.directives) === 0 ? NO_CACHE_CONTROL : readRequestCacheControl(x.request)
    if (wants.noStore) return wants.onlyIfCached ? NOTHING_STORED : undefined
    const now = waited ? clock.mono() : x.mono
    if (found !== undefined && satisfies(found, wants, now)) return answer(x, found, lookup.asks, now)
    if (wants.onlyIfCached) return NOTHING_STORED
    if (found !== undefined && mayGiveMeanwhile(found, wants, now)) {
      if (!found.refreshing && !x.dry) refresh(x, lookup, found)
      return answer(x, found, lookup.asks, now)
    }
    if (x.dry) return undefined
    // A part is neither stored nor waited for.
    if ((lookup.asks & CACHE_FIELDS.range) !== 0) {
      if (found !== undefined) x.bodyConsumer = new PartVisit(found, cache, lookup.asks)
      return undefined
    }
    const flight = waited ? undefined : responses.flightOf(lookup.uri, lookup.caller)
    if (flight !== undefined && mayWait(x, lookup)) return wait(x, lookup, flight)
    fetch(x, lookup, found, waited)
    return undefined
  }

  const wait = async (x: Exchange, lookup: Lookup, flight: Flight): Promise<StepOutcome> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, pool.bounds.waitMs)
    })
    await Promise.race([flight.ended, late])
    clearTimeout(timer)
    return consider(x, lookup, find(x, lookup), true)
  }

  const fetch = (x: Exchange, lookup: Lookup, found: StoredAnswer | undefined, waited: boolean): void => {
    pool.misses++
    const known = found !== undefined && prepare(x, found) ? found : undefined
    const alone = waited || !mayWait(x, lookup) || (known === undefined && (lookup.asks & CACHE_FIELDS.condition) !== 0)
    const flight = alone ? undefined : responses.takeOff(lookup.uri, lookup.caller)
    x.bodyConsumer = new CacheVisit(asked(x, lookup, known), lookup.asks, preserveHost, flight)
  }

  const asked = (
    x: Exchange,
    { uri, caller, way, guarded }: Lookup,
    known: StoredAnswer | undefined,
  ): UpstreamRequest => ({
    ...{ cache, uri, caller, way, guarded, known },
    operation: x.operation?.cache,
    edits: [x.operation?.responseHeaders, x.chain!.responseHeaders].filter((edit) => edit !== undefined),
    turn: responses.turn,
    sentAt: clock.mono(),
  })

  const refresh = (x: Exchange, lookup: Lookup, known: StoredAnswer): void => {
    const target = (x.operation?.targets ?? targets).next()
    // All are out of service: the stored answer is the best there is.
    if (target === undefined) return
    prepare(x, known)
    for (const name of ['range', 'if-range']) x.request.drop(name)
    x.requestHead = requestFields(x)
    const head = requestHead(x, target, 'GET', preserveHost)
    new Refresh({ ...asked(x, lookup, known), known }, x.request, head, target.upstream).start()
  }

  return function answerFromCache(x) {
    const { method, operation } = x
    if (method !== 'GET' && method !== 'HEAD') {
      if (!HARMLESS.has(method) && !x.dry) x.bodyConsumer = new Invalidation(responses, uriOf(x))
      return undefined
    }
    // Templates and modules make what they make for one caller.
    if (x.holdLimitBytes > 0 || x.body !== undefined) return undefined
    if (!rules.allSafe && operation?.cache === undefined) return undefined
    // So do edits with variables.
    if (operation?.responseHeaders?.linesFor !== undefined || x.chain!.responseHeaders?.linesFor !== undefined)
      return undefined
    const asMethod = operation?.toMethod || method
    if (x.bodyLength !== 0 || x.upgrade !== '' || asMethod !== method) return undefined
    const asks = cacheFieldsOf(x.request)
    if ((asks & CACHE_FIELDS.upstream) !== 0) return undefined
    if ((asks & CACHE_FIELDS.range) !== 0 && !asksForOneRange(x.request)) return undefined
    const lookup: Lookup = {
      uri: uriOf(x),
      caller: rules.shared ? '' : callerOf(x, cache),
      way: wayOf(x),
      guarded: (asks & CACHE_FIELDS.authorization) !== 0 && !isOwn(x, cache),
      asks,
    }
    const found = find(x, lookup)
    if (found !== undefined && (asks & CACHE_FIELDS.directives) === 0 && x.mono < found.freshUntil)
      return answer(x, found, asks, x.mono)
    return consider(x, lookup, found, false)
  }
}

/**
 * The subject of an upstream response: the session, and every forwarded credential that does not identify it. One subject may come with
 * tokens of different claims, an API may accept two credentials, and where it needs none the upstream may.
 */
function callerOf(x: Exchange, { oneCredential }: ChainCache): string {
  const { session } = x
  const known = session?.keyHash ?? ''
  if (x.credentials.forwarded.length === 0) return known
  if (oneCredential && session !== undefined && !x.skipAuthentication && x.hops === 0) return known
  const forwarded = forwardedCredentials(x)
  return forwarded === '' ? known : `${known} ${hash('sha256', forwarded, 'hex')}`
}

const PLAIN = { requestEdits: '', answerEdits: undefined, targets: undefined }
const PLAIN_WAY: RequestProfile = { ...PLAIN, upstreamCors: true }
const CORS_WAY: RequestProfile = { ...PLAIN, upstreamCors: false }

function wayOf({ operation, corsFields, requestEdits }: Exchange): RequestProfile {
  const upstreamCors = corsFields === CORS_FIELDS.upstream
  if (operation === undefined && requestEdits === '') return upstreamCors ? PLAIN_WAY : CORS_WAY
  return { requestEdits, answerEdits: operation?.responseHeaders, targets: operation?.targets, upstreamCors }
}

/** True when `Authorization` says no more than who the caller is, whose responses are stored separately. */
function isOwn(x: Exchange, cache: ChainCache): boolean {
  return cache.ownAuthorization && x.session !== undefined && !x.skipAuthentication && x.hops === 0
}

/**
 * The request as the upstream sees it: scheme, host, path and query, and the other `X-Forwarded-*` fields of a trusted proxy,
 * which a client may have written. Addresses are not part of it, only whether they are sent: the gateway writes those.
 */
function uriOf(x: Exchange): string {
  const query = x.forwardQuery !== '' || (x.hasQuery && x.query === '') ? `?${x.forwardQuery}` : ''
  const uri = `${x.secure ? 'https' : 'http'} ${x.authority}${x.forwardPath || '/'}${query}`
  if (!x.peerTrusted) return uri
  const { request } = x
  const addresses = (request.keeps(FIELD.forwarded) ? 'f' : '') + (request.keeps(FIELD.xRealIp) ? 'r' : '')
  return `${uri} ${addresses} ${request.keptLines(isForwarding)}`
}

const FORWARDING_FIELDS: ReadonlySet<number> = new Set([
  FIELD.xForwardedProto,
  FIELD.xForwardedHost,
  FIELD.xForwardedOther,
])
const isForwarding = (field: number) => FORWARDING_FIELDS.has(field)

/** HEAD fetches nothing that others could be given. */
function mayWait(x: Exchange, { guarded }: Lookup): boolean {
  return x.method === 'GET' && !guarded
}

/** Whether a stale answer may be given while another is fetched, to a client that asks for nothing better. */
function mayGiveMeanwhile(found: StoredAnswer, wants: RequestCacheControl, now: number): boolean {
  if (wants.noCache || wants.maxAgeS !== undefined || wants.minFreshS !== undefined) return false
  return now >= found.freshUntil && found.isWithin(now, found.parts.life.staleWhileRevalidateS)
}

/** Has the upstream asked whether a stored answer is still right, where it can be. False when it is of no use any more. */
function prepare(x: Exchange, found: StoredAnswer): boolean {
  const { etag, lastModified } = found.parts.fields
  if (!found.hasValidator) return found.parts.life.staleIfErrorS > 0
  x.request.drop('if-none-match')
  x.request.drop('if-modified-since')
  if (etag !== '') x.requestExtra += `If-None-Match: ${etag}\r\n`
  if (lastModified !== '') x.requestExtra += `If-Modified-Since: ${lastModified}\r\n`
  return true
}
