import { Fault, fault, toFault } from '../../../errors/fault.ts'
import { type DocumentId, newDocumentId } from '../../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import {
  type KeyRequestDraft,
  readKeyRequest,
  requestedPolicies,
} from '../../../model/portal/key-requests/key-request.ts'
import { retryOnConflict } from '../../../runtime/retry-on-conflict.ts'
import type { Change, StoredDocument } from '../../../store/ports/ports.ts'
import { auditOf, clockOf, type SecretParts } from '../../documents/parts.ts'
import { issueAccess, toAccessView } from '../developers/developer-keys.ts'
import { developerIn, putDeveloper } from '../developers/developers.ts'
import {
  deleteStoredAccess,
  hasFreshLink,
  newLink,
  spendLink,
  storeAccess,
  takeStoredAccess,
} from './request-access.ts'
import { checkEligible, checkSelection, type RequestedAccess, resolveRequest } from './request-checks.ts'

const KIND = 'key_request'

/** Who calls about a request. `checkPolicy` throws for a policy that the caller may not use; undefined = no policy has the name. */
export interface RequestCaller {
  readonly orgId: string
  readonly actor: string
  readonly checkPolicy: (policy: StoredDocument | undefined) => void
  /** Throws when a link cannot reach the developer, so that nothing is approved that nobody could collect. */
  readonly checkLink: () => Promise<void>
}

/** The answer to a call that submits, approves or collects: ids, and the access where there is one. */
export interface RequestOutcome {
  readonly id: DocumentId
  readonly developer: StoredDocument
  /** The developer's access, as callers see it; undefined while there is none. */
  readonly access?: JsonObject
  /** True when the access was created by this call, and not only shown again. */
  readonly fresh?: boolean
  /** Code of the link that the developer must get by mail. */
  readonly code?: string
  /** Where the portal sends the developer. */
  readonly redirectTo?: string
}

/**
 * Stores a request. Unless it needs approval, it is approved in the same transaction: key or OAuth client, developer and request are
 * written together, or nothing is; with `secure_key_approval` only a link is made, and the key when the link is used. A pending request of
 * the same developer and policies is returned, or approved, instead.
 * @throws Fault `portal_invalid`, `request_refused`, `access_unserved`, `key_needless` (400), and what `issueAccess` refuses
 */
export function submitRequest(parts: SecretParts, asking: RequestCaller, sent: JsonObject): Promise<RequestOutcome> {
  return retryOnConflict(() => submit(parts, asking, sent))
}

async function submit(parts: SecretParts, asking: RequestCaller, sent: JsonObject): Promise<RequestOutcome> {
  const { orgId, actor } = asking
  const draft = readKeyRequest(sent)
  const developer = await developerIn(parts, orgId, draft.by_user)
  if (developer === undefined) throw fault('request_refused', 'by_user: developer not found')
  const wanted = await resolveRequest(parts, orgId, draft.policies, rulesOf(asking.checkPolicy, draft.body))
  checkSelection(wanted)
  await checkEligible(parts, wanted, developer, redirectOf(draft.body))
  const now = clockOf(parts).wall()
  const id = newDocumentId(now)
  const date_created = draft.body.date_created || new Date(now).toISOString()
  const body: JsonObject = { ...bodyOf(draft, wanted), org_id: orgId, approved: false, date_created }
  const stored: StoredDocument = { kind: KIND, id, revision: 0, body }
  const at: RequestContext = { parts, actor, stored, developer }
  if (wanted.waits) {
    const pending = await storePending(at)
    return { ...pending, ...redirectOfRequest(wanted, pending.id, developer.id) }
  }
  // One that waits from before approval was automatic is approved: beside another it could never be.
  const pending = await pendingLike(at)
  const last = pending === undefined ? at : { ...at, stored: withBody(pending, body) }
  return wanted.configuration.secure_key_approval ? sendLink(asking, last) : issue(last, { keep: true })
}

/**
 * Approves a request: creates its key or app, or with `secure_key_approval` the code of a link. Of several at once one wins. A request that
 * was approved automatically less than ten minutes ago is returned again, once.
 * @throws Fault `request_processed` (400), `request_refused` (400) when developer or policy are gone, and as `submitRequest`
 */
export function approveRequest(
  parts: SecretParts,
  asking: RequestCaller,
  requestId: DocumentId,
): Promise<RequestOutcome> {
  return retryOnConflict(async () => {
    const { actor, orgId } = asking
    const stored = await requestIn(parts, orgId, requestId)
    if (stored === undefined) throw fault('not_found', NOT_FOUND)
    const found = await developerIn(parts, orgId, String(stored.body.by_user))
    if (found === undefined) throw fault('request_refused', 'by_user: developer not found')
    const at: RequestContext = { parts, actor, stored, developer: found }
    if (stored.body.approved === true) return approvedBefore(asking, at)
    const wanted = await resolveRequest(
      parts,
      orgId,
      requestedPolicies(stored.body),
      rulesOf(asking.checkPolicy, stored.body),
    )
    try {
      await checkEligible(parts, wanted, found, redirectOf(stored.body))
      return await (wanted.configuration.secure_key_approval ? sendLink(asking, at) : issue(at, { keep: false }))
    } catch (error) {
      // Another approval may have been first, and its result blocks a second one.
      if ((await requestIn(parts, orgId, requestId))?.body.approved === true)
        throw fault('revision_conflict', undefined, error)
      throw error
    }
  })
}

/**
 * Makes what an approved request asks for, for the developer who has opened the link of the mail. Once.
 * @throws Fault `link_unusable` (400) for another developer's request, another code, one that was used or has expired
 */
export function collectAccess(
  parts: SecretParts,
  developer: StoredDocument,
  { id, code }: { readonly id: DocumentId; readonly code: string },
): Promise<RequestOutcome> {
  return retryOnConflict(async () => {
    const orgId = String(developer.body.org_id)
    const stored = await requestIn(parts, orgId, id)
    if (stored === undefined || stored.body.by_user !== developer.id || stored.body.collected !== false)
      throw fault('link_unusable')
    const used = await spendLink(parts, id, code)
    const now = await developerIn(parts, orgId, developer.id)
    if (used === undefined || now === undefined) throw fault('link_unusable')
    const actor = String(developer.body.email)
    const wanted = await resolveRequest(
      parts,
      orgId,
      requestedPolicies(stored.body),
      rulesOf(() => {}, stored.body),
    )
    await checkEligible(parts, wanted, now, redirectOf(stored.body))
    try {
      return await issue({ parts, actor, stored, developer: now }, { keep: false, used })
    } catch (error) {
      if (toFault(error).code === 'ticket_unusable') throw fault('link_unusable', undefined, error)
      throw error
    }
  })
}

/**
 * Changes a request; what is not sent stays. Once it is approved its policies stay what they are. Who asked never changes.
 * @throws Fault as `submitRequest`, `request_processed` (400) for other policies of an approved one
 */
export function updateRequest(
  parts: SecretParts,
  asking: RequestCaller,
  requestId: DocumentId,
  sent: JsonObject,
): Promise<void> {
  return retryOnConflict(async () => {
    const { orgId, actor } = asking
    const stored = await requestIn(parts, orgId, requestId)
    if (stored === undefined) throw fault('not_found', NOT_FOUND)
    const { body: before } = stored
    const draft = readKeyRequest(sent, before)
    if (draft.by_user !== before.by_user) throw fault('request_refused', 'by_user: cannot be changed')
    const kept = { org_id: before.org_id!, approved: before.approved === true, by_user: before.by_user! }
    const changed = draft.policies.join('\n') !== requestedPolicies(before).join('\n')
    const wanted = changed
      ? await resolveRequest(parts, orgId, draft.policies, rulesOf(asking.checkPolicy, draft.body))
      : undefined
    if (wanted !== undefined) checkSelection(wanted)
    const own = { apply_policies: before.apply_policies!, for_plan: before.for_plan! }
    const named = wanted === undefined ? own : policyMembers(wanted)
    const others = requestedPolicies(named).join('\n') !== requestedPolicies(before).join('\n')
    if (kept.approved && others) throw fault('request_processed')
    const { collected: _collected, ...rest } = draft.body
    const mark = before.collected === undefined ? {} : { collected: before.collected }
    const body = { ...rest, ...named, ...kept, ...mark, date_created: before.date_created! }
    await commit({ parts, actor, stored }, 'update', [putRequest(stored, body)]).catch((error) => {
      throw isTaken(error) ? fault('request_refused', 'a request for these policies waits already', error) : error
    })
  })
}

/** Deletes a request, which declines one that waits; the key of one that was approved stays. @throws Fault `not_found` (404) */
export function removeRequest(
  parts: SecretParts,
  { orgId, actor }: RequestCaller,
  requestId: DocumentId,
): Promise<void> {
  return retryOnConflict(async () => {
    const stored = await requestIn(parts, orgId, requestId)
    if (stored === undefined) throw fault('not_found', 'Could not retrieve object for deletion')
    const { id, revision } = stored
    const changes: Change[] = [{ op: 'delete', kind: KIND, id, ifRevision: revision }, deleteStoredAccess(id)]
    await commit({ parts, actor, stored }, 'delete', changes)
  })
}

/** Forgets the link of a request, so that approving it again makes another one at once. @throws Fault `store_away`, `store_full` */
export async function withdrawLink({ documents }: Pick<SecretParts, 'documents'>, id: DocumentId): Promise<void> {
  await documents.commit([deleteStoredAccess(id)], undefined)
}

/** The changes that take away all requests of a developer who goes. They belong into that commit. */
export async function deleteRequestsChanges(
  { documents }: Pick<SecretParts, 'documents'>,
  developerId: string,
): Promise<readonly Change[]> {
  const changes: Change[] = []
  for await (const batch of documents.each(KIND, { where: { by_user: developerId } }))
    for (const { id } of batch) changes.push({ op: 'delete', kind: KIND, id }, deleteStoredAccess(id))
  return changes
}

/** A request of an organisation ('' = of any); undefined when there is none. */
export async function requestIn(
  { documents }: Pick<SecretParts, 'documents'>,
  orgId: string,
  id: DocumentId,
): Promise<StoredDocument | undefined> {
  const found = await documents.get(KIND, id)
  return found !== undefined && (orgId === '' || found.body.org_id === orgId) ? found : undefined
}

/** The response for an unknown request. */
export const NOT_FOUND = 'Could not retrieve portal object.'

interface RequestContext {
  readonly parts: SecretParts
  readonly actor: string
  readonly stored: StoredDocument
  readonly developer: StoredDocument
}

/** Stores a request until its approval. The developer is written too, so that it cannot be deleted at the same time and leave it behind. */
async function storePending(at: RequestContext): Promise<RequestOutcome> {
  const { stored, developer } = at
  try {
    await commit(at, 'create', [putRequest(stored, stored.body), putDeveloper(developer, developer.body)])
    return { id: stored.id, developer }
  } catch (error) {
    if (!isTaken(error)) throw error
    const there = await pendingLike(at)
    // Approved or declined since: then it is a new one after all.
    if (there === undefined) throw fault('revision_conflict', undefined, error)
    return { id: there.id, developer }
  }
}

/** The pending request of the same developer for the same policies. */
async function pendingLike({ parts, stored }: RequestContext): Promise<StoredDocument | undefined> {
  const { by_user, apply_policies } = stored.body
  return parts.documents.find(KIND, 'waiting', `${by_user}/${[...(apply_policies as string[])].sort().join(',')}`)
}

function withBody(pending: StoredDocument, body: JsonObject): StoredDocument {
  return { ...pending, body: { ...body, date_created: pending.body.date_created! } }
}

/** Makes key or client, in one transaction with developer and request. */
async function issue(
  { parts, actor, stored, developer }: RequestContext,
  { keep, used = [] }: { readonly keep: boolean; readonly used?: readonly Change[] },
): Promise<RequestOutcome> {
  const { id, body } = stored
  const after = { ...body, approved: true, ...(used.length > 0 && { collected: true }) }
  const { fields, redirect, app } = detailsOf(body)
  const issued = await issueAccess(parts, {
    developer,
    policies: requestedPolicies(body),
    fields,
    oauth: { redirect_uri: redirect, ...app },
    version: String(body.version),
    actor,
    action: 'key_request.approve',
    alongside: (made) => [
      putRequest(stored, after),
      ...(keep ? [storeAccess(parts, id, toAccessView(made))] : []),
      ...used,
    ],
  })
  return { id, developer, access: toAccessView(issued), fresh: true }
}

/** Marks a request as approved, its key not yet made, with a new code for the link. */
async function sendLink(asking: RequestCaller, at: RequestContext): Promise<RequestOutcome> {
  await asking.checkLink()
  const { parts, stored, developer } = at
  const { code, change } = newLink(parts, stored.id)
  const put = putRequest(stored, { ...stored.body, approved: true, collected: false })
  await commit(at, 'approve', [put, change, putDeveloper(developer, developer.body)])
  return { id: stored.id, developer, code }
}

async function approvedBefore(asking: RequestCaller, at: RequestContext): Promise<RequestOutcome> {
  const { parts, stored, developer } = at
  const { id, body } = stored
  if (body.collected === false) return (await hasFreshLink(parts, id)) ? { id, developer } : sendLink(asking, at)
  const access = await takeStoredAccess(parts, id)
  if (access === undefined) throw fault('request_processed')
  return { id, developer, access, fresh: false }
}

function detailsOf(body: JsonObject) {
  const fields = isObject(body.fields) ? (body.fields as Record<string, string>) : {}
  const redirect = redirectOf(body)
  const [description = '', useCase = ''] = [fields.oauth_app_description, fields.oauth_use_case]
  return { fields, redirect, app: { app_description: description, use_case: useCase } }
}

function redirectOf({ oauth_info: info }: JsonObject): string {
  return isObject(info) && typeof info.redirect_uri === 'string' ? info.redirect_uri : ''
}

function rulesOf(checkPolicy: RequestCaller['checkPolicy'], body: JsonObject) {
  return { checkPolicy, redirectUri: redirectOf(body) }
}

function bodyOf({ body, by_user }: KeyRequestDraft, wanted: RequestedAccess): JsonObject {
  const { collected: _collected, ...rest } = body
  return { ...rest, ...policyMembers(wanted), by_user }
}

function policyMembers({ policyIds }: RequestedAccess): JsonObject {
  return { for_plan: policyIds[0] ?? '', apply_policies: [...policyIds] }
}

/** Where the developer goes, with the ids that the third party needs to approve the request. */
function redirectOfRequest({ redirectTo, policyIds }: RequestedAccess, id: string, developerId: string) {
  if (redirectTo === '') return {}
  const url = new URL(redirectTo)
  url.searchParams.set('key_request_id', id)
  url.searchParams.set('user_id', developerId)
  url.searchParams.set('policy_id', policyIds.join(','))
  return { redirectTo: url.href }
}

function putRequest({ id, revision }: StoredDocument, body: JsonObject): Change {
  return { op: 'put', kind: KIND, id, body, ifRevision: revision }
}

function commit({ parts, actor, stored }: Omit<RequestContext, 'developer'>, did: string, changes: readonly Change[]) {
  const { id, body } = stored
  const detail = { id, by_user: body.by_user!, policies: requestedPolicies(body) }
  return parts.documents.commit(changes, auditOf(parts, actor, `${KIND}.${did}`, String(body.org_id), detail))
}

function isTaken(error: unknown): boolean {
  return error instanceof Fault && error.code === 'already_exists'
}
