import { hash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { BoundedExpression } from '../patterns/bounded-expression.ts'
import { normalisedExpression } from '../patterns/pattern.ts'
import { compileWeight } from '../patterns/pattern-work.ts'
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
import { writeXml } from './xml.ts'

/** Most characters that a verb may fill up to. */
const MAX_WIDTH = 1000
/** Bounded, since a format may come from a body. */
const VERB = /%([-+0 #]{0,5})([1-9]\d{0,3})?(?:\.(\d{0,3}))?([a-zA-Z%])/g

/**
 * A text with verbs replaced by values in their order, as Go's `fmt.Sprintf` writes them: `%s`, `%v`, `%d`, `%q`, `%t`, `%f`, `%x` and
 * `%%`, with width and precision. @throws ValueFlaw for other verbs, and where values and verbs are not as many
 */
function formatted(format: string, values: readonly TemplateValue[], meter: Meter): string {
  let next = 0
  const text = format.replace(
    VERB,
    (_, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%'
      if (next >= values.length) throw new ValueFlaw('has more verbs than values')
      const own = verbText(verb, values[next++]!, precision === undefined ? undefined : Number(precision), meter)
      const filled = Math.min(Number(width ?? 0), MAX_WIDTH)
      meter.spend(filled / 64)
      if (flags.includes('-')) return own.padEnd(filled)
      return own.padStart(filled, flags.includes('0') ? '0' : ' ')
    },
  )
  if (next < values.length) throw new ValueFlaw('has more values than verbs')
  return text
}

function verbText(verb: string, value: TemplateValue, precision: number | undefined, meter: Meter): string {
  const text = () => templateText(value, meter)
  if (verb === 's' || verb === 'v' || verb === 't') return precision === undefined ? text() : text().slice(0, precision)
  if (verb === 'q') return JSON.stringify(text())
  if (verb === 'd') return String(Math.trunc(numberIn(value)))
  if (verb === 'f') return numberIn(value).toFixed(Math.min(precision ?? 6, 100))
  if (verb === 'x')
    return typeof value === 'number' ? Math.trunc(value).toString(16) : Buffer.from(text()).toString('hex')
  if (verb === 'T') return typeof value
  throw new ValueFlaw(`has the verb %${verb}, which is not served (${templateJson('%s %v %d %q %t %f %x', meter)} are)`)
}

function numberIn(value: TemplateValue): number {
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new ValueFlaw('wants a number for %d, %f')
  return number
}

const MONTHS = 'January,February,March,April,May,June,July,August,September,October,November,December'.split(',')
const DAYS = 'Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday'.split(',')
const two = (number: number) => String(number).padStart(2, '0')

/** The parts of Go's reference time, Mon Jan 2 15:04:05 MST 2006, in UTC; longer ones first. */
const PARTS: readonly (readonly [string, (date: Date) => string])[] = [
  ['January', (date) => MONTHS[date.getUTCMonth()]!],
  ['Monday', (date) => DAYS[date.getUTCDay()]!],
  ['Z07:00', () => 'Z'],
  ['-07:00', () => '+00:00'],
  ['-0700', () => '+0000'],
  ['2006', (date) => String(date.getUTCFullYear())],
  ['.000', (date) => `.${String(date.getUTCMilliseconds()).padStart(3, '0')}`],
  ['Jan', (date) => MONTHS[date.getUTCMonth()]!.slice(0, 3)],
  ['Mon', (date) => DAYS[date.getUTCDay()]!.slice(0, 3)],
  ['MST', () => 'UTC'],
  ['01', (date) => two(date.getUTCMonth() + 1)],
  ['02', (date) => two(date.getUTCDate())],
  ['15', (date) => two(date.getUTCHours())],
  ['03', (date) => two(date.getUTCHours() % 12 || 12)],
  ['04', (date) => two(date.getUTCMinutes())],
  ['05', (date) => two(date.getUTCSeconds())],
  ['06', (date) => two(date.getUTCFullYear() % 100)],
  ['PM', (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM')],
]
const LAYOUT = new RegExp(PARTS.map(([part]) => part.replace('.', '\\.')).join('|'), 'g')
const WRITTEN: ReadonlyMap<string, (date: Date) => string> = new Map(PARTS)

/**
 * A time in a layout of Go's `time.Format`, in UTC. `time` is a date in ISO 8601, as `now` gives it, or seconds since 1970.
 * @throws ValueFlaw where it is no time
 */
function dateText(layout: string, time: TemplateValue): string {
  const date = new Date(typeof time === 'number' ? time * 1000 : typeof time === 'string' ? time : Number.NaN)
  if (Number.isNaN(date.getTime())) throw new ValueFlaw('wants a date, or seconds since 1970')
  return layout.replace(LAYOUT, (part) => WRITTEN.get(part)!(date))
}

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
  ['xmlMarshal', 1, 1, ([value], meter) => new ReadyText(writeXml(asJson(value!), meter), 'markup')],
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
  ['regexMatch', 2, 2, ([pattern, text], meter) => finds(pattern!, text!, meter, 1).length > 0],
  ['regexFind', 2, 2, ([pattern, text], meter) => finds(pattern!, text!, meter, 1)[0]?.[0] ?? ''],
  ['regexReplaceAll', 3, 3, ([pattern, text, to], meter) => replacedFinds(pattern!, text!, to!, meter)],
  ['title', 1, 1, onText((text) => text.replace(/(?<![\p{L}\p{N}_'])\p{L}/gu, (letter) => letter.toUpperCase()))],
  ['squote', 1, 1, onText((text) => `'${text}'`)],
  ['nospace', 1, 1, onText((text) => text.replace(/\s/gu, ''))],
  ['trimAll', 2, 2, ([set, whole], meter) => trimmed(templateText(whole!, meter), templateText(set!, meter))],
  ['repeat', 2, 2, ([times, text], meter) => repeated(numberOf(times!), templateText(text!, meter), meter)],
  ['trunc', 2, 2, ([most, whole], meter) => truncated(templateText(whole!, meter), numberOf(most!))],
  ['substr', 3, 3, ([from, to, whole], meter) => partOf(templateText(whole!, meter), numberOf(from!), numberOf(to!))],
  ['atoi', 1, 1, ([value]) => Math.trunc(numberOf(value!))],
  ['int64', 1, 1, ([value]) => Math.trunc(numberOf(value!))],
  ['div', 2, 2, ([a, b]) => Math.trunc(numberOf(a!) / divisor(b!))],
  ['mod', 2, 2, ([a, b]) => numberOf(a!) % divisor(b!)],
  ['max', 1, 20, (args) => Math.max(...args.map(numberOf))],
  ['min', 1, 20, (args) => Math.min(...args.map(numberOf))],
  ['floor', 1, 1, ([value]) => Math.floor(numberOf(value!))],
  ['ceil', 1, 1, ([value]) => Math.ceil(numberOf(value!))],
  ['round', 2, 2, ([value, digits]) => rounded(numberOf(value!), numberOf(digits!))],
  ['append', 2, 2, ([list, item], meter) => [...counted(list!, meter), asJson(item!)]],
  ['prepend', 2, 2, ([list, item], meter) => [asJson(item!), ...counted(list!, meter)]],
  ['reverse', 1, 1, ([list], meter) => counted(list!, meter).toReversed()],
  ['uniq', 1, 1, ([list], meter) => [...new Set(counted(list!, meter))]],
  [
    'sortAlpha',
    1,
    1,
    ([list], meter) =>
      counted(list!, meter)
        .map((item) => templateText(item, meter))
        .sort(),
  ],
  ['keys', 1, 1, ([map], meter) => Object.keys(mapOf(map!, meter))],
  ['values', 1, 1, ([map], meter) => Object.values(mapOf(map!, meter))],
  ['hasKey', 2, 2, ([map, name], meter) => Object.hasOwn(mapOf(map!, meter), templateText(name!, meter))],
  ['get', 2, 2, ([map, name], meter) => memberOf(mapOf(map!, meter), templateText(name!, meter)) ?? ''],
  ['sha256sum', 1, 1, onText((text) => hash('sha256', text, 'hex'))],
]

/** Units of work of an expression (2 ns) that are a step. */
const WORK_OF_STEP = 100
/** Steps that compiling an expression takes. */
const STEPS_TO_COMPILE = 500
/** Steps for each unit of its weight. */
const STEPS_OF_WEIGHT = 2
const MOST_FINDS = 10_000

function finds(pattern: TemplateValue, text: TemplateValue, meter: Meter, most: number): RegExpExecArray[] {
  const source = templateText(pattern, meter)
  meter.spend(STEPS_TO_COMPILE + STEPS_OF_WEIGHT * compileWeight(source))
  const expression = compiled(source)
  const whole = templateText(text, meter)
  const steps = expression.workOf(whole.length) / WORK_OF_STEP
  const found: RegExpExecArray[] = []
  meter.spend(steps)
  for (const each of expression.matches(whole).take(most)) {
    found.push(each)
    // Before the next is looked for, which may take as long again.
    meter.spend(steps)
  }
  return found
}

function compiled(pattern: string): BoundedExpression {
  try {
    return new BoundedExpression(normalisedExpression(pattern))
  } catch {
    throw new ValueFlaw('wants an expression that is safe to run')
  }
}

/** `$1` and `${1}` are groups, `$$` is a dollar sign. An empty find behind another is none. */
function replacedFinds(pattern: TemplateValue, text: TemplateValue, to: TemplateValue, meter: Meter): string {
  const [whole, by] = [templateText(text, meter), templateText(to, meter)]
  let result = ''
  let end = 0
  let isFirst = true
  for (const found of finds(pattern, text, meter, MOST_FINDS)) {
    if (found[0] === '' && found.index === end && !isFirst) continue
    isFirst = false
    const own = by.replace(/\$(?:(\$)|(\w+)|\{(\w+)\})/g, (_, sign, name, braced) =>
      sign === undefined ? (found[Number(name ?? braced)] ?? '') : '$',
    )
    meter.spend(own.length / CHARACTERS_PER_STEP)
    result += whole.slice(end, found.index) + own
    end = found.index + found[0].length
  }
  return result + whole.slice(end)
}

function trimmed(whole: string, set: string): string {
  let [from, to] = [0, whole.length]
  while (from < to && set.includes(whole[from]!)) from++
  while (to > from && set.includes(whole[to - 1]!)) to--
  return whole.slice(from, to)
}

function repeated(times: number, text: string, meter: Meter): string {
  const count = Math.max(0, Math.trunc(times))
  meter.spend((count * text.length) / CHARACTERS_PER_STEP + count / CHARACTERS_PER_STEP)
  return text.repeat(count)
}

/** The first characters, or of a number below 0 the last. */
function truncated(whole: string, most: number): string {
  return most < 0 ? whole.slice(most) : whole.slice(0, most)
}

function partOf(whole: string, from: number, to: number): string {
  if (from < 0) return whole.slice(0, to)
  return to < 0 || to > whole.length ? whole.slice(from) : whole.slice(from, to)
}

/** Half is away from 0 above it, and below it the smaller number, as Sprig has it. */
function rounded(value: number, digits: number): number {
  const power = 10 ** Math.trunc(digits)
  const digit = value * power
  return (digit - Math.trunc(digit) >= 0.5 ? Math.ceil(digit) : Math.floor(digit)) / power
}

function divisor(value: TemplateValue): number {
  const number = numberOf(value)
  if (number === 0) throw new ValueFlaw('cannot divide by 0')
  return number
}

function mapOf(value: TemplateValue, meter: Meter): JsonObject {
  if (value === null) return {}
  if (value instanceof ReadyText || !isObject(value)) throw new ValueFlaw('wants an object')
  meter.keysOf(value)
  return value
}

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
