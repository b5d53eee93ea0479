import { createServer, type ListenOptions } from 'node:net'
import { fault } from '../../errors/fault.ts'
import { closedPlace } from './listen.ts'

/** Ports that several processes or threads listen at. */
export interface SharedPorts {
  readonly traffic: number
  readonly tls: number
}

/** The settings of ports that traffic comes to. */
interface PortSettings {
  readonly listen_host: string
  readonly listen_port: number
  readonly tls: { readonly enabled: boolean; readonly listen_port: number }
}

/**
 * Chooses the ports of traffic. A shared port would be shared with a second start by mistake too: nobody else may have it now.
 * @throws Fault `port_in_use`, `setting_invalid` when the system cannot share a port
 */
export async function choosePorts({ listen_host: host, listen_port, tls }: PortSettings): Promise<SharedPorts> {
  const traffic = await freePort(host, listen_port, 'gateway.listen_port (SVC_GW_LISTENPORT)')
  if (!tls.enabled) return { traffic, tls: tls.listen_port }
  return { traffic, tls: await freePort(host, tls.listen_port, 'gateway.tls.listen_port (SVC_GW_TLS_LISTENPORT)') }
}

/** True where several processes or threads can listen at one port. */
export function canSharePorts(): Promise<boolean> {
  return tryPort({ host: '127.0.0.1', port: 0, reusePort: true }).then(
    () => true,
    () => false,
  )
}

/** Answers the number of a port that is free and can be shared. @throws Fault as `choosePorts` */
export async function freePort(host: string, wanted: number, setting: string): Promise<number> {
  const inUse = (error: NodeJS.ErrnoException) =>
    fault('port_in_use', `${setting}: ${closedPlace(`${host}:${wanted}`, error)}`, error)
  const port = await tryPort({ host, port: wanted }).catch((error) => {
    throw inUse(error)
  })
  await tryPort({ host, port, reusePort: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw inUse(error)
    const text = `gateway.workers (SVC_GW_WORKERS): this system cannot share a port (${error.code}); set 1`
    throw fault('setting_invalid', text, error)
  })
  return port
}

/** Answers the number of a port that could be listened at. */
function tryPort(options: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(options, () => {
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
