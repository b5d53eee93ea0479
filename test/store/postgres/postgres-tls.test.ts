import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { freshDatabase } from '../../worlds/servers/postgres.ts'
import { type Certificate, makeCertificate } from '../../worlds/wire/certificates.ts'

/** Takes TLS as PostgreSQL does, without a certificate only the plain protocol, and hands on to the server. Answers its port. */
async function startTls(t: TestContext, direct: URL, certificate: Certificate | undefined): Promise<number> {
  const handOn = (client: Socket) => {
    const server = connect(`${direct.searchParams.get('host')}/.s.PGSQL.5432`)
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.pipe(server).pipe(client)
  }
  const listener = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (first) => {
      // SSLRequest: eight bytes.
      if (first.length !== 8) {
        socket.unshift(first)
        return handOn(socket)
      }
      socket.write(certificate === undefined ? 'N' : 'S')
      if (certificate !== undefined) handOn(new TLSSocket(socket, { isServer: true, ...certificate }))
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  return (listener.address() as AddressInfo).port
}

test('with TLS the certificate is checked, and an untrusted one refused by name', async (t) => {
  const direct = new URL(await freshDatabase())
  const certificate = makeCertificate('localhost')
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'root.pem')
  writeFileSync(file, certificate.cert)
  const [tls, plain] = [await startTls(t, direct, certificate), await startTls(t, direct, undefined)]
  const open = async (host: string, port: number, query: string) => {
    const url = `postgres://gatehouse@${host}:${port}${direct.pathname}${query}`
    const store = await openPostgresStore({ url, patienceMs: 0 })
    await store.documents.commit([], undefined)
    await store.close()
  }
  const root = `sslrootcert=${encodeURIComponent(file)}`
  await open('localhost', tls, `?${root}`)
  await open('localhost', tls, `?sslmode=verify-full&${root}`)
  await open('127.0.0.1', tls, `?sslmode=verify-ca&${root}`)
  await open('127.0.0.1', tls, '?sslmode=no-verify')
  const refused = [
    ['localhost', tls, '?sslmode=require'],
    ['127.0.0.1', tls, `?sslmode=verify-full&${root}`],
    ['localhost', plain, `?sslmode=verify-full&${root}`],
  ] as const
  for (const [host, port, query] of refused) {
    await assert.rejects(open(host, port, query), { code: 'store_refused' }, `${host} ${query}`)
  }
})
