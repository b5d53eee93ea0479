import type { Call } from './call.ts'

/** One page of a list, or all of it. */
export type Page = { readonly offset: number; readonly limit: number } | 'all'

/** The page that `p` asks for: 1 is the first and the default; 0 and every negative number ask for everything. */
export function pageOf(call: Pick<Call, 'query' | 'pageSize'>): Page {
  const asked = call.query('p')
  if (asked === '') return { offset: 0, limit: call.pageSize }
  const number = Number(asked)
  if (!Number.isSafeInteger(number)) return { offset: 0, limit: call.pageSize }
  if (number <= 0) return 'all'
  return { offset: Math.min((number - 1) * call.pageSize, Number.MAX_SAFE_INTEGER), limit: call.pageSize }
}

/** The value of `pages`: 0 when everything was requested, else at least 1. */
export function pagesOf(total: number, page: Page): number {
  return page === 'all' ? 0 : Math.max(1, Math.ceil(total / page.limit))
}
