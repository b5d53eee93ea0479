import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { defined } from '../base/definitions.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { startOrigin } from '../servers/origin.ts'
import { makeCertificate } from '../wire/certificates.ts'
import type { Issued } from '../wire/pki.ts'
import { Client, statusOf } from '../wire/raw.ts'

const SERVER = makeCertificate('gateway.example')

/** A gateway with TLS, and requests with chains of certificates. */
export interface World {
  readonly gate: TestGateway
  readonly url: string
  /** The file of revocation lists. */
  readonly lists: string
  /** Status of a request with these certificates, the client's own first. */
  status(chain: string, key: string, path?: string, fields?: string): Promise<number>
}

/** Opens it; `lists`: the revocation lists that it starts with, '' = none. */
export async function openWorld(t: TestContext, lists = ''): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-authorities-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
  writeFileSync(join(folder, 'key.pem'), SERVER.key)
  if (lists !== '') writeFileSync(join(folder, 'lists.pem'), lists)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({
    env: {
      SVC_GW_TLS_ENABLED: 'true',
      SVC_GW_TLS_LISTENPORT: '0',
      SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
      SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
      ...(lists !== '' && { SVC_GW_TLS_CLIENTCRLFILE: join(folder, 'lists.pem') }),
    },
  })
  t.after(() => gate.close())
  return {
    gate,
    lists: join(folder, 'lists.pem'),
    url: origin.url,
    async status(cert, key, path = '/a/x', fields = '') {
      const client = await Client.connect(gate.gateway.tlsPort!, {
        rejectUnauthorized: false,
        cert,
        key,
        ciphers: 'DEFAULT@SECLEVEL=0',
      })
      const answer = await client.ask(`GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
      client.destroy()
      return statusOf(answer)
    },
  }
}

/** Stores a certificate. Answers its id. */
export async function store({ gate }: World, { cert }: Pick<Issued, 'cert'>): Promise<string> {
  const added = await gate.svc('POST', '/svc/certs', cert)
  assert.equal(added.status, 200, added.text)
  return String((added.json as { id: string }).id)
}

/** Publishes API `a`, which lets these certificates in. */
export async function allow({ gate, url }: World, ...allowlist: string[]): Promise<void> {
  const server = { listenPath: { value: '/a/', strip: true }, clientCertificates: { enabled: true, allowlist } }
  const saved = await gate.svc('POST', '/svc/apis/oas', defined({ id: 'a', url, server }))
  if (saved.status === 200) return
  const put = await gate.svc('PUT', '/svc/apis/oas/a', defined({ id: 'a', url, server }))
  assert.equal(put.status, 200, `${saved.text} ${put.text}`)
}
