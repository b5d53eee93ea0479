import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, LOAD_CORE, output, PROXY_CORE, type Started, startPinned, waitForPort } from './processes.ts'

/** A server under load: where it listens, and what it costs. */
export interface Server {
  readonly name: string
  readonly started: Started
  readonly url: string
  readonly tlsUrl: string
}

/** The paths of the upstream by the size of their answer. */
export const BODIES = { small: '/small', '10 kB': '/10k', '1 MB': '/1m' } as const

/** One kilobyte that caches may keep for a day. */
export const CACHEABLE = '/1k'

const SMALL = '{"id":42,"name":"a small answer","tags":["one","two"],"ok":true}'

const FLOOR = fileURLToPath(new URL('floor.ts', import.meta.url))

/** The certificate that all servers show: P-256, self-signed, made for this run. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  /** Both in one, as HAProxy wants it. */
  readonly pemFile: string
}

export async function makeCertificate(folder: string): Promise<Certificate> {
  const [certFile, keyFile, pemFile] = ['cert.pem', 'key.pem', 'both.pem'].map((name) => join(folder, name))
  await output('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', keyFile!, '-out', certFile!],
  ])
  await output('sh', ['-c', 'cat "$1" "$2" > "$3"', 'sh', certFile!, keyFile!, pemFile!])
  return { certFile: certFile!, keyFile: keyFile!, pemFile: pemFile! }
}

/** Started as root nginx would give its worker to another user, who may not read our temporary folder. */
const NGINX_USER = process.getuid?.() === 0 ? 'user root;' : ''

const nginxSettings = (folder: string) => `
daemon off; worker_processes 1; ${NGINX_USER} pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 8192; }
http {
  access_log off; keepalive_timeout 75s; keepalive_requests 1000000000; server_tokens off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
`

/** Starts nginx with what belongs into its `http` block, on one core. */
export async function startNginx(
  name: string,
  core: number,
  folder: string,
  http: string,
  port: number,
): Promise<Started> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, `${nginxSettings(folder)}${http}\n}\n`)
  const started = startPinned(name, core, ['nginx', '-e', join(folder, 'error.log'), '-p', folder, '-c', file])
  await waitForPort(started, port)
  return started
}

/**
 * Starts the upstream: a small JSON answer, 10 kB and 1 MB of random bytes, each under any path that ends in its name.
 * The field `X-Seen` gives back the request field `X-Revision`.
 */
export async function startUpstream(folder: string): Promise<{ started: Started; port: number }> {
  const port = await freePort()
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  writeFileSync(join(files, '1k'), randomBytes(1000))
  writeFileSync(join(files, '10k'), randomBytes(10_000))
  writeFileSync(join(files, '1m'), randomBytes(1_000_000))
  const started = await startNginx(
    'upstream',
    LOAD_CORE,
    folder,
    `server {
      listen 127.0.0.1:${port} backlog=4096; root ${files}; sendfile on; tcp_nopush on; tcp_nodelay on;
      open_file_cache max=10; default_type application/octet-stream;
      location / { default_type application/json; add_header X-Seen $http_x_revision; return 200 '${SMALL}'; }
      location ~ /1k$ { add_header Cache-Control max-age=86400; try_files /1k =404; }
      location ~ /10k$ { try_files /10k =404; }
      location ~ /1m$ { try_files /1m =404; }
    }`,
    port,
  )
  return { started, port }
}

/** Starts nginx as a plain proxy: one worker, connections to the upstream kept. */
export async function startNginxProxy(folder: string, upstream: number, certificate: Certificate): Promise<Server> {
  const [port, tls] = [await freePort(), await freePort()]
  const started = await startNginx(
    'nginx',
    PROXY_CORE,
    folder,
    `upstream up { server 127.0.0.1:${upstream}; keepalive 256; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port} backlog=4096; listen 127.0.0.1:${tls} ssl backlog=4096;
      ssl_certificate ${certificate.certFile}; ssl_certificate_key ${certificate.keyFile}; ssl_protocols TLSv1.3 TLSv1.2;
      location / {
        proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_max_temp_file_size 0;
      }
    }`,
    port,
  )
  return { name: 'nginx', started, url: `http://127.0.0.1:${port}`, tlsUrl: `https://127.0.0.1:${tls}` }
}

/** Starts HAProxy as a plain proxy: one thread, connections to the upstream shared and kept. */
export async function startHaproxy(folder: string, upstream: number, certificate: Certificate): Promise<Server> {
  const [port, tls] = [await freePort(), await freePort()]
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 8192
  ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend in
  bind 127.0.0.1:${port}
  bind 127.0.0.1:${tls} ssl crt ${certificate.pemFile}
  default_backend up
backend up
  server one 127.0.0.1:${upstream}
`,
  )
  const started = startPinned('HAProxy', PROXY_CORE, ['haproxy', '-db', '-q', '-f', file])
  await waitForPort(started, port)
  return { name: 'HAProxy', started, url: `http://127.0.0.1:${port}`, tlsUrl: `https://127.0.0.1:${tls}` }
}

/** Starts what only moves bytes, over the same sockets as the gateway: the least that a proxy on this runtime costs. No TLS. */
export async function startFloor(upstream: number): Promise<Server> {
  const port = await freePort()
  const started = startPinned('floor', PROXY_CORE, [process.execPath, FLOOR, String(port), String(upstream)])
  await waitForPort(started, port)
  return { name: 'bytes moved by Node, nothing else', started, url: `http://127.0.0.1:${port}`, tlsUrl: '' }
}
