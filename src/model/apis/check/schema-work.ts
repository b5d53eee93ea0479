import { createRequire } from 'node:module'
import type { Ajv, CodeKeywordDefinition, KeywordCxt, KeywordDefinition, Name, SchemaValidateFunction } from 'ajv'
import { isObject, type Json } from '../../json/json.ts'
import { newPatternWork, type PatternWork, spendPatternWork, WORK_OF_EXPRESSION } from '../../patterns/pattern-work.ts'
import { SchemaPattern } from '../../patterns/schema-pattern.ts'
import { codeCost, keywordEntries } from './compile-cost.ts'

const load = createRequire(import.meta.url)

/** The account of the running check. Checks run to their end at once, so there is never more than one. */
const METER = {
  account: newPatternWork() as PatternWork,
  /** Number of the check: a pattern is charged once in each with what its expression costs to compile. */
  run: 0,
  spend(work: number): void {
    spendPatternWork(this.account, work)
  },
}

/** Runs a check of a value at the expense of an account. @throws Fault `patterns_over_budget` */
export function checkWithinBudget<T>(account: PatternWork, check: () => T): T {
  METER.account = account
  METER.run++
  return check()
}

/** Keywords that a function may hold before it is run by V8's interpreter, being too long to be optimized. */
const OPTIMIZED = 60
const MOST_SLOWER = 8

/** The function that the generated code of one schema calls. */
class FunctionMeter {
  keywords = 0

  get factor(): number {
    return Math.min(Math.max(1, this.keywords / OPTIMIZED), MOST_SLOWER)
  }

  spend(work: number): void {
    METER.spend(work * this.factor)
  }

  /** For each member of an object. */
  members(value: object, base: number, each: number): void {
    let count = 0
    for (const _name in value) count++
    this.spend(base + each * count)
  }

  /** For each property that a schema has already judged. */
  judged(names: object | true | undefined): void {
    if (typeof names === 'object') this.members(names, 0, WORK_OF_JUDGED)
  }
}

const WORK_OF_KEYWORD = 15
/** A call of the function of another schema, with the path that leads to the value. */
const WORK_OF_REFERENCE = 100
/** An alternative that fails makes an error. */
const WORK_OF_ALTERNATIVE = 100
const WORK_OF_ENTRY = 10
const WORK_OF_MEMBER = 20
/** The name of a property that is copied, so that it is not asked again whether it is known. */
const WORK_OF_JUDGED = 100
/** A value that is written out to be compared, and each of its characters. */
const WORK_OF_SPELLED = 30
/** Numbers with up to 308 zeros. */
const WORK_OF_DECIMALS = 2000
/** Backtracking formats try up to 61 lengths of a label. */
const WORK_OF_FORMATTED = 4

/** The cost of a keyword, once and for each item, character or member of the value. */
interface Work {
  readonly once: number
  readonly each?: number
  readonly of?: 'length' | 'members'
}

const perEntry = (each: number) => (value: unknown) => ({ once: WORK_OF_KEYWORD + each * keywordEntries(value) })
const perItem = (): Work => ({ once: WORK_OF_KEYWORD, each: WORK_OF_ENTRY, of: 'length' })
const perMember = (): Work => ({ once: WORK_OF_KEYWORD, each: WORK_OF_MEMBER, of: 'members' })
const perCharacter = (): Work => ({ once: WORK_OF_KEYWORD, each: 1, of: 'length' })
const reference = (): Work => ({ once: WORK_OF_REFERENCE })

/** Keywords that cost more than their call. A `Map`: names come from outside. */
const WORKS = new Map<string, (value: unknown) => Work>([
  ['$ref', reference],
  ['$dynamicRef', reference],
  ['$recursiveRef', reference],
  ['anyOf', perEntry(WORK_OF_ALTERNATIVE)],
  ['oneOf', perEntry(WORK_OF_ALTERNATIVE)],
  ['allOf', perEntry(WORK_OF_ENTRY)],
  ['properties', perEntry(WORK_OF_ENTRY)],
  ['required', perEntry(WORK_OF_ENTRY)],
  ['dependencies', perEntry(WORK_OF_ENTRY)],
  ['dependentSchemas', perEntry(WORK_OF_ENTRY)],
  ['dependentRequired', perEntry(WORK_OF_ENTRY)],
  [
    'patternProperties',
    (value) => ({ once: WORK_OF_KEYWORD, each: WORK_OF_MEMBER + WORK_OF_ENTRY * keywordEntries(value), of: 'members' }),
  ],
  ['additionalProperties', perMember],
  ['unevaluatedProperties', perMember],
  ['propertyNames', perMember],
  ['minProperties', perMember],
  ['maxProperties', perMember],
  ['items', perItem],
  ['prefixItems', perItem],
  ['additionalItems', perItem],
  ['unevaluatedItems', perItem],
  ['contains', () => ({ once: WORK_OF_KEYWORD, each: WORK_OF_MEMBER, of: 'length' })],
  ['minLength', perCharacter],
  ['maxLength', perCharacter],
  ['format', () => ({ once: WORK_OF_KEYWORD, each: WORK_OF_FORMATTED, of: 'length' })],
])

/**
 * Makes an engine charge what it does: each keyword is charged where its code runs, by what it looks at. Its own checks of `enum`, `const`
 * and `uniqueItems` compare texts, not every two values.
 */
export function meter(engine: Ajv): void {
  const formats = load('ajv-formats') as typeof import('ajv-formats')
  formats.default(engine, { mode: 'fast' })
  engine.addFormat('url', urlFormat(formats.default.get('url', 'full') as RegExp))
  engine.addFormat('byte', isBase64)
  engine.addFormat('int64', { type: 'number', validate: isInt64 })
  for (const [name, [least, most]] of Object.entries(WHOLE_NUMBERS))
    engine.addFormat(name, { type: 'number', validate: isWithin(least, most) })
  // The fast expressions for dates take the 31st of February for one.
  for (const name of DATES) engine.addFormat(name, formats.default.get(name, 'full'))
  for (const own of [UNIQUE, ENUM, CONST, MULTIPLE]) {
    engine.removeKeyword(own.keyword as string)
    engine.addKeyword(own)
  }
  // Behind `prefixItems` the code of Ajv looks at no keyword where the list is empty, and `contains` refuses such a list.
  for (const { rules } of engine.RULES.rules)
    rules.sort((one, other) => Number(other.keyword === 'contains') - Number(one.keyword === 'contains'))
  for (const [keyword, rule] of Object.entries(engine.RULES.all)) {
    if (typeof rule !== 'object') continue
    const definition = rule.definition as CodeKeywordDefinition
    const { code } = definition
    if (code === undefined) continue
    definition.code = (context, type) => {
      const meter = meterOf(context)
      meter.keywords += codeCost(keyword, context.schema)
      emitCharge(context, keyword, meter)
      if (keyword === 'if') judgeWhereItFits(context)
      if (keyword === 'unevaluatedItems') countJudged(context)
      if (keyword === 'contains') foundAfresh(context)
      const { items } = context.it
      if (BRANCHES.has(keyword)) nameJudged(context)
      code(context, type)
      Reflect.deleteProperty(context.gen, 'name')
      // It looks at objects alone: where it does not run, its variable has no value.
      if (keyword === 'dependentSchemas') Object.assign(context.it, { items })
      if (keyword === 'contains' && context.it.opts.unevaluated) context.it.items = true
      emitJudged(context, meter)
    }
  }
}

/** The check of a format of texts, by which requests are judged too; undefined for one that is not known, or of numbers. */
export function textFormat(name: string): ((text: string) => boolean) | undefined {
  const formats = load('ajv-formats') as typeof import('ajv-formats')
  if (name === 'byte') return isBase64
  if (name === 'url') return urlFormat(formats.default.get('url', 'full') as RegExp)
  const isDate = (DATES as readonly string[]).includes(name)
  let known: unknown
  try {
    known = formats.default.get(name as 'date', isDate ? 'full' : 'fast')
  } catch {
    return undefined
  }
  const { validate, type }: { validate?: unknown; type?: string } = isObject(known as Json) ? (known as object) : {}
  const check = type === 'number' ? undefined : (validate ?? known)
  if (check instanceof RegExp) return (text) => check.test(text)
  return typeof check === 'function' ? (text) => check(text) === true : undefined
}

/** As far as numbers of JavaScript tell: the last thousand at either end are one. */
const isInt64 = (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63

/** Formats of the registry of OpenAPI that the package does not have. */
const WHOLE_NUMBERS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  ...{ int8: [-(2 ** 7), 2 ** 7 - 1], int16: [-(2 ** 15), 2 ** 15 - 1] },
  ...{ uint8: [0, 2 ** 8 - 1], uint16: [0, 2 ** 16 - 1], uint32: [0, 2 ** 32 - 1], uint64: [0, 2 ** 64] },
}

const isWithin = (least: number, most: number) => (value: number) =>
  Number.isInteger(value) && value >= least && value <= most

/** True for formats by which values are judged, and for those that say there is nothing to judge (`binary`, `password`, `float`). */
export function isKnownFormat(name: Json): boolean {
  if (typeof name !== 'string') return false
  if (name === 'url' || Object.hasOwn(WHOLE_NUMBERS, name)) return true
  const formats = load('ajv-formats') as typeof import('ajv-formats')
  try {
    return formats.default.get(name as 'date') !== undefined
  } catch {
    return false
  }
}

/** True where a line of it is base64, as in ajv-formats, whose expression takes 0.2 s for a megabyte. */
function isBase64(text: string): boolean {
  return text.split(/[\n\r\u2028\u2029]/).some((line) => line.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(line))
}

/** Keywords whose schemas judge members and items for their holder, some of them only where they fit. */
const BRANCHES = new Set(['if', 'anyOf', 'oneOf', 'dependentSchemas', '$ref', '$dynamicRef', '$recursiveRef'])

/**
 * Members and items that are judged so far become variables of the holder before a branch. Ajv would take those of the first branch for it, whether that fits or
 * not, keep them from one item of a list to the next, and write into those of the schema behind a reference.
 */
function nameJudged({ gen, it }: KeywordCxt): void {
  const { Name } = load('ajv') as typeof import('ajv')
  const { evaluatedPropsToName } = load('ajv/dist/compile/util.js') as typeof import('ajv/dist/compile/util.js')
  if (!it.opts.unevaluated) return
  if (it.props !== true && !(it.props instanceof Name)) it.props = evaluatedPropsToName(gen, it.props)
  if (it.items !== true && !(it.items instanceof Name)) it.items = gen.var('items', it.items ?? 0)
}

/** Each list starts as one in which nothing is found: within another list Ajv keeps that for the next, which may be empty. */
function foundAfresh({ gen, parentSchema: { minContains = 1, maxContains } }: KeywordCxt): void {
  if (minContains !== 1 || maxContains !== undefined) return
  gen.name = (prefix) => {
    Reflect.deleteProperty(gen, 'name')
    return gen.var(prefix, false)
  }
}

/** All items judged are as many as there are: Ajv compares the number with `true`. */
function countJudged({ gen, it, data }: KeywordCxt): void {
  const { _, Name } = load('ajv') as typeof import('ajv')
  const { items } = it
  if (items instanceof Name) it.items = gen.const('items', _`${items} === true ? ${data}.length : ${items}`)
}

/** Members that an `if` judges count as judged only where it fits; Ajv counts them in either case. */
function judgeWhereItFits(context: KeywordCxt): void {
  const { subschema, mergeEvaluated } = context
  let fits: Name | undefined
  context.subschema = (part, valid) => {
    if (part.keyword === 'if') fits = valid
    return subschema.call(context, part, valid)
  }
  context.mergeEvaluated = (inner) => {
    context.mergeEvaluated = mergeEvaluated
    context.mergeValidEvaluated(inner, fits!)
  }
}

/** Module state: a meter for each schema while Ajv compiles it; Ajv gives keywords nothing else to hang it on. */
const meters = new WeakMap<object, FunctionMeter>()

function meterOf({ it }: KeywordCxt): FunctionMeter {
  const known = meters.get(it.schemaEnv)
  if (known !== undefined) return known
  const made = new FunctionMeter()
  meters.set(it.schemaEnv, made)
  return made
}

function emitCharge({ gen, schema, data, it }: KeywordCxt, keyword: string, meter: FunctionMeter): void {
  const { _ } = load('ajv') as typeof import('ajv')
  const name = gen.scopeValue('obj', { ref: meter })
  const { once, each = 0, of } = WORKS.get(keyword)?.(schema) ?? { once: WORK_OF_KEYWORD }
  // Each error is kept where all are wanted.
  const whole = Math.ceil(it.allErrors ? once * 3 : once)
  const known = keyword === 'unevaluatedProperties' && typeof it.props === 'object' ? Object.keys(it.props).length : 0
  if (of === 'length') gen.code(_`${name}.spend(${whole} + ${each} * ${data}.length)`)
  else if (of === 'members') gen.code(_`${name}.members(${data}, ${whole}, ${each + 2 * known})`)
  else gen.code(_`${name}.spend(${whole})`)
}

/** Where unevaluated properties are asked for, each keyword copies the names of those that it has judged. */
function emitJudged({ gen, it }: KeywordCxt, meter: FunctionMeter): void {
  const { _, Name } = load('ajv') as typeof import('ajv')
  if (!it.opts.unevaluated || typeof it.props !== 'object') return
  const name = gen.scopeValue('obj', { ref: meter })
  if (it.props instanceof Name) gen.code(_`${name}.judged(${it.props})`)
  else gen.code(_`${name}.spend(${WORK_OF_JUDGED * Object.keys(it.props).length})`)
}

/** A pattern of a schema, charged by the length of the text. */
class ChargedPattern {
  readonly #source: string
  readonly #expression: SchemaPattern
  #run = 0

  /** @throws Fault `pattern_invalid` */
  constructor(source: string) {
    this.#source = source
    this.#expression = new SchemaPattern(source)
  }

  test(text: string): boolean {
    if (this.#run !== METER.run) METER.spend(WORK_OF_EXPRESSION)
    this.#run = METER.run
    METER.spend(WORK_OF_KEYWORD + this.#expression.workOf(text))
    return this.#expression.test(text)
  }

  /** The identity of a pattern. */
  toString(): string {
    return `/${this.#source}/`
  }
}

/** The engine of patterns. */
export const PATTERNS = Object.assign((source: string) => new ChargedPattern(source) as unknown as RegExp, {
  code: 'new RegExp',
})

const DATES = ['date', 'time', 'date-time', 'iso-time', 'iso-date-time'] as const

/** Longest list whose items are compared. */
const MAX_COMPARED = 10_000

/** Every two items compared with each other would let one caller hold up all others. */
const UNIQUE: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: `must NOT have duplicate items, nor more than ${MAX_COMPARED}` },
  validate: (wanted: boolean, items: unknown[]) =>
    !wanted || (items.length <= MAX_COMPARED && new Set(items.map(spelled)).size === items.length),
}

/** Found by hash: a list of many words is not walked for each value. */
const ENUM: KeywordDefinition = {
  keyword: 'enum',
  schemaType: 'array',
  errors: true,
  compile: (allowedValues: Json[]) => {
    if (allowedValues.length === 0) throw new Error('enum must have non-empty array')
    return oneOf(allowedValues, 'enum', 'must be equal to one of the allowed values')
  },
}

/** Compared as decimals, which is how their author wrote them: 19.99 is a multiple of 0.01. */
const MULTIPLE: KeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  errors: true,
  compile: (divisor: number) => {
    const check: SchemaValidateFunction = (value: number) => {
      METER.spend(Number.isSafeInteger(value) && Number.isSafeInteger(divisor) ? WORK_OF_KEYWORD : WORK_OF_DECIMALS)
      if (isMultiple(value, divisor)) return true
      check.errors = [{ keyword: 'multipleOf', message: `must be multiple of ${divisor}`, params: {} }]
      return false
    }
    return check
  },
}

/** Compared as it is spelled: a member called `valueOf` makes no difference. */
const CONST: KeywordDefinition = {
  keyword: 'const',
  errors: true,
  compile: (allowedValue: Json) => oneOf([allowedValue], 'const', 'must be equal to constant'),
}

function oneOf(allowedValues: readonly Json[], keyword: string, message: string): SchemaValidateFunction {
  const plain = new Set<unknown>(allowedValues.filter((value) => typeof value !== 'object'))
  const composed = new Set(allowedValues.filter((value) => typeof value === 'object').map(spelled))
  const fits = (value: unknown) =>
    typeof value !== 'object' ? plain.has(value) : composed.size > 0 && composed.has(spelled(value))
  const check: SchemaValidateFunction = (value: unknown) => {
    METER.spend(WORK_OF_KEYWORD)
    if (fits(value)) return true
    METER.spend(WORK_OF_ALTERNATIVE)
    check.errors = [{ keyword, message, params: { allowedValues } }]
    return false
  }
  return check
}

/** True when a number is a whole multiple of another, both taken as the decimals that spell them. */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
  const [micros, perMicros] = [microsOf(value), microsOf(divisor)]
  if (micros !== undefined && perMicros !== undefined) return micros % perMicros === 0
  const [one, other] = [decimalOf(value), decimalOf(divisor)]
  if (one === undefined || other === undefined) return false
  const exponent = Math.min(one.exponent, other.exponent)
  const scaled = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent)
  return scaled(one) % scaled(other) === 0n
}

/** Most millionths that a number can be counted in exactly, with up to 15 digits. */
const MOST_MICROS = 1e15

/** A number of at most six decimals as whole millionths, 50 times faster than by its digits; undefined for others. */
function microsOf(value: number): number | undefined {
  const micros = Math.round(value * 1e6)
  return Math.abs(micros) < MOST_MICROS && micros / 1e6 === value ? micros : undefined
}

interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

function decimalOf(value: number): Decimal | undefined {
  const parts = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value))
  if (parts === null) return undefined
  const [, whole = '', fraction = '', power = '0'] = parts
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

/** JSON with the members of objects in order. */
function spelled(value: unknown): string {
  const text = textOf(value)
  METER.spend(WORK_OF_SPELLED + 4 * text.length)
  return text
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spelled).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${spelled(value[name])}`).join()}}`
}

const USER = /^((?:https?|ftp):\/\/)[^\s/]+@/i

/** Format `url`: its expression takes cubic time for what it finds before an `@`, so that is taken away. */
function urlFormat(expression: RegExp): (text: string) => boolean {
  return (text) => expression.test(text.replace(USER, '$1').replaceAll('@', '_'))
}
