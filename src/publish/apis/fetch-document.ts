import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { Fault, fault } from '../../errors/fault.ts'
import { readWebhookTarget } from '../../model/webhooks/hook.ts'
import { type PinnedOptions, pinnedLookup } from '../documents/pinned-lookup.ts'

export interface FetchOptions extends PinnedOptions {
  readonly limitBytes: number
  /** Everything included, the last byte of the body too. */
  readonly totalMs: number
  /** A form to send by POST; absent = GET. */
  readonly form?: string
}

export interface FetchedDocument {
  readonly bytes: Uint8Array
  /** '' when none was sent. */
  readonly contentType: string
}

/**
 * Reads a document from a URL of a user: http or https, public addresses only unless the rule says otherwise, checked after
 * the name was resolved and then connected to without resolving it again. Does not follow redirects, and sends no credentials but those
 * of `form`.
 * @throws Fault `import_refused` (400) with a reason that says nothing of what is in the network
 */
export async function fetchDocument(address: string, options: FetchOptions): Promise<FetchedDocument> {
  try {
    return await read(readWebhookTarget(address, options), options)
  } catch (error) {
    if (error instanceof Refusal) throw fault('import_refused', error.message)
    if (error instanceof Fault && error.code === 'webhook_target_refused')
      throw fault('import_refused', `the address ${error.message}`)
    // Which port is closed and which is silent is nobody's business.
    throw fault('import_refused', 'no document could be read from the address', error)
  }
}

class Refusal extends Error {}

function read(url: URL, options: FetchOptions): Promise<FetchedDocument> {
  const { limitBytes, totalMs, form } = options
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest
    const request = send(url, {
      agent: false,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json, application/yaml;q=0.9, */*;q=0.1',
        ...(form !== undefined && {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(form),
        }),
      },
      lookup: pinnedLookup(options),
    })
    const late = setTimeout(() => request.destroy(new Error('too late')), totalMs)
    request.on('error', reject)
    request.on('close', () => {
      clearTimeout(late)
      reject(new Error('the connection ended early'))
    })
    request.on('response', (response) => {
      const { statusCode = 0, headers } = response
      if (statusCode !== 200) {
        request.destroy(new Refusal('the address did not answer with a document; redirects are not followed'))
        return
      }
      const pieces: Buffer[] = []
      let length = 0
      response.on('data', (piece: Buffer) => {
        length += piece.length
        if (length > limitBytes) request.destroy(new Refusal(`the document is larger than ${limitBytes} bytes`))
        else pieces.push(piece)
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ bytes: Buffer.concat(pieces), contentType: String(headers['content-type'] ?? '') }),
      )
    })
    request.end(form)
  })
}
