import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startProduct } from '../worlds/flows/product.ts'
import { freePort } from '../worlds/servers/free-port.ts'
import { makeCertificate } from '../worlds/wire/certificates.ts'
import { issue } from '../worlds/wire/pki.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)

test('commands of its machine reach a dashboard with TLS by its own certificate alone', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-dashboard-tls-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  const write = (name: string, text: string) => {
    writeFileSync(join(cwd, name), text)
    return join(cwd, name)
  }
  // For a public name, not for the address of the machine.
  const { cert, key } = makeCertificate('dashboard.example')
  const port = String(await freePort())
  const env = {
    SVC_DB_LISTENPORT: port,
    SVC_DB_TLS_ENABLED: 'true',
    SVC_DB_TLS_CERTFILE: write('cert.pem', cert),
    SVC_DB_TLS_KEYFILE: write('key.pem', key),
  }
  const product = await startProduct(t, cwd, env)
  assert.ok(product.printed.some((line) => line.includes(`dashboard  https://127.0.0.1:${port}`)))
  const bootstrap = (more: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, [join(ROOT, 'src/main.ts'), 'bootstrap'], { cwd, env: { ...process.env, ...env, ...more } })
  assert.match((await bootstrap()).stdout, new RegExp(`https://127\\.0\\.0\\.1:${port}/bootstrap#token=`))
  const other = { SVC_DB_TLS_CERTFILE: write('other.pem', makeCertificate('dashboard.example').cert) }
  await assert.rejects(bootstrap(other), /no dashboard answers/)
  // A file with its chain vouches for no other certificate of the CA.
  const ca = issue({ name: 'CA', ca: true })
  const [own, impostor] = [issue({ name: 'dashboard.example' }, ca), issue({ name: 'dashboard.example' }, ca)]
  const server = createServer({ cert: impostor.cert, key: impostor.key }, (_request, response) => {
    response.end('{"open":true}')
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const chain = { SVC_DB_TLS_CERTFILE: write('chain.pem', own.cert + ca.cert) }
  const { port: impostorPort } = server.address() as AddressInfo
  await assert.rejects(bootstrap({ ...chain, SVC_DB_LISTENPORT: String(impostorPort) }), /no dashboard answers/)
  const check = [join(ROOT, 'scripts/healthcheck.mjs')]
  await run(process.execPath, check, { env: { ...process.env, ...env, SVC_GW_LISTENPORT: String(product.port) } })
})
