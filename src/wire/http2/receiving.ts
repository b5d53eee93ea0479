import { CODE, FLAG, MAX_FRAME_BYTES, TYPE } from './codes.ts'
import type { FrameConsumer } from './frame-input.ts'
import type { GoawayReason } from './goaway.ts'
import type { FramedStream } from './stream.ts'

/** Handles the frames of a peer. Each may end its connection. */
export interface FrameMeaning {
  /** A whole field block. */
  fieldBlock(stream: number, endStream: boolean, bytes: Buffer, from: number, to: number): void
  /** DATA begins, of `size` bytes. Answers whose it is; undefined when it is to be thrown away. */
  dataBegins(stream: number, size: number): FramedStream | undefined
  /** The part of its payload that is content. */
  content(stream: FramedStream, bytes: Buffer, from: number, to: number, last: boolean): void
  /** Bytes that nobody takes: padding, or content of a stream that is gone (undefined). */
  wasted(stream: FramedStream | undefined, bytes: number): void
  reset(stream: number, code: number): void
  settings(bytes: Buffer, from: number, to: number): void
  settingsAcknowledged(): void
  ping(bytes: Buffer, from: number, to: number): void
  pingAnswered(bytes: Buffer, from: number): void
  goaway(lastStream: number, code: number): void
  windowUpdate(stream: number, increment: number): void
  /** A frame that says nothing: there may only be so many. */
  idle(): void
  /** A field block has begun without being complete, or (false) is. */
  awaitBlock(begun: boolean): void
  /** Only this stream is in error (RFC 9113 section 5.4.2). */
  streamError(stream: number, code: number): void
  /** Ends the connection (RFC 9113 section 5.4.1). */
  fail(code: number, reason?: GoawayReason): void
}

/** CONTINUATION frames of one block: nobody has reason to send small ones (CVE-2024-27316). */
const MAX_CONTINUATIONS = 32

/** Checks each frame as far as that needs no state but the frames before it (RFC 9113 section 6), and says what it means. */
export class Receiving implements FrameConsumer {
  private readonly meaning: FrameMeaning
  private readonly maxBlockBytes: number
  private begun = false
  /** The stream whose field block is not complete; 0 = none. */
  private blockStream = 0
  private blockEnds = false
  private readonly blockParts: Buffer[] = []
  private blockBytes = 0
  private stream: FramedStream | undefined
  private dataFlags = 0
  /** Bytes of padding that end the DATA; -1 = its length is still to come. */
  private padding = 0

  /** `maxBlockBytes` bounds a field block, before it is decoded. */
  constructor(meaning: FrameMeaning, maxBlockBytes: number) {
    this.meaning = meaning
    this.maxBlockBytes = maxBlockBytes
  }

  private fail(code: number, reason?: GoawayReason): false {
    this.meaning.fail(code, reason)
    return false
  }

  frameBegins(type: number, flags: number, stream: number, size: number): boolean {
    if (size > MAX_FRAME_BYTES) return this.fail(CODE.frameSize)
    if (!this.begun && (type !== TYPE.settings || (flags & FLAG.ack) !== 0)) return this.fail(CODE.protocol)
    this.begun = true
    const within = this.blockStream !== 0
    if (within !== (type === TYPE.continuation) || (within && stream !== this.blockStream)) {
      return this.fail(CODE.protocol)
    }
    return type !== TYPE.data || this.beginData(flags, stream, size)
  }

  private beginData(flags: number, stream: number, size: number): boolean {
    if (stream === 0) return this.fail(CODE.protocol)
    const padded = (flags & FLAG.padded) !== 0
    if (padded && size === 0) return this.fail(CODE.frameSize)
    this.dataFlags = flags
    this.padding = padded ? -1 : 0
    this.stream = this.meaning.dataBegins(stream, size)
    if (size === 0 && (flags & FLAG.endStream) === 0) this.meaning.idle()
    return true
  }

  dataPart(bytes: Buffer, start: number, end: number, left: number): void {
    let from = start
    let to = end
    const { meaning, stream } = this
    if (this.padding < 0 && from < to) {
      this.padding = bytes[from++]!
      if (this.padding > to - from + left) {
        this.fail(CODE.protocol)
        return
      }
    }
    if (this.padding > left) to = Math.max(from, to - (this.padding - left))
    const content = to - from
    if (end - start > content) meaning.wasted(stream, end - start - content)
    if (stream === undefined || stream.closed) {
      if (content > 0) meaning.wasted(undefined, content)
      return
    }
    const last = left === 0 && (this.dataFlags & FLAG.endStream) !== 0
    if (content > 0 || last) meaning.content(stream, bytes, from, to, last)
  }

  frame(type: number, flags: number, stream: number, bytes: Buffer, from: number, to: number): void {
    const { meaning } = this
    const size = to - from
    switch (type) {
      case TYPE.headers:
        this.headers(flags, stream, bytes, from, to)
        break
      case TYPE.continuation:
        this.continuation(flags, stream, bytes, from, to)
        break
      case TYPE.priority:
        if (stream === 0) this.fail(CODE.protocol)
        else if (size !== 5) meaning.streamError(stream, CODE.frameSize)
        else meaning.idle()
        break
      case TYPE.reset:
        if (stream === 0) this.fail(CODE.protocol)
        else if (size !== 4) this.fail(CODE.frameSize)
        else meaning.reset(stream, bytes.readUInt32BE(from))
        break
      case TYPE.windowUpdate:
        if (size !== 4) this.fail(CODE.frameSize)
        else meaning.windowUpdate(stream, bytes.readUInt32BE(from) & 0x7fffffff)
        break
      case TYPE.pushPromise:
        // Clients do not push, and push is disabled for servers.
        this.fail(CODE.protocol)
        break
      case TYPE.settings:
      case TYPE.ping:
      case TYPE.goaway:
        if (stream !== 0) this.fail(CODE.protocol)
        else this.ofConnection(type, flags, bytes, from, to)
        break
      default:
        // Extensions that we do not know (RFC 9113 section 4.1).
        meaning.idle()
    }
  }

  private ofConnection(type: number, flags: number, bytes: Buffer, from: number, to: number): void {
    const { meaning } = this
    const size = to - from
    const ack = (flags & FLAG.ack) !== 0
    if (type === TYPE.settings) {
      if (ack ? size !== 0 : size % 6 !== 0) this.fail(CODE.frameSize)
      else if (ack) meaning.settingsAcknowledged()
      else meaning.settings(bytes, from, to)
    } else if (type === TYPE.ping) {
      if (size !== 8) this.fail(CODE.frameSize)
      else if (ack) meaning.pingAnswered(bytes, from)
      else meaning.ping(bytes, from, to)
    } else if (size < 8) this.fail(CODE.frameSize)
    else meaning.goaway(bytes.readUInt32BE(from) & 0x7fffffff, bytes.readUInt32BE(from + 4))
  }

  private headers(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream === 0) {
      this.fail(CODE.protocol)
      return
    }
    const padded = (flags & FLAG.padded) !== 0
    const fixed = (padded ? 1 : 0) + ((flags & FLAG.priority) !== 0 ? 5 : 0)
    const padding = padded && end > start ? bytes[start]! : 0
    if (fixed + padding > end - start) {
      this.fail(padded && end > start ? CODE.protocol : CODE.frameSize)
      return
    }
    const from = start + fixed
    const to = end - padding
    const ends = (flags & FLAG.endStream) !== 0
    if ((flags & FLAG.endHeaders) !== 0) {
      this.meaning.fieldBlock(stream, ends, bytes, from, to)
      return
    }
    this.blockStream = stream
    this.blockEnds = ends
    this.blockBytes = 0
    this.meaning.awaitBlock(true)
    this.gather(bytes, from, to)
  }

  private gather(bytes: Buffer, from: number, to: number): boolean {
    this.blockBytes += to - from
    if (this.blockBytes > this.maxBlockBytes || this.blockParts.length > MAX_CONTINUATIONS) {
      return this.fail(CODE.enhanceYourCalm, 'field_block_size')
    }
    this.blockParts.push(Buffer.from(bytes.subarray(from, to)))
    return true
  }

  private continuation(flags: number, stream: number, bytes: Buffer, from: number, to: number): void {
    if (!this.gather(bytes, from, to) || (flags & FLAG.endHeaders) === 0) return
    const block = Buffer.concat(this.blockParts)
    this.blockParts.length = 0
    this.blockStream = 0
    this.meaning.awaitBlock(false)
    this.meaning.fieldBlock(stream, this.blockEnds, block, 0, block.length)
  }
}
