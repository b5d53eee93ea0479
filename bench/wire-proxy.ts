import { Upstream } from '../src/wire/connect/upstream.ts'
import { WireExchange, type WireHandler } from '../src/wire/http1/exchange.ts'
import { FIELD } from '../src/wire/http1/fields.ts'
import { ConnectionLimit } from '../src/wire/listen/connection-limit.ts'
import { listen } from '../src/wire/listen/listen.ts'

/** A bare proxy over the wire engine: `node bench/wire-proxy.ts <port> <upstream port>`. No gateway feature. */
const [port, upstreamPort] = process.argv.slice(2).map(Number)
if (port === undefined || upstreamPort === undefined) throw new Error('ports missing')

const upstream = new Upstream({
  host: '127.0.0.1',
  port: upstreamPort,
  secure: false,
  connectTimeoutMs: 5000,
  headTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 0,
  maxIdle: 256,
  idleKeepMs: 60_000,
})
const hostLine = `Host: 127.0.0.1:${upstreamPort}\r\n`

const handler: WireHandler<WireExchange> = {
  make: () => new WireExchange(),
  handle(x) {
    x.request.dropKnown(FIELD.host)
    const target = x.hasQuery ? `${x.path}?${x.query}` : x.path
    x.forward(upstream, x.method, `${x.method} ${target} HTTP/1.1\r\n${hostLine}${x.request.kept()}`)
  },
  respond: () => '',
  failed: (x, fault) => x.reply(fault.entry.status, '', fault.entry.text),
  done: () => {},
  refuse: (fault) => ({ fields: '', body: fault.message }),
}

await listen({
  host: '127.0.0.1',
  port,
  handler,
  limits: {
    maxHeadBytes: 16_384,
    maxFields: 100,
    allowUnderscores: true,
    headTimeoutMs: 10_000,
    keepAliveMs: 60_000,
    bodyIdleMs: 60_000,
    tlsHandshakeMs: 5000,
    http2Streams: 0,
    maxHandshakes: 100,
  },
  admission: new ConnectionLimit({ most: 0, reason: 'max_connections', refused: () => {} }),
})
process.on('SIGTERM', () => process.exit(0))
