import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A dashboard behind a connection that breaks. */
export interface Proxy {
  readonly url: string
  /** The write after so many is done, but its answer is lost, and so is every call from then on. */
  breakAfter(writes: number): void
  /** Does something once, before the next call of this method and path goes through. */
  before(method: string, path: string, work: () => Promise<void>): void
}

/** Starts a proxy in front of a port of this machine. */
export async function startProxy(t: TestContext, port: number): Promise<Proxy> {
  let left = Number.POSITIVE_INFINITY
  const waiting = new Map<string, () => Promise<void>>()
  const server = createServer(async (incoming, answer) => {
    const { method = 'GET', url = '/', headers } = incoming
    if (left < 0) return void incoming.socket.destroy()
    const work = waiting.get(`${method} ${url.split('?')[0]}`)
    waiting.delete(`${method} ${url.split('?')[0]}`)
    await work?.()
    const isLost = method !== 'GET' && --left < 0
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (came) => {
      if (isLost) {
        came.resume()
        came.on('end', () => incoming.socket.destroy())
        return
      }
      answer.writeHead(came.statusCode ?? 500, came.headers)
      came.pipe(answer)
    })
    onward.on('error', () => incoming.socket.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakAfter(writes) {
      left = writes
    },
    before(method, path, work) {
      waiting.set(`${method} ${path}`, work)
    },
  }
}
