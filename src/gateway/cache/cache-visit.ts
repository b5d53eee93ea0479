import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { AnswerInterceptor, Exchange } from '../server/exchange.ts'
import { linesWithout } from '../server/field-lines.ts'
import { sendToTarget } from '../steps/forward/forward.ts'
import { type AnswerDraft, beginDraft, refreshedAnswer, type UpstreamRequest } from './answer-draft.ts'
import type { ApiResponses, Flight } from './api-responses.ts'
import type { ChainCache } from './chain-cache.ts'
import { serveStored } from './serve-stored.ts'
import type { StoredAnswer } from './stored-answer.ts'

const STANDS_IN = prebuilt('stored_answer_stands_in')

/** Failures that `stale-if-error` speaks of (RFC 5861 section 4). */
const FAILED: ReadonlySet<number> = new Set([500, 502, 503, 504])
const CONDITIONS = new Set(['if-none-match', 'if-modified-since'])

/** Follows a request that is not answered from the cache to the upstream, and stores what comes. */
export class CacheVisit implements AnswerInterceptor {
  readonly #asked: UpstreamRequest
  /** The client's own cache directives. */
  readonly #asks: number
  readonly #preserveHost: boolean
  #flight: Flight | undefined
  #draft: AnswerDraft | undefined
  #instead: StoredAnswer | undefined
  #confirmed = false
  #again = false

  /** `flight`: requests that wait for this one. */
  constructor(asked: UpstreamRequest, asks: number, preserveHost: boolean, flight: Flight | undefined) {
    this.#asked = asked
    this.#asks = asks
    this.#preserveHost = preserveHost
    this.#flight = flight
  }

  answered(x: Exchange): void {
    const { known, cache } = this.#asked
    if (known !== undefined && !this.#confirmed) {
      if (x.status === 304 && known.hasValidator) {
        this.#confirm(x, known)
        throw STANDS_IN
      }
      if (FAILED.has(x.status) && mayStandIn(known, cache)) {
        this.#instead = known
        throw STANDS_IN
      }
    }
    this.#draft?.drop()
    if (x.method === 'GET') this.#draft = beginDraft(this.#asked, x.request, x.status, x.response)
    if (this.#draft !== undefined) return
    if (known !== undefined && x.method === 'GET' && x.status < 500) cache.responses.remove(known)
    if (x.method === 'GET' && x.status !== 304) cache.responses.pass(this.#asked.uri)
    this.#land()
  }

  /** The upstream says that the stored answer is still right; or speaks of another one, and is then asked without conditions. */
  #confirm(x: Exchange, known: StoredAnswer): void {
    this.#confirmed = true
    this.#instead = refreshedAnswer(this.#asked, known, x.response)
    if (this.#instead !== undefined) return
    this.#again = true
    this.#asked.cache.responses.remove(known)
  }

  take(chunk: Buffer, from: number, to: number): void {
    if (this.#draft === undefined || this.#draft.take(chunk, from, to)) return
    this.#draft = undefined
    this.#land()
  }

  standsIn(x: Exchange, fault: Fault): boolean {
    const { known, cache } = this.#asked
    if (this.#again) {
      this.#again = false
      x.requestHead = linesWithout(x.requestHead, CONDITIONS)
      sendToTarget(x, x.target!, this.#preserveHost)
      return true
    }
    if (known !== undefined && fault.code.startsWith('upstream_') && mayStandIn(known, cache)) this.#instead = known
    if (this.#instead === undefined) return false
    this.#land()
    serveStored(x, this.#instead, cache.pool, this.#asks, cache.clock.mono())
    return true
  }

  ended(x: Exchange): void {
    if (x.aborted || !x.forwarded) this.#draft?.drop()
    else this.#draft?.store()
    this.#draft = undefined
    this.#land()
  }

  /** Resumes the waiting requests. */
  #land(): void {
    this.#flight?.end()
    this.#flight = undefined
  }
}

function mayStandIn(known: StoredAnswer, { clock }: ChainCache): boolean {
  return known.isWithin(clock.mono(), known.parts.life.staleIfErrorS)
}

/** Follows a request for a part to the upstream, whose answer is not stored; a part of the stale answer replaces a failure (RFC 5861 section 4). */
export class PartVisit implements AnswerInterceptor {
  readonly #known: StoredAnswer
  readonly #cache: ChainCache
  readonly #asks: number

  /** `asks`: the client's own cache directives. */
  constructor(known: StoredAnswer, cache: ChainCache, asks: number) {
    this.#known = known
    this.#cache = cache
    this.#asks = asks
  }

  answered(x: Exchange): void {
    if (FAILED.has(x.status) && mayStandIn(this.#known, this.#cache)) throw STANDS_IN
  }

  take(): void {}

  standsIn(x: Exchange, fault: Fault): boolean {
    if (fault !== STANDS_IN && !(fault.code.startsWith('upstream_') && mayStandIn(this.#known, this.#cache)))
      return false
    serveStored(x, this.#known, this.#cache.pool, this.#asks, this.#cache.clock.mono())
    return true
  }

  ended(): void {}
}

/** Follows a request that may change what is stored (RFC 9111 section 4.4). */
export class Invalidation implements AnswerInterceptor {
  readonly #responses: ApiResponses
  readonly #uri: string

  constructor(responses: ApiResponses, uri: string) {
    this.#responses = responses
    this.#uri = uri
  }

  answered(x: Exchange): void {
    if (x.status >= 200 && x.status < 400) this.#responses.invalidate(this.#uri)
  }

  take(): void {}

  standsIn(): boolean {
    return false
  }

  ended(): void {}
}
