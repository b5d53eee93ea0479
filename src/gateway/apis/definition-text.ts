import { fault, toFault } from '../../errors/fault.ts'
import type { ApiDocument, Containing } from '../../model/apis/definition/api.ts'
import { activeByDefault, fillIds } from '../../model/apis/definition/fill-ids.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { toOwnWords, withMatchingOf } from '../../model/apis/definition/vendor-words.ts'
import { withKnownSpelling } from '../../model/apis/schema/member-spelling.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { LOST } from '../../model/json/json-body.ts'
import { largeIntegersIn, placeOfLostNumber } from '../../model/json/large-integers.ts'
import { readYamlDocument, YamlFault } from '../../model/text/yaml-document.ts'

/** How texts are read. */
export interface ReadingRules {
  /** The words that files may have for ours, which is among them. */
  readonly words: readonly string[]
  /** How rules match in files that have one of them and do not say so. */
  readonly matching: Containing
  /** Turns a long YAML text into JSON, on a thread. @throws Error with the line, Fault `busy` */
  readonly yamlToJson: (text: string) => Promise<string>
}

/** Longer ones take more than some hundredths of a second. */
const LONG_YAML = 1 << 18

/**
 * Reads one definition, JSON or YAML, classic or OpenAPI, in our words or those of an alias. Without an ID it gets its file name. A long
 * YAML text is read on a thread.
 * @throws Fault `definition_invalid` naming the file, and the line where the text cannot be parsed
 */
export async function readDefinition(
  fileName: string,
  text: string,
  { orgId, words, matching, yamlToJson }: ReadingRules & { readonly orgId: string },
): Promise<ApiDocument> {
  let definition: unknown
  try {
    definition = /\.json$/i.test(fileName) ? readJson(text) : await readYaml(text, yamlToJson)
  } catch (error) {
    throw fault('definition_invalid', `${fileName}: ${toFault(error).message}`, error)
  }
  if (!isObject(definition)) throw fault('definition_invalid', `${fileName}: not an object`)
  const format = 'openapi' in definition ? 'oas' : 'classic'
  const own = withKnownSpelling(format, toOwnWords(format, definition, words, matching).definition)
  const matched = format === 'classic' ? withMatchingOf(own, words, matching) : own
  const named = withId(format, matched, fileName)
  const filled = fillIds(format, format === 'classic' ? activeByDefault(named) : named, { orgId })
  return { ...filled, format }
}

/** JSON is YAML too, but its own parser is stricter. It does not always say where it stopped, so that is found here. */
function readJson(text: string): unknown {
  let value: Json
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new Error(`line ${lineOf(text, jsonFaultAt(text))}: ${toFault(error).message.replaceAll('\n', ' ')}`)
  }
  return withoutLostNumbers(text, value)
}

function withoutLostNumbers(text: string, value: Json): Json {
  const lost = placeOfLostNumber(text, value)
  if (lost !== undefined) throw new Error(`${lost}: ${LOST}`)
  return value
}

async function readYaml(text: string, yamlToJson: ReadingRules['yamlToJson']): Promise<unknown> {
  if (text.length >= LONG_YAML) {
    const json = await yamlToJson(text)
    return withoutLostNumbers(json, JSON.parse(json) as Json)
  }
  try {
    const value = readYamlDocument(text) as Json
    // Its reader has made numbers of them already.
    return largeIntegersIn(value, 1).length === 0 ? value : withoutLostNumbers(JSON.stringify(value), value)
  } catch (error) {
    throw error instanceof YamlFault ? new Error(`line ${error.line}: ${error.message}`) : error
  }
}

function lineOf(text: string, at: number): number {
  let line = 1
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++
  return line
}

const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y

/** Index of the first character at which a text stops being JSON (RFC 8259); its length when it only ends too early. */
export function jsonFaultAt(text: string): number {
  const open: string[] = []
  // Allowed next token: a value, a key, `:`, or `,`; and whether the innermost bracket may close.
  let next: 'value' | 'key' | ':' | ',' = 'value'
  let mayClose = false
  let at = text.startsWith('\uFEFF') ? 1 : 0
  for (;;) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    const start = at + /^[ \t\r\n]*/.exec(text.slice(at, at + 65_536))![0].length
    if (found === null) return start
    const [, mark, word] = found
    const closes = mark === '}' || mark === ']'
    if (closes && (!mayClose || open.pop() !== mark)) return start
    if (closes) next = ','
    else if (mark === '{' || mark === '[') {
      if (next !== 'value') return start
      open.push(mark === '{' ? '}' : ']')
      next = mark === '{' ? 'key' : 'value'
    } else if (mark !== undefined) {
      if (next !== mark || open.length === 0) return start
      next = mark === ':' ? 'value' : open.at(-1) === '}' ? 'key' : 'value'
    } else if (next === 'key' && word !== undefined) next = ':'
    else if (next === 'value') next = ','
    else return start
    mayClose = next === ',' ? open.length > 0 : mark === '{' || mark === '['
    at = TOKEN.lastIndex
    if (next === ',' && open.length === 0 && /^[ \t\r\n]*$/.test(text.slice(at))) return text.length
  }
}

/** A file keeps its API id over restarts even if it does not name one. */
function withId(format: 'oas' | 'classic', definition: JsonObject, fileName: string): JsonObject {
  const id = fileName.replace(/\.[^.]+$/, '')
  if (format === 'classic')
    return typeof definition.api_id === 'string' && definition.api_id !== ''
      ? definition
      : { ...definition, api_id: id }
  const extension = definition[EXTENSION]
  if (!isObject(extension)) return definition
  const info = isObject(extension.info) ? extension.info : {}
  if (typeof info.id === 'string' && info.id !== '') return definition
  return { ...definition, [EXTENSION]: { ...extension, info: { ...info, id } } }
}
