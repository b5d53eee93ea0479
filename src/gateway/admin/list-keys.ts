import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import { hexOf } from '../../model/text/hex.ts'
import { rawKeyOf } from '../../publish/keys/keys.ts'
import { findPolicy } from '../../publish/policies/policy-ids.ts'
import { type AdminAnswer, absent, json } from './answer.ts'
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
export async function answerKeyList(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const page = pageOf(request)
  const where = await whereOf(parts, request)
  const taken = await take(
    parts,
    request,
    where,
    page === undefined ? { skip: 0, most: MOST } : { skip: (page - 1) * PAGE, most: PAGE },
  )
  if (page === undefined) return json({ keys: taken.keys, ...(taken.next !== undefined && { next: taken.next }) })
  const total = await parts.store.tokens.countSessions(where)
  return json({ keys: taken.keys, pages: Math.max(1, Math.ceil(total / PAGE)) })
}

/** Reads on in batches, letting traffic through between them, until there are enough entries. */
async function take(
  parts: AdminParts,
  request: AdminRequest,
  where: Awaited<ReturnType<typeof whereOf>>,
  bounds: { skip: number; most: number },
) {
  const publish = publishParts(parts)
  const filter = request.text('filter')
  const keys: string[] = []
  let { skip } = bounds
  let after = afterOf(request)
  for (;;) {
    const { rows } = await parts.store.tokens.listSessions({ ...where, ...(after !== '' && { after }), limit: BATCH })
    for (const row of rows) {
      if (keys.length === bounds.most) return { keys, next: after }
      const hash = hexOf(row.hash)
      after = hash
      const name = rawKeyOf(publish, row) ?? hash
      if (name.startsWith(filter) && skip-- <= 0) keys.push(name)
    }
    if (rows.length < BATCH) return { keys, next: undefined }
    await nextTurn()
  }
}

async function whereOf(parts: AdminParts, request: AdminRequest) {
  const [apiId, orgId, named] = [request.text('api_id'), request.text('org_id'), request.text('policy_id')]
  // Keys name their policies by `id`.
  const stored = isDocumentId(named)
    ? await findPolicy(publishParts(parts), named, orgId || undefined).catch(absent)
    : undefined
  const policyId = stored?.body.id || named
  return { ...(apiId !== '' && { apiId }), ...(orgId !== '' && { orgId }), ...(policyId !== '' && { policyId }) }
}

function afterOf(request: AdminRequest): string {
  const after = request.text('after')
  if (after !== '' && !isKeyHash(after)) throw fault('query_invalid', 'after: must be a hash from a list before')
  return after.toLowerCase()
}
