import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { isDocumentId, newDocumentId, reservedIdFlaw } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { checkPolicy } from '../../model/policies/policy.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import type { Policy } from '../../model/sessions/session.ts'
import { wholePolicy } from '../../model/sessions/session-zeros.ts'
import { isSameMoment } from '../../model/time/date-time.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, Revision } from '../../store/ports/ports.ts'
import { isDeletedElsewhere } from '../documents/deleted-ids.ts'
import { OPTIMISTIC_LOCK_CONFLICT, type OptimisticLockParts, optimisticLock } from '../documents/optimistic-lock.ts'
import { checkIdsFree } from '../documents/own-ids.ts'
import { auditOf, clockOf, orgOf, type PublishParts, type SecretParts, withLock } from '../documents/parts.ts'
import { clientsWithoutPolicy } from '../oauth-clients/oauth-cascade.ts'
import { checkSameOrganisation, inItsOrganisation } from '../organisations/organisation-of.ts'
import { endSubscriptions, subscriptionsWithout } from '../portal/developers/policy-removed.ts'
import { requirePolicy } from './policy-ids.ts'

/** A policy as it was stored. `id` is what keys name it by. */
export interface SavedPolicy {
  readonly id: string
  readonly policy: JsonObject
  readonly revision: Revision
}

/** The differences between those who store policies. */
export interface PolicyRules {
  /** Keep the `id` that was sent with a new one; the gateway's setting unless given. */
  readonly explicitIds?: boolean
  /** Characters of ids that paths and files need escapes for. */
  readonly unsafeIds?: boolean
  /** Without an id the storage id is used, instead of a refusal. */
  readonly fillIds?: boolean
  /** No other policy of the organisation may have the name. */
  readonly uniqueNames?: boolean
}

/**
 * Stores a new policy. Its `_id` is kept when it is a storage id; its `id` is replaced by `_id` unless
 * `allow_explicit_policy_id`. Without `id` the sent `_id` is used.
 * @throws Fault `policy_invalid` (400, also without any id), `policy_name_taken` (400), `id_taken` (409)
 */
export function createPolicy(
  parts: PublishParts & OptimisticLockParts,
  body: JsonObject,
  actor: string,
  rules: PolicyRules = {},
): Promise<SavedPolicy> {
  // In turn, so that of two policies of one name only one gets through.
  return withLock(parts, () => retryOnConflict(() => create(parts, body, actor, rules), OPTIMISTIC_LOCK_CONFLICT))
}

async function create(
  parts: PublishParts & OptimisticLockParts,
  body: JsonObject,
  actor: string,
  { explicitIds = parts.config.gateway.allow_explicit_policy_id, ...rules }: PolicyRules,
): Promise<SavedPolicy> {
  const checked = checkPolicy(body, { allowUnsafeIds: rules.unsafeIds === true })
  const documentId = isDocumentId(checked._id) ? checked._id : newDocumentId(clockOf(parts).wall())
  const wanted = (explicitIds ? checked.id || checked._id : documentId) || (rules.fillIds ? documentId : '')
  if (wanted === '') throw fault('policy_invalid', 'Unable to create policy without id.')
  const reserved = reservedIdFlaw('policy', wanted)
  if (reserved !== undefined) throw fault('policy_invalid', `id: ${reserved}`)
  const orgId = orgOf(parts, (await inItsOrganisation(parts, checked as JsonObject)).org_id)
  await checkSameOrganisation(parts, orgId, policyApisOf(checked as JsonObject), 'policy_invalid')
  const turn = rules.uniqueNames ? await policyNameLock(parts, orgId, checked.name, undefined) : []
  const isTaken =
    (await parts.documents.get('policy', documentId)) !== undefined ||
    (await isDeletedElsewhere(parts, 'policy', documentId, orgId))
  if (isTaken) throw fault('id_taken', `policy ${documentId}`)
  await checkIdsFree(parts, 'policy', { orgId, id: wanted, documentId })
  const date_created = checked.date_created || new Date(clockOf(parts).wall()).toISOString()
  const policy = completed(parts, checked, { _id: documentId, id: wanted, org_id: orgId, date_created })
  const audit = auditOf(parts, actor, 'policy.create', orgId, { id: wanted, _id: documentId })
  const put = { op: 'put', kind: 'policy', id: documentId, body: policy, ifRevision: 0 } as const
  return { id: wanted, policy, revision: await parts.documents.commit([put, ...turn], audit) }
}

/**
 * Replaces a policy. Live keys follow at once. Its ids, organisation and, unless another one is sent, date of creation stay what
 * they are.
 * @throws Fault `policy_invalid` (400, also for another id than `id`), `policy_name_taken` (400), `not_found` (404),
 *   `revision_conflict` (409)
 */
export function updatePolicy(
  parts: PublishParts & OptimisticLockParts,
  wanted: { readonly id: string; readonly orgId?: string },
  body: JsonObject,
  actor: string,
  rules: PolicyRules = {},
): Promise<SavedPolicy> {
  return withLock(parts, () =>
    retryOnConflict(() => update(parts, wanted, body, actor, rules), OPTIMISTIC_LOCK_CONFLICT),
  )
}

async function update(
  parts: PublishParts & OptimisticLockParts,
  wanted: { readonly id: string; readonly orgId?: string },
  body: JsonObject,
  actor: string,
  rules: PolicyRules,
): Promise<SavedPolicy> {
  const stored = await requirePolicy(parts, wanted.id, wanted.orgId)
  const before = stored.body
  const checked = checkPolicy(body, { allowUnsafeIds: rules.unsafeIds === true })
  for (const given of [checked.id, checked._id]) {
    if (given !== undefined && given !== '' && given !== before.id && given !== before._id) {
      throw fault('policy_invalid', 'Request ID does not match that in policy! For Update operations these must match.')
    }
  }
  const orgId = before.org_id ?? ''
  if (checked.org_id !== undefined && checked.org_id !== '' && checked.org_id !== orgId) {
    throw fault('policy_invalid', 'a policy cannot move to another organisation')
  }
  const apiIds = policyApisOf(checked as JsonObject)
  if (apiIds.join('\n') !== policyApisOf(before as JsonObject).join('\n'))
    await checkSameOrganisation(parts, orgId, apiIds, 'policy_invalid')
  const isRenamed = rules.uniqueNames && checked.name !== before.name
  const turn = isRenamed ? await policyNameLock(parts, orgId, checked.name, stored.id) : []
  const id = before.id ?? stored.id
  const made = stored.body.date_created
  const isDated = checked.date_created && !isSameMoment(checked.date_created, made)
  const dated = isDated || made === undefined ? {} : { date_created: made }
  const written = completed(parts, checked, { _id: stored.id, id, org_id: orgId, ...dated })
  const { last_updated } = stored.body
  const policy =
    last_updated !== undefined && isSamePolicy(written, stored.body) ? { ...written, last_updated } : written
  const audit = auditOf(parts, actor, 'policy.update', orgId, { id, _id: stored.id })
  const put = { op: 'put', kind: 'policy', id: stored.id, body: policy, ifRevision: stored.revision } as const
  return { id, policy, revision: await parts.documents.commit([put, ...turn], audit) }
}

/**
 * Deletes a policy. Keys that name it stay: with no other policy they are refused from then on; those of developers end then, and
 * their records follow. Tokens of OAuth clients that name it end, and clients that are registered by it go.
 * @throws Fault `not_found` (404)
 */
export function removePolicy(
  parts: SecretParts,
  wanted: { readonly id: string; readonly orgId?: string },
  actor: string,
): Promise<SavedPolicy> {
  return withLock(parts, () => remove(parts, wanted, actor))
}

async function remove(
  parts: SecretParts,
  wanted: { readonly id: string; readonly orgId?: string },
  actor: string,
): Promise<SavedPolicy> {
  const removed = await retryOnConflict(async () => {
    const { id: documentId, body } = await requirePolicy(parts, wanted.id, wanted.orgId)
    const id = typeof body.id === 'string' ? body.id : documentId
    const policy = { id, orgId: orgText(body) }
    const audit = auditOf(parts, actor, 'policy.delete', policy.orgId, { id, _id: documentId })
    const developers = await subscriptionsWithout(parts, policy, actor)
    const clients = await clientsWithoutPolicy(parts, policy, clockOf(parts).wall())
    const change = { op: 'delete', kind: 'policy', id: documentId } as const
    const revision = await parts.documents.commit([change, ...clients.changes, ...developers], audit)
    clients.sweep(parts)
    return { id, policy: body, revision }
  })
  // Another process may have created a subscription while it still saw the policy.
  await endSubscriptions(parts, { id: removed.id, orgId: orgText(removed.policy) }, actor)
  return removed
}

/** The policies with these ids in an organisation, in order; undefined where there is none. */
export async function readPolicies(
  parts: PublishParts,
  orgId: string,
  ids: readonly string[],
): Promise<(Policy | undefined)[]> {
  const found = await Promise.all(ids.map((id) => findInOrg(parts, orgId, id)))
  return found.map((stored) => stored?.body)
}

/** The turn of a name that is free. @throws Fault `policy_name_taken` when a policy other than `own` has the name */
export async function policyNameLock(
  parts: PublishParts & OptimisticLockParts,
  orgId: string,
  name: string | undefined,
  own: string | undefined,
): Promise<Change[]> {
  if (name === undefined || name === '') return []
  const turn = await optimisticLock(parts, `policy-name:${orgId}/${name}`)
  const { rows } = await parts.documents.list('policy', { where: { org_id: orgId, name }, limit: 2 })
  if (rows.some(({ id }) => id !== own)) throw fault('policy_name_taken')
  return turn
}

function findInOrg(parts: PublishParts, orgId: string, id: string) {
  return parts.documents.find('policy', 'org_policy', `${orgId}/${id}`)
}

function completed(parts: PublishParts, policy: Policy, ids: JsonObject): JsonObject {
  const last_updated = String(Math.floor(clockOf(parts).wall() / 1000))
  return { ...policy, ...ids, last_updated }
}

/** True where only the date differs, and members that a read shows with zero values. */
function isSamePolicy(a: JsonObject, b: JsonObject): boolean {
  const comparable = (policy: JsonObject) => ({
    ...wholePolicy(policy),
    state: policy.state ?? 'active',
    last_updated: '',
  })
  return isDeepStrictEqual(comparable(a), comparable(b))
}

function orgText(body: JsonObject): string {
  return typeof body.org_id === 'string' ? body.org_id : ''
}
