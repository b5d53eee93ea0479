import type { RequestListener, Server } from 'node:http'
import { createServer, type Server as HttpsServer, type ServerOptions } from 'node:https'
import { type KeyPair, KeyPairFiles, type TlsRules, tlsOptions } from '../../runtime/key-pair-files.ts'
import type { DashboardParts } from './parts.ts'

/** Longest TLS handshake. */
const HANDSHAKE_MS = 5000

/** Makes the servers of a dashboard with TLS (one for each address of its host), and keeps their certificate that of the files. */
export class TlsServer {
  readonly #files: KeyPairFiles
  readonly #rules: TlsRules
  readonly #servers: HttpsServer[] = []

  /** @throws Fault `setting_invalid` when the files cannot be read or do not fit together */
  constructor({ config, log }: Pick<DashboardParts, 'config' | 'log'>) {
    const { tls } = config.dashboard
    this.#rules = tls
    const files = { certFile: tls.cert_file, keyFile: tls.key_file, setting: 'dashboard.tls', log }
    this.#files = new KeyPairFiles(files, (pair) => {
      for (const server of this.#servers) server.setSecureContext(this.#contextOf(pair))
    })
  }

  create(handler: RequestListener, options: ServerOptions): Server {
    const bounds = { handshakeTimeout: HANDSHAKE_MS, ALPNProtocols: ['http/1.1'] }
    const server = createServer({ ...options, ...bounds, ...this.#contextOf(this.#files.current) }, handler)
    // A handshake that takes too long leaves its connection open, and nobody there could read an answer.
    server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
    this.#servers.push(server)
    return server
  }

  close(): void {
    this.#files.close()
  }

  #contextOf({ certificate, key }: KeyPair) {
    return { ...tlsOptions(this.#rules, { tickets: true }), cert: certificate, key }
  }
}
