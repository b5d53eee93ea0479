import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls'
import { type Fault, prebuilt } from '../../errors/fault.ts'
import { isPinned } from '../connect/pins.ts'
import { secureOptions, type UpstreamOptions } from '../connect/upstream.ts'
import { readInto } from '../http1/read-buffer.ts'
import { NO_DESCRIPTORS } from '../listen/socket-budget.ts'
import { Link, type LinkPool } from './link.ts'

const WRONG_PIN = prebuilt('upstream_pin_mismatch', 'the public key of the upstream is none of the pinned ones')

/** How dialling ends, once: with a session that is ready, an upstream of TLS that chose HTTP/1.1, or neither. */
export interface Dialled extends Omit<LinkPool, 'ready'> {
  ready(link: Link): void
  http11(): void
  failed(fault: Fault): void
}

/** Opens a session to an upstream. Nothing is asked before the upstream has said how many streams it takes. */
export function dial(options: UpstreamOptions, context: SecureContext | undefined, handlers: Dialled): void {
  const { host, port, secure, connectTimeoutMs, pins, sockets } = options
  if (sockets?.take() === false) {
    sockets.giveBack()
    queueMicrotask(() => handlers.failed(NO_DESCRIPTORS))
    return
  }
  let link: Link | undefined
  let settled = false
  let error: NodeJS.ErrnoException | undefined
  const take = (bytes: Buffer) => link?.session.push(bytes)
  const onread = secure ? undefined : readInto(take)
  const basic = { host, port, noDelay: true, keepAlive: true, ...(onread === undefined ? {} : { onread }) }
  const socket: Socket = secure
    ? connectTls({ ...basic, ...secureOptions(options, context), ALPNProtocols: ['h2', 'http/1.1'] })
    : connectTcp(basic)
  const timer = setTimeout(() => socket.destroy(timedOut()), connectTimeoutMs)
  const settle = (then: () => void) => {
    if (settled) return
    settled = true
    clearTimeout(timer)
    then()
  }
  socket.on('error', (reason) => {
    error = reason
  })
  socket.on('close', () => {
    sockets?.giveBack()
    settle(() => handlers.failed(faultOf(error)))
  })
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    if (pins !== undefined && socket instanceof TLSSocket && !isPinned(socket, pins)) {
      settle(() => handlers.failed(WRONG_PIN))
      socket.destroy()
      return
    }
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      settle(() => handlers.http11())
      socket.destroy()
      return
    }
    link = new Link(socket, options, {
      roomier: () => handlers.roomier(),
      ready: (ready) => settle(() => handlers.ready(ready)),
      gone: (gone) => {
        handlers.gone(gone)
        if (!settled) socket.destroy()
      },
    })
    if (onread === undefined) socket.on('data', take)
  })
}

function timedOut(): NodeJS.ErrnoException {
  return Object.assign(new Error('connecting'), { code: 'ETIMEDOUT' })
}

function faultOf(error: NodeJS.ErrnoException | undefined): Fault {
  const code = error?.code ?? 'closed while connecting'
  if (code === 'ETIMEDOUT') return prebuilt('upstream_timeout', 'connecting')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return prebuilt('upstream_unresolved', code)
  return prebuilt('upstream_unreachable', code)
}
