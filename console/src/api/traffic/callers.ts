import type { UsagePage } from './analytics.ts'
import { OPEN_KEY } from './dimensions.ts'

/** Callers of the first page of a breakdown by key, and how many pages there are. */
export interface Callers {
  readonly shown: number
  readonly pages: number
}

/** The callers in a breakdown by key; requests without a known key are none. */
export function callersIn({ data, pages }: UsagePage): Callers {
  return { shown: data.filter(({ id }) => id.key !== OPEN_KEY).length, pages }
}
