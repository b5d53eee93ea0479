import type { MonoMillis } from '../../model/time/clock.ts'
import { statusLine } from '../../wire/http1/answer.ts'
import { type RepeatedAnswer, SMALL_BYTES } from '../../wire/http1/outlet.ts'
import { linesOnly, linesWithout } from '../server/field-lines.ts'
import type { FreshnessLife, LifeFields } from './storable.ts'

const DATE = new Set(['date'])
/** Checksums of the content of a message, not of the representation (RFC 9530 section 2). */
const OF_CONTENT = new Set(['content-digest', 'content-md5'])

/** Tells callers that an answer was stored. */
const MARK = 'X-Svc-Cached-Response: 1\r\n'

/** About what an answer costs besides its texts. */
const OVERHEAD_BYTES = 600

/** Fields of an answer that tell a client what it has may be used further (RFC 9110 section 15.4.5). */
const OF_304 = new Set(['cache-control', 'cdn-cache-control', 'content-location', 'date', 'etag', 'expires', 'vary'])

/** The gateway's part of a cache key: two requests must agree in it to share a response. */
export interface RequestProfile {
  /** Edits of their fields by every API that led them here (`Exchange.requestEdits`). */
  readonly requestEdits: string
  readonly answerEdits: object | undefined
  readonly targets: object | undefined
  /** False where the gateway alone gives `Access-Control-*` fields, so that those of the upstream are no part of the answer. */
  readonly upstreamCors: boolean
}

/** Which requests an answer is for. */
export interface VaryKey {
  readonly uri: string
  /** Hash of the key whose answers these are; '' = of everybody. */
  readonly caller: string
  readonly way: RequestProfile
  /** Names of the fields that select it, and what they said. */
  readonly names: readonly string[]
  readonly selected: string
}

/** Bytes of a body, `to` not among them. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

/** The parts of a response. */
export interface AnswerParts {
  readonly status: number
  /** `Name: value\r\n` lines, without Age, Content-Length and Connection. */
  readonly lines: string
  readonly fields: LifeFields
  readonly life: FreshnessLife
  readonly body: Buffer
  /** When it was made, so far as its age tells. */
  readonly bornAt: MonoMillis
}

/** The owner of a stored answer, which can evict it. */
export interface AnswerOwner {
  remove(answer: StoredAnswer): void
}

/** A stored answer of an upstream. */
export class StoredAnswer implements RepeatedAnswer {
  readonly status: number
  readonly headEnd: string
  readonly text: string
  readonly bytes: Buffer | undefined
  head = ''
  whole = ''
  readonly selection: VaryKey
  readonly parts: Omit<AnswerParts, 'body'>
  readonly freshUntil: MonoMillis
  /** Memory that it takes, about, compressed forms included. */
  size: number
  /** Compressed forms, by coding. */
  #forms: Map<string, StoredAnswer> | undefined
  /** Where it is stored; undefined when it is not, or no more. */
  owner: AnswerOwner | undefined
  /** True while a new one is fetched in the background. */
  refreshing = false
  /** Neighbours in the order of use. */
  newer: StoredAnswer | undefined
  older: StoredAnswer | undefined
  #ageS = -1

  constructor(selection: VaryKey, { body, ...parts }: AnswerParts) {
    const { status, lines, bornAt, life } = parts
    this.selection = selection
    this.parts = parts
    this.status = status
    this.headEnd = status === 204 ? '\r\n' : `Content-Length: ${body.length}\r\n\r\n`
    this.text = body.length > SMALL_BYTES ? '' : body.toString('latin1')
    this.bytes = body.length > SMALL_BYTES ? body : undefined
    this.freshUntil = bornAt + life.freshS * 1000
    // The head is held twice, by itself and with the body.
    this.size =
      OVERHEAD_BYTES +
      selection.uri.length +
      selection.way.requestEdits.length +
      3 * lines.length +
      (this.bytes ? 1 : 2) * body.length
    this.owner = undefined
    this.newer = undefined
    this.older = undefined
  }

  /** Bytes of the body. */
  get length(): number {
    return this.bytes?.length ?? this.text.length
  }

  /** The whole body. */
  get body(): Buffer {
    return this.bytes ?? Buffer.from(this.text, 'latin1')
  }

  /** Ready to be written at this time, with its age in whole seconds (RFC 9111 section 5.1). The text is made once a second. */
  at(now: MonoMillis): this {
    const ageS = this.#ageAt(now)
    if (ageS === this.#ageS) return this
    this.#ageS = ageS
    this.head = `${statusLine(this.status)}${this.parts.lines}Age: ${ageS}\r\n${MARK}`
    this.whole = this.head + this.headEnd + this.text
    return this
  }

  /** The response to a client that has this response already; `weak` = compressed, with a tag that says so. */
  notModified(now: MonoMillis, weak: boolean): RepeatedAnswer {
    const lines = linesOnly(this.parts.lines, OF_304)
    const fields = weak ? lines.replace(/^(etag:[ \t]*)(?=")/im, '$1W/') : lines
    const head = `${statusLine(304)}${fields}Age: ${this.#ageAt(now)}\r\n${MARK}`
    return { status: 304, head, headEnd: '\r\n', text: '', bytes: undefined, whole: `${head}\r\n` }
  }

  /** A form of it that is kept beside it where there is room, and else made for this time. */
  form(coding: string, make: () => AnswerParts, keep: (bytes: number) => boolean): StoredAnswer {
    const known = this.#forms?.get(coding)
    if (known !== undefined) return known
    const made = new StoredAnswer(this.selection, make())
    if (!keep(made.size)) return made
    this.#forms ??= new Map()
    this.#forms.set(coding, made)
    return made
  }

  /** A part of a response (RFC 9110 section 15.3.7). */
  part({ from, to }: ByteRange, now: MonoMillis): RepeatedAnswer {
    const { lines } = this.parts
    const range = `Content-Range: bytes ${from}-${to - 1}/${this.length}\r\n`
    const head = `${statusLine(206)}${linesWithout(lines, OF_CONTENT)}${range}Age: ${this.#ageAt(now)}\r\n${MARK}`
    const headEnd = `Content-Length: ${to - from}\r\n\r\n`
    const large = this.bytes !== undefined && to - from > SMALL_BYTES
    const text = large ? '' : (this.bytes?.toString('latin1', from, to) ?? this.text.slice(from, to))
    const bytes = large ? this.bytes!.subarray(from, to) : undefined
    return { status: 206, head, headEnd, text, bytes, whole: head + headEnd + text }
  }

  /** The response to a client that asks for bytes beyond the end (RFC 9110 section 15.5.17). */
  unsatisfiable(now: MonoMillis): RepeatedAnswer {
    const range = `Content-Range: bytes */${this.length}\r\n`
    const head = `${statusLine(416)}${linesOnly(this.parts.lines, DATE)}${range}Age: ${this.#ageAt(now)}\r\n${MARK}`
    const headEnd = 'Content-Length: 0\r\n\r\n'
    return { status: 416, head, headEnd, text: '', bytes: undefined, whole: head + headEnd }
  }

  #ageAt(now: MonoMillis): number {
    return Math.max(0, Math.floor((now - this.parts.bornAt) / 1000))
  }

  /** True when it may be given so many seconds after its life. */
  isWithin(now: MonoMillis, staleS: number): boolean {
    return now < this.freshUntil + staleS * 1000
  }

  /** True when the upstream can be asked whether it is still right. */
  get hasValidator(): boolean {
    return this.parts.fields.etag !== '' || this.parts.fields.lastModified !== ''
  }
}

/** True when requests of the one way are served as those of the other. */
export function sameProfile(a: RequestProfile, b: RequestProfile): boolean {
  const sameEdits = a.requestEdits === b.requestEdits && a.answerEdits === b.answerEdits
  return sameEdits && a.targets === b.targets && a.upstreamCors === b.upstreamCors
}
