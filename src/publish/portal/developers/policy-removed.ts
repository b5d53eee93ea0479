import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import { appsOf, keysOf, withoutKey, withoutPolicy } from '../../../model/portal/developers/holdings.ts'
import type { SealKey } from '../../../model/secrets/secret.ts'
import { retryOnConflict } from '../../../runtime/retry-on-conflict.ts'
import type { Change, Documents, SessionRow, StoredDocument, Tokens } from '../../../store/ports/ports.ts'
import { auditOf, type PublishParts, type SecretParts } from '../../documents/parts.ts'
import { CLIENT_KIND, storedApp } from '../../oauth-clients/oauth-client-parts.ts'
import { developerChange } from './developer-change.ts'
import { deleteKeyExpiry, formerKeysOf } from './keys-of-developer.ts'

/** Developers whose subscriptions end in one commit. */
const CHUNK = 200

interface GonePolicy {
  readonly id: string
  readonly orgId: string
}

/**
 * Effects of the deletion of a policy on its developers, for the same commit: a key without another policy is revoked, others
 * lose it, and the record follows. Of very many developers all but the last go first, a few hundred at a time, each with
 * its keys and apps; the policy exists until then, and no developer who lost it has a key for it.
 * @throws Fault `store_away`, `store_full`
 */
export async function subscriptionsWithout(parts: SecretParts, policy: GonePolicy, actor: string): Promise<Change[]> {
  for (;;) {
    const rows = await holdersOf(parts, policy)
    if (rows.length <= CHUNK) return endOf(parts, policy, rows)
    await retryOnConflict(async () => {
      const first = (await holdersOf(parts, policy)).slice(0, CHUNK)
      if (first.length === 0) return
      const changes = await endOf(parts, policy, first)
      const audit = auditOf(parts, actor, 'policy.unsubscribe', policy.orgId, {
        id: policy.id,
        developers: first.length,
      })
      await parts.documents.commit([...changes, ...(await appsGone(parts, policy, first))], audit)
    })
  }
}

/** Ends the subscriptions that were created while the policy was being deleted. */
export async function endSubscriptions(parts: SecretParts, policy: GonePolicy, actor: string): Promise<void> {
  await retryOnConflict(async () => {
    const rows = await holdersOf(parts, policy)
    if (rows.length === 0) return
    const changes = await endOf(parts, policy, rows)
    const audit = auditOf(parts, actor, 'policy.unsubscribe', policy.orgId, { id: policy.id, developers: rows.length })
    await parts.documents.commit([...changes, ...(await appsGone(parts, policy, rows))], audit)
  })
}

async function holdersOf(
  { documents }: Pick<PublishParts, 'documents'>,
  policy: GonePolicy,
): Promise<StoredDocument[]> {
  const where = { org_policy: `${policy.orgId}/${policy.id}` }
  return (await documents.list('developer', { where, limit: CHUNK + 1 })).rows
}

async function endOf(
  { tokens }: { readonly tokens: Tokens },
  policy: GonePolicy,
  developers: readonly StoredDocument[],
): Promise<Change[]> {
  const changes: Change[] = []
  for (const developer of developers) {
    let body = withoutPolicy(developer.body, policy.id)
    for (const [keyHash, policies] of keysOf(developer.body)) {
      if (!policies.includes(policy.id)) continue
      const row = await tokens.getSession(Buffer.from(keyHash, 'hex'))
      const own = row !== undefined && row.body[DEVELOPER_ID] === developer.id
      const rows = own ? [row, ...(await formerKeysOf(tokens, row))] : []
      const rests = rows.map((each) => withoutIt(each, policy.id))
      changes.push(...rests.map(({ change }) => change))
      // A listed key that does not exist, or belongs to another owner, is not ours to revoke.
      if (own ? rests[0]!.stays : policies.length > 1) continue
      body = withoutKey(body, keyHash)
      if (own) changes.push(deleteKeyExpiry(row.hash))
    }
    changes.push(developerChange(developer, body))
  }
  return changes
}

/** A session without a policy; it ends when it has no rights besides. */
function withoutIt(row: SessionRow, policyId: string): { readonly change: Change; readonly stays: boolean } {
  const { hash, ...columns } = row
  const policyIds = columns.policyIds.filter((id) => id !== policyId)
  const rights = isObject(columns.body.access_rights) ? Object.keys(columns.body.access_rights) : []
  if (policyIds.length === 0 && rights.length === 0) return { change: { op: 'deleteSession', hash }, stays: false }
  const { apply_policy_id: _older, ...rest } = columns.body
  const body: JsonObject = { ...rest, apply_policies: policyIds }
  return { change: { op: 'putSession', hash, row: { ...columns, policyIds, body }, ifPresent: true }, stays: true }
}

/** The OAuth clients that developers made through the policy. */
async function appsGone(
  parts: { readonly documents: Documents; readonly tokens: Tokens; readonly sealKey: SealKey },
  policy: GonePolicy,
  developers: readonly StoredDocument[],
): Promise<Change[]> {
  const changes: Change[] = []
  for (const developer of developers) {
    for (const { client_id: clientId } of appsOf(developer.body).get(policy.id) ?? []) {
      const stored = typeof clientId === 'string' ? await storedApp(parts, clientId, developer.id) : undefined
      if (stored === undefined) continue
      changes.push({ op: 'delete', kind: CLIENT_KIND, id: stored.id, ifRevision: stored.revision })
    }
  }
  return changes
}
