import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { isFleeting, keep } from './read-buffer.ts'
import { turnEnd } from './write-batch.ts'

/** An answer that is written more than once. Texts are latin1. */
export interface RepeatedAnswer {
  readonly status: number
  /** Status line and fields, Date among them, without Content-Length and Connection. */
  readonly head: string
  /** Content-Length where the status has a body, and the empty line. */
  readonly headEnd: string
  /** A small body; '' when it is `bytes`. */
  readonly text: string
  readonly bytes: Buffer | undefined
  /** Head, its end and `text` in one, ready to be written. */
  readonly whole: string
}

/** Bodies up to this size are written in one string with the head: one write, one packet where it fits. */
export const SMALL_BYTES = 16_384

/** The last chunk of a chunked body, without trailers. */
export const LAST_CHUNK = '0\r\n\r\n'

/** A full read, its chunk framing, and a head before it. */
const FRAME_BYTES = 65_536 + 16_384
const MAX_SPARE_FRAMES = 16

/**
 * Module state: memory of this thread. Buffers that large body parts are copied to on their way from the shared read buffer to a socket, with head and chunk framing:
 * one write, and no allocation of 64 kB for each. A proxied megabyte costs 0.12 ms of user time with them, 0.35 without (Node 26.10).
 */
const frames: Buffer[] = []

/** More text than this is not held for the end of the turn. */
const MAX_HELD_BYTES = 65_536

/** The encoding that Writable passes for bytes; the type knows only those of strings. */
const BYTES = 'buffer' as BufferEncoding

/**
 * The writing side of a socket. Texts go to the socket's own `_write`, past the queue of its Writable, whenever nothing waits there:
 * the queue costs a tick and 0.4 µs per write (of 20 per proxied request, Node 26.10), and a text that the kernel takes at once,
 * as nearly all are, never needed one. Over TLS, where a write is never done at once, the queue is used.
 */
export class Outlet {
  readonly socket: Socket
  private readonly direct: boolean
  /** True while a text that went past the queue is not yet with the kernel. */
  private busy = false
  /** True when its `_write` had returned before it was: a caller waits for `drain`. */
  private late = false
  /** The frame that is being written. */
  private lent: Buffer | undefined
  /** Text that goes out at the end of this turn of the event loop. */
  private held = ''

  constructor(socket: Socket) {
    this.socket = socket
    this.direct = !(socket instanceof TLSSocket)
  }

  /** True when the socket wants to be left alone until its `drain`. */
  get full(): boolean {
    return this.busy || this.socket.writableNeedDrain
  }

  /**
   * Writes latin1 text, at the latest when this turn of the event loop ends: from then on `full` tells whether the socket has taken it.
   * False when the socket wants to be left alone until `drain`. Call `flush` before writing to the socket itself or ending it.
   */
  text(text: string): boolean {
    if (!this.clear) return this.socket.write(text, 'latin1')
    if (this.held !== '') this.held += text
    else if (turnEnd.pays()) {
      this.held = text
      turnEnd.flush(this)
    } else return this.write(text)
    if (this.held.length > MAX_HELD_BYTES) this.flush()
    return !this.full
  }

  /** Writes now what would have waited for the end of this turn. */
  flush(): void {
    const { held } = this
    if (held === '') return
    this.held = ''
    this.write(held)
  }

  private write(text: string): boolean {
    return this.direct ? this.push(text, 'latin1') : this.socket.write(text, 'latin1')
  }

  interim(head: string): boolean {
    return this.text(head)
  }

  /** Ends our side of the connection, behind all that was written. */
  end(): void {
    this.flush()
    this.socket.end()
  }

  /** True when nothing is in the socket's queue or on its way to the kernel. */
  private get clear(): boolean {
    const { socket } = this
    return !this.busy && socket.writableLength === 0 && socket.writable
  }

  private push(bytes: string | Buffer, encoding: BufferEncoding): boolean {
    this.busy = true
    this.late = false
    this.socket._write(bytes, encoding, this.written)
    this.late = this.busy
    return !this.busy
  }

  private readonly written = (error?: Error | null): void => {
    this.busy = false
    if (this.lent !== undefined && frames.length < MAX_SPARE_FRAMES) frames.push(this.lent)
    this.lent = undefined
    if (error) this.socket.destroy(error)
    else if (this.late) this.socket.emit('drain')
  }

  /**
   * Writes `before` (latin1 text, perhaps '') and then body bytes, chunked or as they are, `last` with the last chunk.
   * Small ones go in one write, large ones in one `writev`. Answers false when the socket wants to be left alone until `drain`.
   */
  body(before: string, chunked: boolean, chunk: Buffer, from: number, to: number, last: boolean): boolean {
    const { socket } = this
    const size = to - from
    if (size === 0) {
      const text = chunked && last ? before + LAST_CHUNK : before
      return text === '' ? !this.full : this.text(text)
    }
    const head = chunked ? `${before}${size.toString(16)}\r\n` : before
    const tail = chunked ? (last ? `\r\n${LAST_CHUNK}` : '\r\n') : ''
    if (size <= SMALL_BYTES) return this.text(head + chunk.toString('latin1', from, to) + tail)
    this.flush()
    if (this.direct && isFleeting(chunk) && head.length + size + tail.length <= FRAME_BYTES && this.clear) {
      return this.frame(head, chunk, from, to, tail)
    }
    const bytes = keep(chunk.subarray(from, to))
    if (head === '') return socket.write(bytes)
    socket.cork()
    socket.write(head, 'latin1')
    let ready = socket.write(bytes)
    if (tail !== '') ready = socket.write(tail, 'latin1')
    socket.uncork()
    return ready
  }

  private frame(head: string, chunk: Buffer, from: number, to: number, tail: string): boolean {
    const frame = frames.pop() ?? Buffer.allocUnsafeSlow(FRAME_BYTES)
    const start = frame.write(head, 0, 'latin1')
    const end = start + chunk.copy(frame, start, from, to)
    const bytes = frame.subarray(0, end + frame.write(tail, end, 'latin1'))
    this.lent = frame
    return this.push(bytes, BYTES)
  }

  /**
   * Writes a whole response of the gateway: `head` is status line and fields, `tail` the fields after Content-Length and the empty line.
   * Text is sent as UTF-8. `bare` leaves the body itself out (HEAD). Answers the bytes written.
   */
  answer(head: string, tail: string, body: string | Uint8Array, bare: boolean): number {
    const ascii = typeof body === 'string' && Buffer.byteLength(body) === body.length
    const bytes = typeof body === 'string' && !ascii ? Buffer.from(body) : body
    const before = `${head}Content-Length: ${bytes.length}\r\n${tail}`
    if (bare || bytes.length === 0) this.text(before)
    else if (typeof bytes === 'string') this.text(before + bytes)
    else this.body(before, false, bufferOf(bytes), 0, bytes.length, true)
    return before.length + (bare ? 0 : bytes.length)
  }

  /** Writes an answer that is written more than once; `extra` are more lines of its head. `bare` leaves the body out (HEAD). Answers the bytes written. */
  repeat(answer: RepeatedAnswer, extra: string, bare: boolean): number {
    const { head, headEnd, text, bytes } = answer
    if (extra === '' && !bare && bytes === undefined) {
      this.text(answer.whole)
      return answer.whole.length
    }
    const before = head + extra + headEnd
    if (bare) this.text(before)
    else if (bytes === undefined) this.text(before + text)
    else this.body(before, false, bytes, 0, bytes.length, true)
    return before.length + (bare ? 0 : (bytes?.length ?? text.length))
  }

  /** Ends the connection, once all that was written is with the kernel or lost. */
  destroy(): void {
    this.flush()
    this.socket.destroy()
  }

  /** Ends the connection at once, without what is held. With bytes that the other side never took a reset frees them, here and in the kernel. */
  cut(): void {
    const { socket } = this
    this.held = ''
    if ((this.busy || socket.writableLength > 0) && !socket.connecting) resetSocket(socket)
    else socket.destroy()
  }
}

/** Ends a connection at once, by a reset where that can be. Node refuses one over TLS: without its last words, that ends as plainly. */
export function resetSocket(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
