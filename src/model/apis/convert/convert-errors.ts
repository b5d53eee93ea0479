import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { setMember, type TreePath } from '../definition/tree.ts'
import { type Codec, copyPairs, pair } from './convert-pairs.ts'
import { opposite, switchesToClassic, switchesToOas } from './convert-table.ts'

/** Members of a rule whose names differ. */
const NAMES: readonly (readonly [classic: string, oas: string])[] = [
  ['message_pattern', 'messagePattern'],
  ['body_field', 'bodyField'],
  ['body_value', 'bodyValue'],
  ['status_code', 'statusCode'],
]
const TO_OAS = new Map(NAMES)
const TO_CLASSIC = new Map(NAMES.map(([classic, oas]) => [oas, classic]))

const RULES: Codec = {
  toOas: (value) => renamed(value, TO_OAS, 0),
  toClassic: (value) => renamed(value, TO_CLASSIC, 0),
}

/** Status, position, section and member: below members are names of headers. A name of the other format is no member of this one. */
function renamed(value: Json, names: ReadonlyMap<string, string>, depth: number): Json {
  if (Array.isArray(value)) return value.map((each) => renamed(each, names, depth + 1))
  if (!isObject(value) || depth > 3) return value
  const made: JsonObject = {}
  const foreign = new Set(names.values())
  for (const [name, each] of Object.entries(value)) {
    if (depth === 3 && foreign.has(name)) continue
    setMember(made, depth === 3 ? (names.get(name) ?? name) : name, renamed(each, names, depth + 1))
  }
  return made
}

const PAIRS = [pair('error_overrides', 'errorOverrides.value', RULES)]
const SWITCHES = [opposite('error_overrides_disabled', 'errorOverrides.enabled')]

/** Writes the rules that replace error answers into the extension. */
export function errorsToOas(classic: JsonObject, extension: JsonObject): void {
  copyPairs(PAIRS, classic, extension, 'toOas')
  switchesToOas(SWITCHES, classic, extension)
}

/** Writes those of the extension into a classic definition. */
export function errorsToClassic(extension: JsonObject, classic: JsonObject): void {
  copyPairs(PAIRS, extension, classic, 'toClassic')
  switchesToClassic(SWITCHES, extension, classic)
}

/** A path below `error_overrides` in the words of the extension. */
export function inExtension(at: TreePath): TreePath {
  const [, ...rest] = at
  return ['errorOverrides', 'value', ...rest.map((name, depth) => (depth === 3 ? (TO_OAS.get(name) ?? name) : name))]
}
