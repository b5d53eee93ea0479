import { randomInt } from 'node:crypto'
import { fault } from '../errors/fault.ts'
import type { Json } from '../model/json.ts'
import { repeatsMember } from '../model/repeated-member.ts'

const DEEPEST = 100
/** Of JSON: a member costs the reader five microseconds where names differ. The largest published API descriptions have some 300,000. */
const MOST_VALUES = 500_000
/** Of JSON, each in as many places as may be: what the parser and every reader after it pay for is a name that they have not seen. */
const MOST_NAMES = 50_000
/** Of a form: each costs the reader five microseconds, and nobody sends more than a few. */
const MOST_PARTS = 1000

/**
 * Reads a body as JSON: well-formed UTF-8 without lone surrogates, at most 100 levels deep, with at most 500,000 values and
 * some 50,000 different names of members, no member named twice, and none that would change the prototype of an object that it is copied into.
 * @throws Fault `body_malformed`
 */
export function readJson(bytes: Uint8Array): Json {
  const text = decode(bytes)
  checkShape(text)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    // The error of the parser quotes the text, which may hold a password.
    throw fault('body_malformed', 'the body is not JSON')
  }
  if (repeatsMember(text, value)) throw fault('body_malformed', 'the body names a member twice')
  checkNames(value)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw fault('body_malformed', 'the body is not UTF-8')
  }
}

/** Before anything is built of it: a few megabytes of brackets take the parser a second. */
function checkShape(text: string): void {
  let depth = 0
  let values = 1
  const names = new NameCount()
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 0x22) {
      const end = endOfString(text, i)
      if (isName(text, end) && names.count(text, i, end) > MOST_NAMES)
        throw fault('body_malformed', `the body has more than ${MOST_NAMES} different names of members`)
      i = end
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > DEEPEST) throw fault('body_malformed', `the body is more than ${DEEPEST} levels deep`)
    } else if (char === 0x7d || char === 0x5d) depth--
    else if (char === 0x2c && ++values > MOST_VALUES)
      throw fault('body_malformed', `the body has more than ${MOST_VALUES} values`)
  }
}

/** True when a colon follows the string that ends there. */
function isName(text: string, end: number): boolean {
  let at = end + 1
  while (text.charCodeAt(at) <= 0x20) at++
  return text.charCodeAt(at) === 0x3a
}

const NAME_BITS = 20
/** Nobody outside can choose names that look equal. */
const NAME_SEED = randomInt(2 ** 32)

/** Counts different names, without making a text of any: two that hash alike count once. */
class NameCount {
  readonly #seen = new Uint32Array(2 ** (NAME_BITS - 5))
  #different = 0

  count(text: string, from: number, to: number): number {
    let hash = NAME_SEED
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    const bit = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> (32 - NAME_BITS)
    const mask = 1 << (bit & 31)
    if ((this.#seen[bit >>> 5]! & mask) === 0) {
      this.#seen[bit >>> 5]! |= mask
      this.#different++
    }
    return this.#different
  }
}

/** Where the string that begins at `start` ends. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

function checkNames(value: Json): void {
  if (typeof value === 'string' && !value.isWellFormed()) throw fault('body_malformed', 'a text is not well-formed')
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const entry of value) checkNames(entry)
    return
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || !name.isWellFormed()) throw fault('body_malformed', 'a name cannot be stored')
    checkNames(value[name]!)
  }
}

/** What came as a form with files. */
export interface Upload {
  /** The first file; undefined when there is none. */
  readonly file: Uint8Array | undefined
  readonly fields: URLSearchParams
}

function checkParts(bytes: Uint8Array, contentType: string): void {
  const boundary = /\bboundary="?([^";\s]{1,70})/i.exec(contentType)?.[1]
  if (boundary === undefined) throw fault('body_malformed', 'the form has no boundary')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let parts = 0
  for (let at = text.indexOf(`--${boundary}`); at !== -1; at = text.indexOf(`--${boundary}`, at + boundary.length + 2))
    if (++parts > MOST_PARTS) throw fault('body_malformed', `the form has more than ${MOST_PARTS} parts`)
}

/** Reads a multipart form; a body of another type is the file itself. @throws Fault `body_malformed` */
export async function readUpload(bytes: Uint8Array, contentType: string): Promise<Upload> {
  if (!/^multipart\/form-data\b/i.test(contentType)) return { file: bytes, fields: new URLSearchParams() }
  checkParts(bytes, contentType)
  let form: FormData
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw fault('body_malformed', 'the form cannot be read')
  }
  const fields = new URLSearchParams()
  let file: Uint8Array | undefined
  for (const [name, value] of form) {
    if (typeof value === 'string') fields.append(name, value)
    else file ??= new Uint8Array(await value.arrayBuffer())
  }
  return { file, fields }
}
