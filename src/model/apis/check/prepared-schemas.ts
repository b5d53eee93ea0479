import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagOf } from '../definition/members.ts'
import { type Flaw, getAt, setMember, type TreePath, toPointer } from '../definition/tree.ts'
import { ContainsSearch, IN_PLACE } from './contains-search.ts'
import { IdleWords, idleKeyword } from './idle-keywords.ts'
import { contentFault, type Holding, holdingOf, nameFault } from './schema-keywords.ts'
import { SchemaNames } from './schema-names.ts'

/** Most schemas that one description may lead to by references. */
const MOST_PREPARED = 20_000
/** Most references that lead from one to the next until one is read-only. */
const MOST_STEPS = 10

/** A schema of a document as the engine takes it: nothing in it can fail to compile by itself. */
export interface PreparedSchema {
  /** The name that references in prepared schemas have for it. */
  readonly name: string
  readonly schema: Json
  /** The schemas that it refers to. */
  readonly leadsTo: ReadonlySet<PreparedSchema>
}

/** The schemas that a value is compared with, and the parts of them that had to be left out. */
export interface PreparedClosure {
  readonly root: PreparedSchema
  /** All that `root` leads to, itself included. */
  readonly reached: readonly PreparedSchema[]
  /** The parts left out, by their place in the document. */
  readonly unchecked: readonly Flaw[]
}

interface Target extends PreparedSchema {
  schema: Json
  readonly at: TreePath
  /** Names of properties that are read-only for the schema that leads here. */
  readonly readOnly: ReadonlySet<string>
  readonly leadsTo: Set<Target>
  /** References that look at the same value. */
  readonly inPlace: { readonly to: Target; readonly holder: JsonObject; readonly scope: Scope }[]
  readonly guards: Guard[]
  readonly unchecked: Flaw[]
  loss: Loss
}

/** How much less a schema says than its author meant: of values, or also of the members that it has judged. */
type Loss = 'none' | 'constraint' | 'annotation'

/** A keyword that refuses more where the schemas in it refuse less. */
interface Guard {
  readonly holder: JsonObject
  readonly keyword: 'not' | 'if' | 'oneOf' | 'contains' | 'unevaluated'
  readonly at: TreePath
  readonly leadsTo: Set<Target>
  loss: Loss
}

interface Scope {
  readonly target: Target
  readonly at: TreePath
  /** Path of what `#` means in references. */
  readonly base: TreePath
  readonly readOnly: ReadonlySet<string>
  /** True while the schema looks at the value that the target looks at. */
  readonly inPlace: boolean
  readonly guards: readonly Guard[]
}

const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * Writes the schemas of a document as an engine of JSON Schema 2020-12 takes them, each when it is first asked for. What cannot be
 * checked is left out and reported, so that the rest is; a value is never refused because something was left out.
 */
export class PreparedSchemas {
  /** Words of the schemas prepared so far that say nothing of values. */
  readonly idle = new IdleWords()
  /** Where `contains` judges the items of a list. */
  readonly contains = new ContainsSearch()
  readonly #document: JsonObject
  readonly #newName: () => string
  readonly #names: SchemaNames
  readonly #targets = new Map<string, Target>()
  readonly #readOnly = new Map<JsonObject, ReadonlySet<string>>()
  #waiting: Target[] = []

  /** `newName` gives each schema its name. */
  constructor(document: JsonObject, newName: () => string) {
    this.#document = document
    this.#newName = newName
    this.#names = new SchemaNames(document)
  }

  /** The schema at a path. @throws Error when it leads to too many others */
  at(at: TreePath): PreparedClosure {
    const root = this.#target(at, NO_NAMES)
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#prepare(next)
    const reached = [...closureOf(root)]
    cutCircles(reached)
    leaveItemsToContains(reached, this.contains)
    if (reached.some(({ loss }) => loss !== 'none')) loosen(reached)
    return { root, reached, unchecked: reached.flatMap(({ unchecked }) => unchecked) }
  }

  #target(at: TreePath, readOnly: ReadonlySet<string>): Target {
    const key = `${toPointer(at)} ${[...readOnly].sort().join(' ')}`
    const known = this.#targets.get(key)
    if (known !== undefined) return known
    if (this.#targets.size >= MOST_PREPARED) throw new Error(`leads to more than ${MOST_PREPARED} schemas`)
    const made: Target = {
      ...{ name: this.#newName(), schema: true, at, readOnly, unchecked: [], loss: 'none' },
      ...{ leadsTo: new Set<Target>(), inPlace: [], guards: [] },
    }
    this.#targets.set(key, made)
    this.#waiting.push(made)
    return made
  }

  #prepare(target: Target): void {
    const { at, readOnly } = target
    const scope = { target, at, base: this.#names.baseOf(at), readOnly, inPlace: true, guards: [] }
    target.schema = this.#schema(getAt(this.#document, at), scope)
  }

  #schema(schema: Json | undefined, scope: Scope): Json {
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) {
      leaveOut(scope, [], 'is no schema', 'annotation')
      return true
    }
    const made: JsonObject = {}
    const base = typeof schema.$id === 'string' && !schema.$id.startsWith('#') ? scope.at : scope.base
    const own = this.#readOnlyIn(schema, base)
    const readOnly = own.size === 0 ? scope.readOnly : new Set([...scope.readOnly, ...own])
    const unevaluated = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema
    const guard = unevaluated ? guardOf(made, 'unevaluated', scope) : undefined
    const inner: Scope = { ...scope, base, readOnly, guards: guard ? [...scope.guards, guard] : scope.guards }
    for (const keyword of Object.keys(schema)) this.#keyword(made, schema, keyword, inner)
    if (Array.isArray(made.required)) made.required = made.required.filter((name) => !readOnly.has(String(name)))
    dropRest(made, schema)
    keepIfAlone(made)
    return withNull(withoutFlags(made), schema)
  }

  #keyword(made: JsonObject, schema: JsonObject, keyword: string, scope: Scope): void {
    const holding = holdingOf(keyword)
    const idleness = idleKeyword(schema, keyword)
    if (idleness !== undefined) this.idle.note([...scope.at, keyword], idleness)
    if (holding === undefined) return
    const value = schema[keyword]!
    const why = contentFault(keyword, value)
    if (why !== undefined) {
      leaveOut(scope, [keyword], why, losses(holding))
      return
    }
    if (holding === 'reference') this.#reference(made, keyword, String(value), scope)
    else if (holding === 'value') setMember(made, keyword, value)
    else this.#schemas(made, schema, keyword, holding, scope)
  }

  #schemas(made: JsonObject, schema: JsonObject, keyword: string, holding: Holding, scope: Scope): void {
    const value = schema[keyword]!
    const guarded = guardedBy(keyword, schema)
    const guard = guarded && guardOf(made, guarded, scope)
    const inPlace = scope.inPlace && IN_PLACE.has(keyword)
    const within: Scope = {
      ...scope,
      inPlace,
      readOnly: IN_PLACE.has(keyword) ? scope.readOnly : NO_NAMES,
      guards: guard ? [...scope.guards, guard] : scope.guards,
    }
    const read = (inner: Json, ...path: string[]) =>
      this.#schema(inner, { ...within, at: [...scope.at, keyword, ...path] })
    // Only `items` takes a list.
    if (holding === 'schema' && (keyword !== 'items' || !Array.isArray(value))) {
      made[keyword] = read(value)
      return
    }
    if (Array.isArray(value)) {
      // A list of `items` is what drafts before 2020-12 had for `prefixItems`.
      const listed = value.map((each, index) => read(each, String(index)))
      if (keyword === 'allOf') addParts(made, ...listed)
      else made[keyword === 'items' ? 'prefixItems' : keyword] = listed
      if (keyword === 'items') {
        delete made.items
        if (schema.additionalItems !== undefined) made.items = this.#schema(schema.additionalItems, within)
      }
      return
    }
    const members: JsonObject = {}
    for (const name of Object.keys(value as JsonObject)) {
      const inner = (value as JsonObject)[name]!
      const why = nameFault(name) ?? (keyword === 'patternProperties' ? contentFault('pattern', name) : undefined)
      if (why === undefined) setMember(members, name, read(inner, name))
      else leaveOut(scope, [keyword, name], why, 'annotation')
    }
    made[keyword] = members
  }

  #reference(made: JsonObject, keyword: string, reference: string, scope: Scope): void {
    const at = this.#names.find(reference, scope.base, keyword)
    if (typeof at === 'string') {
      leaveOut(scope, [keyword], at, 'annotation')
      return
    }
    const passed = scope.readOnly.size === 0 ? NO_NAMES : this.#withoutKnown(scope.readOnly, at)
    const to = this.#target(at, passed)
    // A second reference beside the first one.
    if (made.$ref === undefined) made.$ref = to.name
    else addParts(made, { $ref: to.name })
    scope.target.leadsTo.add(to)
    for (const guard of scope.guards) guard.leadsTo.add(to)
    if (scope.inPlace) scope.target.inPlace.push({ to, holder: made, scope })
  }

  #withoutKnown(names: ReadonlySet<string>, at: TreePath): ReadonlySet<string> {
    const target = getAt(this.#document, at)
    if (!isObject(target)) return NO_NAMES
    const known = this.#readOnlyIn(target, this.#names.baseOf(at))
    const more = [...names].filter((name) => !known.has(name))
    return more.length === 0 ? NO_NAMES : new Set(more)
  }

  /** Names of properties that a schema calls read-only, itself or where `$ref` and `allOf` lead: requests need not have them. */
  #readOnlyIn(schema: JsonObject, base: TreePath): ReadonlySet<string> {
    const known = this.#readOnly.get(schema)
    if (known !== undefined) return known
    const names = new Set<string>()
    this.#readOnly.set(schema, names)
    const { properties, allOf, $ref } = schema
    if (isObject(properties))
      for (const name of Object.keys(properties)) if (this.#isReadOnly(properties[name]!, base, 0)) names.add(name)
    for (const part of Array.isArray(allOf) ? allOf.filter(isObject) : [])
      for (const name of this.#readOnlyIn(part, base)) names.add(name)
    const to = typeof $ref === 'string' ? this.#names.find($ref, base, '$ref') : ''
    const target = typeof to === 'string' ? undefined : getAt(this.#document, to)
    if (typeof to !== 'string' && isObject(target))
      for (const name of this.#readOnlyIn(target, this.#names.baseOf(to))) names.add(name)
    return names
  }

  #isReadOnly(property: Json, base: TreePath, depth: number): boolean {
    if (!isObject(property) || depth > MOST_STEPS) return false
    if (flagOf(property, 'readOnly')) return true
    const { $ref, allOf } = property
    if (Array.isArray(allOf) && allOf.some((part) => this.#isReadOnly(part, base, depth + 1))) return true
    if (typeof $ref !== 'string') return false
    const to = this.#names.find($ref, base, '$ref')
    if (typeof to === 'string') return false
    return this.#isReadOnly(getAt(this.#document, to) ?? null, this.#names.baseOf(to), depth + 1)
  }
}

function addParts(made: JsonObject, ...parts: Json[]): void {
  made.allOf = [...(Array.isArray(made.allOf) ? made.allOf : []), ...parts]
}

function guardedBy(keyword: string, schema: JsonObject): Guard['keyword'] | undefined {
  if (keyword === 'not' || keyword === 'oneOf' || keyword === 'if') return keyword
  return keyword === 'contains' && schema.maxContains !== undefined ? keyword : undefined
}

function guardOf(holder: JsonObject, keyword: Guard['keyword'], { target, at }: Scope): Guard {
  const guard: Guard = { holder, keyword, at, leadsTo: new Set(), loss: 'none' }
  target.guards.push(guard)
  return guard
}

const losses = (holding: Holding): Loss => (holding === 'value' ? 'constraint' : 'annotation')
const RANK: readonly Loss[] = ['none', 'constraint', 'annotation']
const worse = (one: Loss, other: Loss): Loss => (RANK.indexOf(one) >= RANK.indexOf(other) ? one : other)

function leaveOut({ target, guards, at }: Scope, path: TreePath, reason: string, loss: Loss): void {
  target.unchecked.push({ at: [...at, ...path], reason })
  target.loss = worse(target.loss, loss)
  for (const guard of guards) guard.loss = worse(guard.loss, loss)
}

function closureOf(root: Target): Set<Target> {
  const reached = new Set([root])
  for (const each of reached) for (const to of each.leadsTo) reached.add(to)
  return reached
}

/** Takes out references by which a schema leads to itself without looking at a part of the value. */
function cutCircles(targets: readonly Target[]): void {
  const states = new Map<Target, 'open' | 'done'>()
  for (const start of targets) {
    if (states.has(start)) continue
    const path = [{ target: start, next: 0 }]
    states.set(start, 'open')
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const edge = step.target.inPlace[step.next++]
      if (edge === undefined) {
        states.set(step.target, 'done')
        path.pop()
      } else if (states.get(edge.to) === 'open') {
        if (edge.holder.$ref === edge.to.name) delete edge.holder.$ref
        else edge.holder.allOf = (edge.holder.allOf as JsonObject[]).filter(({ $ref }) => $ref !== edge.to.name)
        step.target.inPlace.splice(--step.next, 1)
        leaveOut(edge.scope, ['$ref'], 'leads to itself without an end', 'annotation')
      } else if (!states.has(edge.to)) {
        states.set(edge.to, 'open')
        path.push({ target: edge.to, next: 0 })
      }
    }
  }
}

/** Takes out keywords that would refuse values because something else was left out. */
function loosen(targets: readonly Target[]): void {
  const lossBehind = (direct: Loss, leadsTo: Iterable<Target>) => {
    let loss = direct
    for (const to of leadsTo) loss = worse(loss, to.loss)
    return loss
  }
  for (let isChanging = true; isChanging; ) {
    isChanging = false
    for (const target of targets) {
      const loss = lossBehind(target.loss, target.leadsTo)
      if (loss !== target.loss) isChanging = true
      target.loss = loss
      for (const guard of target.guards) {
        const behind = lossBehind(guard.loss, guard.leadsTo)
        if (behind === 'none' || (guard.keyword === 'unevaluated' && behind !== 'annotation')) continue
        if (!takeOut(guard)) continue
        isChanging = true
        target.unchecked.push({ at: [...guard.at, NAMES[guard.keyword]], reason: 'holds a part that is not checked' })
        target.loss = 'annotation'
        for (const outer of target.guards) if (isWithin(guard.at, outer)) outer.loss = 'annotation'
      }
    }
  }
}

const NAMES = {
  not: 'not',
  if: 'if',
  oneOf: 'oneOf',
  contains: 'contains',
  unevaluated: 'unevaluatedProperties',
} as const

const isWithin = (at: TreePath, { at: outer, keyword }: Guard) =>
  outer.every((name, index) => at[index] === name) && (keyword === 'unevaluated' || at[outer.length] === keyword)

/** False when there is nothing left to take out. */
function takeOut({ holder, keyword }: Guard): boolean {
  if (keyword === 'unevaluated') {
    const has = 'unevaluatedProperties' in holder || 'unevaluatedItems' in holder
    delete holder.unevaluatedProperties
    delete holder.unevaluatedItems
    return has
  }
  if (!(keyword in holder)) return false
  if (keyword === 'oneOf') {
    // At least one of them still has to fit.
    const choice: JsonObject = { anyOf: holder.oneOf! }
    addParts(holder, choice)
  }
  for (const name of keyword === 'if' ? ['if', 'then', 'else'] : keyword === 'contains' ? CONTAINS : [keyword])
    delete holder[name]
  return true
}

const CONTAINS = ['contains', 'minContains', 'maxContains']

/** Takes out each `unevaluatedItems` for which a `contains` looks at the same list: the engine does not note which items that found. */
function leaveItemsToContains(targets: readonly Target[], contains: ContainsSearch): void {
  const named = new Map(targets.map((target) => [target.name, target]))
  const schemaOf = (name: string) => named.get(name)?.schema
  for (const target of targets)
    for (const guard of target.guards) {
      if (!('unevaluatedItems' in guard.holder) || !contains.leadsToContains(guard.holder, schemaOf)) continue
      delete guard.holder.unevaluatedItems
      const reason = '"contains" beside it, or in it, judges all items'
      target.unchecked.push({ at: [...guard.at, 'unevaluatedItems'], reason })
      target.loss = 'annotation'
      for (const outer of target.guards) if (outer !== guard && isWithin(guard.at, outer)) outer.loss = 'annotation'
    }
}

/** Takes out what holds for all other members, where not all of the others are known. */
function dropRest(made: JsonObject, schema: JsonObject): void {
  const size = (holder: JsonObject, name: string) => Object.keys(Object(holder[name])).length
  const named = (holder: JsonObject) => size(holder, 'properties') + size(holder, 'patternProperties')
  if (named(made) < named(schema)) delete made.additionalProperties
  if (size(made, 'prefixItems') < size(schema, 'prefixItems')) delete made.items
}

/** An `if` without consequences refuses nothing, but judges members, for which the engine does not look at it. */
function keepIfAlone(made: JsonObject): void {
  const isOpen = (schema: Json = true) => schema === true || (isObject(schema) && Object.keys(schema).length === 0)
  if (made.if === undefined || !isOpen(made.then) || !isOpen(made.else)) return
  addParts(made, { anyOf: [made.if, true] })
  delete made.if
}

/** OpenAPI 3.0 and old drafts say "exclusive" with a flag beside the bound. */
function withoutFlags(schema: JsonObject): JsonObject {
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
  return schema
}

/** `nullable` lets null in (OpenAPI 3.0); without a `type` beside it too, as its author wants. */
function withNull(made: JsonObject, { nullable }: JsonObject): JsonObject {
  if (nullable !== true) return made
  if (made.type !== undefined) {
    // The same object: what is taken out of it later is remembered by it.
    made.type = [...new Set([made.type, 'null'].flat())]
    return made
  }
  return Object.keys(made).length === 0 ? made : { anyOf: [{ type: 'null' }, made] }
}
