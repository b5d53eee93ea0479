import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Documents, StoredDocument } from '../../store/ports/ports.ts'
import { findByEitherId } from '../documents/own-ids.ts'

type Parts = { readonly documents: Documents }

/** The members by which objects name policies. */
const MEMBERS = {
  session: ['apply_policies', 'apply_policy_id'],
  client: ['policies', 'policy_id'],
  entry: ['policy_id'],
  profile: ['MatchedPolicyID'],
} as const

/**
 * Finds a policy by its `id`, else by its `_id`: in this organisation, or in any when none is named.
 * @throws Fault `not_found` (404), `query_invalid` (400) when several organisations use the id
 */
export async function findPolicy(parts: Parts, id: string, orgId?: string): Promise<StoredDocument<'policy'>> {
  if (orgId !== undefined) {
    const stored = await findByEitherId(parts, 'policy', orgId, id)
    if (stored === undefined) throw fault('not_found', 'Policy not found')
    return stored
  }
  const { rows } = await parts.documents.list('policy', { where: { id }, limit: 2 })
  const kept = isDocumentId(id) ? await parts.documents.get('policy', id) : undefined
  const [stored, ...others] = kept === undefined ? rows : [...rows, kept]
  if (stored === undefined) throw fault('not_found', 'Policy not found')
  if (others.some(({ body }) => orgOf(body) !== orgOf(stored.body)))
    throw fault('query_invalid', `several organisations have a policy ${id}: name one with org_id`)
  return stored
}

/**
 * The `id` of the policy of an organisation that has this `id` or `_id`: objects store the `id`. An id that names no policy stays as it
 * is. @throws Fault `store_away`
 */
export async function resolvePolicyId(parts: Parts, orgId: string, id: string): Promise<string> {
  if (!isDocumentId(id)) return id
  const stored = await findByEitherId(parts, 'policy', orgId, id)
  return typeof stored?.body.id === 'string' && stored.body.id !== '' ? stored.body.id : id
}

/** `resolvePolicyId` for a list, each policy once. @throws Fault `store_away` */
export async function policyIdsIn(parts: Parts, orgId: string, ids: readonly string[]): Promise<string[]> {
  return [...new Set(await Promise.all(ids.map((id) => resolvePolicyId(parts, orgId, id))))]
}

/**
 * A session, OAuth client, catalogue entry or identity profile from outside with the `id`s of its policies in place of `_id`s. To be called before rights are checked: they
 * are judged by `id`. Values of a wrong type are left to the checks of the noun. @throws Fault `store_away`
 */
export async function withPolicyIds(
  parts: Parts,
  orgId: string,
  noun: keyof typeof MEMBERS,
  body: JsonObject,
): Promise<JsonObject> {
  const resolved: JsonObject = {}
  for (const name of MEMBERS[noun]) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (typeof value === 'string') resolved[name] = await resolvePolicyId(parts, orgId, value)
    else if (isListOfTexts(value) && value.some(isDocumentId)) resolved[name] = await policyIdsIn(parts, orgId, value)
  }
  return { ...body, ...resolved }
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function orgOf({ org_id: orgId }: JsonObject): string {
  return typeof orgId === 'string' ? orgId : ''
}
