import { type BlockList, isIPv6, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type Accepted, keep } from '../http1/read-buffer.ts'
import { MORE_BYTES, NO_PROXY_HEADER, readProxyHeader } from './proxy-header.ts'
import { sweep, type Timed } from './sweep.ts'

/** The preface of an HTTP/2 client (RFC 9113 section 3.4). */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** Length of the preface. */
export const PREFACE_BYTES = PREFACE.length

/** SETTINGS (empty), then GOAWAY with HTTP_1_1_REQUIRED (RFC 9113 sections 6.5, 6.8, 7): what an HTTP/2 client understands. */
export const REJECTION: Buffer = Buffer.from([
  0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13,
])

/** A connection behind its PROXY header. */
export interface Preceded {
  /** Whose connection it is. */
  readonly address: string
  /** The bytes after the header. */
  readonly rest: Buffer
  /** The connection as if the header had never been: what came behind it is read first. */
  after(): Accepted
}

const NOTHING = Buffer.alloc(0)

/** True when the peer of a connection is one of those that precede theirs with a PROXY header. */
export function isProxied(proxies: BlockList, { remoteAddress }: Socket): boolean {
  return remoteAddress !== undefined && proxies.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4')
}

/** Waits for the PROXY header of a connection. What is no such header ends it. */
export class Preamble implements Timed {
  sweepIndex = -1
  private readonly accepted: Accepted
  private readonly deadline: number
  private readonly settled: (self: Preamble, preceded: Preceded | undefined) => void
  private bytes: Buffer = NOTHING
  private over = false

  /** `settled` is called once, in a later turn: with the connection, or undefined when there was no valid header in time. */
  constructor(
    accepted: Accepted,
    timeoutMs: number,
    settled: (self: Preamble, preceded: Preceded | undefined) => void,
  ) {
    this.accepted = accepted
    this.settled = settled
    this.deadline = performance.now() + timeoutMs
    sweep.add(this)
    accepted.socket.on('error', () => {}) // `close` follows
    accepted.socket.on('close', () => this.fail())
    accepted.socket.on('end', () => this.fail())
    accepted.read((chunk) => this.take(chunk))
  }

  tick(now: number): void {
    if (now >= this.deadline) this.fail()
  }

  /** Ends the connection. */
  fail(): void {
    this.settle(undefined)
  }

  private take(chunk: Buffer): void {
    this.bytes = this.bytes.length === 0 ? keep(chunk) : Buffer.concat([this.bytes, chunk])
    if (this.over) return
    const header = readProxyHeader(this.bytes)
    if (header === MORE_BYTES) return
    if (header === NO_PROXY_HEADER) {
      this.fail()
      return
    }
    const { accepted } = this
    const rest = this.bytes.subarray(header.length)
    const address = header.address === '' ? accepted.address : header.address
    this.settle({ address, rest, after: () => behind({ ...accepted, address }, rest) })
  }

  private settle(preceded: Preceded | undefined): void {
    if (this.over) return
    this.over = true
    sweep.remove(this)
    this.accepted.socket.removeAllListeners('end')
    // The reader of the first bytes must be detached before the connection is handed over.
    queueMicrotask(() => this.settled(this, preceded))
  }
}

/** A connection that delivers `rest` first, in a separate turn. */
function behind(accepted: Accepted, rest: Buffer): Accepted {
  return {
    ...accepted,
    read(take) {
      accepted.read(take)
      if (rest.length > 0) queueMicrotask(() => take(rest))
    },
  }
}

/** True when the first bytes of a connection are the HTTP/2 preface (RFC 9113 section 3.4), or may still become it. */
export function isPreface(text: string): boolean {
  if (text.charCodeAt(0) !== 80 || text.charCodeAt(1) !== 82 || text.charCodeAt(2) !== 73) return false
  return text.length < PREFACE.length ? PREFACE.startsWith(text) : text.startsWith(PREFACE)
}
