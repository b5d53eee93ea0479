import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Certificate, type Server, startNginx } from './peers.ts'
import { freePort, LOAD_CORE, PROXY_CORE, type Started, startPinned, waitForPort } from './processes.ts'

/** The upstream's answer as a gRPC message: five bytes of framing, then ten. */
const MESSAGE = '\\x00\\x00\\x00\\x00\\x0aanswer-10b'

/** An upstream that speaks HTTP/2 without TLS: a small message under any path, and `grpc-status` behind it. */
export async function startHttp2Upstream(folder: string): Promise<{ started: Started; port: number }> {
  const port = await freePort()
  const started = await startNginx(
    'upstream',
    LOAD_CORE,
    folder,
    `server {
      listen 127.0.0.1:${port} http2 backlog=4096; keepalive_timeout 3600s;
      location / { default_type application/grpc; add_trailer grpc-status 0; return 200 "${MESSAGE}"; }
    }`,
    port,
  )
  return { started, port }
}

/** HAProxy with HTTP/2 in front, plain and over TLS; behind it HTTP/1.1, or HTTP/2 too. */
export async function startHttp2Haproxy(
  folder: string,
  { upstream, http2, certificate }: { upstream: number; http2: boolean; certificate: Certificate },
): Promise<Server> {
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
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend in
  bind 127.0.0.1:${port} proto h2
  bind 127.0.0.1:${tls} ssl crt ${certificate.pemFile} alpn h2
  default_backend up
backend up
  server one 127.0.0.1:${upstream}${http2 ? ' proto h2' : ''}
`,
  )
  const started = startPinned('HAProxy', PROXY_CORE, ['haproxy', '-db', '-q', '-f', file])
  await waitForPort(started, port)
  return { name: 'HAProxy', started, url: `http://127.0.0.1:${port}`, tlsUrl: `https://127.0.0.1:${tls}` }
}

/** nginx with HTTP/2 in front, and a service of gRPC behind it. */
export async function startGrpcNginx(folder: string, upstream: number, certificate: Certificate): Promise<Server> {
  const [port, tls] = [await freePort(), await freePort()]
  const started = await startNginx(
    'nginx',
    PROXY_CORE,
    folder,
    `upstream up { server 127.0.0.1:${upstream}; keepalive 256; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port} http2 backlog=4096; listen 127.0.0.1:${tls} ssl http2 backlog=4096;
     
      ssl_certificate ${certificate.certFile}; ssl_certificate_key ${certificate.keyFile}; ssl_protocols TLSv1.3 TLSv1.2;
      location / { grpc_pass grpc://up; }
    }`,
    port,
  )
  return { name: 'nginx', started, url: `http://127.0.0.1:${port}`, tlsUrl: `https://127.0.0.1:${tls}` }
}
