import { connect, createServer, type Socket } from 'node:net'
import { Outlet } from '../src/wire/http1/outlet.ts'
import { acceptReading, readInto } from '../src/wire/http1/read-buffer.ts'

/**
 * The floor of any proxy on this runtime: `node bench/floor.ts <port> <upstream port>`. It moves messages between the same sockets as
 * the engine, read and written in the same way, and looks for nothing but their ends: no field is parsed, nothing is checked, counted
 * or timed out. What it costs is the kernel and Node's sockets; what the gateway costs more is ours. For the bench only: it trusts
 * its peers to send one whole head at a time, and Content-Length with every answer.
 */
const [port, upstreamPort] = process.argv.slice(2).map(Number)
if (port === undefined || upstreamPort === undefined) throw new Error('ports missing')

const HEAD_END = '\r\n\r\n'
const LENGTH = 'Content-Length: '

const idle: UpstreamLink[] = []

class UpstreamLink {
  private readonly outlet: Outlet
  private readonly socket: Socket
  private client: Outlet | undefined
  /** Bytes of the answer that are still to come. */
  private left = 0

  constructor(client: Outlet, request: string) {
    const onread = readInto((chunk) => this.read(chunk))
    if (onread === undefined) throw new Error('no shared read buffer on this platform')
    this.socket = connect({ host: '127.0.0.1', port: upstreamPort!, noDelay: true, onread })
    this.outlet = new Outlet(this.socket)
    this.socket.once('connect', () => this.ask(client, request))
    this.socket.on('error', () => this.socket.destroy())
  }

  ask(client: Outlet, request: string): void {
    this.client = client
    this.outlet.text(request)
  }

  private read(chunk: Buffer): void {
    const { client } = this
    if (client === undefined) return
    if (this.left === 0) this.left = answerBytes(chunk.toString('latin1', 0, Math.min(chunk.length, 4096)))
    this.left -= chunk.length
    if (this.left === 0) {
      this.client = undefined
      idle.push(this)
    }
    client.body('', false, chunk, 0, chunk.length, this.left === 0)
  }
}

/** Bytes of an answer, its head included. */
function answerBytes(head: string): number {
  const at = head.indexOf(LENGTH)
  const end = head.indexOf(HEAD_END)
  if (at < 0 || end < 0) throw new Error('an answer without length')
  return end + HEAD_END.length + Number.parseInt(head.slice(at + LENGTH.length, at + LENGTH.length + 16), 10)
}

const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (accepted) => {
  const { socket, read } = acceptReading(accepted)
  const outlet = new Outlet(socket)
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.destroy())
  read((chunk) => {
    const request = chunk.toString('latin1')
    if (!request.endsWith(HEAD_END)) throw new Error('a request in parts')
    const upstream = idle.pop()
    if (upstream === undefined) new UpstreamLink(outlet, request)
    else upstream.ask(outlet, request)
  })
})
server.listen({ host: '127.0.0.1', port, backlog: 4096 })
process.on('SIGTERM', () => process.exit(0))
