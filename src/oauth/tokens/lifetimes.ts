import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { Policy } from '../../model/sessions/session.ts'
import type { OAuthApi, OAuthParts } from '../endpoints/parts.ts'

/**
 * Life of an access token in seconds: of the client, else of the last of its policies with a `key_expires_in` above 0, else of
 * the API, else of the gateway.
 */
export function accessTokenLifeS(
  parts: OAuthParts,
  api: OAuthApi,
  client: OAuthClient,
  policies: readonly (Policy | undefined)[],
): number {
  if (client.token_lifetime > 0) return client.token_lifetime
  const policy = policies.findLast((each) => (each?.key_expires_in ?? 0) > 0)
  if (policy !== undefined) return policy.key_expires_in!
  return api.oauth.accessTokenS > 0 ? api.oauth.accessTokenS : parts.config.gateway.oauth_token_expire
}

/** Life of a refresh token in seconds, from each issue: of the API, else of the gateway. */
export function refreshTokenLifeS(parts: OAuthParts, api: OAuthApi): number {
  return api.oauth.refreshTokenS > 0 ? api.oauth.refreshTokenS : parts.config.gateway.oauth_refresh_token_expire
}
