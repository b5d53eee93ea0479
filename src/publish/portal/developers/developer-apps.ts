import { fault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import type { OAuthClient } from '../../../model/oauth-clients/oauth-client.ts'
import { appIdsOf, withApp } from '../../../model/portal/developers/holdings.ts'
import type { PortalConfiguration } from '../../../model/portal/settings/portal-configuration.ts'
import type { SecretParts } from '../../documents/parts.ts'
import { createClient } from '../../oauth-clients/oauth-clients.ts'
import type { AccessDraft, IssuedAccess } from './access.ts'
import { appOf, appPolicyOf } from './apps-of-developer.ts'
import { developerChange } from './developer-change.ts'

/**
 * Registers an OAuth client for a developer at the OAuth APIs of a policy, and lists it in the record. Tries once: the caller repeats it after a conflict.
 * @throws Fault `subscription_refused` (400) without a redirect URI, for several policies, and beyond what the portal allows;
 * `oauth_client_invalid`, `query_invalid` (400); `revision_conflict` (409)
 */
export async function makeApp(
  parts: SecretParts,
  draft: AccessDraft,
  { oauth_usage_limit: limit }: Pick<PortalConfiguration, 'oauth_usage_limit'>,
  metaData: JsonObject,
): Promise<IssuedAccess> {
  const { developer, policies, oauth, fields = {}, actor, action } = draft
  const [policyId, ...more] = policies
  if (policyId === undefined || more.length > 0)
    throw fault('subscription_refused', 'apply_policies: an OAuth app has one policy')
  if (oauth === undefined || oauth.redirect_uri === '')
    throw fault('subscription_refused', 'oauth_info.redirect_uri: is missing')
  if (draft.expires !== undefined) throw fault('subscription_refused', 'expires: an OAuth app does not expire')
  if (limit !== -1 && appIdsOf(developer.body).length >= limit)
    throw fault('subscription_refused', `oauth_usage_limit: a developer may have ${limit} OAuth apps`)
  const body: JsonObject = {
    redirect_uris: oauth.redirect_uris === undefined ? [oauth.redirect_uri] : [...oauth.redirect_uris],
    policies: [policyId],
    meta_data: metaData,
    client_name: oauth.client_name ?? '',
    app_description: oauth.app_description || (fields.oauth_app_description ?? ''),
    use_case: oauth.use_case || (fields.oauth_use_case ?? ''),
  }
  const issued = (client: OAuthClient, secret: string, revision: number): IssuedAccess => ({
    ...{ kind: 'oauth', clientId: client.client_id, secret, policyId, revision },
    redirectUri: client.redirect_uris[0] ?? '',
  })
  const saved = await createClient(parts, {
    ...{ body, actor, action, developer: developer.id, orgId: String(developer.body.org_id ?? '') },
    alongside: (client, secret) => {
      const after = withApp(developer.body, appPolicyOf(client), appOf(client))
      return [developerChange(developer, after), ...(draft.alongside?.(issued(client, secret, 0), after) ?? [])]
    },
  })
  return issued(saved.client, saved.secret, saved.revision)
}
