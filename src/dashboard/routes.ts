import { adminRoutes } from './admin/routes.ts'
import type { DashboardParts } from './parts.ts'
import { apiAccessRoutes } from './resources/api-access.ts'
import { apiMigrationRoutes } from './resources/api-migration.ts'
import { apiNodeRoutes } from './resources/api-nodes.ts'
import { apiVersionRoutes } from './resources/api-versions.ts'
import { apiRoutes } from './resources/apis.ts'
import { auditLogRoutes } from './resources/audit-logs.ts'
import { categoryRoutes } from './resources/categories.ts'
import { certificateRoutes } from './resources/certificates.ts'
import { docsRoutes } from './resources/docs.ts'
import { healthRoutes } from './resources/health.ts'
import { hookRoutes } from './resources/hooks.ts'
import { identityBrokerRoutes } from './resources/identity-broker.ts'
import { identityProfileRoutes } from './resources/identity-profiles.ts'
import { keyRoutes } from './resources/keys.ts'
import { labelRoutes } from './resources/labels.ts'
import { notificationRoutes } from './resources/notifications.ts'
import { oasApiRoutes } from './resources/oas-apis.ts'
import { oauthClientRoutes } from './resources/oauth-clients.ts'
import { orgRoutes } from './resources/org.ts'
import { orgPermissionRoutes } from './resources/org-permissions.ts'
import { passkeyRoutes } from './resources/passkeys.ts'
import { passwordRoutes } from './resources/passwords.ts'
import { policyRoutes } from './resources/policies.ts'
import { schemaRoutes } from './resources/schemas.ts'
import { secondFactorRoutes } from './resources/second-factor.ts'
import { signInRoutes } from './resources/sign-in.ts'
import { ssoRoutes } from './resources/sso.ts'
import { systemRoutes } from './resources/system.ts'
import { userGroupRoutes } from './resources/user-groups.ts'
import { userRoutes } from './resources/users.ts'
import type { Route } from './route.ts'

/** Every call of the dashboard. A noun adds its import and its line, in the order of the alphabet. */
export function allRoutes(parts: DashboardParts): Route[] {
  const routes: Route[] = [
    ...adminRoutes(parts),
    ...apiAccessRoutes(parts),
    ...apiMigrationRoutes(parts),
    ...apiNodeRoutes(parts),
    ...apiRoutes(parts),
    ...apiVersionRoutes(parts),
    ...auditLogRoutes(parts),
    ...categoryRoutes(parts),
    ...certificateRoutes(parts),
    ...docsRoutes(parts, () => routes),
    ...healthRoutes(parts),
    ...hookRoutes(parts),
    ...identityBrokerRoutes(parts),
    ...identityProfileRoutes(parts),
    ...keyRoutes(parts),
    ...labelRoutes(parts),
    ...notificationRoutes(parts),
    ...oasApiRoutes(parts),
    ...oauthClientRoutes(parts),
    ...orgPermissionRoutes(parts),
    ...orgRoutes(parts),
    ...passkeyRoutes(parts),
    ...passwordRoutes(parts),
    ...policyRoutes(parts),
    ...schemaRoutes(),
    ...secondFactorRoutes(parts),
    ...signInRoutes(parts),
    ...ssoRoutes(parts),
    ...systemRoutes(parts),
    ...userGroupRoutes(parts),
    ...userRoutes(parts),
  ]
  return routes
}
