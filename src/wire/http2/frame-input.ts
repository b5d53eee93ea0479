import { FRAME_HEAD_BYTES, TYPE } from './codes.ts'

/** Receiver of frames. Bytes are in a buffer that the next read overwrites. */
export interface FrameConsumer {
  /** A frame has begun. False when nothing more is to be read. */
  frameBegins(type: number, flags: number, stream: number, size: number): boolean
  /** The whole of a frame other than DATA. */
  frame(type: number, flags: number, stream: number, bytes: Buffer, from: number, to: number): void
  /** The next part of the DATA that has begun; `left` bytes of its payload are still to come. */
  dataPart(bytes: Buffer, from: number, to: number, left: number): void
}

/** Cuts what arrives into frames (RFC 9113 section 4.1), however the bytes come. DATA is passed on as it comes. */
export class FrameInput {
  private readonly consumer: FrameConsumer
  /** Bytes of a frame that is not complete. */
  private partial: Buffer | undefined
  private inData = false
  private dataLeft = 0
  private stopped = false

  constructor(consumer: FrameConsumer) {
    this.consumer = consumer
  }

  /** Nothing more is read. */
  stop(): void {
    this.stopped = true
    this.partial = undefined
  }

  push(arrived: Buffer): void {
    if (this.stopped) return
    const bytes = this.partial === undefined ? arrived : Buffer.concat([this.partial, arrived])
    this.partial = undefined
    let at = 0
    while (at < bytes.length && !this.stopped) {
      const next = this.inData ? this.data(bytes, at) : this.begin(bytes, at)
      if (next < 0) break
      at = next
    }
    // Copied: it would be overwritten, or keep all that it came with.
    if (at < bytes.length && !this.stopped) this.partial = Buffer.from(bytes.subarray(at))
  }

  /** Answers the offset behind what was used; -1 when there is too little. */
  private begin(bytes: Buffer, at: number): number {
    if (bytes.length - at < FRAME_HEAD_BYTES) return -1
    const size = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    const type = bytes[at + 3]!
    const flags = bytes[at + 4]!
    const stream = ((bytes[at + 5]! & 127) << 24) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 8) | bytes[at + 8]!
    if (!this.consumer.frameBegins(type, flags, stream, size)) {
      this.stop()
      return bytes.length
    }
    const from = at + FRAME_HEAD_BYTES
    if (type === TYPE.data) {
      this.inData = true
      this.dataLeft = size
      return size === 0 ? this.data(bytes, from) : from
    }
    if (bytes.length - from < size) return -1
    this.consumer.frame(type, flags, stream, bytes, from, from + size)
    return from + size
  }

  private data(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.dataLeft)
    this.dataLeft -= end - at
    this.inData = this.dataLeft > 0
    this.consumer.dataPart(bytes, at, end, this.dataLeft)
    return end
  }
}
