import { type TInteger, Type } from 'typebox'
import type { Call } from './call.ts'

/** The query parameter for rows of a page. */
export const PAGE_SIZE: TInteger = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'Rows of a page, where not the setting.',
})

/** How many rows match, in answers of one page to calls that name its size. */
export const RowTotal = Type.Optional(
  Type.Integer({
    description: 'Number of rows on all pages together, where `page_size` is given and `p` is not 0 or less.',
  }),
)

/** One page of a list, or all of it. */
export type Page = { readonly offset: number; readonly limit: number } | 'all'

/** The page that `p` asks for: 1 is the first and the default; 0 and every negative number ask for everything. */
export function pageOf(call: Pick<Call, 'query' | 'pageSize'>, limit = call.pageSize): Page {
  const asked = call.query('p')
  if (asked === '') return { offset: 0, limit }
  const number = Number(asked)
  if (!Number.isSafeInteger(number)) return { offset: 0, limit }
  if (number <= 0) return 'all'
  return { offset: Math.min((number - 1) * limit, Number.MAX_SAFE_INTEGER), limit }
}

/**
 * The same for calls that take `PAGE_SIZE`; `total`: the member of answers that counts all rows, where the size is given and one page is
 * requested. Lists of everything are answered as they are read, and not counted.
 */
export function sizedPageOf(call: Pick<Call, 'query' | 'pageSize'>): { readonly page: Page; readonly total?: string } {
  const size = Number(call.query('page_size'))
  const page = pageOf(call, size > 0 ? size : call.pageSize)
  return size > 0 && page !== 'all' ? { page, total: 'total' } : { page }
}

/** The value of `pages`: 0 when everything was requested, else at least 1. */
export function pagesOf(total: number, page: Page): number {
  return page === 'all' ? 0 : Math.max(1, Math.ceil(total / page.limit))
}
