import { fault } from '../../../errors/fault.ts'
import { ownWords } from '../../../model/apis/definition/vendor-words.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { epochAt } from '../../../model/oauth-clients/oauth-registration.ts'
import { tokenFactsOf } from '../../../model/oauth-clients/oauth-token.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import { appIdsOf, keysOf, subscriptionsOf, withoutKey } from '../../../model/portal/developers/holdings.ts'
import { type PortalConfiguration, signupFieldsOf } from '../../../model/portal/settings/portal-configuration.ts'
import type { Policy } from '../../../model/sessions/session.ts'
import { hexOf } from '../../../model/text/hex.ts'
import { expiresByPolicies, isExpired } from '../../../model/time/expiry.ts'
import type { Change, Revision, SessionRow, StoredDocument } from '../../../store/ports/ports.ts'
import { clockOf, type PublishParts, type SecretParts } from '../../documents/parts.ts'
import { findKey } from '../../keys/find-key.ts'
import { createDeveloperKey, type SavedKey, setDeveloperKeyPolicies } from '../../keys/keys.ts'
import { rotateKeyOfHolder } from '../../keys/rotate-key.ts'
import { CLIENT_KIND, storedApp } from '../../oauth-clients/oauth-client-parts.ts'
import { readPolicies } from '../../policies/policies.ts'
import { portalConfiguration } from '../settings/configuration.ts'
import type { AccessDraft, IssuedAccess } from './access.ts'
import { accessTypeOf, policyIdOf, wantedPolicies } from './access-type.ts'
import { makeApp } from './developer-apps.ts'
import { withHolder } from './developer-change.ts'
import { changesWithDeletion, formerKeysOf, isFormerKey } from './keys-of-developer.ts'
import { endSubscriptions } from './policy-removed.ts'

/**
 * Creates a key, or an OAuth client, for a developer: session or client, the developer's record and the related records are stored in
 * one transaction. The key inherits the fields of the portal's sign-up. Changes of one developer are serialised, so that of
 * two at once both are created. A policy can be subscribed to once, by one key; a new key replaces one that has expired.
 * @throws Fault `not_found` (404) for a developer who is gone; `subscription_refused`, `access_unserved`, `key_needless`,
 * `key_invalid`, `oauth_client_invalid` (400); `revision_conflict` (409) when others keep changing the developer
 */
export async function issueAccess(parts: SecretParts, draft: AccessDraft): Promise<IssuedAccess> {
  const made = await withHolder(parts, { [DEVELOPER_ID]: draft.developer.id }, async (developer) => {
    if (developer === undefined) throw fault('not_found', 'Developer not found')
    const orgId = orgIdOf(developer)
    const policies = await wantedPolicies(parts, orgId, draft.policies)
    const { type, leftOut } = await accessTypeOf(parts, policies, (draft.oauth?.redirect_uri ?? '') !== '')
    const configuration = await portalConfiguration(parts, orgId)
    const policyIds = policies.map(policyIdOf)
    const metaData = metaDataOf(parts, developer, configuration, draft.fields ?? {})
    const now: AccessDraft = { ...draft, developer, policies: policyIds }
    const issue =
      type === 'key' ? issueKey(parts, now, metaData, leftOut) : makeApp(parts, now, configuration, metaData)
    return { issued: await issue, orgId, policyIds }
  })
  await checkStillThere(parts, made.orgId, made.policyIds, draft.actor)
  return made.issued
}

/** The view of new access that a developer sees once. */
export function toAccessView(issued: IssuedAccess): JsonObject {
  if (issued.kind === 'key') {
    const { rawKey, leftOut } = issued
    if (leftOut.length === 0) return { RawKey: rawKey, Password: '' }
    const warning = `The key does not open ${leftOut.join(', ')}: these take tokens of an OAuth app, which oauth_info.redirect_uri asks for`
    return { RawKey: rawKey, Password: '', warnings: [warning] }
  }
  const { clientId, secret, policyId, redirectUri } = issued
  return { client_id: clientId, secret, policy_id: policyId, redirect_uri: redirectUri }
}

/**
 * A key of a developer by its hash, or where keys are kept by itself; also a rotated one that is still valid. Undefined for
 * the key of another owner. @throws Fault `store_away`
 */
export async function findDeveloperKey(
  parts: SecretParts,
  developer: StoredDocument,
  name: string,
): Promise<SessionRow | undefined> {
  const naming = parts.config.gateway.hash_keys ? 'hash' : 'guess'
  const found = await findKey(parts, { name, naming, orgId: orgIdOf(developer) })
  return found?.row.body[DEVELOPER_ID] === developer.id ? found.row : undefined
}

/**
 * Gives a key of a developer other policies; its subscriptions follow. Counts and expiry stay, but policies without an expiry renew a key
 * that has expired.
 * @throws Fault `not_found` (404), `subscription_refused`, `access_unserved`, `key_needless`, `key_invalid` (400)
 */
export async function changeDeveloperKey(
  parts: SecretParts,
  {
    row,
    policies: named,
    actor,
  }: { readonly row: SessionRow; readonly policies: readonly string[]; readonly actor: string },
): Promise<SavedKey> {
  const keyHash = hexOf(row.hash)
  const made = await withHolder(parts, row.body, async (developer) => {
    const now = await parts.tokens.getSession(row.hash)
    if (developer === undefined || now === undefined) throw fault('not_found', 'Could not retrieve key detail.')
    if (isFormerKey(now.body)) throw fault('subscription_refused', 'this key was replaced')
    const orgId = orgIdOf(developer)
    const wanted = await wantedPolicies(parts, orgId, named)
    if ((await accessTypeOf(parts, wanted, false)).type !== 'key')
      throw fault('subscription_refused', 'apply_policies: they ask for an OAuth client')
    const policies = wanted.map(policyIdOf)
    checkNew(developer, policies, keyHash)
    const at = clockOf(parts).wall()
    const bodies = wanted.map(({ body }) => body as Policy)
    const isRenewed = isExpired(now.body, at) && expiresByPolicies(bodies, at) === undefined
    const change = { row: now, policies, actor, isRenewed }
    return { saved: await setDeveloperKeyPolicies(parts, change, developer), orgId, policies }
  })
  await checkStillThere(parts, made.orgId, made.policies, actor)
  return made.saved
}

/**
 * Replaces one of a developer's keys by a new one: access rights, fields, expiry and counters move, the record names the new one at once.
 * The old one stays valid for `overlapS`. One that has expired is renewed: the new one expires as its policies say.
 * @throws Fault `not_found` (404), `key_invalid` (400) for one that was rotated
 */
export function rotateDeveloperKey(
  parts: SecretParts,
  { row, overlapS, actor }: { readonly row: SessionRow; readonly overlapS: number; readonly actor: string },
): Promise<SavedKey> {
  return withHolder(parts, row.body, async (developer) => {
    const now = await parts.tokens.getSession(row.hash)
    if (developer === undefined || now === undefined) throw fault('not_found', 'Could not retrieve key detail.')
    return rotateKeyOfHolder(parts, now, actor, { developer, overlapS })
  })
}

/**
 * The revocations at the deletion of a developer, for the same commit: keys, the keys that they replaced, OAuth clients and their
 * tokens. The tokens of a client beyond a thousand are void with it, and expire. @throws Fault `store_away`
 */
export async function deleteDeveloperChanges(
  parts: Pick<SecretParts, 'documents' | 'tokens'>,
  developer: StoredDocument,
): Promise<readonly Change[]> {
  const changes: Change[] = []
  for (const keyHash of keysOf(developer.body).keys()) {
    const row = await parts.tokens.getSession(Buffer.from(keyHash, 'hex'))
    if (row?.body[DEVELOPER_ID] !== developer.id) continue
    for (const { hash } of [row, ...(await formerKeysOf(parts.tokens, row))])
      changes.push({ op: 'deleteSession', hash })
  }
  for await (const batch of parts.documents.each('key_end', { where: { developer_id: developer.id } }))
    for (const { kind, id } of batch) changes.push({ op: 'delete', kind, id })
  for (const clientId of appIdsOf(developer.body)) changes.push(...(await endOfApp(parts, developer, clientId)))
  return changes
}

const MOST_TOKENS = 1000

async function endOfApp(
  parts: Pick<SecretParts, 'documents' | 'tokens'>,
  developer: StoredDocument,
  clientId: string,
): Promise<Change[]> {
  const stored = await storedApp(parts, clientId, developer.id)
  if (stored === undefined) return []
  const { rows } = await parts.tokens.listSessions({ clientId, limit: MOST_TOKENS })
  const { id, revision, body } = stored
  const issued = rows.filter((row) => {
    const facts = tokenFactsOf(row.body)
    return facts === undefined || epochAt(body, facts.api_id) === facts.epoch
  })
  return [
    { op: 'delete', kind: CLIENT_KIND, id, ifRevision: revision },
    ...issued.map(({ hash }): Change => ({ op: 'deleteSession', hash })),
  ]
}

async function issueKey(
  parts: SecretParts,
  draft: AccessDraft,
  metaData: JsonObject,
  leftOut: readonly string[],
): Promise<IssuedAccess> {
  const { policies, actor, action, alongside, version } = draft
  const { developer, ended, changes } = await checkSubscribable(parts, draft.developer, policies)
  const session: JsonObject = {
    org_id: orgIdOf(developer),
    alias: String(developer.body.email ?? ''),
    apply_policies: [...policies],
    meta_data: metaData,
  }
  const issued = (rawKey: string, keyHash: string, revision: Revision): IssuedAccess => ({
    ...{ kind: 'key', rawKey, keyHash, leftOut, revision },
  })
  const saved = await createDeveloperKey(parts, {
    ...{ session, developer, actor, action },
    expires: draft.expires,
    detail: { ...(version !== undefined && { version }), ...(ended.length > 0 && { replaced: [...ended] }) },
    alongside: (key, keyHash, body) => [...changes, ...(alongside?.(issued(key, keyHash, 0), body) ?? [])],
  })
  return issued(saved.key ?? '', saved.keyHash, saved.revision)
}

/**
 * Refuses policies that a key of the developer gives already. Answers the developer without expired keys that give one, and the changes that
 * end these. @throws Fault `subscription_refused` (400)
 */
export async function checkSubscribable(
  parts: Pick<SecretParts, 'tokens' | 'clock'>,
  developer: StoredDocument,
  policies: readonly string[],
): Promise<{
  readonly developer: StoredDocument
  readonly ended: readonly string[]
  readonly changes: readonly Change[]
}> {
  const held = subscriptionsOf(developer.body)
  const ended: string[] = []
  const changes: Change[] = []
  let { body } = developer
  for (const keyHash of new Set(policies.flatMap((id) => held.get(id) ?? []))) {
    const row = await parts.tokens.getSession(Buffer.from(keyHash, 'hex'))
    // One that was deactivated still keeps its developer from the policy.
    if (row === undefined || row.body.is_inactive === true || !isExpired(row.body, clockOf(parts).wall())) continue
    ended.push(keyHash)
    changes.push({ op: 'deleteSession', hash: row.hash }, ...(await changesWithDeletion(parts.tokens, undefined, row)))
    body = withoutKey(body, keyHash)
  }
  const rest = { ...developer, body }
  checkNew(rest, policies, undefined)
  return { developer: rest, ended, changes }
}

/** @throws Fault `subscription_refused` (400) for a policy that another key of the developer gives */
function checkNew(developer: StoredDocument, policies: readonly string[], own: string | undefined): void {
  const held = subscriptionsOf(developer.body)
  const taken = policies.find((id) => held.has(id) && held.get(id) !== own)
  if (taken !== undefined)
    throw fault('subscription_refused', `apply_policies: there is a subscription to ${taken} already`)
}

/** Policies may be deleted in another process at the same time: the second writer repairs the result. */
async function checkStillThere(
  parts: SecretParts,
  orgId: string,
  policyIds: readonly string[],
  actor: string,
): Promise<void> {
  const found = await readPolicies(parts, orgId, policyIds)
  for (const [index, id] of policyIds.entries()) {
    if (found[index] !== undefined) continue
    await endSubscriptions(parts, { id, orgId }, actor)
    throw fault('subscription_refused', `apply_policies: there is no policy ${id}`)
  }
}

/** Fields of a request that an app stores separately. */
const ABOUT_APPS = ['oauth_app_description', 'oauth_use_case']

/** The metadata about a developer in the developer's keys. */
function metaDataOf(
  { config }: Pick<PublishParts, 'config'>,
  { id, body }: StoredDocument,
  configuration: PortalConfiguration,
  said: Readonly<Record<string, string>>,
): JsonObject {
  const fields = isObject(body.fields) ? body.fields : {}
  const inherited = signupFieldsOf(configuration).filter((name) => Object.hasOwn(fields, name))
  const words = ownWords(config.compat.vendor_aliases)
  return Object.fromEntries([
    ...Object.entries(said).filter(([name]) => !ABOUT_APPS.includes(name)),
    ...inherited.map((name) => [name, fields[name]!] as const),
    ...words.map((word) => [`${word}_developer_id`, id] as const),
  ])
}

function orgIdOf({ body }: StoredDocument): string {
  return typeof body.org_id === 'string' ? body.org_id : ''
}
