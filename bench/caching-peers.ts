import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, startNginx } from './peers.ts'
import { freePort, PROXY_CORE, startPinned, waitForPort } from './processes.ts'

/** Starts nginx with `proxy_cache`: one worker, files that the system keeps in memory and nginx keeps open. `X-Cache` tells what was a hit. */
export async function startCachingNginx(folder: string, upstream: number): Promise<Server> {
  const port = await freePort()
  const started = await startNginx(
    'nginx, proxy_cache',
    PROXY_CORE,
    folder,
    `proxy_cache_path ${folder}/cache levels=1:2 keys_zone=stored:10m max_size=64m inactive=1d use_temp_path=off;
    open_file_cache max=1000 inactive=1d; tcp_nopush on; sendfile on;
    upstream up { server 127.0.0.1:${upstream}; keepalive 256; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port} backlog=4096;
      location / {
        proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_cache stored; proxy_cache_key $scheme$host$request_uri; proxy_cache_lock on; add_header X-Cache $upstream_cache_status;
      }
    }`,
    port,
  )
  return { name: 'nginx, proxy_cache', started, url: `http://127.0.0.1:${port}`, tlsUrl: '' }
}

/** Starts HAProxy with its cache: one thread, in memory. `X-Cache` tells what was a hit. */
export async function startCachingHaproxy(folder: string, upstream: number): Promise<Server> {
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
cache stored
  total-max-size 64
  max-object-size 1000000
  max-age 86400
frontend in
  bind 127.0.0.1:${port}
  http-request cache-use stored
  http-response set-header X-Cache HIT if { res.cache_hit }
  default_backend up
backend up
  http-response cache-store stored
  server one 127.0.0.1:${upstream}
`,
  )
  const started = startPinned('HAProxy, cache', PROXY_CORE, ['haproxy', '-db', '-q', '-f', file])
  await waitForPort(started, port)
  return { name: 'HAProxy, cache', started, url: `http://127.0.0.1:${port}`, tlsUrl: '' }
}
