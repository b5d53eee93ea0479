import type { Endpoint } from '../../oauth/endpoints/parts.ts'
import { RESOURCE_METADATA } from './protected-resource.ts'

/** An endpoint of an authorization server, or the metadata of an API that takes tokens of any. */
export type OwnedEndpoint = Endpoint | 'protected_resource'

/** An endpoint that a path leads to, and what of the path is below the endpoint's own. */
export interface FoundEndpoint {
  readonly endpoint: OwnedEndpoint
  /** `/<client_id>` of a registration; '' usually. */
  readonly below: string
}

/** Where the metadata documents are, below an issuer or before its path (RFC 8414 section 3, RFC 9728 section 3), and which endpoint gives each. */
export const WELL_KNOWN: readonly (readonly [path: string, endpoint: OwnedEndpoint])[] = [
  ['/.well-known/oauth-authorization-server', 'metadata'],
  ['/.well-known/openid-configuration', 'openid_configuration'],
  [RESOURCE_METADATA, 'protected_resource'],
]

const REGISTER = '/oauth/register'

/** Endpoints by their path below the listen path, and whether they answer with a slash at the end too. */
const PATHS: readonly (readonly [path: string, endpoint: OwnedEndpoint, slash: boolean])[] = [
  ['/oauth/authorize', 'authorize', true],
  ['/oauth/token', 'token', true],
  ['/oauth/revoke', 'revoke', false],
  ['/oauth/revoke_all', 'revoke_all', false],
  ['/oauth/introspect', 'introspect', true],
  ['/oauth/jwks', 'jwks', true],
  ['/oauth/par', 'par', true],
  ['/oauth/device_authorization', 'device_authorization', true],
  [REGISTER, 'register', true],
  ...WELL_KNOWN.map(([path, endpoint]): [string, OwnedEndpoint, boolean] => [path, endpoint, true]),
]

/** The paths of authorization servers below the listen paths of their APIs. */
export class EndpointPaths {
  readonly #found = new Map<string, FoundEndpoint>()
  readonly #firstLetters = new Set<number>()

  /** `words` are the names for `svc`: itself and the aliases of this installation. */
  constructor(words: readonly string[]) {
    for (const [path, endpoint, slash] of PATHS) this.#add(path, endpoint, slash)
    for (const word of words) this.#add(`/${word}/oauth/authorize-client`, 'authorize_client', true)
  }

  /** As `find`, of the part of `path` from the slash at `at` on. */
  findAt(path: string, at: number): FoundEndpoint | undefined {
    return this.#firstLetters.has(path.charCodeAt(at + 1)) ? this.find(path.slice(at)) : undefined
  }

  /** The endpoint of a path below a listen path; undefined when it is the upstream's. One comparison for most paths. */
  find(rest: string): FoundEndpoint | undefined {
    if (!this.#firstLetters.has(rest.charCodeAt(1))) return undefined
    const found = this.#found.get(rest)
    if (found !== undefined) return found
    const isRegistration = rest.startsWith(`${REGISTER}/`)
    return isRegistration ? { endpoint: 'register', below: rest.slice(REGISTER.length) } : undefined
  }

  #add(path: string, endpoint: OwnedEndpoint, slash: boolean): void {
    const found: FoundEndpoint = { endpoint, below: '' }
    this.#found.set(path, found)
    if (slash) this.#found.set(`${path}/`, found)
    this.#firstLetters.add(path.charCodeAt(1))
  }
}
