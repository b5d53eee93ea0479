import type { Json } from '../../model/json/json.ts'

/** The response of a call. Without `type` the body is JSON. */
export interface Answer {
  readonly status: number
  /** Pieces of text are sent one after the other, as fast as the caller reads. */
  readonly body: Json | string | Uint8Array | AsyncIterable<string>
  /** Content-Type of a body that is not JSON. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A bare object or list. */
export function bare(body: Json, status = 200): Answer {
  return { status, body }
}

/** The envelope of a success: keys in this order, which clients that cut text rely on. */
export function ok(message: string, meta: Json = null, more: { readonly [name: string]: Json } = {}): Answer {
  return { status: 200, body: { Status: 'OK', Message: message, Meta: meta, ...more } }
}

/** The envelope of a refusal that is not in the fault catalogue: this call has a specific status and text. */
export function refused(status: number, message: string): Answer {
  return { status, body: { Status: 'Error', Message: message, Meta: null } }
}

/** True for a body that is made as it is sent. */
export function isPieces(body: Answer['body']): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
