import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { fault } from '../../errors/fault.ts'
import type { WireHandler } from '../../wire/http1/exchange.ts'
import { type InnerPeer, openInner } from '../../wire/http1/inner-socket.ts'
import type { WireLimits } from '../../wire/listen/limits.ts'
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
  #timeoutMs = 0

  /** Says what answers: the handler of the traffic port; and the longest that one call may take. */
  open(handler: WireHandler<Exchange>, limits: WireLimits, timeoutMs: number): void {
    this.#handler = { ...handler, make: () => innerExchange(handler) }
    this.#limits = limits
    this.#timeoutMs = timeoutMs
  }

  /**
   * Makes a request and reads the answer. Settles and closes its connection in every case: a complete answer, a broken one, none at all,
   * a change of protocol, the time limit, `signal`.
   * @throws Fault `request_malformed` when it could be none, `inner_answer_cut` when the answer breaks off, is longer than `limitBytes` or
   * changes the protocol, `inner_timeout` at the time limit, `client_gone` when `signal` is aborted
   */
  async call(request: InnerRequest, peer: InnerPeer, limitBytes: number, signal: AbortSignal): Promise<InnerAnswer> {
    const late = AbortSignal.timeout(this.#timeoutMs)
    const socket = openInner(this.#handler!, this.#limits!, peer)
    try {
      return await exchanged(request, socket, limitBytes, AbortSignal.any([signal, late]))
    } catch (error) {
      if (signal.aborted) throw fault('client_gone', undefined, error)
      throw late.aborted ? fault('inner_timeout', undefined, error) : error
    } finally {
      socket.destroy()
    }
  }
}

function exchanged(
  request: InnerRequest,
  socket: Duplex,
  limitBytes: number,
  signal: AbortSignal,
): Promise<InnerAnswer> {
  const { method, target: path, body } = request
  const length = body === '' ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const]
  const headers = [...request.headers, ...length, ['Connection', 'close'] as const].flat()
  return new Promise((resolve, reject) => {
    const cut = (cause?: unknown) => reject(fault('inner_answer_cut', undefined, cause))
    let sent: ClientRequest
    try {
      sent = openRequest({ createConnection: () => socket, method, path, headers, signal })
    } catch (error) {
      reject(fault('request_malformed', 'no request', error))
      return
    }
    let answered = false
    sent.on('response', (response) => {
      answered = true
      read(response, limitBytes).then(resolve, cut)
    })
    sent.on('error', cut)
    for (const end of ['connect', 'upgrade']) sent.on(end, () => cut())
    // With an answer, reading it tells how it ends.
    sent.on('close', () => {
      if (!answered) cut()
    })
    sent.end(body)
  })
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
