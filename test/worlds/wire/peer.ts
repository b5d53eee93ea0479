import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { type Reading, understand } from './reading.ts'

interface Draft {
  req: IncomingMessage
  parts: Buffer[]
  complete: boolean
}

/** A connection in memory: what is pushed is read by the server, what the server writes is thrown away. */
class Tube extends Duplex {
  readonly drafts: Draft[] = []

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, written: () => void): void {
    written()
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }
}

/** Node's own HTTP/1.1 parser behind `node:http`, strict, on connections in memory. */
export class Peer {
  private readonly server: Server

  constructor() {
    const options = { insecureHTTPParser: false, maxHeaderSize: 1 << 17, requireHostHeader: true, keepAliveTimeout: 0 }
    const take = (req: IncomingMessage, res: ServerResponse) => {
      const draft: Draft = { req, parts: [], complete: false }
      ;(req.socket as unknown as Tube).drafts.push(draft)
      req.on('data', (part: Buffer) => draft.parts.push(part))
      req.on('error', () => {})
      req.on('end', () => {
        draft.complete = true
        res.end()
      })
    }
    this.server = createServer(options, take)
    // An unmet expectation is no matter of parsing.
    this.server.on('checkExpectation', take)
    // Not at once: a request that was whole before the fault still has its 'end' to tell.
    this.server.on('clientError', (_error, socket) => setImmediate(() => socket.destroy()))
  }

  /** Reads a stream to its end. */
  read(bytes: Buffer): Promise<Reading[]> {
    const tube = new Tube({ allowHalfOpen: false })
    return new Promise((resolve) => {
      tube.on('error', () => {})
      tube.on('close', () => resolve(tube.drafts.map(reading)))
      this.server.emit('connection', tube)
      tube.push(bytes)
      tube.push(null)
    })
  }
}

function reading({ req, parts, complete }: Draft): Reading {
  const fields: [string, string][] = []
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    fields.push([req.rawHeaders[at] ?? '', req.rawHeaders[at + 1] ?? ''])
  }
  const host = fields.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? ''
  const target = req.url ?? ''
  const method = req.method ?? ''
  return { method, target, ...understand(method, target, host), fields, body: Buffer.concat(parts), complete }
}
