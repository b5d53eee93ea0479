import type { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { forwardedClient, peerAddress } from '../../model/network/forwarded-for.ts'

/** Whose request it is: the peer of the socket, or whom a trusted proxy there names. */
export function clientAddress({ socket, headers }: FastifyRequest, trusted: BlockList): string {
  const forwarded = { forwardedFor: textOf(headers['x-forwarded-for']), realIp: textOf(headers['x-real-ip']) }
  return forwardedClient(peerAddress(socket.remoteAddress), forwarded, trusted).address
}

function textOf(value: string | string[] | undefined): string {
  return value?.toString() ?? ''
}
