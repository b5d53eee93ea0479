import type { JsonObject } from '../json/json.ts'

/** A grant of an authorization server: how definitions allow it, and which clients may use it. Its handler is in `oauth/grants/grants.ts`. */
export interface Grant<Type extends string = string> {
  /** `grant_type`; also the word in `allowed_access_types` of a classic definition, unless `classic` names a switch. */
  readonly type: Type
  /** Switch in `oauth_meta` of a classic definition. */
  readonly classic?: string
  /** Switch of the OAuth scheme in the extension, and its description; absent where the grant is a flow of OpenAPI. */
  readonly oas?: string
  readonly description?: string
  /** The flow of OpenAPI, with the addresses that it must name. */
  readonly flow?: { readonly name: string; readonly urls: JsonObject }
  /**
   * True = the client acts for itself (RFC 6749 section 4.4): it must authenticate, needs no redirect URI, and its tokens are announced to
   * nobody.
   */
  readonly isForClient?: true
  /** True = it takes what another grant gave. */
  readonly isFollowing?: true
  /** True = clients may not register it for themselves (RFC 7591). */
  readonly isUnregistrable?: true
}

const AUTHORIZE = { authorizationUrl: '/oauth/authorize' }
const TOKEN = { tokenUrl: '/oauth/token' }

const ALL = [
  { type: 'authorization_code', flow: { name: 'authorizationCode', urls: { ...AUTHORIZE, ...TOKEN } } },
  { type: 'client_credentials', flow: { name: 'clientCredentials', urls: TOKEN }, isForClient: true },
  { type: 'password', flow: { name: 'password', urls: TOKEN }, isUnregistrable: true },
  {
    type: 'refresh_token',
    oas: 'refreshToken',
    description: 'true: refresh tokens are issued and accepted.',
    isFollowing: true,
  },
  {
    // RFC 8628 section 3.4.
    type: 'urn:ietf:params:oauth:grant-type:device_code',
    classic: 'device_authorization',
    oas: 'deviceAuthorization',
    description: 'true: device authorization grant (RFC 8628).',
  },
] as const satisfies readonly Grant[]

/** A grant as `grant_type` names it. */
export type GrantType = (typeof ALL)[number]['type']

/** The grants that are served. */
export const GRANTS: readonly Grant<GrantType>[] = ALL

/** The flow of OpenAPI that is converted and not served. */
export const IMPLICIT = { access: '__implicit', flow: 'implicit', urls: AUTHORIZE } as const

const BY_TYPE = new Map<string, Grant<GrantType>>(GRANTS.map((grant) => [grant.type, grant]))

/** The grant of this `grant_type`; undefined when it is not served. */
export function grantOf(type: string): Grant<GrantType> | undefined {
  return BY_TYPE.get(type)
}

/** True for a grant by which a client acts for itself. */
export function isForClient(type: string): boolean {
  return grantOf(type)?.isForClient === true
}
