import type { BlockList } from 'node:net'
import { forwardedClient, isListed } from '../../model/network/forwarded-for.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import type { Exchange } from './exchange.ts'

/**
 * Finds whose request it is. Only a peer that is a trusted proxy speaks for others; what anybody else says of forwarding is taken away
 * before a step, a module or the upstream can read it.
 */
export function findClientAddress(x: Exchange, trusted: BlockList | undefined): void {
  const { request } = x
  if (trusted === undefined || !isListed(trusted, x.peerAddress)) {
    request.eraseRange(FIELD.xForwardedFor, FIELD.xForwardedOther)
    return
  }
  x.peerTrusted = true
  const told = { forwardedFor: joined(x, 'x-forwarded-for'), realIp: joined(x, 'x-real-ip') }
  const { address, proven, chain } = forwardedClient(x.peerAddress, told, trusted)
  x.clientAddress = address
  x.clientProven = proven
  x.forwardedChain = chain
}

function joined({ request }: Exchange, name: string): string {
  return request.all(name).join(',')
}
