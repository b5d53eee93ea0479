import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromDebian } from '../../scripts/debian.mjs'
import { startServer } from '../../scripts/servers.mjs'
import { FakeClock } from '../../src/model/time/clock.ts'
import { defined } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startTestGateway } from '../worlds/base/harness.ts'
import { freePort } from '../worlds/servers/free-port.ts'

/** Takes what is to be done at the end, in the order in which it is given. */
export interface Ending {
  after(fn: () => unknown): void
}

/** The upstream of a proxy. */
export interface Backend {
  readonly port: number
  /** The upstream speaks HTTP/2 without TLS. */
  readonly http2?: boolean
  /** Answers are stored as they allow. */
  readonly cache?: boolean
}

/** A running proxy, without keys, limits or rules of its own. */
export interface StartedProxy {
  readonly name: ProxyName
  /** Ports without TLS; HTTP/2 by prior knowledge. */
  readonly http1: number
  readonly http2: number
  /** Wait for an answer that may never come: a machine under load must not change the verdict on our own. */
  readonly patienceMs: number
}

export const PROXIES = ['Gatehouse', 'nginx', 'HAProxy'] as const
export type ProxyName = (typeof PROXIES)[number]

/** Starts a proxy with its defaults in front of an upstream on this machine. @throws Error when nginx or HAProxy is missing and cannot be installed */
export async function startProxy(name: ProxyName, backend: Backend, ending: Ending): Promise<StartedProxy> {
  const start = { Gatehouse: startGatehouse, nginx: startNginx, HAProxy: startHaproxy }[name]
  return { name, patienceMs: name === 'Gatehouse' ? 20_000 : 1500, ...(await start(backend, ending)) }
}

/** Versions of nginx and HAProxy on this machine. */
export function versionOf(name: ProxyName): string {
  if (name === 'Gatehouse') return ''
  const { stdout, stderr } = spawnSync(programOf(name), ['-v'], { encoding: 'utf8' })
  return /\d+\.\d+(?:\.\d+)?/.exec(stdout + stderr)?.[0] ?? 'unknown'
}

const programOf = (name: ProxyName) => `/usr/sbin/${name.toLowerCase()}`

type Ports = Pick<StartedProxy, 'http1' | 'http2'>

async function startGatehouse({ port, http2, cache }: Backend, ending: Ending): Promise<Ports> {
  // Upstreams name the real time in `Date`.
  const gateway = await startTestGateway({ clock: new FakeClock(Date.now()) })
  ending.after(() => gateway.close())
  const url = `${http2 === true ? 'h2c' : 'http'}://127.0.0.1:${port}`
  const stored = { enabled: true, cacheAllSafeRequests: true, enableUpstreamCacheControl: true }
  const global = cache === true ? { cache: stored } : {}
  const { status, text } = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'all', path: '/', url, global }))
  if (status !== 200) throw new Error(text)
  return { http1: gateway.port, http2: gateway.port }
}

async function startNginx({ port, http2, cache }: Backend, ending: Ending): Promise<Ports> {
  const [http1, framed] = [await freePort(), await freePort()]
  const passed = http2 === true ? 'grpc_pass grpc' : 'proxy_pass http'
  const settings = (folder: string) => `
daemon off; worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/pid; error_log stderr notice;
events { worker_connections 1000; }
http {
  access_log off; client_max_body_size 0; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; proxy_cache_path ${folder}/cache keys_zone=stored:1m;
  upstream up { server 127.0.0.1:${port}; keepalive 16; }
  map $http_upgrade $connection_to_upstream { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${http1}; listen 127.0.0.1:${framed} http2;
    location / {
      ${passed}://up; proxy_http_version 1.1; proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_to_upstream;
      ${cache === true ? 'proxy_cache stored; proxy_cache_revalidate on;' : ''}
    }
  }
}`
  await launch('nginx', (folder, file) => ['-p', folder, '-c', file], settings, 'epoll|kqueue', ending)
  return { http1, http2: framed }
}

async function startHaproxy({ port, http2, cache }: Backend, ending: Ending): Promise<Ports> {
  const listening = await freePort()
  const settings = () => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
cache stored
  total-max-size 16
  process-vary on
frontend in
  bind 127.0.0.1:${listening}
  ${cache === true ? 'http-request cache-use stored' : ''}
  default_backend up
backend up
  ${cache === true ? 'http-response cache-store stored' : ''}
  server one 127.0.0.1:${port}${http2 === true ? ' proto h2' : ''}
`
  await launch('HAProxy', (_folder, file) => ['-V', '-db', '-f', file], settings, 'Available polling', ending)
  await eventually('HAProxy listens', () => listensAt(listening))
  return { http1: listening, http2: listening }
}

async function launch(
  name: ProxyName,
  words: (folder: string, file: string) => readonly string[],
  settings: (folder: string) => string,
  ready: string,
  ending: Ending,
): Promise<void> {
  const program = programOf(name)
  const found = () => (existsSync(program) ? program : undefined)
  await fromDebian(name === 'nginx' ? 'nginx-light' : 'haproxy', found)
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-suite-${name.toLowerCase()}-`))
  const file = join(folder, 'settings')
  writeFileSync(file, settings(folder))
  const server = await startServer({ folder, run: [program, ...words(folder, file)], ready })
  ending.after(() => server.stop())
}

function listensAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
