import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { dateText, formatted } from './go-format.ts'
import {
  CHARACTERS_PER_STEP,
  escapeMarkup,
  type Meter,
  ReadyText,
  type TemplateValue,
  templateJson,
  templateText,
  ValueFlaw,
} from './values.ts'

export interface TemplateFunction {
  readonly name: string
  /** Fewest and most values; a pipe gives the last. */
  readonly takes: readonly [least: number, most: number]
  run(args: readonly TemplateValue[], meter: Meter): TemplateValue
}

/** False for null, false, 0, '' and what is empty. */
export function isTrue(value: TemplateValue, meter: Meter): boolean {
  if (value instanceof ReadyText) return value.text !== ''
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? meter.keysOf(value).length > 0 : Boolean(value)
}

/** The member of an object or the element of a list; null where there is none. */
export function memberOf(holder: TemplateValue, name: TemplateValue): TemplateValue {
  if (Array.isArray(holder)) return typeof name === 'number' ? (holder[name] ?? null) : null
  if (typeof name !== 'string' || holder instanceof ReadyText || !isObject(holder)) return null
  return Object.hasOwn(holder, name) ? (holder[name] ?? null) : null
}

function lengthOf(value: TemplateValue, meter: Meter): number {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return value.length
  if (!(value instanceof ReadyText) && isObject(value)) return meter.keysOf(value).length
  throw new ValueFlaw('wants a text, a list or an object')
}

function isEqual(a: TemplateValue, b: TemplateValue, meter: Meter): boolean {
  if (typeof a === 'string' && typeof b === 'string') meter.spend(Math.min(a.length, b.length) / CHARACTERS_PER_STEP)
  return a === b && (typeof a !== 'object' || a === null)
}

/** Below 0 when `a` comes first. */
function order(a: TemplateValue, b: TemplateValue, meter: Meter): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a !== 'string' || typeof b !== 'string') throw new ValueFlaw('compares two numbers or two texts')
  meter.spend(Math.min(a.length, b.length) / CHARACTERS_PER_STEP)
  return a < b ? -1 : Number(a > b)
}

type Run = TemplateFunction['run']

const compare = (holds: (sign: number) => boolean): Run => {
  return ([a, b], meter) => holds(order(a!, b!, meter))
}

const onText = (change: (text: string) => string): Run => {
  return ([value], meter) => templateText(change(templateText(value!, meter)), meter)
}

const RUNS: readonly (readonly [name: string, least: number, most: number, run: Run])[] = [
  ['and', 1, 20, (args, meter) => args.find((value) => !isTrue(value, meter)) ?? args.at(-1)!],
  ['or', 1, 20, (args, meter) => args.find((value) => isTrue(value, meter)) ?? args.at(-1)!],
  ['not', 1, 1, ([value], meter) => !isTrue(value!, meter)],
  ['eq', 2, 20, ([first, ...others], meter) => others.some((other) => isEqual(first!, other, meter))],
  ['ne', 2, 2, ([a, b], meter) => !isEqual(a!, b!, meter)],
  ['lt', 2, 2, compare((sign) => sign < 0)],
  ['le', 2, 2, compare((sign) => sign <= 0)],
  ['gt', 2, 2, compare((sign) => sign > 0)],
  ['ge', 2, 2, compare((sign) => sign >= 0)],
  ['len', 1, 1, ([value], meter) => lengthOf(value!, meter)],
  ['index', 2, 20, ([holder, ...names]) => names.reduce(memberOf, holder!)],
  ['default', 2, 2, ([other, value], meter) => (isTrue(value!, meter) ? value! : other!)],
  ['jsonMarshal', 1, 1, ([value], meter) => new ReadyText(templateJson(value!, meter))],
  ['toJson', 1, 1, ([value], meter) => new ReadyText(templateJson(value!, meter))],
  ['print', 1, 20, (args, meter) => args.map((value) => templateText(value, meter)).join('')],
  ['upper', 1, 1, onText((text) => text.toUpperCase())],
  ['lower', 1, 1, onText((text) => text.toLowerCase())],
  ['trim', 1, 1, onText((text) => text.trim())],
  ['urlquery', 1, 1, onText((text) => encodeURIComponent(text.toWellFormed()))],
  ['join', 2, 2, ([separator, list], meter) => joined(separator!, list!, meter)],
  ['contains', 2, 2, ([part, whole], meter) => templateText(whole!, meter).includes(templateText(part!, meter))],
  ['replace', 3, 3, ([from, to, whole], meter) => replaced(templateText(whole!, meter), from!, to!, meter)],
  ['printf', 1, 20, ([format, ...values], meter) => formatted(templateText(format!, meter), values, meter)],
  ['toString', 1, 1, ([value], meter) => templateText(value!, meter)],
  [
    'quote',
    1,
    20,
    (args, meter) => new ReadyText(args.map((arg) => JSON.stringify(templateText(arg, meter))).join(' ')),
  ],
  ['html', 1, 1, ([value], meter) => new ReadyText(escapeMarkup(templateText(value!, meter)), 'markup')],
  ['js', 1, 1, onText(escapeScript)],
  ['b64enc', 1, 1, onText((text) => Buffer.from(text).toString('base64'))],
  ['b64dec', 1, 1, onText((text) => Buffer.from(text, 'base64').toString('utf8'))],
  ['trimPrefix', 2, 2, ([part, whole], meter) => withoutStart(templateText(whole!, meter), templateText(part!, meter))],
  ['trimSuffix', 2, 2, ([part, whole], meter) => withoutEnd(templateText(whole!, meter), templateText(part!, meter))],
  ['hasPrefix', 2, 2, ([part, whole], meter) => templateText(whole!, meter).startsWith(templateText(part!, meter))],
  ['hasSuffix', 2, 2, ([part, whole], meter) => templateText(whole!, meter).endsWith(templateText(part!, meter))],
  ['splitList', 2, 2, ([separator, whole], meter) => pieces(separator!, whole!, meter)],
  ['split', 2, 2, ([separator, whole], meter) => numbered(pieces(separator!, whole!, meter))],
  ['slice', 1, 3, ([value, ...ends], meter) => sliced(value!, ends, meter)],
  ['first', 1, 1, ([list]) => listOf(list!)[0] ?? null],
  ['last', 1, 1, ([list]) => listOf(list!).at(-1) ?? null],
  ['has', 2, 2, ([item, list], meter) => counted(list!, meter).some((each) => isEqual(each, item!, meter))],
  ['list', 0, 20, (args) => args.map(asJson)],
  ['dict', 0, 20, (args, meter) => dictionary(args, meter)],
  ['ternary', 3, 3, ([yes, no, test], meter) => (isTrue(test!, meter) ? yes! : no!)],
  ['coalesce', 1, 20, (args, meter) => args.find((value) => isTrue(value, meter)) ?? null],
  ['empty', 1, 1, ([value], meter) => !isTrue(value!, meter)],
  ['int', 1, 1, ([value]) => Math.trunc(numberOf(value!))],
  ['float64', 1, 1, ([value]) => numberOf(value!)],
  ['add', 1, 20, (args) => args.map(numberOf).reduce((sum, each) => sum + each, 0)],
  ['sub', 2, 2, ([a, b]) => numberOf(a!) - numberOf(b!)],
  ['mul', 1, 20, (args) => args.map(numberOf).reduce((product, each) => product * each, 1)],
  ['now', 0, 0, () => new Date().toISOString()],
  ['date', 2, 2, ([layout, time], meter) => dateText(templateText(layout!, meter), time!)],
  ['fromJson', 1, 1, ([text], meter) => parsed(templateText(text!, meter))],
]

function withoutStart(whole: string, part: string): string {
  return whole.startsWith(part) ? whole.slice(part.length) : whole
}

function withoutEnd(whole: string, part: string): string {
  return whole.endsWith(part) ? whole.slice(0, whole.length - part.length) : whole
}

function pieces(separator: TemplateValue, whole: TemplateValue, meter: Meter): string[] {
  const parts = templateText(whole, meter).split(templateText(separator, meter))
  meter.spend(parts.length)
  return parts
}

/** The pieces as Sprig names them: `_0`, `_1`, ... */
function numbered(parts: readonly string[]): JsonObject {
  return Object.fromEntries(parts.map((part, at) => [`_${at}`, part]))
}

function listOf(value: TemplateValue): readonly Json[] {
  if (value === null) return []
  if (!Array.isArray(value)) throw new ValueFlaw('wants a list')
  return value
}

/** A list that is gone through: its length is work. */
function counted(value: TemplateValue, meter: Meter): readonly Json[] {
  const list = listOf(value)
  meter.spend(list.length)
  return list
}

/** From an index up to another; of a text they count characters. */
function sliced(value: TemplateValue, ends: readonly TemplateValue[], meter: Meter): TemplateValue {
  const [from = 0, to] = ends.map(numberOf)
  meter.spend(typeof value === 'string' ? value.length / CHARACTERS_PER_STEP : listOf(value).length)
  if (typeof value === 'string') return value.slice(from, to)
  return [...listOf(value)].slice(from, to)
}

function dictionary(args: readonly TemplateValue[], meter: Meter): JsonObject {
  if (args.length % 2 !== 0) throw new ValueFlaw('wants a value for each name')
  return Object.fromEntries(
    args.flatMap((name, at) => (at % 2 === 0 ? [[templateText(name, meter), asJson(args[at + 1]!)] as const] : [])),
  )
}

/** A value that can be a part of others. */
function asJson(value: TemplateValue): Json {
  return value instanceof ReadyText ? value.text : value
}

/** A number, or a text of one; anything else is 0. */
function numberOf(value: TemplateValue): number {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? Number(value) : Number(value === true)
  return Number.isFinite(number) ? number : 0
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new ValueFlaw('wants a text that is JSON')
  }
}

function escapeScript(text: string): string {
  return text.replace(/[\\'"<>&=\0-\x1f]/g, (character) =>
    /[\\'"]/.test(character)
      ? `\\${character}`
      : `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
}

/** By separator and list. */
function joined(separator: TemplateValue, list: TemplateValue, meter: Meter): string {
  if (!Array.isArray(list)) throw new ValueFlaw('wants a list')
  meter.spend(list.length)
  const between = templateText(separator, meter)
  meter.spend((between.length * list.length) / CHARACTERS_PER_STEP)
  return list.map((item) => templateText(item, meter)).join(between)
}

function replaced(whole: string, from: TemplateValue, to: TemplateValue, meter: Meter): string {
  const [before, after] = [templateText(from, meter), templateText(to, meter)]
  if (before === '') return whole
  const parts = whole.split(before)
  meter.spend(parts.length + (after.length * parts.length) / CHARACTERS_PER_STEP)
  return parts.join(after)
}

/** Functions of templates by name. */
export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map(
  RUNS.map(([name, least, most, run]) => [name, { name, takes: [least, most], run }]),
)
