import { MAX_STREAM_ID } from './codes.ts'

/** Streams that were reset, or refused, of which frames may still be on their way: clients may send a thousand requests before they read a word. */
const REMEMBERED_RESETS = 4096

/** The numbers of the streams of one connection (RFC 9113 section 5.1.1): which may begin, which are over. */
export class StreamNumbers {
  /** The highest that the peer has begun. */
  lastOfPeer = 0
  /** The highest of these that was looked at. */
  lastServed = 0
  private readonly server: boolean
  private next = 1
  /** The oldest comes first. */
  private readonly resets = new Set<number>()

  constructor(server: boolean) {
    this.server = server
  }

  /** The next stream number; undefined when they are used up. */
  take(): number | undefined {
    if (this.next > MAX_STREAM_ID) return undefined
    this.next += 2
    return this.next - 2
  }

  /** True when this stream may be begun by the peer. */
  mayBegin(id: number): boolean {
    return this.server && id % 2 === 1 && id > this.lastOfPeer
  }

  /** True when this stream was never begun. */
  isIdle(id: number): boolean {
    if (this.server) return id % 2 === 0 || id > this.lastOfPeer
    return id % 2 === 0 || id >= this.next
  }

  /** Frames of this stream may still come, and mean nothing. */
  wasReset(id: number): void {
    this.resets.add(id)
    if (this.resets.size > REMEMBERED_RESETS) this.resets.delete(this.resets.values().next().value!)
  }

  /** True when frames of a stream that is over are no fault. */
  mayTrickle(id: number): boolean {
    return this.resets.has(id)
  }
}
