import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { compileWeight } from '../../patterns/pattern-work.ts'
import { holdingOf } from './schema-keywords.ts'

/** Most keywords, functions and entries of keywords that one definition may have compiled: 20 to 60 µs each. */
export const MOST_COMPILED = 20_000
/** Why a schema beyond that is not compiled. */
export const TOO_MANY_KEYWORDS = `the schemas of the definition hold more than ${MOST_COMPILED} keywords and entries`
/** Most in one schema without those that it refers to: their code is one function, which V8 compiles when it is first run. */
export const MOST_IN_SCHEMA = 2000
/** Alternatives and members of one schema are nested in its code, so that their cost grows with the square of their number. */
export const MOST_ENTRIES = 500
const NESTED = new Set([
  ...['anyOf', 'oneOf', 'allOf', 'items', 'prefixItems'],
  ...['properties', 'patternProperties', 'dependencies', 'dependentSchemas'],
])
const COST_OF_REFERENCE = 3
/** Weight of an expression that costs as much as a keyword. */
const WEIGHT_OF_KEYWORD = 50
/** They call a function that is there already. */
const WITHOUT_CODE = new Set(['type', 'enum', 'const', 'uniqueItems', 'multipleOf'])

/** Entries of a keyword's value, those of lists in it included (`dependentRequired`). */
export function keywordEntries(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, entry) => sum + 1 + (Array.isArray(entry) ? entry.length : 0), 0)
}

/** The cost of a keyword in the code of its schema, in keywords. */
export function codeCost(keyword: string, value: unknown): number {
  const listed = keyword === 'required' ? keywordEntries(value) / 10 : 0
  return listed + (keyword.endsWith('Ref') || keyword === '$ref' ? COST_OF_REFERENCE : 1 + nestedIn(keyword, value))
}

/** The compile budget of a definition, spent before anything is compiled. */
export class CompileBudget {
  readonly #spent = new Set<object>()
  #compiled = 0

  /** True once the definition has no more compiled: every further schema would be refused, and each refusal costs its preparation. */
  get isSpent(): boolean {
    return this.#compiled > MOST_COMPILED
  }

  /** Spends what a schema and those that it leads to cost, each once. @throws Error that says so when there is more than may be compiled */
  spend(schemas: Iterable<{ readonly schema: Json }>): void {
    this.#compiled += COST_OF_REFERENCE
    for (const each of schemas) {
      if (this.#spent.has(each)) continue
      this.#compiled += costOf(each.schema)
      this.#spent.add(each)
      if (this.isSpent) throw new Error(TOO_MANY_KEYWORDS)
    }
  }
}

/** The cost of a schema without those that it refers to, in keywords. @throws Error when its code would be too long */
function costOf(schema: Json): number {
  let [code, expressions] = [0, 0]
  const walk = (inner: Json): void => {
    if (!isObject(inner)) return
    for (const keyword of Object.keys(inner)) {
      const value = inner[keyword]!
      const holding = holdingOf(keyword)
      if (holding === undefined) continue
      if (!WITHOUT_CODE.has(keyword)) {
        if (nestedIn(keyword, value) > MOST_ENTRIES)
          throw new Error(`${keyword} holds more than ${MOST_ENTRIES} entries`)
        code += codeCost(keyword, value)
        expressions += costOfExpressions(keyword, value)
      }
      if (code > MOST_IN_SCHEMA) throw new Error(`holds more than ${MOST_IN_SCHEMA} keywords and entries`)
      if (holding === 'schema') walk(value)
      else if (holding === 'list' || holding === 'map')
        for (const each of Object.values(value as JsonObject)) walk(each)
    }
  }
  walk(schema)
  return code + expressions
}

function nestedIn(keyword: string, value: unknown): number {
  return NESTED.has(keyword) && (keyword !== 'items' || Array.isArray(value)) ? keywordEntries(value) : 0
}

/** The cost of a keyword's expressions beyond that of their length, in keywords. */
function costOfExpressions(keyword: string, value: unknown): number {
  const sources =
    keyword === 'pattern' ? [String(value)] : keyword === 'patternProperties' ? Object.keys(value as object) : []
  return sources.reduce((sum, source) => sum + (compileWeight(source) - source.length) / WEIGHT_OF_KEYWORD, 0)
}
