import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { spread } from '../../worlds/base/spread.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { type Certificate, makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, statusOf, turn } from '../../worlds/wire/raw.ts'

const SERVER = makeCertificate('gateway.example')
const ANN = makeCertificate('ann')
const BOB = makeCertificate('bob')
const CLIENTS: Readonly<Record<string, Certificate | undefined>> = { nobody: undefined, ann: ANN, bob: BOB }

/** APIs of two organisations, each at the path of its name; `listed` lets Ann in alone. */
const APIS = {
  'listed-anywhere': { org: 'one', domain: '', listed: true },
  'open-anywhere': { org: 'one', domain: '', listed: false },
  'listed-on-c': { org: 'one', domain: 'c.example', listed: true },
  'open-on-d': { org: 'one', domain: 'd.example', listed: false },
  'open-on-e': { org: 'two', domain: 'e.example', listed: false },
} as const
type Name = keyof typeof APIS
const NAMES = Object.keys(APIS) as Name[]
const OPEN = NAMES.filter((name) => !APIS[name].listed)
/** The sets of APIs that are there, one after the other: those that ask come, and are removed again. */
const STATES: readonly (readonly Name[])[] = [OPEN, [...OPEN, 'listed-anywhere'], NAMES, [...OPEN, 'listed-on-c'], OPEN]
/** Organisations that own a host. */
const OWNERS: Readonly<Record<string, string>> = { 'c.example': 'one', 'd.example': 'one', 'e.example': 'two' }
const HOSTS = ['any.example', ...Object.keys(OWNERS)]

/** True when a path of an API leads to it at a host. */
function answers(name: Name, host: string): boolean {
  const { org, domain } = APIS[name]
  return domain === '' ? (OWNERS[host] ?? org) === org : domain === host
}

/** The status that a caller gets: the oracle, from what an API asks for and where it answers. */
function expected(state: readonly Name[], serverName: string, host: string, name: Name, client: string): number {
  if (!state.includes(name) || !answers(name, host)) return 404
  if (!APIS[name].listed) return 200
  // A client is asked where one of the APIs that it may mean judges its certificate.
  const meant = serverName === '' ? HOSTS : [serverName]
  const asked = state.some((other) => APIS[other].listed && meant.some((at) => answers(other, at)))
  if (!asked) return 421
  return { nobody: 401, ann: 200, bob: 403 }[client]!
}

async function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-clients-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
  writeFileSync(join(folder, 'key.pem'), SERVER.key)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({
    env: {
      SVC_GW_TLS_ENABLED: 'true',
      SVC_GW_TLS_LISTENPORT: '0',
      SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
      SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
    },
  })
  t.after(() => gate.close())
  return { gate, url: origin.url }
}

async function become(gate: TestGateway, url: string, before: readonly Name[], state: readonly Name[]) {
  for (const name of before.filter((each) => !state.includes(each)))
    assert.equal((await gate.svc('DELETE', `/svc/apis/oas/${name}`)).status, 200)
  for (const name of state.filter((each) => !before.includes(each))) {
    const { org, domain, listed } = APIS[name]
    const server = {
      listenPath: { value: `/${name}/`, strip: true },
      ...(domain !== '' && { customDomain: { enabled: true, name: domain } }),
      ...(listed && { clientCertificates: { enabled: true, allowlist: [ANN.fingerprint] } }),
    }
    const made = await gate.svc('POST', '/svc/apis/oas', defined({ id: name, url, server, info: { orgId: org } }))
    assert.equal(made.status, 200, made.text)
  }
}

type Ask = (host: string, path: string) => Promise<number>

function askHttp1(socket: TLSSocket): Ask {
  const client = new Client(socket)
  return async (host, path) => statusOf(await client.ask(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`))
}

function askHttp2(socket: TLSSocket): Ask {
  const session = connectHttp2('https://any.example', { createConnection: () => socket })
  session.on('error', () => {})
  return async (host, path) => {
    const stream = session.request({ ':path': path, ':authority': host }, { endStream: true })
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    stream.resume()
    await once(stream, 'end')
    return headers[':status']
  }
}

test('certificates are asked for and judged alike by every name, version, protocol and session', async (t) => {
  const { gate, url } = await open(t)
  /** The newest session of each name and version, of whichever client: what is resumed must change nothing. */
  const sessions = new Map<string, Buffer>()
  let before: readonly Name[] = []
  let connections = 0
  let resumed = 0
  for (const state of STATES) {
    await become(gate, url, before, state)
    before = state
    for (const serverName of ['', ...HOSTS]) {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        for (const protocol of ['http/1.1', 'h2']) {
          for (const [client, certificate] of Object.entries(CLIENTS)) {
            const place = `${serverName} ${version}`
            const session = sessions.get(place)
            const socket = connect({
              ...{ host: '127.0.0.1', port: gate.gateway.tlsPort!, rejectUnauthorized: false },
              ...{ minVersion: version, maxVersion: version, ALPNProtocols: [protocol] },
              ...(serverName !== '' && { servername: serverName }),
              ...(certificate && { cert: certificate.cert, key: certificate.key }),
              ...(session && { session }),
            })
            socket.on('session', (latest: Buffer) => sessions.set(place, latest))
            await once(socket, 'secureConnect')
            if (socket.isSessionReused()) resumed++
            const ask = protocol === 'h2' ? askHttp2(socket) : askHttp1(socket)
            for (const host of spread(HOSTS, connections++, 2)) {
              for (const name of NAMES) {
                const wanted = expected(state, serverName, host, name, client)
                const what = `[${state}] ${place} ${protocol} ${client}: ${host}/${name}`
                assert.equal(await ask(host, `/${name}/x`), wanted, what)
              }
            }
            await turn()
            socket.destroy()
          }
        }
      }
    }
  }
  assert.ok(resumed > 0)
})
