import { isObject, type Json } from '../json/json.ts'

/** JSON that is written as it is outside of quotes. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type TemplateValue = Json | JsonText

/** The costs and arguments of functions. */
export interface Meter {
  /** Notes work in steps; one is about what a look-up costs. @throws where the bound is reached */
  spend(steps: number): void
  /** Names of the members, sorted; counted once for each object. */
  keysOf(object: { readonly [name: string]: Json }): readonly string[]
}

/** A function's error about its values, in words that follow its name. */
export class ValueFlaw extends Error {}

export interface TemplateFunction {
  readonly name: string
  /** Fewest and most values; a pipe gives the last. */
  readonly takes: readonly [least: number, most: number]
  run(args: readonly TemplateValue[], meter: Meter): TemplateValue
}

/** Most characters per step. */
const CHARACTERS_PER_STEP = 64

/** The value as text between quotes. */
export function templateText(value: TemplateValue, meter: Meter): string {
  const text = plainText(value)
  meter.spend(text.length / CHARACTERS_PER_STEP)
  return text
}

function plainText(value: TemplateValue): string {
  if (value === null) return ''
  if (value instanceof JsonText) return value.text
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The value as JSON, for places outside quotes. */
export function templateJson(value: TemplateValue, meter: Meter): string {
  const text = value instanceof JsonText ? value.text : JSON.stringify(value)
  meter.spend(text.length / CHARACTERS_PER_STEP)
  return text
}

/** False for null, false, 0, '' and what is empty. */
export function isTrue(value: TemplateValue, meter: Meter): boolean {
  if (value instanceof JsonText) return value.text !== ''
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? meter.keysOf(value).length > 0 : Boolean(value)
}

/** The member of an object or the element of a list; null where there is none. */
export function memberOf(holder: TemplateValue, name: TemplateValue): TemplateValue {
  if (Array.isArray(holder)) return typeof name === 'number' ? (holder[name] ?? null) : null
  if (typeof name !== 'string' || holder instanceof JsonText || !isObject(holder)) return null
  return Object.hasOwn(holder, name) ? (holder[name] ?? null) : null
}

function lengthOf(value: TemplateValue, meter: Meter): number {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return value.length
  if (!(value instanceof JsonText) && isObject(value)) return meter.keysOf(value).length
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
  ['jsonMarshal', 1, 1, ([value], meter) => new JsonText(templateJson(value!, meter))],
  ['toJson', 1, 1, ([value], meter) => new JsonText(templateJson(value!, meter))],
  ['print', 1, 20, (args, meter) => args.map((value) => templateText(value, meter)).join('')],
  ['upper', 1, 1, onText((text) => text.toUpperCase())],
  ['lower', 1, 1, onText((text) => text.toLowerCase())],
  ['trim', 1, 1, onText((text) => text.trim())],
  ['urlquery', 1, 1, onText((text) => encodeURIComponent(text.toWellFormed()))],
  ['join', 2, 2, ([separator, list], meter) => joined(separator!, list!, meter)],
  ['contains', 2, 2, ([part, whole], meter) => templateText(whole!, meter).includes(templateText(part!, meter))],
  ['replace', 3, 3, ([from, to, whole], meter) => replaced(templateText(whole!, meter), from!, to!, meter)],
]

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
