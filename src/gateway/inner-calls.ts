import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { fault } from '../errors/fault.ts'
import type { WireHandler } from '../wire/exchange.ts'
import { type InnerPeer, openInner } from '../wire/inner-socket.ts'
import type { WireLimits } from '../wire/limits.ts'
import type { Exchange } from './exchange.ts'

export interface InnerRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Names and values, Host among them. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

export interface InnerAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: string
}

/** Requests that the gateway makes to itself, without a socket, on behalf of one that it has. */
export class InnerCalls {
  #handler: WireHandler<Exchange> | undefined
  #limits: WireLimits | undefined

  /** Says what answers: the handler of the traffic port. */
  open(handler: WireHandler<Exchange>, limits: WireLimits): void {
    this.#handler = { ...handler, make: () => innerExchange(handler) }
    this.#limits = limits
  }

  /**
   * Makes a request and reads the answer.
   * @throws Fault `request_malformed` when it could be none, `inner_answer_cut` when the answer breaks off or is longer than `limitBytes`
   */
  call(request: InnerRequest, peer: InnerPeer, limitBytes: number): Promise<InnerAnswer> {
    const length = request.body === '' ? [] : [['Content-Length', String(Buffer.byteLength(request.body))] as const]
    return new Promise((resolve, reject) => {
      const socket = openInner(this.#handler!, this.#limits!, peer)
      const end = (settle: () => void) => {
        socket.destroy()
        settle()
      }
      try {
        const sent: ClientRequest = openRequest({
          createConnection: () => socket,
          method: request.method,
          path: request.target,
          headers: [...request.headers, ...length, ['Connection', 'close'] as const].flat(),
        })
        sent.on('error', (error) => end(() => reject(fault('inner_answer_cut', undefined, error))))
        sent.on('response', (response) => {
          read(response, limitBytes).then(
            (answer) => end(() => resolve(answer)),
            (error) => end(() => reject(error)),
          )
        })
        sent.end(request.body)
      } catch (error) {
        end(() => reject(fault('request_malformed', 'no request', error)))
      }
    })
  }
}

function innerExchange(handler: WireHandler<Exchange>): Exchange {
  const x = handler.make()
  x.inner = true
  return x
}

async function read(response: IncomingMessage, limitBytes: number): Promise<InnerAnswer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > limitBytes) throw fault('inner_answer_cut')
    pieces.push(piece)
  }
  const headers: Record<string, string[]> = Object.create(null)
  const { rawHeaders, statusCode = 0 } = response
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    headers[name] = [...(headers[name] ?? []), rawHeaders[i + 1]!]
  }
  return { status: statusCode, headers, body: Buffer.concat(pieces).toString('utf8') }
}
