import { type BlockList, isIP, SocketAddress } from 'node:net'

/** Whose request it is, as far as trusted proxies tell. */
export interface ForwardedClient {
  readonly address: string
  /** False where a trusted proxy names a client that is no address: `address` is then the last valid one. */
  readonly proven: boolean
  /** The client and the proxies behind it, as trusted proxies wrote them: what is left of the client is its own claim. */
  readonly chain: readonly string[]
}

/** An optional port behind an address (RFC 7239 section 6 lets proxies tell it). */
const WITH_PORT = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/
const MAX_PORT = 65_535
const MAPPED = /^::ffff:(?=\d+\.)/i

/**
 * Reads whose request a proxy at `peer` hands on. `X-Forwarded-For` is read from the right, and the first address that is no trusted
 * proxy itself is the client. A proxy that sends none, or none with an entry, names the client in `X-Real-IP`. The fields of a
 * peer that is not trusted are nobody's word.
 */
export function forwardedClient(
  peer: string,
  { forwardedFor, realIp }: { readonly forwardedFor: string; readonly realIp: string },
  trusted: BlockList,
): ForwardedClient {
  if (!isListed(trusted, peer)) return { address: peer, proven: true, chain: [] }
  const entries = forwardedFor
    .split(',')
    .map(trimmed)
    .filter((entry) => entry !== '')
  if (entries.length === 0) return fromRealIp(peer, realIp)
  const chain: string[] = []
  let client = peer
  for (const entry of entries.reverse()) {
    const address = forwardedAddress(entry)
    if (address === undefined) return { address: client, proven: false, chain: chain.reverse() }
    chain.push(address)
    client = address
    // The entries left of it come from an untrusted sender.
    if (!isListed(trusted, address)) break
  }
  return { address: client, proven: true, chain: chain.reverse() }
}

function fromRealIp(peer: string, realIp: string): ForwardedClient {
  const named = trimmed(realIp)
  if (named === '') return { address: peer, proven: true, chain: [] }
  const address = forwardedAddress(named)
  return address === undefined
    ? { address: peer, proven: false, chain: [] }
    : { address, proven: true, chain: [address] }
}

/**
 * The address of an entry: `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`; undefined for anything
 * else. IPv6 is in canonical form, without a zone, which has no meaning elsewhere; an IPv4 address that is mapped into it as IPv4.
 */
export function forwardedAddress(entry: string): string | undefined {
  const family = isIP(entry)
  if (family === 4) return entry
  if (family === 6) return canonical(entry)
  const [, bracketed, plain, port = '0'] = WITH_PORT.exec(entry) ?? []
  if (Number(port) > MAX_PORT) return undefined
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? canonical(bracketed) : undefined
  return plain !== undefined && isIP(plain) === 4 ? plain : undefined
}

function canonical(address: string): string {
  const zone = address.indexOf('%')
  const plain = zone === -1 ? address : address.slice(0, zone)
  return new SocketAddress({ address: plain, family: 'ipv6' }).address.replace(MAPPED, '')
}

/** Address of the other end of a socket; an IPv4 peer of one that listens on IPv6 comes mapped. */
export function peerAddress(remote: string | undefined): string {
  return (remote ?? '').replace(MAPPED, '')
}

/** True for an address that a list names; false for what is no address. */
export function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Without spaces and tabs around it; `trim` would also take other blanks. */
function trimmed(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isBlank(text[from])) from++
  while (to > from && isBlank(text[to - 1])) to--
  return text.slice(from, to)
}

const isBlank = (character: string | undefined) => character === ' ' || character === '\t'
