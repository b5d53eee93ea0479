import assert from 'node:assert/strict'
import { connect as connectTcp, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** Bound of every single wait of these suites. Far below the default timeouts of the gate, so that no verdict is a timeout's. */
export const WAIT_MS = 20_000

/** Lets everything that the event loop holds ready happen once, reads of loopback sockets among them. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Waits until `holds` says so, asking again after every turn of the event loop.
 * @throws Error naming `what` after `WAIT_MS`
 */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const endsAt = performance.now() + WAIT_MS
  for (let asked = 0; !holds(); asked++) {
    if (performance.now() > endsAt) throw new Error(`waited in vain for: ${what}`)
    if (asked < 50) await turn()
    else await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** A promise that fails after `WAIT_MS` with `what` in its message. */
export function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for: ${what}`)), WAIT_MS)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** One HTTP message as on the wire. */
export interface Message {
  /** Request line or status line. */
  readonly start: string
  /** Names in lower case, values trimmed. */
  readonly fields: readonly (readonly [string, string])[]
  readonly body: Buffer
  /** Trailer fields in lower case; chunked bodies only. */
  readonly trailers: readonly (readonly [string, string])[]
  /** False when the connection ended before the message did. */
  readonly complete: boolean
  /** 1xx answers that came before it. */
  readonly interim: readonly number[]
  /** Fields of each of these. */
  readonly interimFields: readonly Message['fields'][]
}

/** First value of a field (lower-case name). */
export function fieldOf(message: Message, name: string): string | undefined {
  return message.fields.find(([known]) => known === name)?.[1]
}

/** Status of an answer. */
export function statusOf(message: Message): number {
  return Number(message.start.slice(9, 12))
}

/** Bytes that arrive on a socket, taken in the pieces that the reader asks for. */
export class Inbox {
  ended = false
  /** Called with each complete head of a final message, before its body; so a request that never ends is known too. */
  onHead: ((start: string) => void) | undefined
  private parts: Buffer[] = []
  private length = 0
  private wake: (() => void) | undefined

  private readonly socket: Duplex
  private readonly listener = (chunk: Buffer) => {
    this.parts.push(chunk)
    this.length += chunk.length
    this.wake?.()
  }

  constructor(socket: Duplex) {
    this.socket = socket
    socket.on('data', this.listener)
    const end = () => {
      this.ended = true
      this.wake?.()
    }
    socket.on('end', end)
    socket.on('close', end)
    socket.on('error', end)
  }

  /** The bytes that have arrived and were not read yet. */
  get pending(): Buffer {
    if (this.parts.length > 1) this.parts = [Buffer.concat(this.parts)]
    return this.parts[0] ?? Buffer.alloc(0)
  }

  /** Leaves the bytes that are still to come to another reader. */
  stop(): void {
    this.socket.off('data', this.listener)
  }

  /** Waits until `size(inbox)` is known (not negative) and takes so many bytes; takes the rest when the connection ends before. */
  async take(what: string, size: (inbox: Inbox) => number): Promise<{ bytes: Buffer; whole: boolean }> {
    for (;;) {
      const length = size(this)
      if (length >= 0 && length <= this.length) return { bytes: this.cut(length), whole: true }
      if (this.ended) return { bytes: this.cut(this.length), whole: false }
      await this.more(what)
    }
  }

  /** Everything up to the end of the connection. */
  async toEnd(): Promise<Buffer> {
    return (await this.take('end of connection', () => -1)).bytes
  }

  /**
   * Reads one message, strictly. `bodiless` is for answers to HEAD. Undefined when the connection ended without a byte.
   * @throws AssertionError when the framing itself is wrong, from either sender
   */
  async message(bodiless = false): Promise<Message | undefined> {
    const interim: number[] = []
    const interimFields: Message['fields'][] = []
    for (;;) {
      const { bytes, whole } = await this.take('a head', headLength)
      if (!whole && bytes.length === 0) return undefined
      const lines = bytes.toString('latin1').split('\r\n')
      const start = lines[0] ?? ''
      if (!whole)
        return { start, fields: [], body: Buffer.alloc(0), trailers: [], complete: false, interim, interimFields }
      const fields = lines.slice(1, -2).map(fieldLine)
      const status = start.startsWith('HTTP/') ? Number(start.slice(9, 12)) : 0
      if (status >= 100 && status < 200 && status !== 101) {
        interim.push(status)
        interimFields.push(fields)
        continue
      }
      this.onHead?.(start)
      const none = bodiless || status === 101 || status === 204 || status === 304
      const rest = none ? NO_BODY : await this.body(fields, status !== 0)
      return { start, fields, interim, interimFields, ...rest }
    }
  }

  private async body(fields: Message['fields'], answer: boolean): Promise<Rest> {
    const length = fields.filter(([name]) => name === 'content-length')
    const coding = fields.filter(([name]) => name === 'transfer-encoding')
    assert.ok(length.length + coding.length <= 1, 'one framing field at most')
    if (coding.length === 1) {
      assert.equal(coding[0]?.[1].toLowerCase(), 'chunked')
      return this.chunked()
    }
    if (length.length === 1) {
      const size = length[0]?.[1] ?? ''
      assert.match(size, /^\d+$/)
      const { bytes, whole } = await this.take(`a body of ${size}`, () => Number(size))
      return { body: bytes, trailers: [], complete: whole }
    }
    if (!answer) return NO_BODY
    return { body: await this.toEnd(), trailers: [], complete: true }
  }

  private async chunked(): Promise<Rest> {
    const parts: Buffer[] = []
    const cutOff = (): Rest => ({ body: Buffer.concat(parts), trailers: [], complete: false })
    for (;;) {
      const line = await this.take('a chunk size', lineLength)
      if (!line.whole) return cutOff()
      const size = line.bytes.toString('latin1')
      assert.match(size, /^[0-9a-fA-F]+\r\n$/)
      const length = Number.parseInt(size, 16)
      if (length === 0) break
      const data = await this.take('chunk data', () => length + 2)
      parts.push(data.whole ? data.bytes.subarray(0, length) : data.bytes)
      if (!data.whole) return cutOff()
      assert.equal(data.bytes.toString('latin1', length), '\r\n')
    }
    const trailers: (readonly [string, string])[] = []
    for (;;) {
      const line = await this.take('a trailer', lineLength)
      if (!line.whole) return cutOff()
      if (line.bytes.length === 2) return { body: Buffer.concat(parts), trailers, complete: true }
      trailers.push(fieldLine(line.bytes.toString('latin1', 0, line.bytes.length - 2)))
    }
  }

  private cut(length: number): Buffer {
    const all = this.pending
    this.parts = [all.subarray(length)]
    this.length = all.length - length
    return all.subarray(0, length)
  }

  private async more(what: string): Promise<void> {
    const arrival = new Promise<void>((resolve) => {
      this.wake = resolve
    })
    const have = this.parts[0]?.toString('latin1', 0, 120) ?? ''
    await within(`${what} (have ${this.length} bytes: ${JSON.stringify(have)})`, arrival)
  }
}

type Rest = Pick<Message, 'body' | 'trailers' | 'complete'>
const NO_BODY: Rest = { body: Buffer.alloc(0), trailers: [], complete: true }

function headLength(inbox: Inbox): number {
  const at = inbox.pending.indexOf('\r\n\r\n')
  return at < 0 ? -1 : at + 4
}

function lineLength(inbox: Inbox): number {
  const at = inbox.pending.indexOf('\r\n')
  return at < 0 ? -1 : at + 2
}

function fieldLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  const name = line.slice(0, colon)
  assert.match(name, /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, `field line ${JSON.stringify(line)}`)
  const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
  assert.match(value, /^[\t\x20-\x7e\x80-\xff]*$/, `field line ${JSON.stringify(line)}`)
  return [name.toLowerCase(), value]
}

/** A client that writes exactly the bytes it is given. */
export class Client {
  readonly socket: Duplex
  readonly inbox: Inbox

  constructor(socket: Duplex) {
    this.socket = socket
    this.inbox = new Inbox(socket)
  }

  /** Connects on loopback; with `tls` through a finished handshake. @throws the socket's error when that fails */
  static async connect(port: number, tls?: ConnectionOptions): Promise<Client> {
    const socket =
      tls === undefined
        ? connectTcp({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
        : connectTls({ host: '127.0.0.1', port, ...tls })
    await opened(socket, tls === undefined ? 'connect' : 'secureConnect')
    return new Client(socket)
  }

  /** Text is written as latin1, so that `\u00e9` is one byte. */
  write(bytes: Buffer | string): void {
    if (this.socket.destroyed || !this.socket.writable) return
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** Writes the bytes in pieces that end at the given offsets, so that the other side reads each of them alone. */
  async writeCut(bytes: Buffer, cuts: readonly number[]): Promise<void> {
    let from = 0
    for (const to of [...cuts, bytes.length]) {
      if (this.inbox.ended) return
      if (to <= from) continue
      this.write(bytes.subarray(from, to))
      from = to
      await turn()
      await turn()
    }
  }

  /** The next final answer; undefined when the connection ended instead. */
  answer(method = 'GET'): Promise<Message | undefined> {
    return this.inbox.message(method === 'HEAD')
  }

  /** Sends a request and gives its answer. @throws when there is none */
  async ask(request: Buffer | string, method = 'GET'): Promise<Message> {
    this.write(request)
    const answer = await this.answer(method)
    assert.ok(answer !== undefined, 'an answer, not the end of the connection')
    return answer
  }

  /** Announces that nothing more will be sent. */
  end(): void {
    this.socket.end()
  }

  /** Drops the connection; with a reset when `reset`. */
  destroy(reset = false): void {
    if (reset && 'resetAndDestroy' in this.socket) {
      ;(this.socket as Socket).resetAndDestroy()
      return
    }
    this.socket.destroy()
  }
}

/** Waits for the socket's event, or fails with its error. */
export function opened(socket: Duplex, event: string): Promise<void> {
  return within(
    event,
    new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('close', () => reject(new Error(`closed before ${event}`)))
      socket.once(event, () => {
        socket.off('error', reject)
        socket.on('error', () => {})
        resolve()
      })
    }),
  )
}

/** A GET for one path, keep-alive. */
export function get(path: string, more = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
}
