import { randomBytes } from 'node:crypto'
import type { ParameterCheck, ParameterDefault, RequestCheck } from '../../../model/apis/definition/operation.ts'
import { setMember } from '../../../model/apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json/json.ts'
import type { Exchange } from '../../server/exchange.ts'
import { fieldLines } from '../../server/field-lines.ts'
import { addCookie } from '../authentication/drop-unverified.ts'
import { spelledParameter } from './spelled-parameter.ts'

const NO_PATH: ReadonlyMap<string, string> = new Map()

/** Adds the defaults of parameters that a request leaves out to what is handed on. */
export function addDefaults(x: Exchange, checks: readonly RequestCheck[]): void {
  let done: Set<string> | undefined
  for (const { parameters } of checks) {
    for (const parameter of parameters) {
      const key = `${parameter.in} ${parameter.name}`
      if (parameter.fill === undefined || done?.has(key) || spelledParameter(x, parameter, NO_PATH) !== undefined)
        continue
      done ??= new Set()
      done.add(key)
      add(x, parameter, parameter.fill)
    }
  }
}

function add(x: Exchange, { in: place, name }: ParameterCheck, { text }: ParameterDefault): void {
  if (place === 'query') {
    // A list or object without entries has no pairs.
    if (text === '') return
    x.forwardQuery += x.forwardQuery === '' ? text : `&${text}`
    x.hasQuery = true
    return
  }
  const line = place === 'cookie' ? `Cookie: ${text}\r\n` : fieldLines([[name, text]])
  if (place === 'cookie') addCookie(x, text)
  else x.requestExtra += line
  // Answers to requests with and without the value are stored apart.
  x.requestEdits += `${line}\n`
}

/** Numbers that JavaScript would write otherwise. */
const INEXACT = /\d{16}|\d[.eE]|-0/
/** Strings of a JSON text, which are passed over, and its numbers. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * The text of a JSON body in which `sent`, which is what it means, was replaced by `filled`: values that the two share are spelled as in
 * the body.
 */
export function textWith(body: Buffer, sent: unknown, filled: unknown): string {
  const text = body.toString('utf8')
  if (!INEXACT.test(text)) return JSON.stringify(merged(sent as Json, sent as Json, filled as Json))
  // Numbers go through as strings that begin with what no sender can guess. A reviver of JSON.parse would be called for every value.
  const mark = randomBytes(9).toString('base64url')
  const marked = text.replace(STRING_OR_NUMBER, (part) =>
    part.startsWith('"') || String(Number(part)) === part ? part : `"${mark}${part}"`,
  )
  const made = JSON.stringify(merged(JSON.parse(marked) as Json, sent as Json, filled as Json))
  return made.replace(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1')
}

function merged(raw: Json, sent: Json, filled: Json): Json {
  if (sent === filled) return raw
  if (Array.isArray(filled) && Array.isArray(sent) && Array.isArray(raw))
    return filled.map((each, index) => merged(raw[index]!, sent[index]!, each))
  if (!isObject(filled) || !isObject(sent) || !isObject(raw)) return filled
  const made: JsonObject = {}
  for (const name of Object.keys(filled))
    setMember(made, name, Object.hasOwn(sent, name) ? merged(raw[name]!, sent[name]!, filled[name]!) : filled[name]!)
  return made
}
