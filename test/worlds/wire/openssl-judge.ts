import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { connect, createServer, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { makeCertificate } from './certificates.ts'

const SERVER = makeCertificate('judge.example')

/** Says by OpenSSL's own verification, in a handshake, whether a CA vouches for a client with this chain. */
export async function openJudge(t: TestContext): Promise<(ca: string, chain: string, key: string) => Promise<boolean>> {
  const server = createServer({ ...SERVER, requestCert: true, rejectUnauthorized: false })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return async (ca, cert, key) => {
    // The CA need not be a root: what is listed is trusted.
    server.setSecureContext({ ...SERVER, ca, allowPartialTrustChain: true } as SecureContextOptions)
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>
    const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, cert, key })
    client.on('error', () => {})
    const [socket] = await accepted
    const { authorized } = socket
    socket.destroy()
    client.destroy()
    return authorized
  }
}
