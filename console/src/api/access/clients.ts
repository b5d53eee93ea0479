import { call } from '../calls/call.ts'

/** An OAuth client of an API. */
export interface OAuthClient {
  readonly client_id: string
  readonly client_name: string
  /** Blank in lists, and for those who may not write APIs. */
  readonly secret: string
  readonly redirect_uris: readonly string[]
  readonly policies: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly description: string
  readonly auth_method?: string
  readonly date_created?: string
  /** Seconds; 0 = as policies and API say. */
  readonly token_lifetime?: number
  readonly jwks?: unknown
  readonly jwks_uri?: string
  readonly certificate?: string
  readonly dpop_bound_access_tokens?: boolean
  readonly tls_client_certificate_bound_access_tokens?: boolean
  readonly require_pushed_authorization_requests?: boolean
}

/** The changed fields of a client; omitted ones stay. */
export interface ClientWanted {
  readonly client_id?: string
  readonly secret?: string
  readonly client_name?: string
  readonly redirect_uris?: readonly string[]
  readonly policies?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly description?: string
  readonly auth_method?: string
  readonly token_lifetime?: number
  /** Public keys; null takes them away. */
  readonly jwks?: Readonly<Record<string, unknown>> | null
  /** Address of the public keys; null takes it away. */
  readonly jwks_uri?: string | null
  readonly certificate?: string | null
  readonly dpop_bound_access_tokens?: boolean
  readonly tls_client_certificate_bound_access_tokens?: boolean
  readonly require_pushed_authorization_requests?: boolean
}

/** A live token of a client: its hash, or the token where the installation keeps them. */
export interface LiveToken {
  readonly code: string
  /** Unix seconds. */
  readonly expires: number
}

export const CLIENTS_KEY = ['oauth-clients'] as const

const of = (apiId: string) => `/api/apis/oauth/${encodeURIComponent(apiId)}`
const at = (apiId: string, clientId: string) => `${of(apiId)}/${encodeURIComponent(clientId)}`

/** A page of the clients of an API. @throws CallError */
export function listClients(
  apiId: string,
  query: { readonly p: number; readonly q: string; readonly page_size: string },
  signal: AbortSignal,
): Promise<{ readonly apps: readonly OAuthClient[]; readonly pages: number; readonly total?: number }> {
  return call('GET', of(apiId), { query, signal })
}

/** @throws CallError 404 */
export function readClient(apiId: string, clientId: string, signal?: AbortSignal): Promise<OAuthClient> {
  return call('GET', at(apiId, clientId), signal && { signal })
}

/** Registers a client; id and secret are made unless they are given. @throws CallError 400, 409 */
export function createClient(apiId: string, body: ClientWanted): Promise<OAuthClient> {
  return call('POST', of(apiId), { body })
}

/** Other policies are in force for the tokens that it has. @throws CallError 400 */
export function saveClient(apiId: string, clientId: string, body: ClientWanted): Promise<OAuthClient> {
  return call('PUT', at(apiId, clientId), { body })
}

/** Gives another secret; the old one is good for so many seconds. @throws CallError 400 for a client without one */
export function rotateClient(
  apiId: string,
  clientId: string,
  overlapS: number,
): Promise<{ readonly secret: string; readonly valid_until: string }> {
  return call('POST', `${at(apiId, clientId)}/rotate`, { body: { overlap_seconds: overlapS } })
}

/** @throws CallError */
export function deleteClient(apiId: string, clientId: string): Promise<unknown> {
  return call('DELETE', at(apiId, clientId))
}

/** All live tokens of a client at an API. @throws CallError */
export function listTokens(apiId: string, clientId: string, signal: AbortSignal): Promise<readonly LiveToken[]> {
  return call('GET', `${at(apiId, clientId)}/tokens`, { query: { p: -1 }, signal })
}

/** Ends a token, named by itself or by what the list shows. @throws CallError */
export function revokeToken(clientId: string, token: string): Promise<unknown> {
  return call('POST', `/api/apis/oauth/${encodeURIComponent(clientId)}/revoke`, { body: { token } })
}

/** Ends all tokens of a client, at every API. @throws CallError */
export function revokeAllTokens(apiId: string, clientId: string): Promise<unknown> {
  return call('DELETE', `${at(apiId, clientId)}/tokens`)
}
