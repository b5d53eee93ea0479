import { randomInt } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { atOnce, type PausedWork } from '../threads/paused-work.ts'
import type { Json } from './json.ts'
import { endOfString, isLarge, placeOfLostNumber } from './large-integers.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * Tells whether a JSON text that `JSON.parse` has read as `value` names a member of some object twice: the parser keeps the last one,
 * others the first (RFC 8259 section 4). Linear in the length of the text.
 */
export function repeatsMember(text: string, value: Json): boolean {
  return colonsIn(text) !== membersOf(value)
}

/** Colons outside of strings: one for each member that the text names. */
function colonsIn(text: string): number {
  let colons = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COLON) colons++
    else if (code === QUOTE) {
      at++
      for (let inside = text.charCodeAt(at); inside !== QUOTE && at < text.length; inside = text.charCodeAt(at))
        at += inside === BACKSLASH ? 2 : 1
    }
  }
  return colons
}

/** Without recursion: texts may nest deeper than the stack. */
function membersOf(root: Json): number {
  const open: Json[] = [root]
  let members = 0
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const held = Object.values(value) as Json[]
    if (!Array.isArray(value)) members += held.length
    for (const entry of held) if (typeof entry === 'object' && entry !== null) open.push(entry)
  }
  return members
}

/** How much a JSON text may hold. */
export interface JsonBounds {
  readonly depth: number
  readonly values: number
  /** Different names of members: what the parser and every reader after it pay for is a name that they have not seen. */
  readonly names: number
}

/**
 * Of what people send who manage the product. A value costs the reader five microseconds where names differ; the largest published API
 * descriptions have some 300,000 values.
 */
const MANAGED: JsonBounds = { depth: 100, values: 500_000, names: 50_000 }

/**
 * Reads a body as JSON: well-formed UTF-8 without lone surrogates, at most 100 levels deep, with at most 500,000 values and
 * some 50,000 different names of members, no member named twice, none that would change the prototype of an object that it is copied into, and no number that
 * would come back as another one (`placeOfLostNumber`), unless `anyNumbers`.
 * @throws Fault `body_malformed`, `body_invalid` naming the place of such a number
 */
export function readJson(bytes: Uint8Array, { anyNumbers = false }: { readonly anyNumbers?: boolean } = {}): Json {
  return readJsonText(decodeBody(bytes), anyNumbers)
}

/** The same of a text. @throws Fault `body_malformed`, `body_invalid` */
export function readJsonText(text: string, anyNumbers = false): Json {
  return atOnce(readingJsonText(text, anyNumbers))
}

/** The same with pauses: each part takes tenths of a second for the largest texts. @throws Fault `body_malformed`, `body_invalid` */
export function* readingJsonText(text: string, anyNumbers = false): PausedWork<Json> {
  const flaw = shapeFlaw(text, MANAGED)
  if (flaw !== undefined) throw fault('body_malformed', `the body ${flaw}`)
  yield
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    // The error of the parser quotes the text, which may hold a password.
    throw fault('body_malformed', text.trim() === '' ? 'the body is empty' : 'the body is not JSON')
  }
  yield
  if (repeatsMember(text, value)) throw fault('body_malformed', 'the body names a member twice')
  yield
  const hasLarge = checkNames(value)
  const lost = hasLarge && !anyNumbers ? placeOfLostNumber(text, value) : undefined
  if (lost !== undefined) throw fault('body_invalid', `${lost === '' ? 'the body' : lost}: ${LOST}`)
  return value
}

/**
 * The place of a number that would come back as another one, and what to do, in words that follow the name of what holds the text;
 * undefined when there is none. `value`: what the text was read as.
 */
export function lostNumber(text: string, value: Json): string | undefined {
  const place = placeOfLostNumber(text, value)
  return place === undefined ? undefined : `${place === '' ? 'the whole' : place}: ${LOST}`
}

/** In words that follow the place of such a number. */
export const LOST =
  'is a number beyond 2^53 - 1, which would not come back as it was sent: send a smaller one, or a string'

/** A body as text. @throws Fault `body_malformed` when it is not UTF-8 */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw fault('body_malformed', 'the body is not UTF-8')
  }
}

/**
 * Where a text goes beyond bounds, in words that follow the name of what holds it; undefined when it does not. To be asked before anything
 * is built of it: a few megabytes of brackets take the parser a second. Linear.
 */
export function shapeFlaw(
  text: string,
  { depth: deepest, values: most, names: mostNames }: JsonBounds,
): string | undefined {
  let depth = 0
  let values = 1
  // No shorter text has so many.
  const names = text.length < 4 * mostNames ? undefined : new NameCount()
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 0x22) {
      const end = endOfString(text, i)
      if (names !== undefined && isName(text, end) && names.count(text, i, end) > mostNames)
        return `has more than ${mostNames} different names of members`
      i = end
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > deepest) return `is nested deeper than ${deepest} levels`
    } else if (char === 0x7d || char === 0x5d) depth--
    else if (char === 0x2c && ++values > most) return `has more than ${most} values`
  }
  return undefined
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

/** Checks texts and names; true when there is a number beyond 2^53 - 1. @throws Fault `body_malformed` */
function checkNames(value: Json): boolean {
  if (typeof value === 'string' && !value.isWellFormed()) throw fault('body_malformed', 'a text is not well-formed')
  if (typeof value !== 'object' || value === null) return typeof value === 'number' && isLarge(value)
  let hasLarge = false
  if (Array.isArray(value)) {
    for (const entry of value) hasLarge = checkNames(entry) || hasLarge
    return hasLarge
  }
  for (const name of Object.keys(value)) {
    // Code that copies members by assignment would set a prototype with it.
    if (name === '__proto__') throw fault('body_malformed', 'the body holds a member called __proto__')
    if (!name.isWellFormed()) throw fault('body_malformed', 'a name is not well-formed')
    hasLarge = checkNames(value[name]!) || hasLarge
  }
  return hasLarge
}
