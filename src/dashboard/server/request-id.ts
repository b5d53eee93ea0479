import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { isListed, peerAddress } from '../../model/network/forwarded-for.ts'
import { isRequestId } from '../../model/network/request-id.ts'

/** Makes the id of a request: 20 characters, safe in a header, a URL and a file name. */
export function newRequestId(): string {
  return randomBytes(15).toString('base64url')
}

/** The id of a request: that which a trusted proxy gives it, else a new one. Fields that were sent twice come joined, and are none. */
export function requestIdOf(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusted: BlockList,
): string {
  const sent = headers['x-request-id']
  const isTaken = typeof sent === 'string' && isRequestId(sent) && isListed(trusted, peerAddress(socket.remoteAddress))
  return isTaken ? sent : newRequestId()
}
