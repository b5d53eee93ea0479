import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { keep } from './read-buffer.ts'

/** Bodies up to this size go out in one string with what stands before them: one write, one packet where it fits. */
export const SMALL_BYTES = 16_384

/** The last chunk of a chunked body, without trailers. */
export const LAST_CHUNK = '0\r\n\r\n'

const LINES: readonly string[] = Array.from({ length: 1000 }, (_, status) => {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
})

/** The status line of an answer, with the registered reason. */
export function statusLine(status: number): string {
  return LINES[status] ?? LINES[500]!
}

let dateSecond = 0
let dateText = ''

/** The Date field of now (RFC 9110 section 6.6.1); its text is made once a second. */
export function dateLine(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return dateText
}

/** The Connection field that tells an HTTP/1.1 or HTTP/1.0 client what happens next; '' where the default says it. */
export function connectionLine(http11: boolean, keep: boolean): string {
  if (http11) return keep ? '' : 'Connection: close\r\n'
  return keep ? 'Connection: keep-alive\r\n' : ''
}

/** True when an answer with this status never has a body (RFC 9112 section 6.3). */
export function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}

/**
 * Writes `before` (latin1 text, perhaps '') and then body bytes, chunked or as they are, `last` with the last chunk.
 * Small ones go in one write, large ones in one `writev`. Answers false when the socket wants to be left alone until `drain`.
 */
export function writeBody(
  socket: Socket,
  before: string,
  chunked: boolean,
  chunk: Buffer,
  from: number,
  to: number,
  last: boolean,
): boolean {
  const size = to - from
  if (size === 0) {
    const text = chunked && last ? before + LAST_CHUNK : before
    return text === '' ? true : socket.write(text, 'latin1')
  }
  const head = chunked ? `${before}${size.toString(16)}\r\n` : before
  const tail = chunked ? (last ? `\r\n${LAST_CHUNK}` : '\r\n') : ''
  if (size <= SMALL_BYTES) return socket.write(head + chunk.toString('latin1', from, to) + tail, 'latin1')
  const bytes = keep(chunk.subarray(from, to))
  if (head === '') return socket.write(bytes)
  socket.cork()
  socket.write(head, 'latin1')
  let ready = socket.write(bytes)
  if (tail !== '') ready = socket.write(tail, 'latin1')
  socket.uncork()
  return ready
}

/**
 * Writes a whole answer of ours: `head` is status line and fields, `tail` the fields behind Content-Length and the empty line.
 * Text is sent as UTF-8. `bare` leaves the body itself out (HEAD). Answers the bytes written.
 */
export function writeAnswer(
  socket: Socket,
  head: string,
  tail: string,
  body: string | Uint8Array,
  bare: boolean,
): number {
  const ascii = typeof body === 'string' && Buffer.byteLength(body) === body.length
  const bytes = typeof body === 'string' && !ascii ? Buffer.from(body) : body
  const before = `${head}Content-Length: ${bytes.length}\r\n${tail}`
  if (bare || bytes.length === 0) socket.write(before, 'latin1')
  else if (typeof bytes === 'string') socket.write(before + bytes, 'latin1')
  else writeBody(socket, before, false, bufferOf(bytes), 0, bytes.length, true)
  return before.length + (bare ? 0 : bytes.length)
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Ends a connection at once. With bytes that the other side never took a reset frees them, here and in the kernel. */
export function cut(socket: Socket): void {
  if (socket.writableLength > 0 && !socket.connecting) socket.resetAndDestroy()
  else socket.destroy()
}
