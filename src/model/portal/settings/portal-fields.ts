import { Fault, fault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'

// Members of the portal's objects as they come over the wire. Null counts as not sent: others wrote it where a list is empty.

const CONTROL = /[\x00-\x1f\x7f]/
/** The same, but for ends of lines and tabs. */
const CONTROL_IN_LINES = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/
const MOST_ENTRIES = 200
const LONGEST_NAME = 128
const LONGEST_VALUE = 4096

/** Refuses a member of an object of the portal. @throws Fault `portal_invalid` (400) always */
export function refuseMember(name: string, why: string): never {
  throw fault('portal_invalid', `${name}: ${why}`)
}

/** A text of one line, or of several where `lines`. @throws Fault `portal_invalid` (400) */
export function textMember(
  sent: JsonObject,
  name: string,
  { longest = 256, lines = false, usual = '' }: { longest?: number; lines?: boolean; usual?: string } = {},
): string {
  const value = sent[name] ?? usual
  if (typeof value !== 'string') return refuseMember(name, 'must be a text')
  if (value.length > longest) return refuseMember(name, `must have at most ${longest} characters`)
  if ((lines ? CONTROL_IN_LINES : CONTROL).test(value)) return refuseMember(name, 'must not hold control characters')
  return value
}

/** @throws Fault `portal_invalid` (400) for what is neither true nor false */
export function flagMember(sent: JsonObject, name: string, usual = false): boolean {
  const value = sent[name] ?? usual
  return typeof value === 'boolean' ? value : refuseMember(name, 'must be true or false')
}

/** @throws Fault `portal_invalid` (400) */
export function objectMember(sent: JsonObject, name: string): JsonObject {
  const value = sent[name] ?? {}
  return isObject(value) ? value : refuseMember(name, 'must be an object')
}

/** A list of objects. @throws Fault `portal_invalid` (400) */
export function objectsMember(sent: JsonObject, name: string, most: number): JsonObject[] {
  const value = sent[name] ?? []
  if (!Array.isArray(value) || value.length > most)
    return refuseMember(name, `must be a list of at most ${most} objects`)
  const wrong = value.findIndex((entry) => !isObject(entry))
  return wrong === -1 ? (value as JsonObject[]) : refuseMember(`${name}[${wrong}]`, 'must be an object')
}

/** Reads a part of an object; what it refuses is named by its place. @throws Fault `portal_invalid` (400) */
export function readPlaced<Read>(place: string, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'portal_invalid') throw error
    throw fault('portal_invalid', `${place}.${error.message}`)
  }
}

/** A list of names; an entry may be an object with a `name` too. @throws Fault `portal_invalid` (400) */
export function namesMember(sent: JsonObject, name: string): Json[] {
  const value = sent[name] ?? []
  if (!Array.isArray(value) || value.length > MOST_ENTRIES)
    return refuseMember(name, `must be a list of at most ${MOST_ENTRIES}`)
  for (const entry of value) {
    const word = isObject(entry) ? entry.name : entry
    if (typeof word !== 'string' || word === '' || word.length > LONGEST_NAME || CONTROL.test(word))
      return refuseMember(name, `every entry must be a name of 1 to ${LONGEST_NAME} characters`)
  }
  return value
}

/** A map of texts to texts, such as the custom fields of a form. @throws Fault `portal_invalid` (400) */
export function textsMember(sent: JsonObject, name: string): { [key: string]: string } {
  const entries = Object.entries(objectMember(sent, name))
  if (entries.length > MOST_ENTRIES) return refuseMember(name, `must have at most ${MOST_ENTRIES} members`)
  for (const [key, value] of entries) {
    if (key.length > LONGEST_NAME || CONTROL.test(key)) return refuseMember(name, 'a name is too long or not one line')
    if (typeof value !== 'string' || value.length > LONGEST_VALUE || CONTROL_IN_LINES.test(value))
      return refuseMember(name, `every value must be a text of at most ${LONGEST_VALUE} characters`)
  }
  return Object.fromEntries(entries) as { [key: string]: string }
}

/** '' or an address of the web without user and password. @throws Fault `portal_invalid` (400) */
export function webAddressMember(sent: JsonObject, name: string): string {
  const value = textMember(sent, name, { longest: 2048 })
  if (value === '' || isWebAddress(value)) return value
  return refuseMember(name, 'must be an http or https address without user and password')
}

/** True for an absolute address of the web, without user and password. */
export function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}
