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
  /** Windows of streams whose bytes are taken as fast as they come grow to this, and that of the connection with them. */
  readonly mostStreamBytes: number
}

/** Module state: memory of this thread: bytes by which the windows of all connections may still grow, for peers that then meet a slow reader. */
const growth = { leftBytes: 67_108_864 }

/** The receive windows of a peer (RFC 9113 section 5.2): consumed bytes are returned half a window at a time. */
export class ReceiveWindows {
  private readonly output: FrameOutput
  private readonly options: WindowOptions
  private window = DEFAULT_WINDOW_BYTES
  private pendingBytes = 0
  /** Bytes that the peer may have on the way at once, and how much of that is growth. */
  private sizeBytes: number
  private grownBytes = 0

  constructor(output: FrameOutput, options: WindowOptions) {
    this.output = output
    this.options = options
    this.sizeBytes = options.sessionWindowBytes
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
    this.pendingBytes += bytes
    if (this.pendingBytes >= this.sizeBytes / 2) {
      this.window += this.pendingBytes
      this.widen(0, this.pendingBytes)
      this.pendingBytes = 0
    }
    if (stream === undefined || stream.receivedEnd || stream.closed) return
    stream.pendingBytes += bytes
    if (stream.pendingBytes < stream.windowBytes / 2) return
    const windowBytes = this.nextWindowOf(stream)
    const increment = stream.pendingBytes + windowBytes - stream.windowBytes
    stream.windowBytes = windowBytes
    stream.receiveWindow += increment
    stream.pendingBytes = 0
    this.widen(stream.id, increment)
  }

  /** The connection is over. */
  end(): void {
    growth.leftBytes += this.grownBytes
    this.grownBytes = 0
  }

  /** That of a body that is wanted; then twice as much each time that all of what came was taken at once. */
  private nextWindowOf({ windowBytes, isTaken }: FramedStream): number {
    const { streamWindowBytes, mostStreamBytes } = this.options
    if (windowBytes < streamWindowBytes) return streamWindowBytes
    if (!isTaken || windowBytes >= mostStreamBytes) return windowBytes
    return this.grow(windowBytes * 4) ? windowBytes * 2 : windowBytes
  }

  /** Gives the connection a window of so many bytes, twice that of a stream. False where there is no room. */
  private grow(sizeBytes: number): boolean {
    const moreBytes = sizeBytes - this.sizeBytes
    if (moreBytes <= 0) return true
    if (moreBytes > growth.leftBytes) return false
    growth.leftBytes -= moreBytes
    this.grownBytes += moreBytes
    this.sizeBytes = sizeBytes
    this.window += moreBytes
    this.widen(0, moreBytes)
    return true
  }

  private widen(id: number, increment: number): void {
    this.output.head(4, TYPE.windowUpdate, 0, id)
    this.output.word(increment)
  }
}
