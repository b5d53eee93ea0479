import { performance } from 'node:perf_hooks'
import type { OriginUser } from '../../wire/connect/origin.ts'
import type { Origin } from '../../wire/connect/origin-port.ts'
import type { Upstream } from '../../wire/connect/upstream.ts'
import { Fields } from '../../wire/http1/fields.ts'
import type { AnswerHead } from '../../wire/http1/response-head.ts'
import { flattenString } from '../record/flatten-string.ts'
import { type AnswerDraft, beginDraft, refreshedAnswer, type UpstreamRequest } from './answer-draft.ts'
import type { StoredAnswer } from './stored-answer.ts'

/** The revalidation of a stored response. */
export type RevalidationRequest = UpstreamRequest & { readonly known: StoredAnswer }

/** Refetches an answer that has been given stale (RFC 5861 section 3). Nobody waits for it; one that fails is tried with the next request. */
export class Refresh implements OriginUser {
  readonly answer = new Fields()
  readonly #asked: RevalidationRequest
  readonly #request: Fields
  readonly #head: string
  readonly #upstream: Upstream
  #origin: Origin | undefined
  #draft: AnswerDraft | undefined

  /** `head` is request line, Host and fields; `request` the fields that select the answer. */
  constructor(asked: RevalidationRequest, request: Fields, head: string, upstream: Upstream) {
    this.#asked = asked
    this.#request = copyOf(request)
    this.#head = flattenString(head)
    this.#upstream = upstream
  }

  start(): void {
    this.#asked.known.refreshing = true
    this.#origin = this.#upstream.take(this)
    if (this.#origin.open) this.originReady()
  }

  originReady(): void {
    const now = performance.now()
    this.#origin!.ask(false, false, now)
    this.#origin!.outlet!.text(`${this.#head}\r\n`)
    this.#origin!.sent(now)
  }

  originInterim(): void {}

  originHead({ status }: AnswerHead): void {
    const known = this.#asked.known
    if (status === 304) {
      if (refreshedAnswer(this.#asked, known, this.answer) === undefined) this.#asked.cache.responses.remove(known)
      return
    }
    this.#draft = beginDraft(this.#asked, this.#request, status, this.answer)
    if (this.#draft !== undefined) return
    if (status < 500) this.#asked.cache.responses.remove(known)
    this.#leave()
  }

  originBody(chunk: Buffer, from: number, to: number, finished: boolean): void {
    if (this.#draft !== undefined && !this.#draft.take(chunk, from, to)) {
      this.#draft = undefined
      if (!finished) this.#leave()
    }
    if (!finished) return
    this.#draft?.store()
    this.#end()
  }

  originFailed(): void {
    this.#draft?.drop()
    this.#end()
  }

  originDrained(): void {}
  originTunnel(): void {}
  originTunnelEnd(): void {}

  #leave(): void {
    this.#origin?.destroy()
    this.#end()
  }

  #end(): void {
    this.#origin = undefined
    this.#draft = undefined
    this.#asked.known.refreshing = false
  }
}

/** Fields of a request that outlive it. */
function copyOf(fields: Fields): Fields {
  const copy = new Fields()
  copy.clear(flattenString(fields.text.slice(0, fields.end)))
  copy.count = fields.count
  copy.end = fields.end
  copy.spans = fields.spans.slice(0, Math.max(5, fields.count * 5))
  return copy
}
