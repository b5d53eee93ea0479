import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of a connection that came before the one in front of them was answered. */
type Waiting = (readonly [IncomingMessage, ServerResponse])[]

/**
 * Handles one request of a connection at a time and reads no further while others wait, so that a connection with a thousand pipelined
 * requests takes turns with all others. `node:http` alone hands out all requests of a read at once.
 */
export function takeTurns(server: Server): void {
  const handlers = server.listeners('request') as RequestListener[]
  const waitingOf = new WeakMap<Socket, Waiting>()
  const handle = (request: IncomingMessage, response: ServerResponse, waiting: Waiting) => {
    const { socket } = request
    response.once('close', () => {
      if (waiting.length > 0) socket.pause()
      setImmediate(next, socket, waiting)
    })
    for (const handler of handlers) handler.call(server, request, response)
  }
  const next = (socket: Socket, waiting: Waiting) => {
    const first = waiting.shift()
    if (first === undefined || socket.destroyed) return void waitingOf.delete(socket)
    if (waiting.length === 0) socket.resume()
    handle(...first, waiting)
  }
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const { socket } = request
    const waiting = waitingOf.get(socket)
    if (waiting !== undefined) {
      waiting.push([request, response])
      return void socket.pause()
    }
    const begun: Waiting = []
    waitingOf.set(socket, begun)
    handle(request, response, begun)
  })
}
