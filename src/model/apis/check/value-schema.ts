import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { Fault, toFault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { type PatternWork, TOO_MUCH_WORK } from '../../patterns/pattern-work.ts'
import type { Flaw } from '../definition/flaw.ts'
import type { RequestFlaw, ValueCheck } from '../definition/operation.ts'
import { getAt, type TreePath } from '../definition/tree.ts'
import { type PreparedSchema, PreparedSchemas } from './prepared-schemas.ts'
import {
  type CompileWork,
  checkWithinBudget,
  MOST_COMPILED,
  meter,
  PATTERNS,
  TOO_MANY_KEYWORDS,
} from './schema-work.ts'

/** Errors of one request that are reported. */
export const MAX_REPORTED = 20
/** Of values with more texts, numbers and so on only the first error is reported: collecting all of them costs memory per error. */
const MAX_SEARCHED = 20_000

const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems']

/** Half of the machinery is loaded with the first API that needs it: 20 ms and 6 MB that others do without. */
const load = createRequire(import.meta.url)

/** A compiled schema, and the parts of it that values are not compared with. */
export interface CompiledSchema {
  readonly check: ValueCheck
  /** True when a value has no flaw. @throws Fault `patterns_over_budget` */
  readonly fits: (value: unknown, account: PatternWork) => boolean
  readonly unchecked: readonly Flaw[]
}

const ANYTHING: ValueCheck = () => []

/** The engines that compile the schemas of a definition. */
export class SchemaEngines {
  /** Finds the first flaw. */
  readonly first: Ajv
  /** Finds all. */
  readonly all: Ajv
  readonly #work: CompileWork
  #names = 0

  /** `work` is the compile budget of the whole definition. */
  constructor(work: CompileWork = { compiled: 0 }) {
    const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
    this.first = new Ajv2020(options(false))
    this.all = new Ajv2020(options(true))
    this.#work = work
    meter(this.first, work)
    // A second set of the same schemas, used when a value has an error.
    meter(this.all, { compiled: Number.NEGATIVE_INFINITY })
  }

  /** True once the definition has no more compiled: every further schema would be refused, and each refusal costs its preparation. */
  get isSpent(): boolean {
    return this.#work.compiled > MOST_COMPILED
  }

  /** A name that no other schema has. */
  newName(): string {
    return `schema:${this.#names++}`
  }
}

/** Compiles the schemas of one document, each when it is first asked for. */
export class ValueSchemas {
  readonly #document: JsonObject
  readonly #root: TreePath
  readonly #engines: SchemaEngines
  readonly #prepared: PreparedSchemas
  readonly #unevaluated: boolean
  readonly #added = { first: new Set<PreparedSchema>(), all: new Set<PreparedSchema>() }
  /** Compiled parts of the document, by their text: an engine takes 0.2 ms for the smallest schema, and most are alike. */
  readonly #known = new Map<string, CompiledSchema & { readonly at: TreePath }>()

  /** `document` is what references resolve in; `root` its path in the input. */
  constructor(document: JsonObject, root: TreePath, engines: SchemaEngines = new SchemaEngines()) {
    this.#document = document
    this.#root = root
    this.#engines = engines
    this.#prepared = new PreparedSchemas(document, () => engines.newName())
    this.#unevaluated = UNEVALUATED.some((keyword) => names(document, keyword))
  }

  /** Compiles the schema at a path of the document: what of it can be checked is. */
  at(at: TreePath): CompiledSchema {
    const text = JSON.stringify(getAt(this.#document, at) ?? null)
    const known = this.#known.get(text)
    if (known !== undefined) return { ...known, unchecked: known.unchecked.map((flaw) => movedTo(at, known.at, flaw)) }
    const compiled = { ...this.#compile(at), at: [...this.#root, ...at] }
    // These give a schema a name, or a base for references, by its position.
    if (!/"\$(?:id|anchor|dynamic|recursive)/.test(text)) this.#known.set(text, compiled)
    return compiled
  }

  #compile(at: TreePath): CompiledSchema {
    try {
      if (this.#engines.isSpent) throw new Error(TOO_MANY_KEYWORDS)
      const { root, reached, unchecked } = this.#prepared.at(at)
      const compile = (name: 'first' | 'all') => {
        const engine = this.#engines[name]
        engine.opts.unevaluated = this.#unevaluated
        for (const each of reached) {
          if (this.#added[name].has(each)) continue
          this.#added[name].add(each)
          engine.addSchema(each.schema as JsonObject, each.name)
        }
        return engine.compile({ $ref: root.name })
      }
      const first = checkWithinBudget({ patternWork: Number.NEGATIVE_INFINITY }, () => compile('first'))
      return {
        check: checkOf(first, () => compile('all')),
        fits: (value, account) => checkWithinBudget(account, () => fitsWithin(first, value)),
        unchecked: unchecked.map((flaw) => this.#rooted(flaw)),
      }
    } catch (error) {
      const reason = error instanceof Fault || error instanceof Error ? error.message : toFault(error).message
      return { check: ANYTHING, fits: () => true, unchecked: [this.#rooted({ at, reason: reason.slice(0, 300) })] }
    }
  }

  #rooted({ at, reason }: Flaw): Flaw {
    return { at: [...this.#root, ...at], reason }
  }
}

function checkOf(first: ValidateFunction, compileAll: () => ValidateFunction): ValueCheck {
  let all: ValidateFunction | undefined
  return (value, account) =>
    checkWithinBudget(account, () => {
      if (fitsWithin(first, value)) return []
      const firstFlaws = (first.errors ?? []).slice(-1).map(toRequestFlaw)
      first.errors = null
      if (!isSmall(value)) return firstFlaws
      try {
        all ??= compileAll()
        all(value)
        return (all.errors ?? []).slice(0, MAX_REPORTED).map(toRequestFlaw)
      } catch {
        // It is refused already: only the other flaws take too much work to find.
        return firstFlaws
      } finally {
        if (all !== undefined) all.errors = null
      }
    })
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

/** Ajv copies all errors so far for each that it adds: of 30,000 items that `contains` passes over, that took two seconds. */
function withAppendedErrors(code: string): string {
  return code.replace(/\bvErrors\.concat\(([^()]*)\)/g, '(vErrors.push(...$1), vErrors)')
}

/** @throws Fault `patterns_over_budget` where a schema leads to itself without an end */
function fitsWithin(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value)
  } catch (error) {
    throw error instanceof RangeError ? TOO_MUCH_WORK : error
  }
}

/** True when an object in a value has a member of this name. */
function names(value: Json, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (isObject(value) && Object.hasOwn(value, name)) || Object.values(value).some((inner) => names(inner, name))
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

function toRequestFlaw({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): RequestFlaw {
  if (keyword === 'required') return { at: `${instancePath}/${params.missingProperty}`, reason: 'is missing' }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = String(params.additionalProperty ?? params.unevaluatedProperty).slice(0, 100)
    return { at: `${instancePath}/${name}`, reason: 'is not known' }
  }
  if (keyword !== 'enum') return { at: instancePath, reason: message }
  const words = (params.allowedValues as Json[]).map((word) => JSON.stringify(word)).join(', ')
  return { at: instancePath, reason: `must be one of ${words.slice(0, 300)}` }
}
