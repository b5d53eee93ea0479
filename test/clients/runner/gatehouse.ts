import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, call } from '../../worlds/base/client.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { freePort } from '../../worlds/servers/free-port.ts'
import { OUTPUT, ROOT, startServer } from './process.ts'

const SECRET = 'gateway-secret-of-the-client-tests'
/** Initial access token of dynamic registration (RFC 7591 section 3). */
export const REGISTRATION_TOKEN = 'registration-token-of-the-client-tests'

const ADMIN_SECRET = 'admin-secret-of-the-client-tests'

/** The product under test, a process of its own. */
export interface Gatehouse {
  readonly http: string
  readonly https: string
  readonly dashboard: string
  /** File of the authority that signed its certificate. */
  readonly ca: string
  /** A call of the administration API. @throws Error when it is refused */
  svc(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates an API that passes everything to `url`. */
  open(id: string, url: string, listenPath?: string): Promise<void>
  /** The credential of a new administrator of the dashboard, in an organisation of their own. */
  administrator(name: string): Promise<string>
  /** The call by which the login page of an API tells what the user decided. */
  authorize(api: string, fields: Record<string, string>): Promise<Answer>
}

/** Starts the product on free ports, plain and TLS, with an empty store. */
export async function startGatehouse(): Promise<Gatehouse> {
  const folder = join(OUTPUT, 'gatehouse')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  makeCertificates(folder)
  const [port, tlsPort, dashboardPort] = [await freePort(), await freePort(), await freePort()]
  await startServer({
    name: 'gatehouse',
    command: [process.execPath, join(ROOT, 'bin/gatehouse')],
    cwd: folder,
    env: {
      SVC_GW_LISTENHOST: '127.0.0.1',
      SVC_GW_LISTENPORT: String(port),
      SVC_GW_SECRET: SECRET,
      SVC_GW_OAUTHREGISTRATIONTOKEN: REGISTRATION_TOKEN,
      // The login page calls by another address than browsers do, and clients compare the issuer.
      SVC_GW_PUBLICURL: `https://localhost:${tlsPort}`,
      SVC_GW_TLS_ENABLED: 'true',
      SVC_GW_TLS_LISTENPORT: String(tlsPort),
      SVC_GW_TLS_CERTFILE: join(folder, 'server.pem'),
      SVC_GW_TLS_KEYFILE: join(folder, 'server.key'),
      SVC_DB_LISTENHOST: '127.0.0.1',
      SVC_DB_LISTENPORT: String(dashboardPort),
      SVC_DB_ADMINSECRET: ADMIN_SECRET,
      SVC_SAMPLE: 'false',
    },
    ready: /^tls +https/m,
  })
  const svc = async (method: string, path: string, body?: unknown) => {
    const answer = await call(port, path, {
      method,
      headers: { 'x-svc-authorization': SECRET },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer
  }
  return {
    http: `http://localhost:${port}`,
    https: `https://localhost:${tlsPort}`,
    dashboard: `http://127.0.0.1:${dashboardPort}`,
    ca: join(folder, 'ca.pem'),
    svc,
    async open(id, url, listenPath) {
      const server = listenPath !== undefined && { listenPath: { value: listenPath, strip: false } }
      await svc('POST', '/svc/apis/oas', defined({ id, url, ...(server && { server }) }))
    },
    async administrator(name) {
      const headers = { 'admin-auth': ADMIN_SECRET }
      const made = async (path: string, body: object) => {
        const answer = await call(dashboardPort, path, { method: 'POST', headers, body: JSON.stringify(body) })
        if (answer.status !== 200) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`)
        return answer.json as { Message: string; Meta: string }
      }
      const { Meta: org_id } = await made('/admin/organisations', { owner_name: name })
      const person = { email_address: `${name}@example.com`, password: 'a-Long-enough-1', active: true }
      const rights = { user_permissions: { IsAdmin: 'admin' } }
      return (await made('/admin/users', { ...person, ...rights, org_id })).Message
    },
    authorize: (api, fields) =>
      call(port, `/${api}/svc/oauth/authorize-client`, {
        method: 'POST',
        headers: { 'x-svc-authorization': SECRET, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      }),
  }
}

/** An authority, and a certificate of `localhost` by it: some TLS libraries take no certificate that signed itself. */
function makeCertificates(folder: string): void {
  const openssl = (...words: string[]) => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    const { status, stderr } = spawnSync('openssl', ['req', '-x509', ...key, ...words], {
      cwd: folder,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`openssl failed: ${stderr}`)
  }
  openssl('-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority of the client tests')
  const names = ['subjectAltName=DNS:localhost,IP:127.0.0.1', 'basicConstraints=critical,CA:FALSE']
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-subj', '/CN=localhost']
  openssl('-keyout', 'server.key', '-out', 'server.pem', ...signer, ...names.flatMap((name) => ['-addext', name]))
  if (!readFileSync(join(folder, 'server.pem'), 'utf8').includes('CERTIFICATE')) throw new Error('no certificate')
}
