import { createHash } from 'node:crypto'
import { setMember } from '../../model/apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'

/** The text of one object as a file: members in a fixed order, those of `head` first. */
export function renderJson(body: JsonObject, head: readonly string[] = []): string {
  const sortedBody = sortedJson(body) as JsonObject
  const first = head.filter((name) => Object.hasOwn(sortedBody, name)).map((name) => [name, sortedBody[name]!] as const)
  const rest = Object.entries(sortedBody).filter(([name]) => !head.includes(name))
  return `${JSON.stringify(Object.fromEntries([...first, ...rest]), null, 2)}\n`
}

/** A copy whose objects have their members in the order of their names; lists stay as they are. */
export function sortedJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedJson)
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const name of Object.keys(value).sort()) setMember(copy, name, sortedJson(value[name]!))
  return copy
}

/** True when two values are equal, in any order of members. */
export function sameJson(a: Json, b: Json): boolean {
  return a === b || JSON.stringify(sortedJson(a)) === JSON.stringify(sortedJson(b))
}

const PLAIN = /^[a-z0-9][a-z0-9._-]{0,99}$/
/** Names of devices on Windows, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/
/** The form of the names that are made here. */
const HASHED = /(?:^|\.)[0-9a-f]{8}$/

/**
 * Name of the file of an object, without its ending: the identity itself where every file system can tell it from others, else its
 * letters and digits and eight digits of its hash.
 */
export function fileName(identity: string): string {
  const isSafe = PLAIN.test(identity) && !DEVICE.test(identity) && !identity.endsWith('.') && !HASHED.test(identity)
  return isSafe ? identity : hashedName(identity)
}

function hashedName(identity: string): string {
  const words = identity
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const digits = createHash('sha256').update(identity).digest('hex').slice(0, 8)
  if (words === '') return digits
  return `${DEVICE.test(words) ? `${words}-` : words}.${digits}`
}

/** The members that say something: neither null nor a blank of their type. */
export function pruned(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isBlank(value)))
}

function isBlank(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

/** A copy of an object without some members. */
export function omitMembers(body: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
}
