import type { Documents } from '../../store/ports/ports.ts'

/** True when some of these APIs exist and none of those asks for a credential: a key for them would open nothing. */
export async function areKeyless(documents: Pick<Documents, 'find'>, apiIds: Iterable<string>): Promise<boolean> {
  let keyless = false
  for (const apiId of apiIds) {
    const stored = await documents.find('api', 'api_id', apiId)
    if (stored === undefined) continue
    const { auth_types: types } = stored.body
    if (!Array.isArray(types) || !types.includes('keyless')) return false
    keyless = true
  }
  return keyless
}
