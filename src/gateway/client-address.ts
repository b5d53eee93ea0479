import type { BlockList } from 'node:net'
import { isIP } from 'node:net'
import { FIELD } from '../wire/fields.ts'
import type { Exchange } from './exchange.ts'

/**
 * Finds whose request it is. Only addresses that trusted proxies put into `X-Forwarded-For` count: read from the right,
 * the first that is no trusted proxy itself. Without trusted proxies the peer of the socket is the client, whatever a header says.
 */
export function findClient(x: Exchange, trusted: BlockList | undefined): void {
  if (trusted === undefined || !isListed(trusted, x.peerAddress)) return
  x.peerTrusted = true
  if (x.request.known(FIELD.xForwardedFor) === undefined) return
  const told = x.request.all('x-forwarded-for').join(',').split(',')
  for (let i = told.length - 1; i >= 0; i--) {
    const address = told[i]!.trim()
    // What is no address stops the search: nobody vouches for what stands left of it.
    if (isIP(address) === 0) return
    x.clientAddress = address
    if (!isListed(trusted, address)) return
  }
}

function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
