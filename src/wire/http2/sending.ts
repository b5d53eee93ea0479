import { CODE, DEFAULT_WINDOW_BYTES, FLAG, MAX_FRAME_BYTES, MAX_WINDOW_BYTES, TYPE } from './codes.ts'
import type { FrameOutput } from './frame-output.ts'
import type { FramedStream } from './stream.ts'

/** The DATA of one connection: sent as far as its windows and the socket allow, fairly between its streams (RFC 9113 section 5.2). */
export class Sending {
  /** DATA frames sent since the last look, and their bytes. */
  frames = 0
  bytes = 0
  private readonly output: FrameOutput
  private window = DEFAULT_WINDOW_BYTES
  /** Streams that could send if the connection could, in turn. */
  private readonly ready: FramedStream[] = []
  /** Streams whose users wait for the socket alone. */
  private readonly stalled: FramedStream[] = []

  constructor(output: FrameOutput) {
    this.output = output
  }

  /** The peer lets the connection send more, from the next `pump` on. Answers the CODE of an increment that is one too many. */
  widen(increment: number): number {
    if (increment === 0) return CODE.protocol
    if (this.window + increment > MAX_WINDOW_BYTES) return CODE.flowControl
    this.window += increment
    return CODE.none
  }

  /** The peer lets a stream send more, or (negative) less. Answers the CODE of an increment that is one too many. */
  widenStream(stream: FramedStream, increment: number): number {
    if (stream.sendWindow + increment > MAX_WINDOW_BYTES) return CODE.flowControl
    stream.sendWindow += increment
    this.enqueue(stream)
    return CODE.none
  }

  /** Sends what may be sent; the rest is kept on its stream. False when something was kept, or the socket is full. */
  send(stream: FramedStream, chunk: Buffer, from: number, to: number): boolean {
    const free = stream.outgoing.length === 0 && this.ready.length === 0 && !this.output.full
    const at = free ? this.write(stream, chunk, from, to, stream.endsWithData) : from
    if (at < to) stream.keepOutgoing(chunk, at, to)
    if (stream.outgoing.length > 0) {
      this.enqueue(stream)
      return false
    }
    if (from === to && stream.endsWithData) this.output.head(0, TYPE.data, FLAG.endStream, stream.id)
    stream.emptied()
    if (!this.output.full) return true
    this.stalled.push(stream)
    return false
  }

  /** Frames as much as the windows allow; answers the offset behind it. `ends` = the stream ends with these bytes. */
  private write(stream: FramedStream, chunk: Buffer, from: number, to: number, ends: boolean): number {
    let at = from
    while (at < to) {
      const size = Math.min(to - at, MAX_FRAME_BYTES, stream.sendWindow, this.window)
      if (size <= 0) break
      const flags = ends && at + size === to ? FLAG.endStream : 0
      this.output.head(size, TYPE.data, flags, stream.id)
      this.output.bytes(chunk, at, at + size)
      this.window -= size
      stream.sendWindow -= size
      stream.sentBytes += size
      this.frames++
      this.bytes += size
      at += size
    }
    return at
  }

  private enqueue(stream: FramedStream): void {
    if (stream.queued || stream.outgoing.length === 0 || stream.sendWindow <= 0) return
    stream.queued = true
    this.ready.push(stream)
  }

  /** Sends what waits: a frame of each stream in turn. */
  pump(): void {
    while (this.ready.length > 0 && this.window > 0 && !this.output.full) {
      const stream = this.ready.shift()!
      stream.queued = false
      if (!stream.closed) this.sendFrame(stream)
    }
  }

  private sendFrame(stream: FramedStream): void {
    const { outgoing } = stream
    const part = outgoing[0]
    if (part === undefined) return
    const from = stream.outgoingFrom
    const to = Math.min(part.length, from + MAX_FRAME_BYTES)
    const at = this.write(stream, part, from, to, stream.endsWithData && outgoing.length === 1 && to === part.length)
    stream.outgoingFrom = at
    if (at === part.length) {
      outgoing.shift()
      stream.outgoingFrom = 0
    }
    if (outgoing.length > 0) {
      this.enqueue(stream)
      return
    }
    stream.emptied()
    this.release(stream)
  }

  private release(stream: FramedStream): void {
    if (!stream.held || stream.closed) return
    stream.held = false
    stream.user?.streamDrained()
  }

  /** The socket takes bytes again. */
  drained(): void {
    this.pump()
    if (this.output.full) return
    for (const stream of this.stalled.splice(0)) if (stream.outgoing.length === 0) this.release(stream)
  }
}
