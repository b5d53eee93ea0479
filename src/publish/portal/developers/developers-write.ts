import { fault, toFault } from '../../../errors/fault.ts'
import { newDocumentId } from '../../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { isKeyHash } from '../../../model/keys/key.ts'
import { NEVER } from '../../../model/people/user.ts'
import { policyIdsOf } from '../../../model/policies/merge-policies.ts'
import { portalFamily } from '../../../model/portal/developers/developer.ts'
import {
  invalid,
  membersApart,
  readDeveloper,
  sentDate,
  sentPassword,
} from '../../../model/portal/developers/developer-fields.ts'
import {
  changedKeyPolicies,
  keysWithoutHolder,
  unlistedKeys,
  withAppsListed,
  withKeyPolicies,
} from '../../../model/portal/developers/holdings.ts'
import { retryOnConflict } from '../../../runtime/retry-on-conflict.ts'
import type { Change, Revision, StoredDocument } from '../../../store/ports/ports.ts'
import { auditOf, clockOf, type SecretParts, withLock } from '../../documents/parts.ts'
import { findOrganisation } from '../../organisations/organisations.ts'
import { policyIdsIn } from '../../policies/policy-ids.ts'
import { deleteRequestsChanges } from '../key-requests/requests.ts'
import { deleteDeveloperChanges } from './developer-keys.ts'
import { developerByEmail, developerIn, putDeveloper } from './developers.ts'
import { type StoredPassword, storeDeveloperPassword } from './passwords.ts'

/** Who writes, and how. */
export interface DeveloperRules {
  readonly orgId: string
  readonly actor: string
  /** How many former passwords may not be used again. */
  readonly history: number
  /** True: a password may be a hash that another product made. */
  readonly imported: boolean
  /** Written in the same transaction. */
  readonly also?: (id: string) => readonly Change[]
  /** Only for the developer as it was at this revision. */
  readonly unchanged?: Revision
}

/** Keys of a record that are looked up because the developer does not have them. */
const MOST_UNHELD = 100

/**
 * Stores a new developer. A record may come without a password: then nobody signs in with one.
 * @throws Fault `developer_invalid`, `developer_password_invalid` (400), `developer_email_taken`, `developer_quota_reached` (403),
 * `passwords_busy` (503)
 */
export async function createDeveloper(
  parts: SecretParts,
  sent: JsonObject,
  rules: DeveloperRules,
): Promise<StoredDocument> {
  const read = readDeveloper(sent)
  await checkUnheld(parts, rules.orgId, {}, sent)
  const now = clockOf(parts).wall()
  const id = newDocumentId(now)
  const body: JsonObject = {
    ...read,
    org_id: rules.orgId,
    date_created: sentDate(sent) ?? new Date(now).toISOString(),
    ...{ keys: {}, subscriptions: {}, api_keys: {}, oauth_clients: {} },
    last_login_date: NEVER,
    ...((await newPassword(parts, {}, sent, rules)) ?? { password: '', password_updated: NEVER, PWHistory: [] }),
  }
  const put: Change = { op: 'put', kind: 'developer', id, body, ifRevision: 0 }
  return withLock(parts, async () => {
    const revision = await withRetries(async () => {
      if ((await developerByEmail(parts, rules.orgId, String(body.email))) !== undefined)
        throw fault('developer_email_taken')
      const count = await developerCountChange(parts, rules.orgId, 1)
      const audit = auditOf(parts, rules.actor, 'developer.create', rules.orgId, { id })
      return parts.documents.commit([put, ...count, ...(rules.also?.(id) ?? [])], audit)
    })
    return { kind: 'developer', id, revision, body }
  })
}

/** The keys (hashes) and OAuth apps (client ids) of a developer that a record left out. */
export interface Unlisted {
  readonly keys: readonly string[]
  readonly apps: readonly string[]
}

/**
 * Replaces a developer by a whole record. Kept although not sent: password, keys, subscriptions, OAuth apps, and dates. A
 * key can be listed under other policies that it has. A new password ends the
 * portal sessions, and so does `inactive`. Returns the keys and OAuth apps that a sent list leaves out: they are not deleted.
 * @throws Fault `developer_invalid`, `developer_password_invalid` (400), `developer_email_taken` (403), `not_found` (404),
 * `passwords_busy` (503), `revision_conflict` (409)
 */
export async function replaceDeveloper(
  parts: SecretParts,
  id: string,
  recordOf: (body: JsonObject) => JsonObject,
  rules: DeveloperRules,
): Promise<Unlisted> {
  const first = await found(parts, rules.orgId, id)
  const readOf = async (body: JsonObject) => withLabelIds(parts, rules.orgId, recordOf(body))
  const sent = await readOf(first.body)
  readDeveloper(sent)
  await checkUnheld(parts, rules.orgId, first.body, sent)
  await checkLabels(parts, first.body, sent)
  const kept = await newPassword(parts, first.body, sent, rules)
  let unlisted: Unlisted = { keys: [], apps: [] }
  await withLock(parts, () =>
    withRetries(async () => {
      const stored = await found(parts, rules.orgId, id)
      const record = stored.revision === first.revision ? sent : await readOf(stored.body)
      const edited = { ...membersApart(stored.body), ...readDeveloper(record), ...checkedPassword(first, stored, kept) }
      const listed = withAppsListed(withKeyPolicies(edited, record.keys), record.oauth_clients)
      unlisted = { keys: unlistedKeys(stored.body, record.keys), apps: listed.unlisted }
      const ends = kept !== undefined || isDeactivation(stored.body, listed.body)
      const changes: Change[] = [putDeveloper(stored, listed.body), ...(ends ? [endPortalSessionsChange(id)] : [])]
      return parts.documents.commit(changes, auditOf(parts, rules.actor, 'developer.update', rules.orgId, { id }))
    }),
  )
  return unlisted
}

/**
 * Sets the password of a developer, and ends the portal sessions and everything that was started with the old one.
 * @throws Fault `developer_password_invalid` (400) naming the rule, `not_found` (404), `passwords_busy` (503), and those of `also`
 */
export async function setDeveloperPassword(
  parts: SecretParts,
  id: string,
  password: string,
  rules: DeveloperRules,
): Promise<void> {
  const first = await found(parts, rules.orgId, id)
  const checkUnchanged = ({ revision }: StoredDocument) => {
    if (rules.unchanged === undefined || rules.unchanged === revision) return
    throw fault('revision_conflict', 'the developer was changed at the same time')
  }
  checkUnchanged(first)
  const kept = await storeDeveloperPassword(parts, first.body, { ...rules, password })
  await rewriteDeveloper(
    parts,
    id,
    { ...rules, action: 'developer.password' },
    (stored) => {
      checkUnchanged(stored)
      return { ...stored.body, ...checkedPassword(first, stored, kept) }
    },
    [...(rules.also?.(id) ?? []), endPortalSessionsChange(id)],
  )
}

/**
 * Deletes a developer with its keys, OAuth apps, tokens, requests and portal sessions, in one commit.
 * @throws Fault `not_found` (404), `revision_conflict` (409) when others keep changing it
 */
export function deleteDeveloper(
  parts: SecretParts,
  id: string,
  { orgId, actor }: Pick<DeveloperRules, 'orgId' | 'actor'>,
): Promise<Revision> {
  return withLock(parts, () =>
    withRetries(async () => {
      const stored = await found(parts, orgId, id)
      const changes: Change[] = [
        { op: 'delete', kind: 'developer', id: stored.id, ifRevision: stored.revision },
        ...(await deleteDeveloperChanges(parts, stored)),
        ...(await deleteRequestsChanges(parts, stored.id)),
        endPortalSessionsChange(stored.id),
        ...(await developerCountChange(parts, orgId, -1)),
      ]
      return parts.documents.commit(changes, auditOf(parts, actor, 'developer.delete', orgId, { id: stored.id }))
    }),
  )
}

/**
 * Changes a developer with `edit`, re-read when another writer was faster. `edit` may throw.
 * @throws Fault `not_found` (404), `revision_conflict` (409) when others keep changing it, and those of `edit` and `changes`
 */
export function rewriteDeveloper(
  parts: SecretParts,
  id: string,
  { orgId, actor, action }: Pick<DeveloperRules, 'orgId' | 'actor'> & { readonly action: string | undefined },
  edit: (stored: StoredDocument) => JsonObject,
  changes: readonly Change[] = [],
): Promise<StoredDocument> {
  return withLock(parts, () =>
    withRetries(async () => {
      const stored = await found(parts, orgId, id)
      const body = edit(stored)
      const audit = action === undefined ? undefined : auditOf(parts, actor, action, orgId, { id })
      const revision = await parts.documents.commit([putDeveloper(stored, body), ...changes], audit)
      return { ...stored, body, revision }
    }),
  )
}

/** True for a change that makes a developer inactive. */
export function isDeactivation(before: JsonObject, after: JsonObject): boolean {
  return after.inactive === true && before.inactive !== true
}

/** The change that ends all portal sessions of a developer. */
export function endPortalSessionsChange(id: string): Change {
  return { op: 'endFamily', family: portalFamily(id) }
}

async function found(parts: SecretParts, orgId: string, id: string): Promise<StoredDocument> {
  const stored = await developerIn(parts, orgId, id)
  if (stored === undefined) throw fault('not_found', 'Developer not found')
  return stored
}

function newPassword(
  parts: SecretParts,
  body: JsonObject,
  sent: JsonObject,
  { history, imported }: DeveloperRules,
): Promise<StoredPassword> | undefined {
  const password = sentPassword(sent)
  // Sending an exported record back changes no password.
  if (password === '' || password === body.password) return undefined
  return storeDeveloperPassword(parts, body, { password, history, imported })
}

/** A check against a password that was replaced meanwhile is void. */
function checkedPassword(first: StoredDocument, now: StoredDocument, kept: StoredPassword | undefined): JsonObject {
  if (kept === undefined) return {}
  if (first.body.password !== now.body.password)
    throw fault('revision_conflict', 'the password was changed at the same time')
  return { ...kept }
}

/** A key that is there and not the developer's is not taken over by naming it; one that is gone is passed over. */
async function checkUnheld(parts: SecretParts, orgId: string, body: JsonObject, sent: JsonObject): Promise<void> {
  const unheld = keysWithoutHolder(body, sent.keys)
  if (unheld.length > MOST_UNHELD) throw invalid(`keys: more than ${MOST_UNHELD} are not the developer's`)
  for (const hash of unheld) {
    const row = isKeyHash(hash) ? await parts.tokens.getSession(Buffer.from(hash, 'hex')) : undefined
    if (row?.orgId === orgId) throw invalid('keys: one of them is not a key of this developer')
  }
}

/** The record with the `id`s of policies as the labels of its keys. */
async function withLabelIds(parts: SecretParts, orgId: string, sent: JsonObject): Promise<JsonObject> {
  if (!isObject(sent.keys)) return sent
  const labels = Object.entries(sent.keys).map(async ([hash, label]) => {
    const isList = Array.isArray(label) && label.every((id) => typeof id === 'string')
    return [hash, isList ? await policyIdsIn(parts, orgId, label as string[]) : label] as const
  })
  return { ...sent, keys: Object.fromEntries(await Promise.all(labels)) }
}

/** A key is listed under policies that it has: the record is read to see what a developer may call. */
async function checkLabels(parts: SecretParts, body: JsonObject, sent: JsonObject): Promise<void> {
  for (const [hash, label] of changedKeyPolicies(body, sent.keys)) {
    const row = await parts.tokens.getSession(Buffer.from(hash, 'hex'))
    if (row === undefined) continue
    const has = new Set(policyIdsOf(row.body))
    for (const id of label) {
      if (has.has(id)) continue
      throw invalid(
        `keys: ${JSON.stringify(id)} is not a policy of the key; change the policies of a key by its own call`,
      )
    }
  }
}

/** Retries when another writer was faster. @throws Fault `developer_email_taken` (403) where that was a developer of the address */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await retryOnConflict(work)
  } catch (error) {
    const { code, message } = toFault(error)
    const taken = code === 'already_exists' && message.includes('org_email')
    throw taken ? fault('developer_email_taken', undefined, error) : error
  }
}

/**
 * The change that keeps the number of developers of an organisation right when one comes (1) or goes (-1). It is recounted each
 * time, so that nothing that went wrong before stays wrong. None where there is no organisation document.
 * @throws Fault `developer_quota_reached` (403) when one comes and there are as many as may be already
 */
async function developerCountChange(parts: SecretParts, orgId: string, by: 1 | -1): Promise<Change[]> {
  const organisation = await findOrganisation(parts, orgId)
  if (organisation === undefined) return []
  const { total } = await parts.documents.list('developer', { where: { org_id: orgId }, limit: 1 })
  const { id, revision, body } = organisation
  const quota = typeof body.developer_quota === 'number' ? body.developer_quota : 0
  if (by > 0 && quota > 0 && total >= quota) throw fault('developer_quota_reached')
  return [{ op: 'put', kind: 'organisation', id, body: { ...body, developer_count: total + by }, ifRevision: revision }]
}
