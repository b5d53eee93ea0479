import type { SecureContext } from 'node:tls'
import type { WireExchange, WireHandler } from './exchange.ts'

export interface WireLimits {
  readonly maxHeadBytes: number
  readonly maxFields: number
  readonly headTimeoutMs: number
  /** Longest wait for the next request on an open connection. */
  readonly keepAliveMs: number
  /** Longest silence while a body is awaited from the client, or the client does not read. */
  readonly bodyIdleMs: number
  readonly tlsHandshakeMs: number
  /** Unfinished TLS handshakes at once. */
  readonly maxHandshakes: number
  /** Open connections at once; 0 = no bound. */
  readonly maxConnections: number
}

export interface TlsChoice {
  readonly context: SecureContext
  /** Ask the client for a certificate (its possession is proved by TLS; whether it is allowed is the gateway's business). */
  readonly askCertificate: boolean
}

export interface ListenOptions<X extends WireExchange> {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  /** Present = TLS. Asked for every handshake, so a new certificate needs no restart. `serverName` '' without SNI. */
  readonly tls?: (serverName: string) => TlsChoice | undefined
}

export interface Listener {
  readonly port: number
  /** Open connections now. */
  connections(): number
  /** Stops accepting, ends idle connections, lets exchanges in flight finish for at most `boundMs`, then cuts. */
  drain(boundMs: number): Promise<void>
}

/** Opens a listener. @throws Fault `port_in_use` naming the port */
export function listen<X extends WireExchange>(_options: ListenOptions<X>): Promise<Listener> {
  throw new Error('wire: to be written')
}
