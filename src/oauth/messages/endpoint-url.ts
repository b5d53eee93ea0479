import type { Endpoint } from '../endpoints/parts.ts'

/** Where the endpoints of an authorization server are, below the issuer. */
const PATHS: Readonly<Record<Endpoint, string>> = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  revoke_all: '/oauth/revoke_all',
  introspect: '/oauth/introspect',
  jwks: '/oauth/jwks',
  metadata: '/.well-known/oauth-authorization-server',
  openid_configuration: '/.well-known/openid-configuration',
  par: '/oauth/par',
  device_authorization: '/oauth/device_authorization',
  register: '/oauth/register',
  authorize_client: '/svc/oauth/authorize-client',
}

/** The address of an endpoint, as the metadata document publishes it. `issuer` has no slash at its end. */
export function endpointUrl(issuer: string, endpoint: Endpoint): string {
  return issuer + PATHS[endpoint]
}
