import type { DimensionName } from '../../model/analytics/dimensions.ts'
import type { Exchange } from '../server/exchange.ts'

/** A dimension that requests of one session at one API differ by, besides tags and endpoint. */
export interface RequestDimension {
  readonly name: DimensionName
  /** Its value for a finished request; '' = not known. */
  readonly valueOf: (x: Exchange) => string
  /** Values that the requests of one key, and those without a key, are told apart by; requests with others are counted without. */
  readonly mostPerKey: number
  readonly mostWithoutKey: number
}

export const REQUEST_DIMENSIONS: readonly RequestDimension[] = [
  { name: 'country', valueOf: (x) => x.country, mostPerKey: 16, mostWithoutKey: 256 },
]
