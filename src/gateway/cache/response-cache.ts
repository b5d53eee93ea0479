import { ApiResponses } from './api-responses.ts'
import type { AnswerOwner, StoredAnswer } from './stored-answer.ts'

/** Memory that stored answers may take. */
export interface CacheBounds {
  readonly maxBytes: number
  /** Largest body. */
  readonly entryBytes: number
  /** Longest wait for the answer that an equal request is fetching. */
  readonly waitMs: number
}

/** The stored answers of all APIs of this process: one bound in bytes, and one order of use, by which they go. */
export class ResponseCache {
  readonly bounds: CacheBounds
  /** The stored responses, and those that are being fetched. */
  bytes = 0
  entries = 0
  hits = 0
  misses = 0
  evictions = 0
  readonly #apis = new Map<string, Set<ApiResponses>>()
  #newest: StoredAnswer | undefined
  #oldest: StoredAnswer | undefined

  constructor(bounds: CacheBounds) {
    this.bounds = bounds
  }

  /** Makes room for the answers of one version of an API; `close` of it lets them all go. */
  open(apiId: string): ApiResponses {
    const responses = new ApiResponses(this, () => this.#leave(apiId, responses))
    const known = this.#apis.get(apiId)
    if (known === undefined) this.#apis.set(apiId, new Set([responses]))
    else known.add(responses)
    return responses
  }

  /** Removes all responses of an API, of all its versions. */
  forget(apiId: string): void {
    for (const responses of this.#apis.get(apiId) ?? []) responses.clear()
  }

  /** Removes everything. */
  forgetAll(): void {
    for (const apiId of this.#apis.keys()) this.forget(apiId)
  }

  /** Takes so many bytes for an answer that is to come, and lets others go for it. False when there is no room. */
  reserve(bytes: number): boolean {
    if (bytes > this.bounds.maxBytes) return false
    this.#makeRoom(bytes)
    if (this.bytes + bytes > this.bounds.maxBytes) return false
    this.bytes += bytes
    return true
  }

  release(bytes: number): void {
    this.bytes -= bytes
  }

  /** Enters an answer as the one used last. False when there is no room. */
  enter(answer: StoredAnswer, owner: AnswerOwner): boolean {
    if (!this.reserve(answer.size)) return false
    this.entries++
    answer.owner = owner
    this.#link(answer)
    return true
  }

  /** Takes so many bytes more for an answer that has entered. False when there is no room. */
  grow(answer: StoredAnswer, bytes: number): boolean {
    if (!this.reserve(bytes)) return false
    if (answer.owner === undefined) {
      this.release(bytes)
      return false
    }
    answer.size += bytes
    return true
  }

  /** Notes that an answer was given. */
  used(answer: StoredAnswer): void {
    if (answer === this.#newest || answer.owner === undefined) return
    this.#unlink(answer)
    this.#link(answer)
  }

  /** Removes a response that its API has removed. */
  leave(answer: StoredAnswer): void {
    if (answer.owner === undefined) return
    answer.owner = undefined
    this.#unlink(answer)
    this.entries--
    this.bytes -= answer.size
  }

  #makeRoom(bytes: number): void {
    while (this.#oldest !== undefined && this.bytes + bytes > this.bounds.maxBytes) {
      this.evictions++
      this.#oldest.owner!.remove(this.#oldest)
    }
  }

  #link(answer: StoredAnswer): void {
    answer.older = this.#newest
    answer.newer = undefined
    if (this.#newest !== undefined) this.#newest.newer = answer
    this.#newest = answer
    this.#oldest ??= answer
  }

  #unlink(answer: StoredAnswer): void {
    const { newer, older } = answer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    answer.newer = undefined
    answer.older = undefined
  }

  #leave(apiId: string, responses: ApiResponses): void {
    const known = this.#apis.get(apiId)
    known?.delete(responses)
    if (known?.size === 0) this.#apis.delete(apiId)
  }
}
