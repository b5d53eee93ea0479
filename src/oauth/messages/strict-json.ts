import { isUtf8 } from 'node:buffer'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'

const DEPTH_LIMIT = 8

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Reads a JSON object whose meaning nobody can read differently: UTF-8 without a mark, no member named twice (RFC 7515
 * section 4, RFC 7519 section 4), nested at most eight deep. undefined when it is anything else.
 */
export function readStrictObject(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) return undefined
  const named = countNames(bytes)
  if (named < 0) return undefined
  const value = parse(bytes.toString('utf8'))
  // `JSON.parse` keeps the last of several members with one name: then there are fewer members than the text names.
  return isObject(value) && countMembers(value) === named ? value : undefined
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Colons outside of strings, one for each member; -1 when it is nested too deeply or a string does not end. */
function countNames(bytes: Buffer): number {
  let names = 0
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      if (at < 0) return -1
    } else if (byte === COLON) names++
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > DEPTH_LIMIT) return -1
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--
  }
  return names
}

function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE) return at
  }
  return -1
}

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  const held = Object.values(value) as Json[]
  if (!Array.isArray(value)) members = held.length
  for (const entry of held) members += countMembers(entry)
  return members
}
