import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SessionFilter, SessionRow, Tokens } from '../store/ports.ts'
import type { KeyTotals } from './key-totals.ts'

/** Which keys a list wants. */
export interface KeyQuery {
  /** '' = of all organisations. */
  readonly orgId: string
  /** Keys with rights on one of these APIs: by themselves, or by one of these policies. Absent = all. */
  readonly reach?: { readonly apiIds: readonly string[]; readonly policyIds: readonly string[] }
  /** Part of the alias; '' = any. */
  readonly part: string
}

const BATCH = 200

/** A page of keys in order of creation, those with rights of their own first, and how many there are. Counted and cut in the store. */
export async function pageOfKeys(
  { tokens, totals }: { readonly tokens: Tokens; readonly totals: KeyTotals },
  query: KeyQuery,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ rows: SessionRow[]; total: number }> {
  const { reach } = query
  const base = filterOf(query)
  if (reach === undefined) {
    const total = await totals.count(base)
    return { rows: (await tokens.listSessions({ ...base, offset, limit })).rows, total }
  }
  const own = { ...base, apiId: reach.apiIds }
  const byPolicy = { ...base, policyId: reach.policyIds }
  const [ownTotal, policyTotal, bothTotal] = await Promise.all([
    totals.count(own),
    totals.count(byPolicy),
    totals.count({ ...own, policyId: reach.policyIds }),
  ])
  const total = ownTotal + policyTotal - bothTotal
  const first = offset < ownTotal ? (await tokens.listSessions({ ...own, offset, limit })).rows : []
  const rest = { offset: Math.max(0, offset - ownTotal), limit: limit - first.length }
  if (rest.limit <= 0) return { rows: first, total }
  if (bothTotal === 0) return { rows: [...first, ...(await tokens.listSessions({ ...byPolicy, ...rest })).rows], total }
  return { rows: [...first, ...(await withoutOwn(tokens, query, rest))], total }
}

/** All keys that a query wants, in batches. */
export async function* eachKey(tokens: Tokens, query: KeyQuery): AsyncGenerator<readonly SessionRow[]> {
  const { reach } = query
  const base = filterOf(query)
  if (reach === undefined) return yield* batches(tokens, base)
  yield* batches(tokens, { ...base, apiId: reach.apiIds })
  const mine = new Set(reach.apiIds)
  for await (const rows of batches(tokens, { ...base, policyId: reach.policyIds }))
    yield rows.filter(({ apiIds }) => !apiIds.some((id) => mine.has(id)))
}

/** Rows that are reached by a policy alone. Only where some are reached both ways are they read one after the other. */
async function withoutOwn(
  tokens: Tokens,
  query: KeyQuery,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<SessionRow[]> {
  const mine = new Set(query.reach!.apiIds)
  const found: SessionRow[] = []
  let skip = offset
  for await (const rows of batches(tokens, { ...filterOf(query), policyId: query.reach!.policyIds })) {
    for (const row of rows) {
      if (row.apiIds.some((id) => mine.has(id)) || skip-- > 0) continue
      found.push(row)
      if (found.length === limit) return found
    }
  }
  return found
}

async function* batches(tokens: Tokens, filter: SessionFilter): AsyncGenerator<SessionRow[]> {
  let after: string | undefined
  do {
    const page = await tokens.listSessions({ ...filter, limit: BATCH, ...(after !== undefined && { after }) })
    yield page.rows
    after = page.next
    await nextTurn()
  } while (after !== undefined)
}

function filterOf({ orgId, part }: KeyQuery): SessionFilter {
  return { only: 'keys', ...(orgId !== '' && { orgId }), ...(part !== '' && { contains: part }) }
}
