import { fault } from '../errors/fault.ts'
import { isDocumentId, newDocumentId } from '../model/ids.ts'
import type { JsonObject } from '../model/json.ts'
import { checkPolicy } from '../model/policy.ts'
import type { Policy } from '../model/session.ts'
import type { Revision, StoredDocument } from '../store/ports.ts'
import { auditOf, clockOf, orgOf, type PublishParts } from './parts.ts'

/** A policy as it was stored. `id` is what keys name it by. */
export interface SavedPolicy {
  readonly id: string
  readonly policy: JsonObject
  readonly revision: Revision
}

/**
 * Stores a new policy. Its `_id` is kept when it is a storage id; its `id` is replaced by `_id` unless
 * `allow_explicit_policy_id`. Without `id` the `_id` that was sent stands for it.
 * @throws Fault `policy_invalid` (400, also without any id), `already_exists` (409)
 */
export async function createPolicy(parts: PublishParts, body: JsonObject, actor: string): Promise<SavedPolicy> {
  const { allow_explicit_policy_id: explicit } = parts.config.gateway
  const checked = checkPolicy(body)
  const documentId = isDocumentId(checked._id) ? checked._id : newDocumentId(clockOf(parts).wall())
  const wanted = explicit ? checked.id || checked._id : documentId
  if (wanted === undefined || wanted === '') throw fault('policy_invalid', 'Unable to create policy without id.')
  const orgId = orgOf(parts, checked.org_id)
  if ((await parts.documents.get('policy', documentId)) !== undefined) {
    throw fault('already_exists', `a policy with _id ${documentId}`)
  }
  if ((await findInOrg(parts, orgId, wanted)) !== undefined) throw fault('already_exists', `policy ${wanted}`)
  const policy = completed(parts, checked, { _id: documentId, id: wanted, org_id: orgId })
  const audit = auditOf(parts, actor, 'policy.create', orgId, { id: wanted, _id: documentId })
  const put = { op: 'put', kind: 'policy', id: documentId, body: policy, ifRevision: 0 } as const
  return { id: wanted, policy, revision: await parts.documents.commit([put], audit) }
}

/**
 * Replaces a policy. Live keys follow at once. Its ids and organisation stay what they are.
 * @throws Fault `policy_invalid` (400, also for another id than `id`), `not_found` (404), `revision_conflict` (409)
 */
export async function updatePolicy(
  parts: PublishParts,
  wanted: { readonly id: string; readonly orgId?: string },
  body: JsonObject,
  actor: string,
): Promise<SavedPolicy> {
  const stored = await findPolicy(parts, wanted.id, wanted.orgId)
  const before = stored.body as unknown as Policy
  const checked = checkPolicy(body)
  for (const given of [checked.id, checked._id]) {
    if (given !== undefined && given !== '' && given !== before.id && given !== before._id) {
      throw fault('policy_invalid', 'Request ID does not match that in policy! For Update operations these must match.')
    }
  }
  const orgId = before.org_id ?? ''
  if (checked.org_id !== undefined && checked.org_id !== '' && checked.org_id !== orgId) {
    throw fault('policy_invalid', 'a policy cannot move to another organisation')
  }
  const id = before.id ?? stored.id
  const policy = completed(parts, checked, { _id: stored.id, id, org_id: orgId })
  const audit = auditOf(parts, actor, 'policy.update', orgId, { id, _id: stored.id })
  const put = { op: 'put', kind: 'policy', id: stored.id, body: policy, ifRevision: stored.revision } as const
  return { id, policy, revision: await parts.documents.commit([put], audit) }
}

/** Deletes a policy. Keys that name it stay: with no other policy they are refused from then on. @throws Fault `not_found` (404) */
export async function removePolicy(
  parts: PublishParts,
  wanted: { readonly id: string; readonly orgId?: string },
  actor: string,
): Promise<SavedPolicy> {
  const { id: documentId, body } = await findPolicy(parts, wanted.id, wanted.orgId)
  const id = typeof body.id === 'string' ? body.id : documentId
  const audit = auditOf(parts, actor, 'policy.delete', orgText(body), { id, _id: documentId })
  const revision = await parts.documents.commit([{ op: 'delete', kind: 'policy', id: documentId }], audit)
  return { id, policy: body, revision }
}

/**
 * Finds a policy by its `id`, else by its `_id`: in this organisation, or in any when none is named.
 * @throws Fault `not_found` (404), `query_invalid` (400) when several organisations use the id
 */
export async function findPolicy(parts: PublishParts, id: string, orgId?: string): Promise<StoredDocument> {
  if (orgId !== undefined) {
    const stored = (await findInOrg(parts, orgId, id)) ?? (await findByDocumentId(parts, id))
    if (stored === undefined || orgText(stored.body) !== orgId) throw fault('not_found', 'Policy not found')
    return stored
  }
  const { rows } = await parts.documents.list('policy', { where: { id }, limit: 2 })
  if (rows.length > 1) throw fault('query_invalid', `several organisations have a policy ${id}: name one with org_id`)
  const stored = rows[0] ?? (await findByDocumentId(parts, id))
  if (stored === undefined) throw fault('not_found', 'Policy not found')
  return stored
}

/** The policies with these ids in an organisation, in order; undefined where there is none. */
export async function readPolicies(
  parts: PublishParts,
  orgId: string,
  ids: readonly string[],
): Promise<(Policy | undefined)[]> {
  const found = await Promise.all(ids.map((id) => findInOrg(parts, orgId, id)))
  return found.map((stored) => stored?.body as unknown as Policy | undefined)
}

function findInOrg(parts: PublishParts, orgId: string, id: string) {
  return parts.documents.find('policy', 'org_policy', `${orgId}/${id}`)
}

function findByDocumentId(parts: PublishParts, id: string) {
  return isDocumentId(id) ? parts.documents.get('policy', id) : undefined
}

function completed(parts: PublishParts, policy: Policy, ids: JsonObject): JsonObject {
  const last_updated = String(Math.floor(clockOf(parts).wall() / 1000))
  return { ...(policy as unknown as JsonObject), ...ids, last_updated }
}

function orgText(body: JsonObject): string {
  return typeof body.org_id === 'string' ? body.org_id : ''
}
