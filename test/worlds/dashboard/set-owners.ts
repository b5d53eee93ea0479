import type { DashboardParts } from '../../../src/dashboard/server/parts.ts'
import { changeBeside } from '../../../src/publish/apis/apis.ts'

/** Gives an API other owners, as the dashboard does. */
export async function setApiOwners(parts: DashboardParts, apiId: string, users: string[]): Promise<void> {
  const beside = { user_owners: users, user_group_owners: [] }
  await changeBeside(parts, apiId, beside, { actor: 'test', action: 'api.access' })
}
