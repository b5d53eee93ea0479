import { DEFAULT_WINDOW_BYTES, TYPE } from './codes.ts'
import type { FrameOutput } from './frame-output.ts'
import type { FramedStream } from './stream.ts'

/** Windows that a peer is given. */
export interface WindowOptions {
  /** Window of a stream before its body is taken, and from then on. */
  readonly firstWindowBytes: number
  readonly streamWindowBytes: number
  /** Of all streams together; more than RFC 9113 section 6.9.2 begins with. */
  readonly sessionWindowBytes: number
}

/** The receive windows of a peer (RFC 9113 section 5.2): consumed bytes are returned half a window at a time. */
export class ReceiveWindows {
  private readonly output: FrameOutput
  private readonly options: WindowOptions
  private window = DEFAULT_WINDOW_BYTES
  private owedBytes = 0

  constructor(output: FrameOutput, options: WindowOptions) {
    this.output = output
    this.options = options
  }

  /** Opens the window of the connection. */
  begin(): void {
    this.widen(0, this.options.sessionWindowBytes - this.window)
    this.window = this.options.sessionWindowBytes
  }

  /** Counts what has come. False when it is more than the connection may bring. */
  use(bytes: number): boolean {
    this.window -= bytes
    return this.window >= 0
  }

  /** Bytes were taken, or thrown away, of a stream that may be over (undefined). */
  taken(stream: FramedStream | undefined, bytes: number): void {
    const { sessionWindowBytes, streamWindowBytes } = this.options
    this.owedBytes += bytes
    if (this.owedBytes >= sessionWindowBytes / 2) {
      this.window += this.owedBytes
      this.widen(0, this.owedBytes)
      this.owedBytes = 0
    }
    if (stream === undefined || stream.receivedEnd || stream.closed) return
    stream.owedBytes += bytes
    if (stream.owedBytes < stream.windowBytes / 2) return
    // From here on it has the window of a body that is wanted.
    const increment = stream.owedBytes + streamWindowBytes - stream.windowBytes
    stream.windowBytes = streamWindowBytes
    stream.receiveWindow += increment
    stream.owedBytes = 0
    this.widen(stream.id, increment)
  }

  private widen(id: number, increment: number): void {
    this.output.head(4, TYPE.windowUpdate, 0, id)
    this.output.word(increment)
  }
}
