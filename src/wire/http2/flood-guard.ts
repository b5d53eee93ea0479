import { performance } from 'node:perf_hooks'
import type { FramedStream } from './stream.ts'

/** Frames that do nothing, at once and a second; what streams, DATA and content of the client add. */
const IDLE_BURST = 1000
const IDLE_PER_SECOND = 100
const IDLE_PER_STREAM = 4
const IDLE_PER_DATA = 2
/** Premature resets, at once and a second: browsers that leave a page reset what it loads. */
const RESET_BURST = 200
const RESETS_PER_SECOND = 33
/** Looks at deadlines (ten a second) within which a reset is premature: a caller that gave up waiting reset none of these. */
const PREMATURE_LOOKS = 10

/**
 * Tells floods of a client from work (RFC 9113 section 10.5). WINDOW_UPDATE is judged by bytes, not by frames: one that returns bytes that were
 * sent, in pieces of any size, is free. What does nothing is counted, as are streams that are reset before anything came of them.
 */
export class FloodGuard {
  private readonly idleFrames = new Allowance(IDLE_BURST, IDLE_PER_SECOND)
  private readonly resets = new Allowance(RESET_BURST, RESETS_PER_SECOND)
  /** DATA bytes sent on the connection, and of streams that are over, that were not returned yet. */
  private unreturned = 0
  private unreturnedOfClosed = 0
  private looks = 0

  /** DATA was sent: frames and their bytes. */
  sent(frames: number, bytes: number): void {
    this.idleFrames.earn(frames * IDLE_PER_DATA)
    this.unreturned += bytes
  }

  /** DATA with content has come. */
  received(): void {
    this.idleFrames.earn(1)
  }

  /** A client has begun a stream. */
  begun(): void {
    this.idleFrames.earn(IDLE_PER_STREAM)
  }

  /** The age of a stream that begins now; `isPremature` compares it. */
  get age(): number {
    return this.looks
  }

  /** Called ten times a second. */
  look(): void {
    this.looks++
  }

  /** A stream is over. `complete` = neither side has reset it. */
  ended(stream: FramedStream, complete: boolean): void {
    this.unreturnedOfClosed += stream.sentBytes - stream.returnedBytes
    if (complete) this.resets.earn(1)
  }

  /** Counts a frame that does nothing. False when it is one too many. */
  idle(): boolean {
    return this.idleFrames.take()
  }

  /** WINDOW_UPDATE of the connection. False when it is one too many. */
  returned(bytes: number): boolean {
    if (bytes === 0 || bytes > this.unreturned) return this.idle()
    this.unreturned -= bytes
    return true
  }

  /** WINDOW_UPDATE of a stream; undefined = it is over. False when it is one too many. */
  returnedOf(stream: FramedStream | undefined, bytes: number): boolean {
    if (bytes === 0) return this.idle()
    if (stream === undefined) {
      if (bytes > this.unreturnedOfClosed) return this.idle()
      this.unreturnedOfClosed -= bytes
      return true
    }
    if (bytes > stream.sentBytes - stream.returnedBytes) return this.idle()
    stream.returnedBytes += bytes
    return true
  }

  /** A client resets a stream: free once its answer has begun, or when it was waited for. False when it is one too many. */
  reset(stream: FramedStream): boolean {
    return stream.sentHead || this.looks - stream.bornAt >= PREMATURE_LOOKS || this.resets.take()
  }

  /** A client makes us reset a stream. False when it is one too many. */
  fault(): boolean {
    return this.resets.take()
  }
}

/** How many things of a kind a peer may do: some at once, then so many a second. */
class Allowance {
  private readonly burst: number
  private readonly perMs: number
  private left: number
  private filledAt = performance.now()

  constructor(burst: number, perSecond: number) {
    this.burst = burst
    this.perMs = perSecond / 1000
    this.left = burst
  }

  /** Counts one. False when it is one too many. */
  take(): boolean {
    if (this.left < 1) this.refill()
    return --this.left >= 0
  }

  /** Useful work of a peer allows it more of the rest. */
  earn(count: number): void {
    this.left = Math.min(this.burst, this.left + count)
  }

  private refill(): void {
    const now = performance.now()
    this.left = Math.min(this.burst, Math.max(0, this.left) + (now - this.filledAt) * this.perMs)
    this.filledAt = now
  }
}
