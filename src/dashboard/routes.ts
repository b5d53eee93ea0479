import { adminRoutes } from './admin/routes.ts'
import type { DashboardParts } from './parts.ts'
import { analyticsRoutes } from './resources/analytics.ts'
import { apiAccessRoutes } from './resources/api-access.ts'
import { apiMigrationRoutes } from './resources/api-migration.ts'
import { apiNodeRoutes } from './resources/api-nodes.ts'
import { apiVersionRoutes } from './resources/api-versions.ts'
import { apiWebhookRoutes } from './resources/api-webhooks.ts'
import { apiRoutes } from './resources/apis.ts'
import { assetRoutes } from './resources/assets.ts'
import { auditLogRoutes } from './resources/audit-logs.ts'
import { cacheRoutes } from './resources/caches.ts'
import { categoryRoutes } from './resources/categories.ts'
import { certificateRoutes } from './resources/certificates.ts'
import { docsRoutes } from './resources/docs.ts'
import { healthRoutes } from './resources/health.ts'
import { hookDeliveryRoutes } from './resources/hook-deliveries.ts'
import { hookRoutes } from './resources/hooks.ts'
import { identityBrokerRoutes } from './resources/identity-broker.ts'
import { identityProfileRoutes } from './resources/identity-profiles.ts'
import { keyActRoutes } from './resources/key-acts.ts'
import { keyRoutes } from './resources/keys.ts'
import { labelRoutes } from './resources/labels.ts'
import { logRoutes } from './resources/logs.ts'
import { moveRoutes } from './resources/moves.ts'
import { notificationRoutes } from './resources/notifications.ts'
import { oasApiRoutes } from './resources/oas-apis.ts'
import { oauthClientRoutes } from './resources/oauth-clients.ts'
import { orgRoutes } from './resources/org.ts'
import { orgPermissionRoutes } from './resources/org-permissions.ts'
import { passkeyRoutes } from './resources/passkeys.ts'
import { passwordRoutes } from './resources/passwords.ts'
import { policyRoutes } from './resources/policies.ts'
import { catalogueRoutes } from './resources/portal/catalogue.ts'
import { collectRoutes } from './resources/portal/collect.ts'
import { portalConfigurationRoutes } from './resources/portal/configuration.ts'
import { deprecatedPortalRoutes } from './resources/portal/deprecated.ts'
import { developerAppRoutes } from './resources/portal/developer-apps.ts'
import { developerKeyRoutes } from './resources/portal/developer-keys.ts'
import { developerRoutes } from './resources/portal/developers.ts'
import { documentationRoutes } from './resources/portal/documentation.ts'
import { portalLookRoutes } from './resources/portal/look.ts'
import { portalMenuRoutes } from './resources/portal/menus.ts'
import { portalPageRoutes } from './resources/portal/pages.ts'
import { portalSessionRoutes } from './resources/portal/portal-session.ts'
import { keyRequestRoutes } from './resources/portal/requests.ts'
import { schemaRoutes } from './resources/schemas.ts'
import { secondFactorRoutes } from './resources/second-factor.ts'
import { sessionRoutes } from './resources/sessions.ts'
import { settingRoutes } from './resources/settings.ts'
import { signInRoutes } from './resources/sign-in.ts'
import { signInPageRoutes } from './resources/sign-in-page.ts'
import { signingKeyRoutes } from './resources/signing-keys.ts'
import { ssoRoutes } from './resources/sso.ts'
import { syncStatusRoutes } from './resources/standings.ts'
import { systemRoutes } from './resources/system.ts'
import { tryRoutes } from './resources/try.ts'
import { userGroupRoutes } from './resources/user-groups.ts'
import { userRoutes } from './resources/users.ts'
import type { Route } from './route.ts'

/** Every call of the dashboard. A noun adds its import and its line, in the order of the alphabet. */
export function allRoutes(parts: DashboardParts): Route[] {
  const routes: Route[] = [
    ...adminRoutes(parts),
    ...analyticsRoutes(parts),
    ...apiAccessRoutes(parts),
    ...apiWebhookRoutes(parts),
    ...apiMigrationRoutes(parts),
    ...apiNodeRoutes(parts),
    ...apiRoutes(parts),
    ...apiVersionRoutes(parts),
    ...assetRoutes(parts),
    ...auditLogRoutes(parts),
    ...categoryRoutes(parts),
    ...certificateRoutes(parts),
    ...deprecatedPortalRoutes(parts),
    ...developerAppRoutes(parts),
    ...developerKeyRoutes(parts),
    ...developerRoutes(parts),
    ...docsRoutes(parts, () => routes),
    ...healthRoutes(parts),
    ...hookDeliveryRoutes(parts),
    ...hookRoutes(parts),
    ...identityBrokerRoutes(parts),
    ...identityProfileRoutes(parts),
    ...cacheRoutes(parts),
    ...keyActRoutes(parts),
    ...keyRoutes(parts),
    ...labelRoutes(parts),
    ...logRoutes(parts),
    ...moveRoutes(parts),
    ...notificationRoutes(parts),
    ...oasApiRoutes(parts),
    ...oauthClientRoutes(parts),
    ...orgPermissionRoutes(parts),
    ...orgRoutes(parts),
    ...passkeyRoutes(parts),
    ...passwordRoutes(parts),
    ...policyRoutes(parts),
    ...portalSessionRoutes(parts),
    ...catalogueRoutes(parts),
    ...collectRoutes(parts),
    ...portalConfigurationRoutes(parts),
    ...documentationRoutes(parts),
    ...portalLookRoutes(parts),
    ...portalMenuRoutes(parts),
    ...portalPageRoutes(parts),
    ...keyRequestRoutes(parts),
    ...schemaRoutes(),
    ...secondFactorRoutes(parts),
    ...sessionRoutes(parts),
    ...settingRoutes(parts),
    ...signingKeyRoutes(parts),
    ...signInRoutes(parts),
    ...signInPageRoutes(parts),
    ...ssoRoutes(parts),
    ...syncStatusRoutes(parts),
    ...systemRoutes(parts),
    ...tryRoutes(parts),
    ...userGroupRoutes(parts),
    ...userRoutes(parts),
  ]
  return routes
}
