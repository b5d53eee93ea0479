import type { Json, JsonObject } from '../../../src/model/json/json.ts'

/** Findings of a schema in a value: whether it fits, and the members and items that it has judged (JSON Schema 2020-12, 7.7.1). */
interface Found {
  fits: boolean
  readonly members: Set<string>
  readonly items: Set<number>
}

type Components = Readonly<Record<string, Json>>

const PREFIX = '#/components/schemas/'

/** Whether a value fits a schema, keyword by keyword in the words of JSON Schema 2020-12: slow, and nothing is done in advance. */
export function fitsByTheBook(schema: Json, value: Json, components: Components): boolean {
  return evaluated(schema, value, components).fits
}

function evaluated(schema: Json, value: Json, components: Components): Found {
  const found: Found = { fits: schema !== false, members: new Set(), items: new Set() }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return found
  const own = (name: string): Json | undefined => (Object.hasOwn(schema, name) ? schema[name] : undefined)
  const within = (inner: Json) => evaluated(inner, value, components)
  /** An applicator in place that must fit: its findings are those of its holder. */
  const take = (inner: Found) => {
    found.fits &&= inner.fits
    keep(found, inner)
  }
  const list = (name: string) => (own(name) as Json[] | undefined)?.map(within)
  const reference = own('$ref')
  if (typeof reference === 'string') take(within(components[reference.slice(PREFIX.length)]!))
  for (const each of list('allOf') ?? []) take(each)
  for (const name of ['anyOf', 'oneOf']) {
    const fitting = list(name)?.filter(({ fits }) => fits)
    if (fitting === undefined) continue
    for (const each of fitting) keep(found, each)
    if (fitting.length === 0 || (name === 'oneOf' && fitting.length > 1)) found.fits = false
  }
  if (own('not') !== undefined && within(own('not')!).fits) found.fits = false
  if (own('if') !== undefined) {
    const test = within(own('if')!)
    if (test.fits) keep(found, test)
    const next = own(test.fits ? 'then' : 'else')
    if (next !== undefined) take(within(next))
  }
  const types = own('type')
  if (types !== undefined && ![types].flat().some((type) => isOf(value, type as string))) found.fits = false
  if (Object.hasOwn(schema, 'const') && JSON.stringify(own('const')) !== JSON.stringify(value)) found.fits = false
  const choices = own('enum') as Json[] | undefined
  if (choices !== undefined && !choices.some((each) => JSON.stringify(each) === JSON.stringify(value)))
    found.fits = false
  if (Array.isArray(value)) judgeItems(found, own, value, components)
  else if (typeof value === 'object' && value !== null) judgeMembers(found, own, value, within, components)
  return found
}

function keep(found: Found, { members, items }: Found): void {
  for (const name of members) found.members.add(name)
  for (const index of items) found.items.add(index)
}

function isOf(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (value === null || Array.isArray(value)) return type === (value === null ? 'null' : 'array')
  return typeof value === type
}

type Own = (name: string) => Json | undefined

function judgeItems(found: Found, own: Own, value: Json[], components: Components): void {
  const judge = (schema: Json, index: number) => {
    found.items.add(index)
    if (!evaluated(schema, value[index]!, components).fits) found.fits = false
  }
  const prefix = (own('prefixItems') as Json[] | undefined) ?? []
  for (const index of value.keys())
    if (index < prefix.length) judge(prefix[index]!, index)
    else if (own('items') !== undefined) judge(own('items')!, index)
  if (own('contains') !== undefined) {
    const fitting = [...value.keys()].filter((index) => evaluated(own('contains')!, value[index]!, components).fits)
    for (const index of fitting) found.items.add(index)
    const least = (own('minContains') as number | undefined) ?? 1
    const most = (own('maxContains') as number | undefined) ?? Number.POSITIVE_INFINITY
    if (fitting.length < least || fitting.length > most) found.fits = false
  }
  if (own('minItems') !== undefined && value.length < Number(own('minItems'))) found.fits = false
  if (own('unevaluatedItems') === undefined) return
  for (const index of value.keys()) if (!found.items.has(index)) judge(own('unevaluatedItems')!, index)
}

function judgeMembers(
  found: Found,
  own: Own,
  value: JsonObject,
  within: (schema: Json) => Found,
  components: Components,
): void {
  const names = Object.keys(value)
  const judge = (schema: Json, name: string) => {
    found.members.add(name)
    if (!evaluated(schema, value[name]!, components).fits) found.fits = false
  }
  const map = (name: string) => Object.entries((own(name) as JsonObject | undefined) ?? {})
  for (const name of (own('required') as string[] | undefined) ?? [])
    if (!Object.hasOwn(value, name)) found.fits = false
  if (own('minProperties') !== undefined && names.length < Number(own('minProperties'))) found.fits = false
  if (own('propertyNames') !== undefined)
    for (const name of names) if (!evaluated(own('propertyNames')!, name, components).fits) found.fits = false
  for (const [name, needed] of map('dependentRequired'))
    if (Object.hasOwn(value, name) && (needed as string[]).some((each) => !Object.hasOwn(value, each)))
      found.fits = false
  for (const [name, schema] of map('dependentSchemas'))
    if (Object.hasOwn(value, name)) {
      const inner = within(schema)
      found.fits &&= inner.fits
      keep(found, inner)
    }
  const named = new Set<string>()
  for (const [name, schema] of map('properties'))
    if (Object.hasOwn(value, name)) {
      named.add(name)
      judge(schema, name)
    }
  for (const [pattern, schema] of map('patternProperties'))
    for (const name of names.filter((each) => new RegExp(pattern, 'u').test(each))) {
      named.add(name)
      judge(schema, name)
    }
  if (own('additionalProperties') !== undefined)
    for (const name of names) if (!named.has(name)) judge(own('additionalProperties')!, name)
  if (own('unevaluatedProperties') === undefined) return
  for (const name of names) if (!found.members.has(name)) judge(own('unevaluatedProperties')!, name)
}
