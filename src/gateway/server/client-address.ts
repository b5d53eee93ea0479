import type { BlockList } from 'node:net'
import { forwardedClient, isListed } from '../../model/network/forwarded-for.ts'
import { isRequestId } from '../../model/network/request-id.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import { flattenString } from '../record/flatten-string.ts'
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
  const forwarded = { forwardedFor: joined(x, 'x-forwarded-for'), realIp: joined(x, 'x-real-ip') }
  const { address, proven, chain } = forwardedClient(x.peerAddress, forwarded, trusted)
  x.clientAddress = address
  x.clientProven = proven
  x.forwardedChain = chain
}

/** Takes over the id that a trusted proxy, or the batch that a request is part of, gives it. Others might choose one that is in use. */
export function adoptRequestId(x: Exchange, trusted: BlockList | undefined): void {
  if (!x.inner && (trusted === undefined || !isListed(trusted, x.peerAddress))) return
  const id = x.request.single('x-request-id')
  if (id !== undefined && isRequestId(id)) x.requestId = flattenString(id)
}

function joined({ request }: Exchange, name: string): string {
  return request.all(name).join(',')
}
