import type { Config } from '../../config/schema.ts'
import { fault, toFault } from '../../errors/fault.ts'
import { addressList } from '../../model/network/address.ts'
import { readSocketUrl } from '../../model/network/socket-url.ts'
import type { DescriptorShares } from '../../model/nodes/descriptors.ts'
import type { WireHandler } from '../../wire/http1/exchange.ts'
import { ConnectionLimit } from '../../wire/listen/connection-limit.ts'
import { listen, type PortListener, type TlsChoice, type WireLimits } from '../../wire/listen/listen.ts'
import type { RefusedConnections } from '../record/refused-connections.ts'
import type { Exchange } from './exchange.ts'

export interface PortHandlers {
  readonly traffic: WireHandler<Exchange>
  readonly control: WireHandler<Exchange>
  /** Chooses a certificate; asked only when TLS is switched on. */
  readonly tls: (serverName: string) => TlsChoice | undefined
}

/** How many connections there may be, and what is called for those that are refused. */
export interface PortBounds {
  readonly shares: DescriptorShares
  readonly refusals: RefusedConnections
  /** True = other threads listen at the control port too. */
  readonly sharesControl?: boolean
}

/** The listeners of one gateway. */
export interface OpenPorts {
  readonly traffic: number
  /** undefined = not open. */
  readonly tls: number | undefined
  readonly control: number | undefined
  connections(): number
  /** Keeps accepting, but tells clients of HTTP/1.1 with each answer to connect again. */
  announceDrain(): void
  /** Stops accepting, lets requests in flight finish for at most `boundMs`. Answers how many connections were cut then. */
  drain(boundMs: number): Promise<number>
}

/** Opens traffic, TLS and control port as the settings say; all or none. @throws Fault `port_in_use` naming the setting */
export async function openPorts(
  settings: Config['gateway'],
  handlers: PortHandlers,
  { shares, refusals, sharesControl = false }: PortBounds,
): Promise<OpenPorts> {
  const limits = wireLimitsOf(settings)
  const refused = refusals.refused.bind(refusals)
  const admission = new ConnectionLimit({
    most: shares.clients,
    reason: shares.clients === settings.max_connections ? 'max_connections' : 'descriptors',
    refused,
  })
  // Traffic that takes all of its share leaves the control port open.
  const controlAdmission = new ConnectionLimit({ most: shares.control, reason: 'descriptors', refused })
  const { listen_host: host, control_host: controlHost, tls } = settings
  const shared = settings.workers > 1
  const senders = settings.proxy_protocol_networks
  const proxies = senders.length === 0 ? undefined : addressList(senders)
  const listeners: PortListener[] = []
  const announceDrain = () => {
    for (const listener of listeners) listener.announceDrain()
  }
  const drain = async (boundMs: number) => {
    const cut = await Promise.all(listeners.map((listener) => listener.drain(boundMs)))
    return cut.reduce((sum, count) => sum + count, 0)
  }
  const open = async (setting: string, options: Parameters<typeof listen<Exchange>>[0]) => {
    const listener = await listen(options).catch((error) => {
      throw named(setting, error)
    })
    listeners.push(listener)
    return listener.port
  }
  try {
    const traffic = await open('listen_port (SVC_GW_LISTENPORT)', {
      host,
      port: settings.listen_port,
      shared,
      handler: handlers.traffic,
      limits,
      admission,
      proxies,
    })
    const socket = readSocketUrl(settings.listen_socket)
    if (socket !== undefined)
      await open('listen_socket (SVC_GW_LISTENSOCKET)', {
        ...{ host, port: 0, handler: handlers.traffic, limits, admission },
        socket: { path: socket.path, mode: Number.parseInt(settings.listen_socket_mode, 8) },
      })
    const tlsPort = tls.enabled
      ? await open('tls.listen_port (SVC_GW_TLS_LISTENPORT)', {
          host,
          port: tls.listen_port,
          shared,
          handler: handlers.traffic,
          limits,
          admission,
          proxies,
          tls: handlers.tls,
        })
      : undefined
    const control =
      settings.control_port === 0
        ? undefined
        : await open('control_port (SVC_GW_CONTROLPORT)', {
            host: controlHost,
            port: settings.control_port,
            shared: sharesControl,
            handler: handlers.control,
            limits,
            admission: controlAdmission,
          })
    const connections = () => listeners.reduce((sum, listener) => sum + listener.connections(), 0)
    return { traffic, tls: tlsPort, control, connections, announceDrain, drain }
  } catch (error) {
    await drain(0)
    throw error
  }
}

/** Says which setting to change. */
function named(setting: string, error: unknown): Error {
  const { code, message, cause } = toFault(error)
  return fault(code, `gateway.${setting}: ${message}`, cause)
}

/** Bounds of connections, as the settings say. */
export function wireLimitsOf(settings: Config['gateway']): WireLimits {
  return {
    maxHeadBytes: settings.max_head_bytes,
    maxFields: settings.max_fields,
    allowUnderscores: settings.allow_underscore_fields,
    headTimeoutMs: settings.head_timeout_ms,
    keepAliveMs: settings.keep_alive_ms,
    bodyIdleMs: settings.body_idle_ms,
    tlsHandshakeMs: settings.tls.handshake_timeout_ms,
    maxHandshakes: settings.tls.max_handshakes,
    http2Streams: settings.http2.enabled ? settings.http2.max_concurrent_streams : 0,
  }
}
