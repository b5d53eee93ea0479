import type { Trailing } from '../connect/origin-port.ts'
import type { FramedStream } from './stream.ts'

/** Offset of the status in a status line. */
const STATUS_FROM = 'HTTP/1.1 '.length

/** The writing side of a stream: takes answers as HTTP/1.1 words them, and sends them as HTTP/2 does. */
export class StreamOutlet {
  stream: FramedStream | undefined
  private readonly x: Trailing

  constructor(x: Trailing) {
    this.x = x
  }

  /**
   * Writes a head (perhaps '') and body bytes, `last` with the end. Framing of HTTP/1.1 is left out.
   * Answers false when the stream wants to be left alone until `streamDrained`.
   */
  body(before: string, _chunked: boolean, chunk: Buffer, from: number, to: number, last: boolean): boolean {
    const { stream } = this
    if (stream === undefined || stream.closed) return true
    const trailers = last && this.x.answerTrailers ? this.x.answeredTrailers() || undefined : undefined
    const bare = last && from === to && trailers === undefined
    if (before !== '') this.head(stream, before, bare)
    if (bare && before !== '') return true
    return stream.send(chunk, from, to, last, trailers)
  }

  interim(head: string): boolean {
    this.stream?.interim(head.slice(STATUS_FROM, STATUS_FROM + 3), head)
    return true
  }

  private head(stream: FramedStream, text: string, bare: boolean): void {
    const { encoder } = stream.session
    encoder.begin(text)
    encoder.pseudo(':status', text.slice(STATUS_FROM, STATUS_FROM + 3))
    encoder.lines(text, text.indexOf('\r\n') + 2)
    stream.head(bare)
  }
}
