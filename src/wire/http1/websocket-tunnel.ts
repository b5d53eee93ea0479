import { randomBytes } from 'node:crypto'

const CLOSE = 8
const FINAL = 0x80
const MASKED = 0x80
const MASK_BYTES = 4
/** The peer is going away (RFC 6455 section 7.4.1). */
const GOING_AWAY = 1001

/** Follows the frames of one direction of a WebSocket (RFC 6455 section 5.2): where one ends, and whether a Close frame has come. */
export class FrameFollower {
  hasClosed = false
  private payloadLeft = 0
  private headBytes = 0
  private headSize = 2
  private lengthEnd = 2
  private length = 0
  private opcode = 0

  /** True when the next byte begins a frame. */
  get isBetween(): boolean {
    return this.payloadLeft === 0 && this.headBytes === 0
  }

  /** Takes note of bytes. `toEnd`: only of those up to the first end of a frame. Answers of how many. */
  follow(chunk: Uint8Array, toEnd: boolean): number {
    let at = 0
    while (at < chunk.length) {
      if (this.payloadLeft > 0) {
        const step = Math.min(this.payloadLeft, chunk.length - at)
        this.payloadLeft -= step
        at += step
      } else this.head(chunk[at++]!)
      if (toEnd && this.isBetween) break
    }
    return at
  }

  private head(byte: number): void {
    const at = this.headBytes++
    if (at === 0) this.opcode = byte & 15
    else if (at === 1) this.sizes(byte)
    else if (at < this.lengthEnd) this.length = this.length * 256 + byte
    if (at === 0 || this.headBytes < this.headSize) return
    this.headBytes = 0
    this.payloadLeft = this.length
    if (this.opcode === CLOSE) this.hasClosed = true
  }

  private sizes(byte: number): void {
    const short = byte & 127
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    this.lengthEnd = 2 + lengthBytes
    this.headSize = this.lengthEnd + ((byte & MASKED) === 0 ? 0 : MASK_BYTES)
    this.length = lengthBytes === 0 ? short : 0
  }
}

/** One direction of a WebSocket that the gateway may end with a Close frame of its own. */
class Direction {
  readonly frames = new FrameFollower()
  /** Nothing more is passed on. */
  private ended = false
  private readonly masked: boolean

  /** `masked`: towards a server. */
  constructor(masked: boolean) {
    this.masked = masked
  }

  /** The bytes to pass on of those that came; undefined = none. */
  pass(chunk: Buffer, leaving: boolean): Buffer | undefined {
    if (this.ended || !leaving) {
      this.frames.follow(chunk, false)
      return this.ended ? undefined : chunk
    }
    const size = this.frames.follow(chunk, true)
    const passed = chunk.subarray(0, size)
    const close = this.leave()
    this.frames.follow(chunk.subarray(size), false)
    return close === undefined ? passed : Buffer.concat([passed, close])
  }

  /** The Close frame to send now; undefined within a frame, and when one has passed. */
  leave(): Buffer | undefined {
    if (this.ended || !this.frames.isBetween) return undefined
    this.ended = true
    return this.frames.hasClosed ? undefined : closeFrame(this.masked)
  }
}

/** A WebSocket through the gateway: passes frames, and ends both sides between two frames when the gateway stops. */
export class WebSocketTunnel {
  private readonly toClient = new Direction(false)
  private readonly toUpstream = new Direction(true)
  private leaving = false

  /** True when the client has sent its Close frame to a gateway that ends: the connection is the gateway's to close. */
  get clientIsDone(): boolean {
    return this.leaving && this.toUpstream.frames.hasClosed
  }

  /** The bytes for the upstream of those that the client sent; undefined = none. */
  fromClient(chunk: Buffer): Buffer | undefined {
    return this.toUpstream.pass(chunk, this.leaving)
  }

  /** The bytes for the client of those that the upstream sent; undefined = none. */
  fromUpstream(chunk: Buffer): Buffer | undefined {
    return this.toClient.pass(chunk, this.leaving)
  }

  /** Begins to end both sides. Answers the Close frames to send at once; a side within a frame gets its own behind it. */
  leave(): { readonly toClient: Buffer | undefined; readonly toUpstream: Buffer | undefined } {
    this.leaving = true
    return { toClient: this.toClient.leave(), toUpstream: this.toUpstream.leave() }
  }
}

/** A Close frame with status 1001; masked as clients have to (RFC 6455 section 5.3). */
function closeFrame(masked: boolean): Buffer {
  const status = Buffer.from([GOING_AWAY >> 8, GOING_AWAY & 255])
  const first = FINAL | CLOSE
  if (!masked) return Buffer.from([first, status.length, ...status])
  const mask = randomBytes(MASK_BYTES)
  return Buffer.from([first, MASKED | status.length, ...mask, ...status.map((byte, i) => byte ^ mask[i]!)])
}
