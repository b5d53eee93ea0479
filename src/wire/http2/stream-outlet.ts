import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Trailing } from '../origin-port.ts'
import { keep } from '../read-buffer.ts'
import { addFields, trailerObject } from './header-list.ts'

/** Where the status stands in a status line. */
const STATUS_FROM = 'HTTP/1.1 '.length

/** The writing side of a stream: takes answers as HTTP/1.1 words them, and sends them as HTTP/2 does. */
export class StreamOutlet {
  stream: ServerHttp2Stream | undefined
  /** True when the answer ends with trailers that are still to be sent. */
  trailing = false
  private readonly x: Trailing
  private readonly trailed: () => void

  /** `trailed` is called once trailers were sent, where there could be some. */
  constructor(x: Trailing, trailed: () => void) {
    this.x = x
    this.trailed = trailed
  }

  /**
   * Writes a head (perhaps '') and body bytes, `last` with the end. Framing of HTTP/1.1 is left out.
   * Answers false when the stream wants to be left alone until `drain`.
   */
  body(before: string, _chunked: boolean, chunk: Buffer, from: number, to: number, last: boolean): boolean {
    const { stream } = this
    if (stream === undefined || stream.destroyed || stream.closed) return true
    if (before !== '') this.head(stream, before, last && from === to)
    if (stream.writableEnded) return true
    if (to === from) {
      if (last) stream.end()
      return true
    }
    const bytes = keep(chunk.subarray(from, to))
    if (!last) return stream.write(bytes)
    stream.end(bytes)
    return true
  }

  private head(stream: ServerHttp2Stream, text: string, bare: boolean): void {
    const list = [':status', text.slice(STATUS_FROM, STATUS_FROM + 3)]
    addFields(list, text, text.indexOf('\r\n') + 2)
    const { answerTrailers } = this.x
    this.trailing = answerTrailers !== undefined && !(bare && answerTrailers === '')
    if (this.trailing) stream.once('wantTrailers', () => this.trail(stream))
    try {
      stream.respond(list, { endStream: bare && !this.trailing, waitForTrailers: this.trailing })
    } catch {
      // A status that HTTP/2 has no place for, above 599.
      stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    }
  }

  private trail(stream: ServerHttp2Stream): void {
    if (stream.destroyed || stream.closed) return
    stream.sendTrailers(trailerObject(this.x.answerTrailers ?? ''))
    setImmediate(this.trailed)
  }
}
