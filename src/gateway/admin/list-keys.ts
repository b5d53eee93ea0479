import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import { isKeyHash } from '../../model/key.ts'
import { rawKeyOf } from '../../publish/keys.ts'
import type { SessionRow } from '../../store/ports.ts'
import { type AdminAnswer, json } from './answer.ts'
import { type AdminParts, publishParts } from './parts.ts'
import { type AdminRequest, pageOf } from './request.ts'

const BATCH = 500
const PAGE = 1000
/** Longest list that is put together in memory; more is asked for page by page. */
const MOST = 100_000

/**
 * Answers `{"keys": [...]}`: hashes, or the keys themselves where the installation keeps them. `api_id`, `org_id` and `policy_id` narrow the
 * list, `filter` is how an entry begins. Without `p` everything at once up to 100,000 entries; a longer list ends there with
 * `"next"`, to be sent as `after`. With `p` a page of 1,000 and the number of `"pages"`, which counts without `filter`.
 */
export async function listKeys(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const page = pageOf(request)
  const where = whereOf(request)
  const filter = request.text('filter')
  const first = page === undefined ? 0 : (page - 1) * PAGE
  const most = page === undefined ? MOST : PAGE
  const keys: string[] = []
  let after = afterOf(request)
  let seen = 0
  let ended = false
  while (!ended && keys.length < most) {
    const limit = Math.min(BATCH, seen < first ? first - seen : most - keys.length)
    const { rows } = await parts.store.tokens.listSessions({ ...where, ...(after !== '' && { after }), limit })
    ended = rows.length < limit
    if (seen >= first) keys.push(...namesOf(parts, rows, filter))
    seen += rows.length
    after = rows.length === 0 ? after : Buffer.from(rows.at(-1)!.hash).toString('hex')
    await nextTurn()
  }
  if (page === undefined) return json({ keys, ...(!ended && { next: after }) })
  const total = await parts.store.tokens.countSessions(where)
  return json({ keys, pages: Math.max(1, Math.ceil(total / PAGE)) })
}

function namesOf(parts: AdminParts, rows: readonly SessionRow[], filter: string): string[] {
  const publish = publishParts(parts)
  const names = rows.map((row) => rawKeyOf(publish, row) ?? Buffer.from(row.hash).toString('hex'))
  return filter === '' ? names : names.filter((name) => name.startsWith(filter))
}

function whereOf(request: AdminRequest) {
  const [apiId, orgId, policyId] = [request.text('api_id'), request.text('org_id'), request.text('policy_id')]
  return { ...(apiId !== '' && { apiId }), ...(orgId !== '' && { orgId }), ...(policyId !== '' && { policyId }) }
}

function afterOf(request: AdminRequest): string {
  const after = request.text('after')
  if (after !== '' && !isKeyHash(after)) throw fault('query_invalid', 'after: must be a hash from a list before')
  return after.toLowerCase()
}
