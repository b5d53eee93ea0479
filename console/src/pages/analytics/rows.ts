import type { UsageRow } from '../../api/traffic/analytics.ts'
import { type Dimension, dimensionRow, type UsageFilters } from '../../api/traffic/dimensions.ts'

/** How people call what a row is about. */
export function rowName(dimension: Dimension, { id }: UsageRow): string {
  return dimensionRow(dimension).name(id)
}

/** A second line where the name alone leaves open what is meant. */
export function rowHint(dimension: Dimension, { id }: UsageRow): string {
  return dimensionRow(dimension).hint?.(id) ?? ''
}

/** The filter for the requests of a row; undefined for a row of requests without the dimension. */
export function rowFilter(dimension: Dimension, { id }: UsageRow): Partial<UsageFilters> | undefined {
  const filter = dimensionRow(dimension).filter(id)
  return Object.values(filter).every((value) => value === '') ? undefined : filter
}

/** The identity of a row in its list. */
export function rowKey({ id }: UsageRow): string {
  return JSON.stringify(Object.values(id))
}

/** The next dimension, once requests are filtered. */
export function nextDimension(dimensions: readonly Dimension[], filters: UsageFilters): Dimension {
  const order: readonly Dimension[] = ['api', 'key', 'status', 'endpoint', 'version']
  return order.find((name) => dimensions.includes(name) && filters[name] === '') ?? 'status'
}
