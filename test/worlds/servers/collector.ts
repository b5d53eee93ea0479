import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Value {
  readonly stringValue?: string
  readonly intValue?: number | string
  readonly doubleValue?: number
  readonly boolValue?: boolean
}

interface Pair {
  readonly key: string
  readonly value: Value
}

/** A span as the collector got it. */
export interface SeenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  /** As OTLP numbers them: 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  /** 2 = error. */
  readonly status: number
  readonly traceState: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** One series of a metric as the collector got it last. */
export interface SeenPoint {
  readonly name: string
  readonly unit: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly bounds: readonly number[]
  readonly count: number
  readonly value: number
}

/** A collector of OTLP over HTTP (JSON), on loopback. */
export interface Collector {
  readonly url: string
  readonly spans: SeenSpan[]
  /** Of the last export of metrics. */
  points: SeenPoint[]
  /** Every byte that came: request lines, fields and bodies. */
  readonly bytes: string[]
  /** Resource attributes of what came last. */
  resource: SeenSpan['attributes']
  /** Responses from now on instead of 200. */
  script: ((response: ServerResponse) => void) | undefined
  close(): Promise<void>
}

/** Starts a collector. */
export async function startCollector(): Promise<Collector> {
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      collector.bytes.push(`${message.url} ${message.rawHeaders.join(' ')} ${body}`)
      if (collector.script !== undefined) {
        collector.script(response)
        return
      }
      if (message.url === '/v1/traces') takeSpans(collector, JSON.parse(body))
      if (message.url === '/v1/metrics') takePoints(collector, JSON.parse(body))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const collector: Collector = {
    url: `http://127.0.0.1:${port}`,
    spans: [],
    points: [],
    bytes: [],
    resource: {},
    script: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return collector
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire
function takeSpans(collector: Collector, sent: any): void {
  for (const { resource, scopeSpans } of sent.resourceSpans ?? []) {
    collector.resource = attributesOf(resource.attributes)
    for (const span of scopeSpans.flatMap((scope: { spans: unknown[] }) => scope.spans)) {
      collector.spans.push({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
        status: span.status?.code ?? 0,
        traceState: span.traceState ?? '',
        attributes: attributesOf(span.attributes),
      })
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire
function takePoints(collector: Collector, sent: any): void {
  const points: SeenPoint[] = []
  for (const { scopeMetrics } of sent.resourceMetrics ?? []) {
    for (const metric of scopeMetrics.flatMap((scope: { metrics: unknown[] }) => scope.metrics)) {
      const { dataPoints = [] } = metric.histogram ?? metric.sum ?? metric.gauge ?? {}
      for (const point of dataPoints) {
        points.push({
          name: metric.name,
          unit: metric.unit ?? '',
          attributes: attributesOf(point.attributes),
          bounds: point.explicitBounds ?? [],
          count: Number(point.count ?? 0),
          value: Number(point.sum ?? point.asDouble ?? point.asInt ?? 0),
        })
      }
    }
  }
  collector.points = points
}

function attributesOf(pairs: readonly Pair[] = []): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue ?? 0),
    ]),
  )
}
