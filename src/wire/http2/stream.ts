import type { HeaderEncoder } from '../hpack/encoder.ts'
import type { Field } from '../hpack/field.ts'
import { keep } from '../http1/read-buffer.ts'
import { CODE } from './codes.ts'

/** Room for bytes that come in small parts. */
const ROOM_BYTES = 4096

/** Who a stream is for. */
export interface StreamUser {
  /** A field section behind the first one of the stream: an answer's head, or trailers. Answers false when it is malformed. */
  streamFields(fields: readonly Field[], tooLarge: boolean, last: boolean): boolean
  /** Bytes of the body, perhaps none; `last` with its end. Not called while the stream is paused. */
  streamBody(chunk: Buffer, from: number, to: number, last: boolean): void
  /** Sent bytes have gone out as far as they must for more to be accepted. */
  streamDrained(): void
  /** The stream is over. `code` = how it was reset, by either side or with its connection; 0 when both sides had said all. */
  streamClosed(stream: FramedStream, code: number): void
}

/** The connection as a stream sees it. */
export interface StreamSession {
  readonly encoder: HeaderEncoder
  /** Sends the block that the encoder holds. */
  sendBlock(stream: FramedStream, last: boolean): void
  /** Sends what the windows and the socket let through; the rest is kept. False when something was kept, or the socket is full. */
  sendData(stream: FramedStream, chunk: Buffer, from: number, to: number): boolean
  sendReset(stream: FramedStream, code: number): void
  /** Resets a stream for what the peer did wrong: it may do so only so often. */
  streamError(stream: number, code: number): void
  /** The user has taken so many bytes of what was received. */
  taken(stream: FramedStream, bytes: number): void
  /** Both sides have ended. */
  over(stream: FramedStream, code: number): void
}

const NOTHING = Buffer.alloc(0)
/** Of the streams on which nothing waits: most never have anything that does. */
const NONE: Buffer[] = []
/** `contentLeft` of a body whose length was not announced. */
export const UNKNOWN_LENGTH = -1

/** One stream of a connection (RFC 9113 section 5), from its first frame to its last. */
export class FramedStream {
  readonly id: number
  readonly session: StreamSession
  user: StreamUser | undefined
  /** Bytes that the peer lets us send. */
  sendWindow: number
  /** Bytes that the peer may send; those that were taken and not given back to it; and what both are together, at the most. */
  receiveWindow: number
  pendingBytes = 0
  windowBytes: number
  /** False before the head of an answer, and so of its body, has come. */
  mayReceive = true
  /** Bytes of the body that must still come; UNKNOWN_LENGTH = as many as do. */
  contentLeft = UNKNOWN_LENGTH
  /** True once the peer's END_STREAM has come, or ours has been sent. */
  receivedEnd = false
  sentEnd = false
  sentHead = false
  /** True when it was reset, or both sides have ended. */
  closed = false
  /** DATA bytes sent so far, and those of them that the peer has returned to the window. */
  sentBytes = 0
  returnedBytes = 0
  /** Age of the connection when it began, as its guard counts. */
  bornAt = 0
  /** Bytes that wait for a window or for the socket. */
  outgoing: Buffer[] = NONE
  /** Bytes of the first of these that are sent. */
  outgoingFrom = 0
  /** True while it is in the list of streams that may send. */
  queued = false
  /** True when its user must wait for `drain`. */
  held = false
  private ending = false
  /** `name: value\r\n` lines to be sent behind the body. */
  private trailers: string | undefined
  private incoming: ByteQueue | undefined
  private paused = true
  private delivering = false
  private reportedEnd = false
  /** How it is reset once all is sent; -1 = it is not. */
  private partingCode = -1

  constructor(id: number, session: StreamSession, sendWindow: number, receiveWindow: number) {
    this.id = id
    this.session = session
    this.sendWindow = sendWindow
    this.receiveWindow = receiveWindow
    this.windowBytes = receiveWindow
  }

  // --- what is sent

  /** Sends the fields that the encoder of the session holds. */
  head(last: boolean): void {
    if (this.closed || this.sentEnd) return
    this.session.sendBlock(this, last)
    this.sentHead = true
    if (last) this.ended()
  }

  /** Sends an interim answer (RFC 9110 section 15.2); `head` is one of HTTP/1.1 with its fields, '' = it has none. */
  interim(status: string, head = ''): void {
    if (this.closed || this.sentHead) return
    const { encoder } = this.session
    encoder.begin(head)
    encoder.pseudo(':status', status)
    if (head !== '') encoder.lines(head, head.indexOf('\r\n') + 2)
    this.session.sendBlock(this, false)
  }

  /**
   * Sends body bytes, `last` with the end, before which come `trailers` where they are given.
   * False when it wants to be left alone until `streamDrained`.
   */
  send(chunk: Buffer, from: number, to: number, last: boolean, trailers?: string): boolean {
    if (this.closed || this.sentEnd || this.ending) return true
    if (last) {
      this.ending = true
      this.trailers = trailers
    }
    if (to === from && !last) return true
    const ready = this.session.sendData(this, chunk, from, to)
    if (!ready && !this.closed) this.held = true
    return ready
  }

  /** True when the DATA that is about to be sent, if it is all that waits, ends the stream. */
  get endsWithData(): boolean {
    return this.ending && this.trailers === undefined
  }

  /** Keeps what could not be sent. */
  keepOutgoing(chunk: Buffer, from: number, to: number): void {
    if (this.outgoing === NONE) this.outgoing = []
    this.outgoing.push(keep(chunk.subarray(from, to)))
  }

  /** All that waited is in frames. */
  emptied(): void {
    if (!this.ending || this.closed) return
    const { trailers } = this
    if (trailers !== undefined) {
      const { encoder } = this.session
      encoder.begin(trailers)
      encoder.lines(trailers, 0)
      this.session.sendBlock(this, true)
    }
    this.ended()
  }

  private ended(): void {
    this.sentEnd = true
    this.endWhenDone()
    if (this.partingCode >= 0) this.reset(this.partingCode)
  }

  /** Resets the stream once all that waits is sent. */
  part(code: number): void {
    this.partingCode = code
    if (this.sentEnd) this.reset(code)
  }

  /** The peer wants no more of what we send, and has said all itself (RFC 9113 section 8.1). */
  stopSending(): void {
    this.outgoing = NONE
    this.ended()
  }

  private endWhenDone(): void {
    if (this.sentEnd && this.reportedEnd && !this.closed) this.session.over(this, CODE.none)
  }

  /** Ends the stream for both sides (RFC 9113 section 6.4). */
  reset(code: number): void {
    if (this.closed) return
    this.session.sendReset(this, code)
    this.session.over(this, code)
  }

  // --- what is received

  /** There is no body. */
  receiveNothing(): void {
    this.receivedEnd = true
    this.reportedEnd = true
  }

  /** Body bytes have arrived; `last` with the end. False when they are more, or fewer, than were announced. */
  receive(chunk: Buffer, from: number, to: number, last: boolean): boolean {
    if (this.contentLeft !== UNKNOWN_LENGTH) {
      this.contentLeft -= to - from
      if (this.contentLeft < 0 || (last && this.contentLeft > 0)) return false
    }
    if (last) this.receivedEnd = true
    if (!this.paused && this.waiting === 0) this.deliver(chunk, from, to)
    else if (to > from) {
      this.incoming ??= new ByteQueue()
      this.incoming.push(chunk, from, to)
    }
    return true
  }

  /** True when no byte that was received waits. */
  get isTaken(): boolean {
    return this.waiting === 0
  }

  /** Bytes that were received and not delivered. */
  private get waiting(): number {
    return this.incoming?.length ?? 0
  }

  private deliver(chunk: Buffer, from: number, to: number): void {
    const last = this.receivedEnd && this.waiting === 0
    if (last) this.reportedEnd = true
    this.session.taken(this, to - from)
    this.user?.streamBody(chunk, from, to, last)
    if (last) this.endWhenDone()
  }

  /** Gives no more to the user, and the peer no more room, until `resume`. Streams begin paused. */
  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
    if (this.delivering) return
    this.delivering = true
    while (!this.paused && !this.closed) {
      const bytes = this.incoming?.shift()
      if (bytes !== undefined) this.deliver(bytes, 0, bytes.length)
      else if (this.receivedEnd && !this.reportedEnd) this.deliver(NOTHING, 0, 0)
      else break
    }
    this.delivering = false
  }

  /** Forgets what nobody will take any more. Answers how many bytes of it the peer had sent. */
  close(): number {
    const unread = this.waiting
    this.closed = true
    this.incoming = undefined
    this.outgoing = NONE
    return unread
  }
}

/** Bytes that were received and not taken yet. Copied together: many small parts cost no more than their bytes. */
class ByteQueue {
  private readonly parts: Buffer[] = []
  /** Bytes of the last part that are used. */
  private used = 0
  private size = 0

  get length(): number {
    return this.size
  }

  /** Copies the bytes `from` to `to`. */
  push(bytes: Buffer, from: number, to: number): void {
    const last = this.parts.at(-1)
    const room = last === undefined ? 0 : Math.min(last.length - this.used, to - from)
    if (room > 0) {
      bytes.copy(last!, this.used, from, from + room)
      this.used += room
    }
    this.size += to - from
    if (from + room === to) return
    const part = Buffer.allocUnsafeSlow(Math.max(ROOM_BYTES, to - from - room))
    if (last !== undefined) this.parts[this.parts.length - 1] = last.subarray(0, this.used)
    this.used = bytes.copy(part, 0, from + room, to)
    this.parts.push(part)
  }

  /** The next bytes; undefined when there are none. */
  shift(): Buffer | undefined {
    const part = this.parts.shift()
    if (part === undefined) return undefined
    const bytes = this.parts.length === 0 ? part.subarray(0, this.used) : part
    this.size -= bytes.length
    return bytes
  }
}
