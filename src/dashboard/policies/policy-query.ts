import { fault } from '../../errors/fault.ts'
import { findPolicy } from '../../publish/policies/policy-ids.ts'
import type { ListQuery, Where } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { type PolicyApis, visiblePolicies } from './policy-apis.ts'

type Query = Omit<ListQuery, 'offset' | 'limit'>

const ORDERS: Readonly<Record<string, string>> = {
  date_created: 'date_created',
  name: 'name_folded',
  state: 'state_order',
}
const MOST_NAMED = 1000
const ID = /^[A-Za-z0-9._~-]+$/
const STATES = new Set(['active', 'draft', 'deny'])

/** The store query of a list of policies: the caller's visibility and the filters of the query. @throws Fault `query_invalid` (400) */
export async function policyQuery(parts: DashboardParts, apis: PolicyApis, call: Call): Promise<Query> {
  const orgId = call.actor?.orgId ?? ''
  const sort = call.query('sort')
  const order = ORDERS[sort.replace(/^-/, '')]
  const and: Where[] = []
  const visible = await visiblePolicies(apis, orgId, call.visibility)
  if (visible !== undefined) and.push({ id: visible })
  const ids = wordsOf(call, 'policy_ids')
  if (ids.length > 0) and.push({ id: await namedPolicies(parts, orgId, ids) })
  for (const [name, index] of [
    ['state', 'state'],
    ['api_id', 'api_id'],
    ['auth_type', 'auth_type'],
  ] as const) {
    const words = wordsOf(call, name)
    if (words.length > 0) and.push({ [index]: words })
  }
  if (wordsOf(call, 'state').some((word) => !STATES.has(word)))
    throw fault('query_invalid', 'state is not one of active, draft, deny')
  if (call.query('active') !== '') and.push({ state: 'active' })
  const part = call.query('q')
  return {
    where: call.visibility.whereOrg(),
    ...(and.length > 0 && { and }),
    ...(part !== '' && { contains: { index: ['name', 'id'], part } }),
    ...(order !== undefined && { order, descending: sort.startsWith('-') }),
  }
}

/** The `id` of each policy that is named by `id` or `_id`; those that are not there are left out. */
async function namedPolicies(parts: DashboardParts, orgId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.some((id) => !ID.test(id))) throw fault('query_invalid', 'Policy ID is not in hex format.')
  const found: string[] = []
  for (const id of ids) {
    const stored = await findPolicy(parts, id, orgId === '' ? undefined : orgId)
    if (stored !== undefined) found.push(String(stored.body.id ?? stored.id))
  }
  return found
}

function wordsOf(call: Call, name: string): string[] {
  const words = call
    .queryAll(name)
    .flatMap((text) => text.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (words.length > MOST_NAMED) throw fault('query_invalid', `${name} names more than ${MOST_NAMED}`)
  return [...new Set(words)]
}
