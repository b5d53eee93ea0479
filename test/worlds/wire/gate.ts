import type { TestContext } from 'node:test'
import type { Fault } from '../../../src/errors/fault.ts'
import { Upstream, type UpstreamOptions } from '../../../src/wire/connect/upstream.ts'
import { WireExchange, type WireHandler } from '../../../src/wire/http1/exchange.ts'
import { FIELD } from '../../../src/wire/http1/fields.ts'
import { Http2Upstream } from '../../../src/wire/http2/upstream.ts'
import { ConnectionLimit } from '../../../src/wire/listen/connection-limit.ts'
import { type ListenOptions, listen, type PortListener, type WireLimits } from '../../../src/wire/listen/listen.ts'

/** Generous bounds: a suite that sees one of them act has failed. */
export const LIMITS: WireLimits = {
  maxHeadBytes: 16_384,
  maxFields: 100,
  allowUnderscores: true,
  headTimeoutMs: 60_000,
  keepAliveMs: 60_000,
  bodyIdleMs: 60_000,
  tlsHandshakeMs: 60_000,
  maxHandshakes: 100,
  http2Streams: 0,
}

/** Of listeners that take as many connections as come. */
export const UNBOUNDED = new ConnectionLimit({ most: 0, reason: 'max_connections', refused: () => {} })

const UPSTREAM: Omit<UpstreamOptions, 'port'> = {
  host: '127.0.0.1',
  secure: false,
  connectTimeoutMs: 60_000,
  headTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 0,
  maxIdle: 16,
  idleKeepMs: 60_000,
}

/** A listener that forwards everything to one upstream, and the input of its handler. */
export interface Gate {
  readonly port: number
  readonly listener: PortListener
  readonly upstream: Upstream
  /** Fault codes of refused heads. */
  readonly refused: string[]
  /** Fault codes of `failed`. */
  readonly failures: string[]
  /** Why HTTP/2 connections were ended. */
  readonly goaways: string[]
  /** Exchanges handed to `handle` and not yet `done`. */
  inFlight(): number
  /** Calls of `done`, and of them those with `aborted`. */
  readonly done: { all: number; aborted: number }
  /** `x.peerCertificate` and `x.secure` of each exchange, in order. */
  readonly peers: { certificate: string; secure: boolean; host: string }[]
}

export interface GateOptions {
  readonly originPort: number
  readonly limits?: Partial<WireLimits>
  /** Open connections at once. */
  readonly most?: number
  readonly upstream?: Partial<UpstreamOptions>
  readonly tls?: ListenOptions<WireExchange>['tls']
  readonly proxies?: ListenOptions<WireExchange>['proxies']
  /** Called instead of forwarding. */
  readonly handle?: (x: WireExchange, upstream: Upstream) => void
  readonly respond?: (x: WireExchange) => string
  /** Called instead of answering with the fault. */
  readonly failed?: (x: WireExchange, upstream: Upstream, fault: Fault) => void
  readonly done?: (x: WireExchange) => void
}

/** Forwards an exchange unchanged, and tells the upstream in `X-Seen-Host` which host the wire understood. */
export function forward(x: WireExchange, upstream: Upstream): void {
  x.request.dropKnown(FIELD.host)
  const target = x.hasQuery ? `${x.path}?${x.sentQuery}` : x.path
  const host = x.authority === '' ? 'none' : x.authority
  x.forward(
    upstream,
    x.method,
    `${x.method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${x.request.kept()}X-Seen-Host: ${x.host}\r\n`,
  )
}

/** Opens a gate on a free port; it is drained, and its upstream closed, with the test. */
export async function openGate(t: TestContext, options: GateOptions): Promise<Gate> {
  const settings = { ...UPSTREAM, port: options.originPort, ...options.upstream }
  const upstream = settings.http2 === true ? new Http2Upstream(settings) : new Upstream(settings)
  const refused: string[] = []
  const failures: string[] = []
  const goaways: string[] = []
  const peers: Gate['peers'] = []
  const done = { all: 0, aborted: 0 }
  let handled = 0

  const handler: WireHandler<WireExchange> = {
    make: () => new WireExchange(),
    handle(x) {
      handled++
      const certificate = x.peerCertificate === '' ? '' : x.peerCertificate.sha256
      peers.push({ certificate, secure: x.secure, host: x.host })
      if (options.handle !== undefined) options.handle(x, upstream)
      else forward(x, upstream)
    },
    respond: options.respond ?? (() => ''),
    failed(x, fault) {
      failures.push(fault.code)
      if (options.failed !== undefined) options.failed(x, upstream, fault)
      else x.reply(fault.entry.status, 'Content-Type: text/plain\r\n', fault.entry.text)
    },
    done(x) {
      done.all++
      if (x.aborted) done.aborted++
      options.done?.(x)
    },
    refuse(fault: Fault) {
      refused.push(fault.code)
      return { fields: 'Content-Type: text/plain\r\n', body: fault.message }
    },
    goaway: (reason) => void goaways.push(reason),
  }
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    limits: { ...LIMITS, ...options.limits },
    admission: new ConnectionLimit({ most: options.most ?? 0, reason: 'max_connections', refused: () => {} }),
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    proxies: options.proxies,
  })
  t.after(async () => {
    await listener.drain(0)
    upstream.close()
  })
  return {
    port: listener.port,
    listener,
    upstream,
    refused,
    failures,
    goaways,
    peers,
    done,
    inFlight: () => handled - done.all,
  }
}
