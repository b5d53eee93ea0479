import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { Fault } from '../../errors/fault.ts'
import { readWebhookTarget } from '../../model/webhooks/hook.ts'
import { type PinnedOptions, pinnedLookup } from '../../publish/documents/pinned-lookup.ts'
import type { WebhookMessage } from './webhook-messages.ts'

export interface PostOptions extends PinnedOptions {
  /** Longest wait for a connection, the name's resolution and the TLS handshake included. */
  readonly connectMs: number
  /** Longest wait for the head of the answer, all included. */
  readonly totalMs: number
}

/** Below what receivers keep an unused connection for, as a rule. */
const IDLE_MS = 4_000
/** Of an answer that nobody reads. What is longer costs its connection. */
const MAX_ANSWER_BYTES = 64 * 1024
const GONE = new Set(['ECONNRESET', 'EPIPE'])

/** Posts messages to webhook targets. Connections are kept for the next message to the same target. */
export class WebhookClient {
  readonly #options: PostOptions
  readonly #plain = new PlainAgent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 4 })
  readonly #tls = new TlsAgent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 4 })
  readonly #open = new Set<ClientRequest>()

  constructor(options: PostOptions) {
    this.#options = options
  }

  /**
   * Posts one message and answers '' when the receiver took it (any 2xx; redirects are not followed), else why not, in a few
   * words that hold nothing of the message, the address or the answer's text. Never throws.
   */
  async post(target: string, message: WebhookMessage): Promise<string> {
    const endsAt = performance.now() + this.#options.totalMs
    try {
      const url = readWebhookTarget(target, this.#options)
      return await this.#try(url, message, endsAt, true).catch((error: unknown) => {
        // A kept connection that the receiver had just closed says nothing about the receiver.
        if (error instanceof KeptConnectionGone) return this.#try(url, message, endsAt, false)
        throw error
      })
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Breaks off what is under way. */
  close(): void {
    for (const request of this.#open) request.destroy(new Unanswered('stopped'))
    this.#plain.destroy()
    this.#tls.destroy()
  }

  #try(
    url: URL,
    { headers, body, method = 'POST' }: WebhookMessage,
    endsAt: number,
    mayReuse: boolean,
  ): Promise<string> {
    const tls = url.protocol === 'https:'
    const kept = tls ? this.#tls : this.#plain
    return new Promise((resolve, reject) => {
      const request = (tls ? tlsRequest : plainRequest)(url, {
        method,
        headers: bodyless(method) ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
        agent: mayReuse ? kept : false,
        lookup: pinnedLookup(this.#options),
      })
      this.#open.add(request)
      const { connectMs, totalMs } = this.#options
      const late = setTimeout(
        () => request.destroy(new Unanswered(`no answer within ${totalMs} ms`)),
        endsAt - performance.now(),
      )
      const connecting = setTimeout(
        () => request.destroy(new Unanswered(`no connection within ${connectMs} ms`)),
        connectMs,
      )
      request.on('socket', (socket) => whenConnected(socket, tls, () => clearTimeout(connecting)))
      request.on('response', (response) => {
        drain(response)
        resolve(verdict(response.statusCode ?? 0))
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        const gone = request.reusedSocket && GONE.has(error.code ?? '')
        reject(gone ? new KeptConnectionGone() : error)
      })
      request.on('close', () => {
        this.#open.delete(request)
        clearTimeout(late)
        clearTimeout(connecting)
        reject(new Unanswered('the connection ended without an answer'))
      })
      request.end(bodyless(method) ? undefined : body)
    })
  }
}

function bodyless(method: string): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** Why there is no answer, in our own words. */
class Unanswered extends Error {}
class KeptConnectionGone extends Error {}

function whenConnected(socket: Socket, tls: boolean, then: () => void): void {
  // a kept connection has all of it behind it
  if (!socket.connecting) then()
  else socket.once(tls ? 'secureConnect' : 'connect', then)
}

/** Reads the rest of an answer, so that the connection can be used again. */
function drain(response: IncomingMessage): void {
  let length = 0
  response.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) response.destroy()
  })
  response.on('error', () => {}) // the status was all that counted
}

function verdict(status: number): string {
  if (status >= 200 && status < 300) return ''
  return status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`
}

/** Codes only: messages of errors name addresses and, of TLS, subjects of certificates. */
function reasonOf(error: unknown): string {
  if (error instanceof Fault && error.code === 'webhook_target_refused') return `the target ${error.message}`
  if (error instanceof Unanswered || error instanceof Fault) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? `no connection: ${code}` : 'no connection'
}
