import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { withEpoch, withEpochAt } from '../../model/oauth-clients/oauth-registration.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { Change, Documents, StoredDocument } from '../../store/ports/ports.ts'
import { newEpoch } from './oauth-client-draft.ts'
import { policiesWithRightsOn } from './oauth-client-lists.ts'
import { bodyOf, CLIENT_KIND, type ClientParts } from './oauth-client-parts.ts'
import { sweepSessions } from './oauth-sweep.ts'

/** The cascade of deleting an API or a policy: changes for the same transaction, and the clean-up after it. */
export interface Cascade {
  readonly changes: readonly Change[]
  /** Deletes rows that the commit made void, in the background. */
  readonly sweep: (parts: Pick<ClientParts, 'documents' | 'tokens' | 'locks'>) => void
}

interface CascadeParts {
  readonly documents: Documents
}

const BATCH = 1000

/**
 * Effects of the deletion of an API on its clients: it is removed from them, and a client that is registered nowhere else goes
 * with it. The tokens that the API issued end, also those of clients that are registered by a policy with rights on it.
 */
export async function clientsWithoutApi(
  parts: CascadeParts,
  api: { readonly apiId: string; readonly orgId: string },
  now: Millis,
): Promise<Cascade> {
  const direct = await clientsWhere(parts, { api_ids: api.apiId })
  const byPolicy: StoredDocument<'oauth_client'>[] = []
  for (const id of await policiesWithRightsOn(parts, api))
    byPolicy.push(...(await clientsWhere(parts, { registered_by_policy: id, org_id: api.orgId })))
  return cascade([...direct, ...byPolicy], (client) => {
    const rest = client.api_ids.filter((id) => id !== api.apiId)
    return withEpochAt({ ...client, api_ids: rest }, [api.apiId], newEpoch(now))
  })
}

/**
 * Effects of the deletion of a policy on clients: one that is registered by it is deleted, the tokens of all that name it are revoked. The others
 * keep its ID, so that with no other policy they get no tokens: without any, they would have no limits.
 */
export async function clientsWithoutPolicy(
  parts: CascadeParts,
  policy: { readonly id: string; readonly orgId: string },
  now: Millis,
): Promise<Cascade> {
  const found = await clientsWhere(parts, { policies: policy.id, org_id: policy.orgId })
  return cascade(found, (client) => {
    const byPolicy = client.registered_by_policy === policy.id ? '' : client.registered_by_policy
    return withEpoch({ ...client, registered_by_policy: byPolicy }, newEpoch(now))
  })
}

function cascade(
  found: readonly StoredDocument<'oauth_client'>[],
  edit: (client: OAuthClient) => OAuthClient,
): Cascade {
  const ended: { before: OAuthClient; after: OAuthClient | undefined }[] = []
  const changes = found.map((stored): Change => {
    const client = edit(stored.body)
    const { id, revision: ifRevision } = stored
    const stays = client.api_ids.length > 0 || client.registered_by_policy !== ''
    ended.push({ before: stored.body, after: stays ? client : undefined })
    if (stays) return { op: 'put', kind: CLIENT_KIND, id, body: bodyOf(client), ifRevision }
    return { op: 'delete', kind: CLIENT_KIND, id, ifRevision }
  })
  return {
    changes,
    sweep(parts) {
      for (const { before, after } of ended) sweepSessions(parts, before, after)
    },
  }
}

async function clientsWhere(
  { documents }: CascadeParts,
  where: Record<string, string>,
): Promise<StoredDocument<'oauth_client'>[]> {
  const found: StoredDocument<'oauth_client'>[] = []
  for (;;) {
    const { rows } = await documents.list(CLIENT_KIND, { where, offset: found.length, limit: BATCH })
    found.push(...rows)
    if (rows.length < BATCH) return found
  }
}
