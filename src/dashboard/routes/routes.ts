import { analyticsRoutes } from '../analytics/analytics-routes.ts'
import { apiAccessRoutes } from '../apis/api-access-routes.ts'
import { apiMigrationRoutes } from '../apis/api-migration-routes.ts'
import { apiNodeRoutes } from '../apis/api-node-routes.ts'
import { apiRoutes } from '../apis/api-routes.ts'
import { apiVersionRoutes } from '../apis/api-version-routes.ts'
import { apiWebhookRoutes } from '../apis/api-webhook-routes.ts'
import { categoryRoutes } from '../apis/category-routes.ts'
import { oasApiRoutes } from '../apis/oas-api-routes.ts'
import { schemaRoutes } from '../apis/schema-routes.ts'
import { tryRoutes } from '../apis/try-routes.ts'
import { warningRoutes } from '../apis/warning-routes.ts'
import { assetRoutes } from '../assets/asset-routes.ts'
import { auditLogRoutes } from '../audit/audit-log-routes.ts'
import { deletedIdRoutes } from '../audit/deleted-id-routes.ts'
import { certificateRoutes } from '../certificates/certificate-routes.ts'
import { keyActRoutes } from '../keys/key-action-routes.ts'
import { keyRoutes } from '../keys/key-routes.ts'
import { labelRoutes } from '../labels/label-routes.ts'
import { logRoutes } from '../logs/log-routes.ts'
import { adminImportRoutes } from '../moves/admin-import-routes.ts'
import { moveRoutes } from '../moves/move-routes.ts'
import { cacheRoutes } from '../nodes/cache-routes.ts'
import { healthRoutes } from '../nodes/health-routes.ts'
import { syncStatusRoutes } from '../nodes/sync-status-routes.ts'
import { oauthClientRoutes } from '../oauth-clients/oauth-client-routes.ts'
import { tokenNotificationRoutes } from '../oauth-clients/token-notification-routes.ts'
import { adminOrgKeyRoutes } from '../organisations/admin-org-key-routes.ts'
import { adminOrganisationRoutes } from '../organisations/admin-organisation-routes.ts'
import { orgPermissionRoutes, orgRoutes } from '../organisations/org-routes.ts'
import { setUpRoutes } from '../organisations/set-up-routes.ts'
import { adminPermissionRoutes } from '../people/admin-permission-routes.ts'
import { adminUserRoutes } from '../people/admin-user-routes.ts'
import { userGroupRoutes } from '../people/user-group-routes.ts'
import { userRoutes } from '../people/user-routes.ts'
import { policyRoutes } from '../policies/policy-routes.ts'
import { catalogueRoutes } from '../portal/catalogue/catalogue-routes.ts'
import { documentationRoutes } from '../portal/catalogue/documentation-routes.ts'
import { developerAppRoutes } from '../portal/developers/developer-app-routes.ts'
import { developerKeyRoutes } from '../portal/developers/developer-key-routes.ts'
import { developerRoutes } from '../portal/developers/developer-routes.ts'
import { collectRoutes } from '../portal/key-requests/collect-routes.ts'
import { keyRequestRoutes } from '../portal/key-requests/key-request-routes.ts'
import { portalConfigurationRoutes } from '../portal/settings/configuration-routes.ts'
import { deprecatedPortalRoutes } from '../portal/settings/deprecated-routes.ts'
import { portalLookRoutes } from '../portal/settings/look-routes.ts'
import { portalMenuRoutes } from '../portal/settings/menu-routes.ts'
import { portalPageRoutes } from '../portal/settings/page-routes.ts'
import { portalSessionRoutes } from '../portal/sign-in/session-routes.ts'
import type { DashboardParts } from '../server/parts.ts'
import { passkeyRoutes } from '../sign-in/passkey-routes.ts'
import { passwordRoutes } from '../sign-in/password-routes.ts'
import { secondFactorRoutes } from '../sign-in/second-factor-routes.ts'
import { sessionRoutes } from '../sign-in/session-routes.ts'
import { signInPageRoutes } from '../sign-in/sign-in-page-routes.ts'
import { signInRoutes } from '../sign-in/sign-in-routes.ts'
import { signingKeyRoutes } from '../signing-keys/signing-key-routes.ts'
import { identityBrokerRoutes } from '../single-sign-on/identity-broker-routes.ts'
import { identityProfileRoutes } from '../single-sign-on/identity-profile-routes.ts'
import { ssoRoutes } from '../single-sign-on/sso-routes.ts'
import { adminSystemRoutes } from '../system/admin-system-routes.ts'
import { docsRoutes } from '../system/docs-routes.ts'
import { notificationRoutes } from '../system/notification-routes.ts'
import { settingRoutes } from '../system/setting-routes.ts'
import { metricRoutes, systemRoutes } from '../system/system-routes.ts'
import { hookDeliveryRoutes } from '../webhooks/hook-delivery-routes.ts'
import { hookRoutes } from '../webhooks/hook-routes.ts'
import { withEntityVersions } from './entity-versions.ts'
import type { Route } from './route.ts'

/** Every call of the dashboard. A noun adds its import and its line, in the order of the alphabet. */
export function allRoutes(parts: DashboardParts): Route[] {
  const routes: Route[] = withEntityVersions([
    ...adminRoutes(parts),
    ...analyticsRoutes(parts),
    ...apiAccessRoutes(parts),
    ...apiWebhookRoutes(parts),
    ...apiMigrationRoutes(parts),
    ...apiNodeRoutes(parts),
    ...warningRoutes(parts),
    ...apiRoutes(parts),
    ...apiVersionRoutes(parts),
    ...assetRoutes(parts),
    ...auditLogRoutes(parts),
    ...categoryRoutes(parts),
    ...certificateRoutes(parts),
    ...deletedIdRoutes(parts),
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
    ...metricRoutes(parts),
    ...moveRoutes(parts),
    ...notificationRoutes(parts),
    ...oasApiRoutes(parts),
    ...oauthClientRoutes(parts),
    ...tokenNotificationRoutes(parts),
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
  ])
  return routes
}

/** The operators' API, with the admin secret in `admin-auth`, and the first start. */
function adminRoutes(parts: DashboardParts): Route[] {
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
