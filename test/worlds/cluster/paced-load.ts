import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

// Thousands of requests a second from one process that shares the machine with what it asks: bare sockets at both ends.

const HEAD_END = '\r\n\r\n'
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Length: 2${HEAD_END}ok`

/** An upstream that notes when each numbered request arrived. */
export interface NumberedOrigin {
  readonly url: string
  /** By the number in the path, by `performance.now()`. */
  readonly arrivedAt: Map<number, number>
}

/** Starts one that ends with the test. Requests have no body, and a number as the end of their path. */
export async function startNumberedOrigin(t: TestContext): Promise<NumberedOrigin> {
  const arrivedAt = new Map<number, number>()
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let text = ''
    socket.on('data', (data) => {
      const now = performance.now()
      text += data.toString('latin1')
      for (let end = text.indexOf(HEAD_END); end >= 0; end = text.indexOf(HEAD_END)) {
        arrivedAt.set(Number(/^GET \S*\/(\d+) /.exec(text)?.[1]), now)
        text = text.slice(end + HEAD_END.length)
        socket.write(ANSWER)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivedAt }
}

/** One kept connection: one request at a time. */
class Line {
  private readonly socket: Socket
  private text = ''
  private answered: ((status: number) => void) | undefined
  private failed: ((error: Error) => void) | undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (data) => this.hear(data.toString('latin1')))
    this.socket.on('error', (error) => this.failed?.(error))
    this.socket.on('close', () => this.failed?.(new Error('the gateway closed the connection')))
  }

  ask(path: string, key: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.answered = resolve
      this.failed = reject
      this.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}${HEAD_END}`)
    })
  }

  close(): void {
    this.failed = undefined
    this.socket.destroy()
  }

  private hear(piece: string): void {
    this.text += piece
    const end = this.text.indexOf(HEAD_END)
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.text)?.[1])
    if (this.text.length < end + HEAD_END.length + length) return
    const status = Number(this.text.slice(9, 12))
    this.text = ''
    this.answered?.(status)
  }
}

/** A request as its sender saw it. */
export interface Paced {
  readonly number: number
  readonly sentAt: number
  readonly answeredAt: number
  readonly status: number
}

export interface Pace {
  readonly ports: readonly number[]
  /** Hundredths of the requests that each port gets. */
  readonly shares: readonly number[]
  readonly perSecond: number
  readonly path: string
  readonly key: string
  /** Asked before each request. */
  readonly goesOn: (sent: readonly Paced[]) => boolean
}

/** Sends so many requests a second, or as many as the machine can, and answers them all. @throws Error of a connection */
export async function sendPaced({ ports, shares, perSecond, path, key, goesOn }: Pace): Promise<Paced[]> {
  const idle = ports.map((): Line[] => [])
  const lines: Line[] = []
  const sent: Paced[] = []
  const open = new Set<Promise<void>>()
  let failure: unknown
  const begun = performance.now()
  const one = async (number: number, place: number) => {
    const line = idle[place]!.pop() ?? new Line(ports[place]!)
    lines.push(line)
    const sentAt = performance.now()
    const status = await line.ask(`${path}${number}`, key)
    sent.push({ number, sentAt, answeredAt: performance.now(), status })
    idle[place]!.push(line)
  }
  for (let number = 0; goesOn(sent) && failure === undefined; ) {
    const due = Math.min(number + 200, Math.floor(((performance.now() - begun) * perSecond) / 1000))
    for (; number < due && open.size < MOST_OPEN; number++) {
      const asked: Promise<void> = one(number, pick(shares, number))
        .catch((error) => {
          failure ??= error
        })
        .finally(() => open.delete(asked))
      open.add(asked)
    }
    await wait(1)
  }
  await Promise.all(open)
  for (const line of lines) line.close()
  if (failure !== undefined) throw failure
  return sent
}

/** Requests under way at once. */
const MOST_OPEN = 96

/** Spreads calls by hundredths, evenly in time. */
function pick(shares: readonly number[], call: number): number {
  const place = (call * 37) % 100
  let end = 0
  return shares.findIndex((share) => {
    end += share
    return place < end
  })
}
