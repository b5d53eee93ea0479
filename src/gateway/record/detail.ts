import { statusLine } from '../../wire/http1/answer.ts'
import type { BodyObserver, WireExchange } from '../../wire/http1/exchange.ts'
import { flattenString } from './flatten-string.ts'

/** One message, as far as it is kept. */
export class RecordedMessage {
  /** First line and fields, without the empty line. */
  head = ''
  /** Bytes of the body that passed, kept or not. */
  totalBytes = 0
  readonly #parts: Buffer[] = []
  #room: number

  constructor(maxBytes: number) {
    this.#room = maxBytes
  }

  add(chunk: Uint8Array, from: number, to: number): void {
    this.totalBytes += to - from
    const end = Math.min(to, from + this.#room)
    if (end <= from) return
    this.#room -= end - from
    this.#parts.push(Buffer.from(chunk.subarray(from, end)))
  }

  /** The recorded part of the body. */
  body(): Buffer {
    return Buffer.concat(this.#parts)
  }

  /** The first field of a name (lower case) in the head; '' when there is none. */
  field(lowerName: string): string {
    for (const line of this.head.split('\r\n').slice(1)) {
      const colon = line.indexOf(':')
      if (colon !== -1 && line.slice(0, colon).toLowerCase() === lowerName) return line.slice(colon + 1).trim()
    }
    return ''
  }
}

/** Head and body of a request and its answer, copied as they pass, bodies up to a bound. */
export class Detail implements BodyObserver {
  readonly request: RecordedMessage
  readonly answer: RecordedMessage

  constructor(x: WireExchange, maxBytes: number) {
    this.request = new RecordedMessage(maxBytes)
    this.answer = new RecordedMessage(maxBytes)
    const { text, end } = x.request
    this.request.head = flattenString(text.slice(0, end).replace(/^(?:\r\n)+|\r\n$/g, ''))
  }

  requestPart(chunk: Uint8Array, from: number, to: number): void {
    this.request.add(chunk, from, to)
  }

  answerPart(chunk: Uint8Array, from: number, to: number): void {
    this.answer.add(chunk, from, to)
  }

  /** An answer begins: its status, and its fields as lines. */
  answered(status: number, fields: string): void {
    this.answer.head = flattenString((statusLine(status) + fields).replace(/\r\n$/, ''))
  }

  /** A response of the gateway. */
  replied(status: number, fields: string, body: string | Uint8Array | undefined): void {
    this.answered(status, fields)
    if (body === undefined) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    this.answer.add(bytes, 0, bytes.length)
  }

  /** Bytes of memory that are held, about. */
  get bytes(): number {
    return this.request.head.length + this.answer.head.length + this.request.totalBytes + this.answer.totalBytes
  }
}
