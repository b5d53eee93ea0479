import type { Api } from '../../model/apis/definition/api.ts'
import { addressAt } from '../../model/apis/definition/issuer.ts'
import { EXTERNAL_SCHEME } from '../../model/authentication/external-scheme.ts'
import { JWT_SCHEME } from '../../model/authentication/jwt-scheme.ts'
import { type SchemeRules, settingsOf } from '../../model/authentication/scheme.ts'
import { schemeOfRules } from '../../model/authentication/schemes.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Addresses } from '../../model/nodes/addresses.ts'
import { JWT_ALGORITHMS } from '../../oauth/signing-keys/jwt.ts'
import { alternativesOf } from '../authentication/credential-places.ts'
import type { Exchange } from '../server/exchange.ts'
import { publicAddressOf } from './issuer.ts'

/** The path of the metadata of an API as a protected resource, below its address or before the path of that (RFC 9728 section 3). */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'

/** True for an API that takes access tokens (RFC 6750), of its own authorization server or of another one. */
export function takesTokens(api: Api): boolean {
  return tokenSchemes(api).length > 0
}

/**
 * The metadata of an API as a protected resource (RFC 9728 section 2). `resource` is its address; `issuer` names its own authorization
 * server, if it has one.
 */
export function resourceMetadata(api: Api, resource: string, issuer: string): JsonObject {
  const schemes = tokenSchemes(api)
  const { oauth } = api
  const servers = new Set(schemes.flatMap((scheme) => (scheme.method === 'oauth' ? [issuer] : issuersOf(scheme))))
  const scopes = new Set([...(oauth?.scopes ?? []), ...(api.auth?.scopes ?? []).flat()])
  const methods = [
    ...(schemes.some(({ header }) => header === 'authorization') ? ['header'] : []),
    ...(schemes.some(({ query }) => query === 'access_token') ? ['query'] : []),
  ]
  return {
    resource,
    ...(servers.size > 0 && { authorization_servers: [...servers] }),
    ...(scopes.size > 0 && { scopes_supported: [...scopes].sort() }),
    bearer_methods_supported: methods,
    resource_name: api.name,
    ...(oauth !== undefined && oauth.dpop !== 'off' && { dpop_signing_alg_values_supported: [...JWT_ALGORITHMS] }),
    ...(oauth?.dpop === 'required' && { dpop_bound_access_tokens_required: true }),
    ...(oauth !== undefined && oauth.mutualTls !== 'off' && { tls_client_certificate_bound_access_tokens: true }),
  }
}

/**
 * The address of that metadata, as challenges name it (RFC 9728 section 5.1), at the path by which the request came in. Behind a proxy that
 * serves the gateway below a path, the form below the API's own address is the one that surely reaches it.
 */
export function metadataAddress(x: Exchange, api: Api, addresses: Addresses): string {
  const prefix = x.path.slice(0, x.restAt)
  const address = publicAddressOf(x, api, addresses)
  const resource = addressAt(address, prefix)
  // A Host may be none that `URL` reads.
  const isAtRoot = !address.includes('/', address.indexOf('://') + 3)
  return isAtRoot ? address + RESOURCE_METADATA + resource.slice(address.length) : resource + RESOURCE_METADATA
}

function tokenSchemes({ auth }: Api): readonly SchemeRules[] {
  if (auth === undefined) return []
  return alternativesOf(auth)
    .flat()
    .filter((rules) => schemeOfRules(rules).accessTokens !== undefined)
}

/** Other authorization servers whose tokens a scheme takes, as far as the definition names them by their address (RFC 8414 section 2). */
function issuersOf(scheme: SchemeRules): readonly string[] {
  const issuers =
    scheme.method === 'jwt' ? settingsOf(JWT_SCHEME, scheme).issuers : settingsOf(EXTERNAL_SCHEME, scheme).issuers
  return issuers.filter((issuer) => /^https?:/i.test(issuer) && URL.canParse(issuer))
}
