import type { Exchange } from '../server/exchange.ts'
import type { PartDimension } from './aggregate.ts'

/** A dimension that requests of one session at one API differ by, besides tags and endpoint. */
export interface RequestDimension extends PartDimension {
  /** Its value for a finished request; '' = not known. */
  readonly valueOf: (x: Exchange) => string
}

/** All of them. Those that a session or its API has are set where its plan is made. */
export const REQUEST_DIMENSIONS: readonly RequestDimension[] = [
  { name: 'country', valueOf: (x) => x.country, mostPerKey: 16, mostWithoutKey: 256 },
]
