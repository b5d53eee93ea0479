import type { OperationCacheRule } from '../../model/apis/definition/api.ts'
import type { MonoMillis } from '../../model/time/clock.ts'
import { FIELD, type Fields } from '../../wire/http1/fields.ts'
import { flattenString } from '../record/flatten-string.ts'
import { withoutCorsLines } from '../server/cors-fields.ts'
import { linesUpdated, linesWithout } from '../server/field-lines.ts'
import type { ChainCache } from './chain-cache.ts'
import { selectingNames, varyKeyOf } from './selecting.ts'
import { initialAge, type LifeFields, readLifeFields, storableLife } from './storable.ts'
import { type AnswerParts, type RequestProfile, StoredAnswer, type VaryKey } from './stored-answer.ts'

/** A request to an upstream as the cache needs it, to store the response. */
export interface UpstreamRequest {
  readonly cache: ChainCache
  readonly uri: string
  /** Hash of the key whose answer it is; '' = everybody's. */
  readonly caller: string
  readonly way: RequestProfile
  readonly operation: OperationCacheRule | undefined
  /** Edits of the answer's head, in order. */
  readonly edits: readonly { readonly remove: ReadonlySet<string>; readonly lines: string }[]
  /** True for a request with an `Authorization` that the answer could be meant for alone (RFC 9111 section 3.5). */
  readonly guarded: boolean
  /** Position of the request in the order of invalidations. */
  readonly turn: number
  readonly sentAt: MonoMillis
  /** The stored answer that the upstream was asked about. */
  readonly known: StoredAnswer | undefined
}

/** An answer on its way into the cache: copied as it passes, and stored when it is complete. */
export class AnswerDraft {
  readonly #asked: UpstreamRequest
  readonly #selection: VaryKey
  readonly #parts: Omit<AnswerParts, 'body'>
  #body: Buffer[] | undefined = []
  #size = 0

  constructor(asked: UpstreamRequest, selection: VaryKey, parts: Omit<AnswerParts, 'body'>) {
    this.#asked = asked
    this.#selection = selection
    this.#parts = parts
  }

  /** Copies a part of the body. False once the answer is too large: then nothing of it is kept. */
  take(chunk: Buffer, from: number, to: number): boolean {
    if (this.#body === undefined) return false
    const { pool } = this.#asked.cache
    const size = this.#size + to - from
    if (size > pool.bounds.entryBytes || !pool.reserve(to - from)) {
      this.drop()
      return false
    }
    this.#size = size
    if (to > from) this.#body.push(Buffer.from(chunk.subarray(from, to)))
    return true
  }

  /** The answer is complete: it is stored. */
  store(): void {
    const body = this.#body
    if (body === undefined) return
    this.drop()
    const { cache, turn } = this.#asked
    const whole = body.length === 1 ? body[0]! : Buffer.concat(body)
    cache.responses.put(new StoredAnswer(this.#selection, { ...this.#parts, body: whole }), turn)
  }

  /** Nothing of it is wanted any more. */
  drop(): void {
    if (this.#body === undefined) return
    this.#asked.cache.pool.release(this.#size)
    this.#body = undefined
  }
}

/** Begins to store an answer whose head has come; undefined when it may not be stored. */
export function beginDraft(
  asked: UpstreamRequest,
  request: Fields,
  status: number,
  answer: Fields,
): AnswerDraft | undefined {
  const { cache, operation, guarded } = asked
  const { rules, clock, pool, words } = cache
  const fields = readLifeFields((name) => answer.all(name), rules, words)
  const life = storableLife(status, fields, rules, operation, clock.wall(), guarded)
  if (life === undefined || (answer.has(FIELD.setCookie) && !rules.keepCookies)) return undefined
  if (Number(answer.known(FIELD.contentLength) ?? 0) > pool.bounds.entryBytes) return undefined
  const names = selectingNames(answer.all('vary'), rules.byHeaders)
  if (names === undefined) return undefined
  return new AnswerDraft(asked, selectionFor(asked, request, names), {
    status,
    life,
    fields: copied(fields),
    lines: flattenString(datedLines(storedLines(asked, answer), fields, clock.wall())),
    bornAt: bornAt(asked, answer, fields),
  })
}

/**
 * The stored answer as a 304 says that it may be used further (RFC 9111 section 4.3.4), with the body that it had; undefined when
 * the 304 speaks of another one.
 */
export function refreshedAnswer(asked: UpstreamRequest, known: StoredAnswer, answer: Fields): StoredAnswer | undefined {
  const { rules, clock, words } = asked.cache
  const said = readLifeFields((name) => answer.all(name), rules, words)
  const before = known.parts.fields
  if (said.etag !== '' && before.etag !== '' && said.etag !== before.etag) return undefined
  const fields: LifeFields = {
    cacheControl: said.cacheControl.length > 0 ? said.cacheControl : before.cacheControl,
    targeted: said.targeted.length > 0 ? said.targeted : before.targeted,
    expires: said.expires || before.expires,
    date: said.date || before.date,
    etag: said.etag || before.etag,
    lastModified: said.lastModified || before.lastModified,
    lifetime: said.lifetime || before.lifetime,
  }
  const life = storableLife(known.status, fields, rules, asked.operation, clock.wall(), false)
  const update = linesWithout(storedLines({ ...asked, edits: asked.edits.map(removal) }, answer), NOT_UPDATED)
  const fresh = new StoredAnswer(known.selection, {
    status: known.status,
    fields: copied(fields),
    // Not to be stored from now on: it is given this once.
    life: life ?? { ...known.parts.life, freshS: 0, staleWhileRevalidateS: 0, staleIfErrorS: 0 },
    lines: flattenString(linesUpdated(known.parts.lines, update)),
    body: known.body,
    bornAt: bornAt(asked, answer, said),
  })
  if (life === undefined) asked.cache.responses.remove(known)
  else asked.cache.responses.put(fresh, asked.turn)
  return fresh
}

/** Fields of a 304 that say nothing about the stored answer (RFC 9111 section 3.2), or would take it for another. */
const NOT_UPDATED = new Set([
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'set-cookie',
  'vary',
])

const removal = ({ remove }: { readonly remove: ReadonlySet<string> }) => ({ remove, lines: '' })

function selectionFor({ uri, caller, way }: UpstreamRequest, request: Fields, names: readonly string[]): VaryKey {
  const selected = names.length === 0 ? '' : flattenString(varyKeyOf(request, names))
  return { uri: flattenString(uri), caller, way, names: names.map((name) => flattenString(name)), selected }
}

/** The lines of an answer as they are given again, with the edits of API and operation. */
function storedLines({ cache, edits, way }: UpstreamRequest, answer: Fields): string {
  const names = new Set([...cache.unstored, ...edits.flatMap(({ remove }) => [...remove])])
  const set = edits.reduce((before, { remove, lines }) => linesWithout(before, remove) + lines, '')
  const stored = linesWithout(answer.kept(), names) + set
  return way.upstreamCors ? stored : withoutCorsLines(stored)
}

/** A stored answer tells when it was made (RFC 9110 section 6.6.1). */
function datedLines(lines: string, { date }: LifeFields, now: number): string {
  return date === '' ? `${lines}Date: ${new Date(now).toUTCString()}\r\n` : lines
}

function bornAt({ cache, sentAt }: UpstreamRequest, answer: Fields, { date }: LifeFields): MonoMillis {
  const now = cache.clock.mono()
  return now - initialAge(answer.get('age') ?? '', date, cache.clock.wall(), now - sentAt) * 1000
}

/** A slice of a head retains all of it in memory. */
function copied(fields: LifeFields): LifeFields {
  return {
    cacheControl: fields.cacheControl.map((value) => flattenString(value)),
    targeted: fields.targeted.map((value) => flattenString(value)),
    expires: flattenString(fields.expires),
    date: flattenString(fields.date),
    etag: flattenString(fields.etag),
    lastModified: flattenString(fields.lastModified),
    lifetime: flattenString(fields.lifetime),
  }
}
