import { type TString, Type } from 'typebox'
import { DIMENSIONS, type DimensionFilter, type DimensionName, dimensionRow } from '../../model/analytics/dimensions.ts'
import type { Hit } from '../../model/analytics/hit.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { UsageQuery } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'

/** Longest text that a query may name. */
export const LONGEST = 1024

const FILTERS = DIMENSIONS.flatMap((name): (DimensionFilter & { name: DimensionName })[] => {
  const { filter } = dimensionRow(name)
  return filter === undefined ? [] : [{ name, ...filter }]
})

/** The parameters that narrow requests down by a dimension. */
export const FILTER_PARAMETERS: Readonly<Record<string, TString>> = Object.fromEntries(
  FILTERS.map(({ parameter, description, maxLength = LONGEST }) => [
    parameter,
    Type.String({ maxLength, description }),
  ]),
)

/** The filters of a call on requests. `isByApi`: true when all of them can be limited by API. */
export function filtersOf(call: Pick<Call, 'query'>): { where: NonNullable<UsageQuery['where']>; isByApi: boolean } {
  const asked = FILTERS.filter(({ parameter }) => call.query(parameter) !== '')
  const values = asked.map(({ name, parameter, isUpperCase }) => {
    const value = call.query(parameter)
    return [name, [isUpperCase ? value.toUpperCase() : value]] as const
  })
  return { where: Object.fromEntries(values), isByApi: asked.every(({ isByApi }) => isByApi) }
}

const SHOWN = DIMENSIONS.flatMap((name): { name: DimensionName; member: string; description: string }[] => {
  const { member } = dimensionRow(name)
  return member === undefined ? [] : [{ name, member: member.name, description: member.description }]
})

/** Members of the `id` of a row that show a dimension as it is stored. */
export const SHOWN_MEMBERS: Readonly<Record<string, TString>> = Object.fromEntries(
  SHOWN.map(({ member, description }) => [member, Type.String({ description })]),
)

/** The dimensions of a row of sums. */
export function shownMembers(row: Hit, by: UsageQuery['by']): JsonObject {
  return Object.fromEntries(
    SHOWN.filter(({ name }) => by.includes(name)).map(({ name, member }) => [member, row[name]]),
  )
}

/** The calls that list requests by one dimension. */
export const DIMENSION_LISTS: readonly {
  readonly path: string
  readonly summary: string
  readonly by: DimensionName
  readonly isSparse?: boolean
}[] = DIMENSIONS.flatMap((by) => {
  const { list } = dimensionRow(by)
  return list === undefined ? [] : [{ by, ...list }]
})
