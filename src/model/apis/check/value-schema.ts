import { createRequire } from 'node:module'
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Fault, toFault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { TOO_MUCH_WORK } from '../../patterns/pattern-work.ts'
import { flagOf } from '../definition/members.ts'
import type { RequestFlaw, ValueCheck } from '../definition/operation.ts'
import { getAt, member, setMember, type TreePath } from '../definition/tree.ts'
import { type CompileWork, charged, meter, PATTERNS } from './schema-work.ts'
import { refuseFlaws } from './validate.ts'

/** Errors of one request that are reported. */
export const MAX_REPORTED = 20
/** Of values with more texts, numbers and so on only the first error is reported: collecting all of them costs memory per error. */
const MAX_SEARCHED = 20_000

const DOCUMENT = 'document'
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems']

/** Half of the machinery is loaded with the first API that needs it: 20 ms and 6 MB that others do without. */
const load = createRequire(import.meta.url)

/** Members of a schema that hold values, not schemas. */
const VALUES_INSIDE = new Set(['example', 'examples', 'default', 'const', 'enum'])
/** Members whose members have names of the author's. */
const NAMED_INSIDE = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'])

/** Compiles the schemas of one OpenAPI document, or single ones. */
export class ValueSchemas {
  /** Finds the first flaw. */
  readonly #first: Ajv
  /** Finds all. */
  readonly #all: Ajv
  readonly #document: JsonObject
  readonly #root: TreePath
  /** Compiled parts of the document, by their text: an engine takes 0.2 ms for the smallest schema, and most are alike. */
  readonly #known = new Map<string, ValueCheck>()

  /** `document` is what references resolve in; `root` its path in the input; `work` the compile budget of the whole definition. */
  constructor(document: JsonObject | undefined, root: TreePath, work: CompileWork = { compiled: 0 }) {
    const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
    const Engine = String(document?.openapi ?? '').startsWith('3.1') ? Ajv2020 : Ajv
    this.#root = root
    this.#document = document ?? {}
    this.#first = new Engine(options(false))
    this.#all = new Engine(options(true))
    meter(this.#first, work)
    // A second set of the same schemas, used when a value has an error.
    meter(this.#all, { compiled: Number.NEGATIVE_INFINITY })
    if (document === undefined) return
    const { paths = {}, components = {} } = document
    const plain = modern({ paths, components }) as JsonObject
    for (const engine of [this.#first, this.#all]) {
      engine.opts.unevaluated &&= UNEVALUATED.some((keyword) => names(plain, keyword))
      engine.addSchema(plain, DOCUMENT)
    }
  }

  /** Compiles the schema at a path of the document. @throws Fault `definition_invalid` that names the path */
  at(at: TreePath): ValueCheck {
    const text = JSON.stringify(getAt(this.#document, at) ?? null)
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const check = this.#compileAt(at)
    // These give a schema a name, or a base for references, by its position.
    if (!/"\$(?:id|anchor|dynamic|recursive)/.test(text)) this.#known.set(text, check)
    return check
  }

  #compileAt(at: TreePath): ValueCheck {
    const $ref = `${DOCUMENT}#${at.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`
    return this.#compile({ $ref }, [...this.#root, ...at])
  }

  /** Compiles a standalone schema; `at` is its path in the input. @throws Fault `definition_invalid` */
  alone(schema: JsonObject, at: TreePath): ValueCheck {
    // Which draft it was written for makes no difference to what we read of it.
    const { $schema: _draft, id: _id, $id: _newId, ...plain } = modern(schema) as JsonObject
    return this.#compile(plain, at)
  }

  #compile(schema: JsonObject, at: TreePath): ValueCheck {
    try {
      const first = charged({ patternWork: Number.NEGATIVE_INFINITY }, () => this.#first.compile(schema))
      return checkOf(first, () => this.#all.compile(schema))
    } catch (error) {
      const reason = error instanceof Fault || error instanceof Error ? error.message : toFault(error).message
      return refuseFlaws([{ at, reason: `is no schema that can be checked: ${reason.slice(0, 300)}` }]) as never
    }
  }
}

function checkOf(first: ValidateFunction, compileAll: () => ValidateFunction): ValueCheck {
  let all: ValidateFunction | undefined
  return (value, account) =>
    charged(account, () => {
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
    code: { regExp: PATTERNS, optimize: false },
  }
}

/** The schemas of OpenAPI 3.0 and of old drafts say "exclusive" with a flag beside the bound. */
function modern(schema: Json, named = false): Json {
  if (Array.isArray(schema)) return schema.map((item) => modern(item))
  if (!isObject(schema)) return schema
  const made: JsonObject = {}
  for (const name of Object.keys(schema)) {
    const value = schema[name]!
    const kept = !named && VALUES_INSIDE.has(name)
    setMember(made, name, kept ? value : modern(value, !named && NAMED_INSIDE.has(name)))
  }
  if (!named) {
    exclusive(made)
    forRequests(made)
  }
  return made
}

/** Drops members that only answers hold from what requests must have (OpenAPI 3.0, `readOnly`). */
function forRequests(schema: JsonObject): void {
  const { required, properties } = schema
  if (!Array.isArray(required) || !isObject(properties)) return
  schema.required = required.filter((name) => !flagOf(member(properties, String(name)), 'readOnly'))
}

function exclusive(schema: JsonObject): void {
  for (const [bound, flag] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof schema[flag] !== 'boolean') continue
    const limit = schema[bound]
    if (schema[flag] && typeof limit === 'number') {
      schema[flag] = limit
      delete schema[bound]
    } else delete schema[flag]
  }
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
