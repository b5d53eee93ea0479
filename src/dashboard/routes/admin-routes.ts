import { adminImportRoutes } from '../moves/admin-import-routes.ts'
import { adminOrgKeyRoutes } from '../organisations/admin-org-key-routes.ts'
import { adminOrganisationRoutes } from '../organisations/admin-organisation-routes.ts'
import { setUpRoutes } from '../organisations/set-up-routes.ts'
import { adminPermissionRoutes } from '../people/admin-permission-routes.ts'
import { adminUserRoutes } from '../people/admin-user-routes.ts'
import type { DashboardParts } from '../server/parts.ts'
import { adminSystemRoutes } from '../system/admin-system-routes.ts'
import type { Route } from './route.ts'

/** The operators' API, with the admin secret in `admin-auth`, and the first start. */
export function adminRoutes(parts: DashboardParts): Route[] {
  return [
    ...adminImportRoutes(parts),
    ...adminOrgKeyRoutes(parts),
    ...adminOrganisationRoutes(parts),
    ...adminPermissionRoutes(parts),
    ...adminSystemRoutes(parts),
    ...adminUserRoutes(parts),
    ...setUpRoutes(parts),
  ]
}
