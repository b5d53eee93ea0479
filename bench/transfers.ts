import { spawnSync } from 'node:child_process'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureH2 } from './h2load.ts'
import { startHttp2Haproxy } from './http2-peers.ts'
import { makeCertificate, type Server, startHaproxy, startNginx } from './peers.ts'
import { freePort, LOAD_CORE, output, type Started } from './processes.ts'
import { openDefinition, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'

const UPLOAD_BYTES = sized(10_000_000, 1_000_000)
const DOWNLOAD_BYTES = sized(2 ** 30, 2 ** 24)
const CONNECTIONS = 4
const WARM_UP_SECONDS = 2
const DOWNLOAD_SOURCE = fileURLToPath(new URL('download.go', import.meta.url))

export interface TransferOptions {
  /** Scratch folder. */
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

/** Throughput of a run, and the CPU of the proxy for it. */
interface Moved {
  readonly megabytesPerSecond: number
  readonly cpuMillisPerMegabyte: number
}

/**
 * Uploads over HTTP/2 beside the same over HTTP/1.1, through the gateway and HAProxy in turn on one core. Answers its part of the report.
 * @throws Error when an answer was bad
 */
export async function compareUploads({ folder, seconds, rounds }: TransferOptions): Promise<string> {
  const upstream = await startSink(join(folder, 'upstream'))
  const { servers, stop } = await startBoth(folder, upstream.port, 'plain')
  try {
    const file = join(folder, 'body')
    writeFileSync(file, Buffer.alloc(UPLOAD_BYTES, 'x'))
    const results = new Map<string, Moved[]>()
    for (let round = 0; round <= rounds; round++) {
      for (const server of servers) {
        for (const http1 of [true, false]) {
          const name = `${server.name}, ${http1 ? 'HTTP/1.1' : 'HTTP/2'}`
          const { perSecond, cpuMicros } = await measureH2(name, server.started, {
            url: `${server.url}/open/`,
            seconds: round === 0 ? WARM_UP_SECONDS : seconds,
            ...{ connections: CONNECTIONS, streams: 1, headers: [], bodyFile: file, http1 },
          })
          const megabytes = UPLOAD_BYTES / 1e6
          note(results, round, name, {
            megabytesPerSecond: perSecond * megabytes,
            cpuMillisPerMegabyte: cpuMicros / 1000 / megabytes,
          })
        }
      }
    }
    return `## Uploads

POST of ${show(UPLOAD_BYTES)} bytes without TLS, keyless: the gateway and HAProxy (1 thread), each on one core, in turn;
\`h2load -t1 -c${CONNECTIONS} -m1\`, with \`--h1\` for HTTP/1.1, and an upstream (nginx) that reads all before it answers on another. Medians of
interleaved rounds.

${report(results, (name) => name.replace('HTTP/2', 'HTTP/1.1'), 'of HTTP/1.1')}`
  } finally {
    await stop()
    await upstream.started.stop()
  }
}

/**
 * A long download by Go's own client over HTTP/2 and TLS, through the gateway and HAProxy in turn on one core. Answers its part of the
 * report, which says so where Go is missing. @throws Error when a download was not whole
 */
export async function compareDownloads({ folder, rounds }: TransferOptions): Promise<string> {
  const title = '## A long download by a client of Go'
  if (spawnSync('go', ['version']).status !== 0) return `${title}\n\nSkipped: Go is not installed.`
  const client = join(folder, 'download')
  await output('go', ['build', '-o', client, DOWNLOAD_SOURCE])
  const upstream = await startFiles(join(folder, 'upstream'))
  const { servers, stop, certFile } = await startBoth(folder, upstream.port, 'tls')
  try {
    const results = new Map<string, Moved[]>()
    for (let round = 0; round <= rounds; round++) {
      for (const { name, tlsUrl, started } of servers) {
        const before = started.cpuMs()
        const printed = await output('taskset', ['-c', String(LOAD_CORE), client, `${tlsUrl}/open/file`, certFile])
        const { status, version, bytes, seconds } = JSON.parse(printed) as Record<string, number>
        if (status !== 200 || version !== 2 || bytes !== DOWNLOAD_BYTES) throw new Error(`${name}: ${printed}`)
        const megabytes = DOWNLOAD_BYTES / 1e6
        note(results, round, name, {
          megabytesPerSecond: megabytes / seconds!,
          cpuMillisPerMegabyte: (started.cpuMs() - before) / megabytes,
        })
      }
    }
    return `${title}

${show(DOWNLOAD_BYTES)} bytes over HTTP/2 and TLS 1.3, keyless: the gateway and HAProxy (1 thread), each on one core, in turn; \`net/http\` of Go as
it is, and the upstream (nginx) on another. Medians of interleaved rounds.

${report(results, () => 'HAProxy', 'of HAProxy')}`
  } finally {
    await stop()
    await upstream.started.stop()
  }
}

/** The gateway with a keyless API at `/open/`, and HAProxy. */
async function startBoth(folder: string, upstream: number, over: 'plain' | 'tls') {
  const certificate = await makeCertificate(folder)
  const haproxy =
    over === 'plain'
      ? await startHaproxy(join(folder, 'haproxy'), upstream, certificate)
      : await startHttp2Haproxy(join(folder, 'haproxy'), { upstream, http2: false, certificate })
  const own = join(folder, 'gateway')
  mkdirSync(own, { recursive: true })
  const product = await startProduct({ folder: own, certificate })
  const servers: readonly Server[] = [product, haproxy]
  await product.admin.call('POST', '/apis/oas', openDefinition('open', upstream))
  const stop = async () => {
    for (const { started } of servers) await started.stop()
  }
  return { servers, stop, certFile: certificate.certFile }
}

/** An upstream that reads a whole body before it answers. */
async function startSink(folder: string): Promise<{ started: Started; port: number }> {
  const port = await freePort()
  // A body is read whole before a request is passed on, here to the server itself and without the body.
  const http = `upstream own { server 127.0.0.1:${port}; keepalive 16; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port} backlog=4096; client_max_body_size 0; client_body_buffer_size 16m;
      location / {
        set $done /done; proxy_pass http://own$done; proxy_http_version 1.1; proxy_method GET;
        proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_set_header Connection "";
      }
      location = /done { return 200 "ok"; }
    }`
  return { port, started: await startNginx('upstream', LOAD_CORE, folder, http, port) }
}

/** An upstream with one long file under any path. */
async function startFiles(folder: string): Promise<{ started: Started; port: number }> {
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'file')
  writeFileSync(file, '')
  // All zeros, which take no disk.
  truncateSync(file, DOWNLOAD_BYTES)
  const http = `server {
      listen 127.0.0.1:${port} backlog=4096; root ${folder}; sendfile on; tcp_nopush on;
      location / { try_files /file =404; }
    }`
  return { port, started: await startNginx('upstream', LOAD_CORE, folder, http, port) }
}

/** The first round only warms up. */
function note(results: Map<string, Moved[]>, round: number, name: string, moved: Moved): void {
  if (round === 0) return
  results.set(name, [...(results.get(name) ?? []), moved])
  progress(`${name}: ${show(moved.megabytesPerSecond)} MB/s, ${show(moved.cpuMillisPerMegabyte, 2)} ms CPU/MB`)
}

/** Each round against the round beside it: what the machine does meanwhile meets both. */
function report(
  results: ReadonlyMap<string, readonly Moved[]>,
  peerOf: (name: string) => string,
  head: string,
): string {
  const rows = [...results].map(([name, runs]) => {
    const peers = results.get(peerOf(name))!
    return [
      name,
      show(median(runs.map(({ megabytesPerSecond }) => megabytesPerSecond))),
      show(median(runs.map((run, i) => run.megabytesPerSecond / peers[i]!.megabytesPerSecond)), 2),
      show(median(runs.map(({ cpuMillisPerMegabyte }) => cpuMillisPerMegabyte)), 2),
    ]
  })
  return table(['', 'MB/s', head, 'CPU ms/MB'], rows)
}
