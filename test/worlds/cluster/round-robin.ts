import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Answer, CallOptions } from '../base/client.ts'

/** The outcome of a request: who answered, or that it was under way at a node that was killed. */
export type Sent = (Answer & { readonly port: number }) | { readonly killed: true; readonly port: number }

/**
 * A plain balancer, as people put one before their nodes: each request goes to the next node, over kept connections. A node that takes no
 * connection is passed over. A request that may be made twice (RFC 9110 section 9.2.2) is made again where a kept connection ended
 * without a byte of an answer (RFC 9112 section 9.3.1). Nothing else is tried again.
 */
export class RoundRobin {
  private readonly nodes: { port: number; readonly agent: Agent }[] = []
  private readonly killed = new Set<number>()
  private next = 0

  constructor(ports: readonly number[]) {
    for (const port of ports) this.add(port)
  }

  /** Requests go to this port as well from now on. */
  add(port: number): void {
    this.killed.delete(port)
    this.nodes.push({ port, agent: new Agent({ keepAlive: true }) })
  }

  /** No new requests go to this port. */
  remove(port: number): void {
    const place = this.nodes.findIndex((node) => node.port === port)
    this.nodes.splice(place, 1)
  }

  /** Calls that are under way at this port may be lost: it is about to be killed. */
  expectKill(port: number): void {
    this.killed.add(port)
  }

  /** @throws Error of the connection, when nobody answers */
  async send(path: string, options: CallOptions = {}): Promise<Sent> {
    for (let left = this.nodes.length; ; left--) {
      const { port, agent } = this.nodes[this.next++ % this.nodes.length]!
      try {
        return { ...(await ask(agent, port, path, options)), port }
      } catch (error) {
        const passOver = isRefused(error) || (isUnheard(error) && options.method !== 'POST')
        if (passOver && left > 0) continue
        if (this.killed.has(port)) return { killed: true, port }
        throw new Error(`${options.method ?? 'GET'} ${path} at ${port}: ${error}`, { cause: error })
      }
    }
  }

  /** Closes the connections. */
  close(): void {
    for (const { agent } of this.nodes) agent.destroy()
  }
}

/** A kept connection ended before a byte of the answer. */
class Unheard extends Error {}

const isUnheard = (error: unknown) => error instanceof Unheard
const isRefused = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'

function ask(agent: Agent, port: number, path: string, { method = 'GET', headers = {}, body }: CallOptions) {
  return new Promise<Answer>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, agent, headers: { ...length, ...headers } },
      (response) => read(response).then(resolve, reject),
    )
    request.on('error', (error) => reject(request.reusedSocket ? new Unheard(String(error)) : error))
    request.end(body)
  })
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const json = (response.headers['content-type'] ?? '').includes('json') ? JSON.parse(text) : undefined
  return { status: response.statusCode ?? 0, headers: response.headers, text, json }
}
