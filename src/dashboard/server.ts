import fastify from 'fastify'
import { fault } from '../errors/fault.ts'

export interface DashboardOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly version: string
}

/** A dashboard that is listening. */
export interface Dashboard {
  readonly port: number
  close(): Promise<void>
}

/** Opens the dashboard's port. @throws Fault `port_in_use` naming the setting */
export async function startDashboard({ host, port, version }: DashboardOptions): Promise<Dashboard> {
  const server = fastify({ logger: false, routerOptions: { ignoreTrailingSlash: true } })
  server.get('/hello', (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'pass', version, description: 'Gatehouse dashboard' }),
  )
  try {
    await server.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const why = code === 'EACCES' ? 'may not be opened by this user' : 'is in use by another process'
    throw fault(
      'port_in_use',
      `port ${port} ${why}; choose another with dashboard.listen_port (SVC_DB_LISTENPORT)`,
      error,
    )
  }
  const address = server.server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : port, close: () => server.close() }
}
