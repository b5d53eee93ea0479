import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type H2Measured, measureH2 } from './h2load.ts'
import { startGrpcNginx, startHttp2Haproxy, startHttp2Upstream } from './http2-peers.ts'
import { BODIES, makeCertificate, type Server, startUpstream } from './peers.ts'
import { definition, type Product, policy, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'

const CONNECTIONS = 8
const STREAMS = 8
const WARM_UP_SECONDS = 4
/** APIs besides the one that is asked. */
const APIS = sized(100, 5)

export interface Http2Options {
  /** Scratch folder. */
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

interface Case {
  readonly name: string
  readonly path: string
  readonly tls: boolean
  readonly servers: readonly Server[]
  readonly headers: readonly string[]
  readonly bodyFile?: string
}

/**
 * HTTP/2 and gRPC through the gateway with auth token, rate, quota and hits on, against HAProxy and nginx as plain proxies: the same
 * requests in turn, on the same core. Answers its part of the report. @throws Error when an answer was bad
 */
export async function compareHttp2(options: Http2Options): Promise<string> {
  const { folder } = options
  const certificate = await makeCertificate(folder)
  const plain = await startUpstream(join(folder, 'upstream'))
  const framed = await startHttp2Upstream(join(folder, 'upstream-h2'))
  const haproxy = await startHttp2Haproxy(join(folder, 'haproxy'), { upstream: plain.port, http2: false, certificate })
  const grpcHaproxy = await startHttp2Haproxy(join(folder, 'haproxy-h2'), {
    upstream: framed.port,
    http2: true,
    certificate,
  })
  const grpcNginx = await startGrpcNginx(join(folder, 'nginx'), framed.port, certificate)
  mkdirSync(join(folder, 'gateway'), { recursive: true })
  const product = await startProduct({ folder: join(folder, 'gateway'), certificate })
  try {
    const key = await fill(product, plain.port, framed.port)
    const bodyFile = join(folder, 'message')
    writeFileSync(bodyFile, Buffer.from('\0\0\0\0\x0aquestion-x', 'latin1'))
    const asked = { path: `/api-0${BODIES.small}`, servers: [product, haproxy], headers: [`authorization: ${key}`] }
    const grpc = {
      ...{ path: '/bench.Service/Ask', servers: [product, grpcHaproxy, grpcNginx], bodyFile },
      headers: [`authorization: ${key}`, 'content-type: application/grpc', 'te: trailers'],
    }
    const cases: readonly Case[] = [
      { name: 'HTTP/2 in, HTTP/1.1 out, small JSON', tls: false, ...asked },
      { name: 'HTTP/2 over TLS 1.3 in, HTTP/1.1 out, small JSON', tls: true, ...asked },
      { name: 'gRPC, unary calls', tls: false, ...grpc },
      { name: 'gRPC over TLS 1.3 in, unary calls', tls: true, ...grpc },
    ]
    const parts: string[] = []
    for (const one of cases) parts.push(caseTable(one, await measureCase(one, options)))
    return [TITLE, ...parts].join('\n\n')
  } finally {
    for (const { started } of [product, haproxy, grpcHaproxy, grpcNginx, plain, framed]) await started.stop()
  }
}

const TITLE = `## HTTP/2 and gRPC

Gateway: auth token, rate, quota and hits on. HAProxy (1 thread) and nginx (1 worker): plain proxying, no log. All on one core, in turn;
\`h2load -t1 -c${CONNECTIONS} -m${STREAMS}\` and the upstream (nginx) on another. Calls of gRPC are HTTP/2 on both sides, with a message of 15 bytes each way and
\`grpc-status\` in trailers. Medians of interleaved rounds.`

/** Makes the APIs, and a key whose limits nothing here reaches. */
async function fill({ admin }: Product, plainPort: number, framedPort: number): Promise<string> {
  for (let i = 0; i < APIS; i++) await admin.call('POST', '/apis/oas', definition(`api-${i}`, plainPort))
  await admin.call('POST', '/apis/oas', serviceDefinition(framedPort))
  const limits = { rate: 1_000_000_000, per: 60, quota_max: -1 }
  await admin.call('POST', '/policies', { ...policy('policy', ['api-0', 'service']), ...limits })
  const { key } = await admin.call('POST', '/keys/create', { apply_policies: ['policy'] })
  return String(key)
}

function serviceDefinition(port: number): Record<string, unknown> {
  const made = definition('service', port)
  const extension = made['x-svc-api-gateway'] as Record<string, Record<string, unknown>>
  return {
    ...made,
    'x-svc-api-gateway': {
      ...extension,
      upstream: { url: `h2c://127.0.0.1:${port}` },
      server: { ...extension.server, listenPath: { value: '/bench.Service/', strip: false } },
    },
  }
}

async function measureCase(one: Case, { seconds, rounds }: Http2Options): Promise<Map<string, H2Measured[]>> {
  const results = new Map<string, H2Measured[]>(one.servers.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const server of one.servers) {
      const run = await measureH2(`${server.name}, ${one.name}`, server.started, {
        url: `${one.tls ? server.tlsUrl : server.url}${one.path}`,
        seconds: round === 0 ? WARM_UP_SECONDS : seconds,
        ...{ connections: CONNECTIONS, streams: STREAMS, headers: one.headers },
        ...(one.bodyFile === undefined ? {} : { bodyFile: one.bodyFile }),
      })
      if (round === 0) continue
      results.get(server.name)!.push(run)
      progress(`${one.name}: ${server.name} ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
    }
  }
  return results
}

function caseTable(one: Case, results: ReadonlyMap<string, readonly H2Measured[]>): string {
  const peer = results.get('HAProxy')!
  const rows = [...results].map(([name, runs]) => {
    const middle = (pick: (run: H2Measured) => number) => median(runs.map(pick))
    // Each round against the round beside it: what the machine does meanwhile meets both.
    const ratio = median(runs.map((run, i) => run.perSecond / peer[i]!.perSecond))
    return [
      ...[name, show(middle((run) => run.perSecond)), show(ratio, 2)],
      ...[
        show(
          middle((run) => run.cpuMicros),
          1,
        ),
        show(
          middle((run) => run.meanMs),
          2,
        ),
      ],
    ]
  })
  const head = ['', 'requests/s', 'of HAProxy', 'CPU µs/request', 'mean ms']
  return `### ${one.name}\n\n${table(head, rows)}`
}
