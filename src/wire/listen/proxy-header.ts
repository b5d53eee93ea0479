import { isIPv4, isIPv6 } from 'node:net'

/** A header of the PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt). */
export interface ProxyHeader {
  /** Bytes of the header. */
  readonly length: number
  /** Address of the client; '' when the sender speaks for itself or does not know it. */
  readonly address: string
}

/** The header may still become one. */
export const MORE_BYTES = Symbol('more bytes')
/** The bytes are no header. */
export const NO_PROXY_HEADER = Symbol('no PROXY header')

type Read = ProxyHeader | typeof MORE_BYTES | typeof NO_PROXY_HEADER

const WORD = Buffer.from('PROXY ')
/** Longest line of version 1, its CRLF included (section 2.1). */
const MAX_LINE_BYTES = 107
const SIGNATURE = Buffer.from([13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10])
const FIXED_BYTES = 16
/** Largest version 2 header that is waited for: addresses and extensions (TLVs), which are skipped. */
const MAX_VARIABLE_BYTES = 4096

/** Reads a PROXY header from the first bytes of a connection, strictly: refused as soon as a byte proves that it is none. */
export function readProxyHeader(bytes: Buffer): Read {
  if (bytes.length === 0) return MORE_BYTES
  return bytes[0] === WORD[0] ? readLine(bytes) : readBinary(bytes)
}

/** Version 1: `PROXY TCP4 source destination port port\r\n`, or `PROXY UNKNOWN ...\r\n` (section 2.1). */
function readLine(bytes: Buffer): Read {
  if (!begins(bytes, WORD)) return NO_PROXY_HEADER
  const end = bytes.indexOf('\r\n')
  if (end < 0) return bytes.length < MAX_LINE_BYTES ? MORE_BYTES : NO_PROXY_HEADER
  const length = end + 2
  if (length > MAX_LINE_BYTES) return NO_PROXY_HEADER
  const [, family, source = '', destination = '', ...ports] = bytes.toString('latin1', 0, end).split(' ')
  if (family === 'UNKNOWN') return { length, address: '' }
  const fits = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isPlainIpv6 : undefined
  if (fits === undefined || !fits(source) || !fits(destination)) return NO_PROXY_HEADER
  if (ports.length !== 2 || !ports.every(isPort)) return NO_PROXY_HEADER
  return { length, address: family === 'TCP4' ? source : canonical(source) }
}

/** Zones mean something to the machine alone that wrote them. */
function isPlainIpv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535
}

/** Version 2: signature, version and command, family and protocol, length, addresses, extensions (section 2.2). */
function readBinary(bytes: Buffer): Read {
  if (!begins(bytes, SIGNATURE)) return NO_PROXY_HEADER
  if (bytes.length < FIXED_BYTES) return MORE_BYTES
  const command = bytes[12]!
  const family = bytes[13]!
  const size = bytes.readUInt16BE(14)
  if ((command !== LOCAL && command !== PROXY) || size > MAX_VARIABLE_BYTES) return NO_PROXY_HEADER
  const length = FIXED_BYTES + size
  if (bytes.length < length) return MORE_BYTES
  // Checks of the load balancer itself: their addresses are not used.
  if (command === LOCAL) return { length, address: '' }
  if (family === UNSPECIFIED) return { length, address: '' }
  if (family === TCP_OVER_IPV4 && size >= 12) return { length, address: bytes.subarray(16, 20).join('.') }
  if (family === TCP_OVER_IPV6 && size >= 36) return { length, address: ipv6(bytes) }
  return NOT_TCP.has(family) ? { length, address: '' } : NO_PROXY_HEADER
}

const LOCAL = 0x20
const PROXY = 0x21
const UNSPECIFIED = 0x00
const TCP_OVER_IPV4 = 0x11
const TCP_OVER_IPV6 = 0x21
/** Datagrams, and Unix sockets: families that we need not know, and then must take for unspecified (section 2.2). */
const NOT_TCP: ReadonlySet<number> = new Set([0x12, 0x22, 0x31, 0x32])

function ipv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(16 + group * 2).toString(16))
  return canonical(groups.join(':'))
}

/** The one text of an IPv6 address (RFC 5952), and of an IPv4 one within it, so that one client is one client everywhere. */
function canonical(address: string): string {
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text)
  if (mapped === null) return text
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function begins(bytes: Buffer, wanted: Buffer): boolean {
  const size = Math.min(bytes.length, wanted.length)
  return bytes.compare(wanted, 0, size, 0, size) === 0
}
