import type { Documents } from '../../store/ports/ports.ts'
import { apiOfOrg } from '../apis/api-ids.ts'

/** True when an organisation has some of these APIs and none of those asks for a credential: a key for them would open nothing. */
export async function areKeyless(
  documents: Pick<Documents, 'find'>,
  orgId: string,
  apiIds: Iterable<string>,
): Promise<boolean> {
  let keyless = false
  for (const apiId of apiIds) {
    const stored = await apiOfOrg(documents, orgId, apiId)
    if (stored === undefined) continue
    const { auth_types: types } = stored.body
    if (!Array.isArray(types) || !types.includes('keyless')) return false
    keyless = true
  }
  return keyless
}
