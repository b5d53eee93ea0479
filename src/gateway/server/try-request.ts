import { isUtf8 } from 'node:buffer'
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { Fault, fault } from '../../errors/fault.ts'
import {
  checkTrial,
  TRIAL_ANSWER_BYTES,
  TRIAL_WITHIN_MS,
  type Trial,
  type TrialAnswer,
  type TrialRequest,
} from '../../model/apis/definition/trial.ts'
import type { Explained, ExplainRequest } from '../apis/explain.ts'

export interface TryParts {
  readonly explain: (request: ExplainRequest) => Promise<Explained>
  /** The own traffic port, and the address that it listens at. */
  readonly port: () => number
  readonly listenHost: string
}

/** Tries that may be under way at once. */
const MOST_AT_ONCE = 8

/**
 * Sends requests to the own traffic port, one connection each, so that they take the way of every other request. Where a request
 * leads is the router's word, and one that leads elsewhere than to the API that was named is not sent.
 */
export class RequestTrials {
  readonly #parts: TryParts
  #underWay = 0

  constructor(parts: TryParts) {
    this.#parts = parts
  }

  /**
   * @throws Fault `try_elsewhere` (400) when another API or none answers at the path, `body_invalid` (400) when it could be no
   *   request, `try_busy` (503)
   */
  async send(trial: TrialRequest): Promise<Trial> {
    checkTrial(trial)
    if (this.#underWay >= MOST_AT_ONCE) throw fault('try_busy')
    this.#underWay++
    try {
      return await this.#send(trial)
    } finally {
      this.#underWay--
    }
  }

  async #send(trial: TrialRequest): Promise<Trial> {
    const headers = [['Host', trial.host || `127.0.0.1:${this.#parts.port()}`] as const, ...trial.headers]
    const { explanation, apiId } = await this.#parts
      .explain({ method: trial.method, url: trial.target, headers })
      .catch(asRefused)
    if (apiId !== trial.apiId) throw fault('try_elsewhere')
    const begun = performance.now()
    const outcome = await this.#reach(trial, headers)
    return { explained: explanation, durationMs: Math.round((performance.now() - begun) * 10) / 10, ...outcome }
  }

  #reach(trial: TrialRequest, headers: TrialRequest['headers']): Promise<Pick<Trial, 'answer' | 'trouble'>> {
    const signal = AbortSignal.timeout(TRIAL_WITHIN_MS)
    const length = trial.body === '' ? [] : [['Content-Length', String(Buffer.byteLength(trial.body))] as const]
    return new Promise((resolve) => {
      const failed = () =>
        resolve({ answer: undefined, trouble: signal.aborted ? `no answer within ${TRIAL_WITHIN_MS} ms` : CUT_OFF })
      const sent: ClientRequest = openRequest({
        host: loopbackOf(this.#parts.listenHost),
        port: this.#parts.port(),
        method: trial.method,
        path: trial.target,
        headers: [...headers, ...length, ['Connection', 'close'] as const].flat(),
        agent: false,
        signal,
      })
      sent.on('error', failed)
      sent.on('response', (response) => {
        read(response).then((answer) => resolve({ answer, trouble: '' }), failed)
      })
      sent.end(trial.body)
    })
  }
}

/** An invalid request is not an error of the call's own body. */
function asRefused(error: unknown): never {
  if (error instanceof Fault && error.code === 'body_malformed') throw fault('body_invalid', error.message)
  throw error
}

const CUT_OFF = 'the connection ended before the answer did'

async function read(response: IncomingMessage): Promise<TrialAnswer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece)
    size += piece.length
    if (size > TRIAL_ANSWER_BYTES) break
  }
  const { rawHeaders } = response
  const bytes = Buffer.concat(pieces).subarray(0, TRIAL_ANSWER_BYTES)
  const isCut = size > TRIAL_ANSWER_BYTES
  // A character may be what the cut went through.
  const isText = isUtf8(bytes) || (isCut && [1, 2, 3].some((end) => isUtf8(bytes.subarray(0, bytes.length - end))))
  return {
    status: response.statusCode ?? 0,
    headers: rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]!] as const] : [])),
    body: bytes.toString(isText ? 'utf8' : 'base64'),
    isBase64: !isText,
    isCut,
  }
}

/** An address of this machine at which a listener is reached that listens at all of them. */
function loopbackOf(listenHost: string): string {
  if (listenHost === '' || listenHost === '0.0.0.0') return '127.0.0.1'
  return listenHost === '::' ? '::1' : listenHost
}
