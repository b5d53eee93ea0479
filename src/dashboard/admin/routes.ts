import type { DashboardParts } from '../parts.ts'
import type { Route } from '../route.ts'
import { adminImportRoutes } from './imports.ts'
import { adminOrgKeyRoutes } from './org-keys.ts'
import { adminOrganisationRoutes } from './organisations.ts'
import { adminPermissionRoutes } from './permissions.ts'
import { setUpRoutes } from './set-up.ts'
import { adminSystemRoutes } from './system.ts'
import { adminUserRoutes } from './users.ts'

/** The API of whoever runs the installation, with the admin secret in `admin-auth`, and the first start. */
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
