import { type BlockList, isIP } from 'node:net'

/** Address of the other end of a socket; an IPv4 peer of one that listens on IPv6 comes mapped. */
export function peerAddress(remote: string | undefined): string {
  return (remote ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
}

/**
 * Whose request it is. Only addresses that trusted proxies put into `X-Forwarded-For` count: read from the right, the first that
 * is no trusted proxy itself. Without trusted proxies it is the peer of the socket, whatever a header says.
 */
export function clientAddress(peer: string, forwarded: string | undefined, trusted: BlockList): string {
  let address = peer
  if (forwarded === undefined) return address
  for (const told of forwarded.split(',').reverse()) {
    if (!isListed(trusted, address)) return address
    // What is no address stops the search: nobody vouches for what stands left of it.
    if (isIP(told.trim()) === 0) return address
    address = told.trim()
  }
  return address
}

function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
