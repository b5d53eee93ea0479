import { fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'

// The cells of the store's rows: each function checks a value and copies it. A refusal is a mistake of
// the calling code, never of a client: fault `internal`.

/** The 32 bytes of a hash held as a string of bytes. */
export function hashBytes(text: string): Uint8Array<ArrayBuffer> {
  // Not Buffer.from: keeping a 32-byte slice of its pool keeps 8 kB.
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** Holds a hash as a string of bytes. @throws Fault `internal` unless it has 32 */
export function hashText(hash: Uint8Array): string {
  if (!(hash instanceof Uint8Array) || hash.length !== 32) throw fault('internal', 'a hash must have 32 bytes')
  return latin1(hash)
}

/** Bytes as a string of one character each, which is copied between threads faster. @throws Fault `internal` */
export function latin1(bytes: Uint8Array): string {
  if (!(bytes instanceof Uint8Array)) throw fault('internal', 'the store expected bytes')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** Text as the store keeps it: half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD. @throws Fault `internal` */
export function wellFormed(text: string): string {
  if (typeof text !== 'string') throw fault('internal', 'the store expected a text')
  return text.toWellFormed()
}

/** A body as JSON text. @throws Fault `internal` unless it is an object */
export function bodyText(body: JsonObject): string {
  if (!isObject(body)) throw fault('internal', 'a body must be a JSON object')
  return JSON.stringify(body)
}

/** A time, revision, version or id. @throws Fault `internal` */
export function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw fault('internal', 'a time or revision must be a whole number, 0 or more')
  return value
}
