import type { DashboardParts } from '../../../src/dashboard/server/parts.ts'
import { changeMetadata } from '../../../src/publish/apis/apis.ts'

/** Gives an API other owners, as the dashboard does. */
export async function setApiOwners(parts: DashboardParts, apiId: string, users: string[]): Promise<void> {
  const beside = { user_owners: users, user_group_owners: [] }
  await changeMetadata(parts, apiId, beside, { actor: 'test', action: 'api.access' })
}
