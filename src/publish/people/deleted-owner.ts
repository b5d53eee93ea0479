import { toFault } from '../../errors/fault.ts'
import { type ApiMetadata, metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Revision } from '../../store/ports/ports.ts'
import { changeMetadata } from '../apis/apis.ts'
import type { PublishParts } from '../documents/parts.ts'

/** A user or group that was deleted. */
export interface Deleted {
  readonly revision: Revision
  /** Ids of the APIs that it was the last owner of. */
  readonly ownerless: readonly string[]
}

/**
 * Takes a user or group that was deleted out of the owners of all APIs, each a change of its own, so that the deletion can be undone. Answers
 * the ids of those without an owner now: they are not opened to everybody, only administrators see them until they have another.
 * @throws Fault `store_away`, `store_full`
 */
export async function endOwnership(
  parts: PublishParts,
  { kind, id }: { readonly kind: 'user' | 'group'; readonly id: string },
  actor: string,
): Promise<readonly string[]> {
  const owned: string[] = []
  for await (const batch of parts.documents.each('api', { where: { owner: `${kind === 'user' ? 'u' : 'g'}:${id}` } }))
    owned.push(...batch.map(({ body }) => String(body.api_id)))
  const lost: string[] = []
  const isGone = (error: unknown) => {
    if (toFault(error).code !== 'not_found') throw error
  }
  for (const apiId of owned) {
    let isLast = false
    const edit = (body: JsonObject): ApiMetadata => {
      const { user_owners = [], user_group_owners = [] } = metadataOfApi(body)
      const users = kind === 'user' ? user_owners.filter((owner) => owner !== id) : user_owners
      const groups = kind === 'group' ? user_group_owners.filter((owner) => owner !== id) : user_group_owners
      isLast = users.length === 0 && groups.length === 0
      return { user_owners: users, user_group_owners: groups, ownerless: isLast }
    }
    await changeMetadata(parts, apiId, edit, { actor, action: 'api.access' }).catch(isGone)
    if (isLast) lost.push(apiId)
  }
  return lost.sort()
}
