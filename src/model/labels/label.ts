import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { foldCase, normaliseText } from '../text/fold.ts'

/** The stored form of a label's definition. */
export interface Label {
  readonly org_id: string
  /** Display name; unique in an organisation, ignoring case. */
  readonly name: string
  /** The key in APIs; unique in an organisation, and never changes. */
  readonly key: string
  /** Those that are allowed; empty = any text. */
  readonly values: readonly string[]
}

/** A label that an API carries. */
export interface AppliedLabel {
  readonly key: string
  readonly value: string
}

/** A label to apply to an API; `named` is the key or the name of its definition. */
export interface WantedLabel {
  readonly named: string
  readonly value: string
}

const LONGEST = 128
const LONGEST_VALUE = 256
const MOST_VALUES = 500
const MOST_WANTED = 100
const KEY = /^[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)*$/u
const CONTROL = /[\x00-\x1f\x7f]/

/**
 * Reads the definition of a label from the wire: `name`, and perhaps `key`, `values` and `value_type`, which must say the same as
 * the values do. @throws Fault `label_invalid` (400)
 */
export function readLabel(body: JsonObject): Omit<Label, 'org_id'> {
  const name = textIn('name', body.name, LONGEST)
  const key = body.key === undefined || body.key === null || body.key === '' ? labelKey(name) : body.key
  if (key === labelKey(name) && key.length > LONGEST)
    throw fault('label_invalid', `name: gives a key of more than ${LONGEST} characters`)
  if (typeof key !== 'string' || key.length > LONGEST || !KEY.test(key) || key !== key.toLowerCase())
    throw fault('label_invalid', 'key: must be lower-case words of letters and digits, joined by _')
  const values = readValues(body.values ?? [])
  const type = body.value_type ?? valueType({ values })
  if (type !== valueType({ values }))
    throw fault('label_invalid', 'value_type: must be predefined with values, and free_text without')
  return { name, key, values }
}

/** The key that a name gives: snake case. */
export function labelKey(name: string): string {
  return foldCase(name)
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '')
}

function valueType({ values }: Pick<Label, 'values'>): 'free_text' | 'predefined' {
  return values.length === 0 ? 'free_text' : 'predefined'
}

/** The definition of a label as callers see it, in the order that they know. */
export function labelShape(id: string, { name, key, values }: Label): JsonObject {
  return { id, name, values: [...values], key, value_type: valueType({ values }) }
}

/**
 * Reads what is to be applied to an API, in any of the shapes that callers use: `{key, value}`, `{name, value}`, a list of these,
 * or either under `labels`, there also as an object of values by key. @throws Fault `label_invalid` (400)
 */
export function readWanted(body: Json): WantedLabel[] {
  const wanted = isObject(body) && body.labels !== undefined ? readUnderLabels(body.labels) : readPairs(body)
  if (wanted.length === 0 || wanted.length > MOST_WANTED)
    throw fault('label_invalid', `1 to ${MOST_WANTED} labels can be applied at a time`)
  return wanted
}

/** Checks a value against the definition of its label. @throws Fault `label_invalid` (400) */
export function checkValue(label: Label, value: string): void {
  if (label.values.length === 0 || label.values.includes(value)) return
  throw fault('label_invalid', `${label.key}: the value must be one of ${label.values.slice(0, 20).join(', ')}`)
}

/** The labels that a stored API carries. */
export function appliedOf(body: JsonObject): AppliedLabel[] {
  const labels = Array.isArray(body.labels) ? body.labels.filter(isObject) : []
  return labels.map(({ key, value }) => ({ key: String(key ?? ''), value: String(value ?? '') }))
}

function readUnderLabels(labels: Json): WantedLabel[] {
  if (!isObject(labels)) return readPairs(labels)
  return Object.entries(labels).map(([named, value]) => wantedLabel(named, value))
}

function readPairs(body: Json): WantedLabel[] {
  const pairs = Array.isArray(body) ? body : [body]
  return pairs.map((pair) => {
    if (!isObject(pair)) throw fault('label_invalid', 'a label is an object with key and value')
    return wantedLabel(pair.key ?? pair.name ?? '', pair.value ?? '')
  })
}

function wantedLabel(named: Json, value: Json): WantedLabel {
  return { named: textIn('key', named, LONGEST), value: textIn('value', value, LONGEST_VALUE) }
}

function readValues(values: Json): string[] {
  if (!Array.isArray(values) || values.length > MOST_VALUES)
    throw fault('label_invalid', `values: must be a list of at most ${MOST_VALUES} texts`)
  return [...new Set(values.map((value) => textIn('values', value, LONGEST_VALUE)))]
}

function textIn(name: string, value: Json | undefined, longest: number): string {
  const text = typeof value === 'string' ? normaliseText(value.trim()) : ''
  if (text === '' || text.length > longest || CONTROL.test(text))
    throw fault('label_invalid', `${name}: must be a text of 1 to ${longest} characters without control characters`)
  return text
}
