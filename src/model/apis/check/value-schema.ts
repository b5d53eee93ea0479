import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import type { SchemaEnv } from 'ajv/dist/compile/index.js'
import { Fault, toFault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { type PatternWork, TOO_MUCH_WORK } from '../../patterns/pattern-work.ts'
import type { LazyCode, RequestFlaw, ValueCheck } from '../definition/operation.ts'
import { type Flaw, getAt, type TreePath } from '../definition/tree.ts'
import { CompileBudget, TOO_MANY_KEYWORDS } from './compile-cost.ts'
import { type PreparedSchema, PreparedSchemas } from './prepared-schemas.ts'
import { checkWithinBudget, meter, PATTERNS } from './schema-work.ts'

/** Characters of the place of an error: its names are those of the request, which may be as long as the body. */
const MOST_PATH = 1_000
/** Errors of one request that are reported. */
export const MAX_REPORTED = 20
/** Of values with more texts, numbers and so on only the first error is reported: collecting all of them costs memory per error. */
const MAX_SEARCHED = 20_000

const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems']
/** Names that every object answers to: of these the code has to ask whether the value itself has them, which takes longer. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Half of the machinery is loaded with the first API that needs it: 20 ms and 6 MB that others do without. */
const load = createRequire(import.meta.url)

/** A schema that values are compared with, and the parts of it that they are not compared with. */
export interface CheckedSchema {
  readonly check: ValueCheck
  /** True when a value has no flaw. @throws Fault `patterns_over_budget` */
  readonly fits: (value: unknown, account: PatternWork) => boolean
  readonly unchecked: readonly Flaw[]
  readonly code: LazyCode
}

/** Nothing is compiled where nothing is checked. */
export const NO_CODE: LazyCode = { isReady: () => true, compile: function* () {} }

const ANYTHING: Omit<CheckedSchema, 'unchecked'> = { check: () => [], fits: () => true, code: NO_CODE }

/** The engines that compile the schemas of a definition, made when the first of them is compiled, and their budget. */
export class SchemaEngines {
  readonly budget = new CompileBudget()
  #first: Ajv | undefined
  #all: Ajv | undefined
  #names = 0

  /** Finds the first flaw. */
  get first(): Ajv {
    this.#first ??= newEngine(false)
    return this.#first
  }

  /** Finds all: a second set of the same schemas, used when a value has an error. */
  get all(): Ajv {
    this.#all ??= newEngine(true)
    return this.#all
  }

  /** A name that no other schema has. */
  newName(): string {
    return `schema:${this.#names++}`
  }
}

function newEngine(allErrors: boolean): Ajv {
  const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const engine = new Ajv2020(options(allErrors))
  meter(engine)
  return engine
}

/** Reads the schemas of one document, each when it is first asked for. */
export class ValueSchemas {
  readonly #document: JsonObject
  readonly #root: TreePath
  readonly #engines: SchemaEngines
  readonly #prepared: PreparedSchemas
  readonly #unevaluated: boolean
  /** Parts of the document, by their text: most are alike. */
  readonly #known = new Map<string, CheckedSchema & { readonly at: TreePath }>()

  /** `document` is what references resolve in; `root` its path in the input. */
  constructor(document: JsonObject, root: TreePath, engines: SchemaEngines = new SchemaEngines()) {
    this.#document = document
    this.#root = root
    this.#engines = engines
    this.#prepared = new PreparedSchemas(document, () => engines.newName())
    this.#unevaluated = namesOne(document, UNEVALUATED)
  }

  /** Words of the schemas read so far that have no effect. */
  get idle(): readonly Flaw[] {
    return this.#prepared.idle.flaws.map((flaw) => this.#rooted(flaw))
  }

  /** The schema at a path of the document: what of it can be checked is. */
  at(at: TreePath): CheckedSchema {
    const text = JSON.stringify(getAt(this.#document, at) ?? null)
    const known = this.#known.get(text)
    if (known !== undefined) return { ...known, unchecked: known.unchecked.map((flaw) => movedTo(at, known.at, flaw)) }
    const read = { ...this.#read(at), at: [...this.#root, ...at] }
    // These give a schema a name, or a base for references, by its position.
    if (!/"\$(?:id|anchor|dynamic|recursive)/.test(text)) this.#known.set(text, read)
    return read
  }

  #read(at: TreePath): CheckedSchema {
    const { budget } = this.#engines
    try {
      if (budget.isSpent) throw new Error(TOO_MANY_KEYWORDS)
      const { root, reached, unchecked } = this.#prepared.at(at)
      budget.spend(reached)
      const code = new SchemaCode(root, this.#engines, this.#unevaluated)
      return {
        code,
        check: (value, account) => code.flawsOf(value, account),
        fits(value, account) {
          const { first } = code
          return checkWithinBudget(account, () => fitsWithin(first, value))
        },
        unchecked: unchecked.map((flaw) => this.#rooted(flaw)),
      }
    } catch (error) {
      const reason = error instanceof Fault || error instanceof Error ? error.message : toFault(error).message
      return { ...ANYTHING, unchecked: [this.#rooted({ at, reason: reason.slice(0, 300) })] }
    }
  }

  #rooted({ at, reason }: Flaw): Flaw {
    return { at: [...this.#root, ...at], reason }
  }
}

/** The code of a schema and of all that it leads to. */
class SchemaCode implements LazyCode {
  readonly #root: PreparedSchema
  readonly #engines: SchemaEngines
  readonly #unevaluated: boolean
  #first: ValidateFunction | undefined
  #all: ValidateFunction | undefined

  constructor(root: PreparedSchema, engines: SchemaEngines, unevaluated: boolean) {
    this.#root = root
    this.#engines = engines
    this.#unevaluated = unevaluated
  }

  get first(): ValidateFunction {
    if (this.#first === undefined) Array.from(this.compile(false))
    return this.#first!
  }

  isReady(details: boolean): boolean {
    return (details ? this.#all : this.#first) !== undefined
  }

  *compile(details: boolean): Generator<void> {
    this.#first ??= yield* this.#compiledBy(this.#engines.first)
    if (details) this.#all ??= yield* this.#compiledBy(this.#engines.all)
  }

  flawsOf(value: unknown, account: PatternWork): readonly RequestFlaw[] {
    const { first } = this
    return checkWithinBudget(account, () => {
      if (fitsWithin(first, value)) return []
      const firstFlaws = (first.errors ?? []).slice(-1).map(toRequestFlaw)
      first.errors = null
      const all = this.#all
      if (all === undefined || !isSmall(value)) return firstFlaws
      try {
        all(value)
        return (all.errors ?? []).slice(0, MAX_REPORTED).map(toRequestFlaw)
      } catch {
        // It is refused already: only the other flaws take too much work to find.
        return firstFlaws
      } finally {
        all.errors = null
      }
    })
  }

  /** One function after the other. */
  *#compiledBy(engine: Ajv): Generator<void, ValidateFunction> {
    for (const each of callOrder(this.#root)) {
      if (environmentOf(engine, each).validate !== undefined) continue
      engine.opts.unevaluated = this.#unevaluated
      engine.opts.ownProperties = namesInherited(each.schema)
      checkWithinBudget({ patternWork: Number.NEGATIVE_INFINITY }, () => compileAlone(engine, each))
      yield
    }
    return engine.getSchema(this.#root.name)!
  }
}

/** A schema and all that it leads to, each behind those that it calls, unless they call it. */
function callOrder(root: PreparedSchema): PreparedSchema[] {
  const seen = new Set([root])
  const ordered: PreparedSchema[] = []
  const open = [{ schema: root, calls: root.leadsTo.values() }]
  for (let step = open.at(-1); step !== undefined; step = open.at(-1)) {
    const { value: next } = step.calls.next()
    if (next === undefined) {
      ordered.push(step.schema)
      open.pop()
    } else if (!seen.has(next)) {
      seen.add(next)
      open.push({ schema: next, calls: next.leadsTo.values() })
    }
  }
  return ordered
}

/** Compiles one schema: Ajv would do so with all that it leads to, in one go, but takes those that its environment knows as they are. */
function compileAlone(engine: Ajv, prepared: PreparedSchema): void {
  const { refs } = environmentOf(engine, prepared)
  for (const to of prepared.leadsTo) if (typeof to.schema === 'object') refs[to.name] = environmentOf(engine, to)
  const judged: unknown = engine.getSchema(prepared.name)?.evaluated?.props
  // Those that lead here read it, and it must not answer to `constructor` either.
  if (typeof judged === 'object' && judged !== null) Object.setPrototypeOf(judged, null)
}

function environmentOf(engine: Ajv, { name, schema }: PreparedSchema): SchemaEnv {
  if (engine.schemas[name] === undefined) engine.addSchema(schema as JsonObject, name)
  return engine.schemas[name]!
}

/** A flaw of a schema that is spelled the same elsewhere. */
function movedTo(at: TreePath, from: TreePath, flaw: Flaw): Flaw {
  const isWithin = from.every((name, index) => flaw.at[index] === name)
  return isWithin ? { ...flaw, at: [...at, ...flaw.at.slice(from.length)] } : flaw
}

function options(allErrors: boolean): Options {
  return {
    allErrors,
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    unicodeRegExp: false,
    addUsedSchema: false,
    inlineRefs: false,
    code: { regExp: PATTERNS, optimize: false, process: withAppendedErrors },
  }
}

/**
 * Ajv copies all errors so far for each that it adds: of 30,000 items that `contains` passes over, that took two seconds. The names that it
 * has judged it keeps in an object that answers to `constructor` too, and that is not there where no alternative has judged one.
 */
function withAppendedErrors(code: string): string {
  return code
    .replace(/\bvErrors\.concat\(([^()]*)\)/g, '(vErrors.push(...$1), vErrors)')
    .replace(/(\bprops\d+ = (?:props\d+ \|\| )?)\{\}/g, '$1{ __proto__: null }')
    .replace(/\b(props\d+)\[(key\d+)\] = true;/g, 'if ($1 !== true) ($1 ??= { __proto__: null })[$2] = true;')
}

/** @throws Fault `patterns_over_budget` where a schema leads to itself without an end */
function fitsWithin(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value)
  } catch (error) {
    throw error instanceof RangeError ? TOO_MUCH_WORK : error
  }
}

/** True when an object in a value has a member of one of these names. */
function namesOne(value: Json, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (isObject(value) && names.some((name) => Object.hasOwn(value, name))) return true
  return Object.values(value).some((inner) => namesOne(inner, names))
}

/** True when a schema speaks of a member such as `constructor`. */
function namesInherited(value: Json): boolean {
  if (typeof value === 'string') return INHERITED.has(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).some((name) => INHERITED.has(name)) || Object.values(value).some(namesInherited)
}

function isSmall(value: unknown): boolean {
  let left = MAX_SEARCHED
  const walk = (inner: unknown): void => {
    if (--left < 0 || typeof inner !== 'object' || inner === null) return
    for (const each of Object.values(inner)) walk(each)
  }
  walk(value)
  return left >= 0
}

function toRequestFlaw({ instancePath: path, keyword, params, message = 'is not valid' }: ErrorObject): RequestFlaw {
  const instancePath = path.slice(0, MOST_PATH)
  if (keyword === 'required') return { at: `${instancePath}/${params.missingProperty}`, reason: 'is missing' }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = String(params.additionalProperty ?? params.unevaluatedProperty).slice(0, 100)
    return { at: `${instancePath}/${name}`, reason: 'is not known' }
  }
  if (keyword !== 'enum') return { at: instancePath, reason: message }
  const words = (params.allowedValues as Json[]).map((word) => JSON.stringify(word)).join(', ')
  return { at: instancePath, reason: `must be one of ${words.slice(0, 300)}` }
}
