import { fault } from '../../errors/fault.ts'
import { FOLDED_LENGTH, foldedIndex } from '../../model/documents/kinds.ts'
import { foldCase } from '../../model/text/fold.ts'
import type { Contains, Kind, ListQuery, Where } from '../ports/ports.ts'
import { wellFormed } from './cells.ts'
import { checkIndex, indexesOf } from './prepare.ts'

/** A document matches when it is filed under one of the values. */
export interface ListCondition {
  readonly name: string
  /** Each once. None: nothing matches. */
  readonly values: readonly string[]
}

export interface ListPart {
  readonly names: readonly string[]
  readonly text: string
  /** True when no document has more than one value under them. */
  readonly once: boolean
}

/** A list as the adapters answer it: indexes checked, values as they are stored. */
export interface PreparedList {
  readonly conditions: readonly ListCondition[]
  /** Folded text that a value under one of the indexes must hold. */
  readonly part: ListPart | undefined
  /** undefined = by id. */
  readonly order: string | undefined
  /** True when every document of the kind has exactly one entry under `order`. */
  readonly sorted: boolean
  readonly descending: boolean
  readonly offset: number
  /** 0 to 1,000; -1 = all. */
  readonly limit: number
}

const MAX_PAGE = 1_000
/** Of all conditions together, for stores that bind each of them. */
const MOST_VALUES = 10_000

/** Checks and copies a query. @throws Fault `internal` for an index that is not declared, or too many values (mistakes of the calling code) */
export function prepareList(kind: Kind, query: ListQuery): PreparedList {
  const { order } = query
  if (order !== undefined) checkIndex(kind, order)
  const wheres = [...(query.where === undefined ? [] : [query.where]), ...(query.and ?? [])]
  const conditions = wheres.flatMap((where) => conditionsOf(kind, where))
  const values = conditions.reduce((sum, condition) => sum + condition.values.length, 0)
  if (values > MOST_VALUES) throw fault('internal', `a list of documents with ${values} values`)
  return {
    conditions,
    part: partOf(kind, query.contains),
    order,
    sorted: order !== undefined && Object.hasOwn(indexesOf(kind).sorted ?? {}, order),
    descending: query.descending === true,
    offset: wholeOffset(query.offset),
    limit: pageSize(query.limit),
  }
}

/** The number of rows of a page: whole, 0 to 1,000. */
export function pageSize(limit: number): number {
  return Math.min(MAX_PAGE, Math.max(0, Math.floor(limit) || 0))
}

/** How many rows a page leaves out: whole, 0 or more. */
export function wholeOffset(offset: number | undefined): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(offset ?? 0) || 0))
}

function conditionsOf(kind: Kind, where: Where): ListCondition[] {
  return Object.entries(where).map(([name, value]) => {
    checkIndex(kind, name)
    const values = typeof value === 'string' ? [value] : value
    return { name, values: [...new Set(values.map(wellFormed))] }
  })
}

function partOf(kind: Kind, contains: Contains | undefined): PreparedList['part'] {
  if (contains === undefined) return undefined
  const indexes = typeof contains.index === 'string' ? [contains.index] : contains.index
  const names = indexes.map((index) => {
    const name = foldedIndex(index)
    checkIndex(kind, name)
    return name
  })
  if (names.length === 0) throw fault('internal', 'a part is looked for under no index')
  const text = foldCase(wellFormed(contains.part))
  if (text === '') return undefined
  // No value is that long: what is looked for must not cost more than what is stored.
  const once = names.length === 1 && Object.hasOwn(indexesOf(kind).sorted ?? {}, names[0]!)
  return { names, once, text: text.slice(0, FOLDED_LENGTH + 1) }
}
