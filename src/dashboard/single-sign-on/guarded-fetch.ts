import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { fault, toFault } from '../../errors/fault.ts'
import { type NetworkRule, readWebhookTarget } from '../../model/webhooks/hook.ts'
import { pinnedLookup } from '../../publish/documents/pinned-lookup.ts'

export interface GuardedFetchOptions {
  /** True = loopback, link-local and private addresses too, and plain http. */
  readonly allowPrivate: boolean
  /** Everything included, the last byte of the body too. */
  readonly timeoutMs: number
}

interface Sent {
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
}

const MOST_BYTES = 1_048_576
const BODYLESS: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/**
 * Fetches from an identity provider: public addresses only unless `allowPrivate`, checked after the name was resolved and then
 * connected to without resolving it again; https unless `allowPrivate`; at most 1 MiB; redirects are handed back, not followed.
 * @throws Fault `sso_failed` (403) with the reason for the log
 */
export async function guardedFetch(address: string, sent: Sent, options: GuardedFetchOptions): Promise<Response> {
  try {
    const rule: NetworkRule = { allowPrivate: options.allowPrivate, setting: 'sso.allow_private' }
    const url = readWebhookTarget(address, rule)
    if (url.protocol !== 'https:' && !options.allowPrivate) throw new Error(`plain http needs ${rule.setting}`)
    return await fetched(url, sent, { ...options, ...rule })
  } catch (error) {
    const { code, message } = toFault(error)
    const reason = code === 'webhook_target_refused' ? `it ${message}` : message
    throw fault('sso_failed', `the identity provider could not be asked at ${hostOf(address)}: ${reason}`, error)
  }
}

function fetched(
  url: URL,
  { method = 'GET', headers = {}, body }: Sent,
  options: GuardedFetchOptions & NetworkRule,
): Promise<Response> {
  const payload = body instanceof URLSearchParams ? body.toString() : body
  if (payload != null && typeof payload !== 'string') throw new Error('a body must be text')
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest
    const length = payload == null ? {} : { 'content-length': String(Buffer.byteLength(payload)) }
    const request = send(url, {
      method,
      agent: false,
      headers: { ...headers, ...length },
      lookup: pinnedLookup(options),
    })
    const late = setTimeout(() => request.destroy(new Error('it took too long')), options.timeoutMs)
    request.on('error', reject)
    request.on('close', () => {
      clearTimeout(late)
      reject(new Error('the connection ended early'))
    })
    request.on('response', (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > MOST_BYTES) request.destroy(new Error('the answer is too large'))
        else pieces.push(piece)
      })
      response.on('error', reject)
      response.on('end', () => {
        const status = response.statusCode ?? 0
        const found = new Headers()
        for (const [name, value] of Object.entries(response.headers)) found.set(name, String(value))
        if (status < 200 || status > 599) reject(new Error('the answer has no known status'))
        else resolve(new Response(BODYLESS.has(status) ? null : Buffer.concat(pieces), { status, headers: found }))
      })
    })
    request.end(payload ?? undefined)
  })
}

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : 'no address')
