import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { repeatsMember } from '../../model/repeated-member.ts'
import { yamlToJson } from '../../publish/yaml.ts'

/** Bounds of what a body may hold. A definition of thousands of operations stays far below. */
const MAX_DEPTH = 100
const MAX_NODES = 1_000_000

/** Reads a JSON object. @throws Fault `body_malformed` (400) when it is anything else, too deep, too large, or names a member twice */
export function parseObject(bytes: Uint8Array): JsonObject {
  return parseText(toText(bytes), 'JSON')
}

/** Reads a YAML document that holds an object. @throws Fault `body_malformed` (400), `body_too_large` (413) */
export async function parseYamlObject(bytes: Uint8Array): Promise<JsonObject> {
  return parseText(await yamlToJson(toText(bytes)), 'YAML')
}

function parseText(text: string, language: string): JsonObject {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (cause) {
    throw fault('body_malformed', text.trim() === '' ? 'the body is empty' : 'the body is not JSON', cause)
  }
  checkTree(value)
  if (repeatsMember(text, value)) throw fault('body_malformed', 'the body names a member twice')
  if (!isObject(value)) throw fault('body_malformed', `the body is not a ${language} object`)
  return value
}

function toText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw fault('body_malformed', 'the body is not UTF-8', cause)
  }
}

/** Looks at every value, without recursion. @throws Fault `body_malformed` for trees too deep or too large, and for `__proto__` */
function checkTree(root: Json): void {
  let level: Json[] = [root]
  let nodes = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw fault('body_malformed', `the body nests deeper than ${MAX_DEPTH} levels`)
    nodes += level.length
    if (nodes > MAX_NODES) throw fault('body_malformed', `the body holds more than ${MAX_NODES} values`)
    const next: Json[] = []
    for (const value of level) addMembers(value, next)
    level = next
  }
}

function addMembers(value: Json, next: Json[]): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const member of value) next.push(member)
    return
  }
  for (const name of Object.keys(value)) {
    // Code that copies members by assignment would set a prototype with it.
    if (name === '__proto__') throw fault('body_malformed', 'the body holds a member called __proto__')
    next.push(value[name]!)
  }
}
