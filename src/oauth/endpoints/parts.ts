import type { Fault } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import type { VerifyKey } from '../../model/authentication/jwt-key.ts'
import type { Log } from '../../model/logs/log.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { ServerApi } from '../../model/oauth-clients/oauth-registration.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import type { Merged } from '../../model/policies/merge-policies.ts'
import type { SealKey } from '../../model/secrets/secret.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { Awaitable, Documents, Outbox, PendingSessions, Tokens } from '../../store/ports/ports.ts'
import type { ServerState } from './server-state.ts'

/** The parts of the authorization server that a path below a listen path leads to. */
export type Endpoint =
  | 'authorize'
  | 'token'
  | 'revoke'
  | 'revoke_all'
  | 'introspect'
  | 'jwks'
  | 'metadata'
  | 'openid_configuration'
  | 'par'
  | 'device_authorization'
  | 'register'
  | 'authorize_client'

/** An API with an authorization server. */
export type OAuthApi = Api & { readonly oauth: OAuthRules }

/** The headers that endpoints read. */
export type CallHeader = 'authorization' | 'content-type' | 'dpop'

/** One call of an endpoint, over any transport. */
export interface OAuthCall {
  readonly api: OAuthApi
  readonly endpoint: Endpoint
  /** Path below the endpoint's own (`/<client_id>` of a registration); '' usually. */
  readonly rest: string
  readonly method: string
  /** The issuer of the API (RFC 8414 section 2); '' where a dashboard cannot know it. */
  readonly issuer: string
  /** True when every request and every process gives this issuer; it is not announced in authorization responses otherwise. */
  readonly issuerIsFixed: boolean
  /** Addresses at which the API is reached, as resource indicators name it (RFC 8707); [] where a dashboard cannot know it. */
  readonly ownResources: readonly string[]
  /** Without `?`. */
  readonly query: string
  /** Value of a header by its lower-case name; the first of several. */
  readonly header: (lowerName: CallHeader) => string | undefined
  /** All values of a header. */
  readonly headers: (lowerName: CallHeader) => readonly string[]
  /** Reads the body. @throws Fault `body_too_large` */
  readonly body: (limitBytes: number) => Promise<Uint8Array>
  readonly clientAddress: string
  /** SHA-256 (hex) of the client certificate that TLS verified possession of; '' without one. */
  readonly peerCertificate: string
  /** The call carried the gateway's secret. */
  readonly administrative: boolean
  /** Of an administrative call: throws for a client for which the caller may not conclude authorizations; absent = all are allowed. */
  readonly checkClient?: (client: OAuthClient) => Promise<void>
}

/** `fields` are `Name: value\r\n` lines. */
export interface OAuthAnswer {
  readonly status: number
  readonly fields: string
  readonly body: string
}

/** Keys of a client, as they are known or can be read at its address. */
export interface ClientKeySet {
  /** Keys that may have made a signature under this `kid` ('' = none is named) and `alg`; undefined when the set could not be read. */
  candidates(kid: string, alg: string): Awaitable<readonly VerifyKey[] | undefined>
}

/** The settings of authorization servers. The whole configuration fits. */
export interface OAuthSettings {
  readonly gateway: {
    readonly oauth_token_expire: number
    readonly oauth_refresh_token_expire: number
    readonly oauth_code_expire: number
    readonly oauth_assertion_expire: number
    readonly oauth_registration_token: string
    readonly hash_keys: boolean
  }
  readonly compat: { readonly legacy_statuses: boolean; readonly vendor_aliases: readonly string[] }
  readonly webhooks?: { readonly allow_private: boolean }
}

/** The dependencies of authorization servers. One object for all APIs of the process. */
export interface OAuthParts extends ServerState {
  readonly documents: Documents
  readonly tokens: Tokens
  readonly outbox: Outbox
  readonly clock: Clock
  readonly log: Log
  readonly config: OAuthSettings
  /** The initial access tokens of registrations that are accepted now; absent = that of the settings. */
  readonly registrationTokens?: () => readonly string[]
  /** 32 bytes that secrets are sealed with. */
  readonly sealKey: SealKey
  /** As in `PublishParts`. */
  readonly locks: KeyedMutex
  /** An API by its id, as it is loaded or stored; undefined when there is none. */
  readonly findApi: (apiId: string) => Api | undefined
  /** A policy by its id within an organisation, as it is loaded. */
  readonly findPolicy: (orgId: string, policyId: string) => Policy | undefined
  /** A session with its policies applied, from memory where the same was merged before; absent = merged each time. */
  readonly mergeOf?: (session: Session, orgId: string) => Merged | Fault
  /**
   * The registration of a client id at an API: of the API itself, else by a policy, whatever rights that has by now; from memory where it is
   * known (`ClientCache`). @throws Fault `store_away`
   */
  readonly findClient: (clientId: string, api: ServerApi) => Awaitable<OAuthClient | undefined>
  /** Clients whose id is the address of their metadata; absent = there are none. */
  readonly clientDocuments?: {
    find(parts: OAuthParts, call: OAuthCall, clientId: string): Promise<OAuthClient | undefined>
  }
  /** The key set at the `jwks_uri` of a client of an organisation; absent = none can be read. */
  readonly clientKeySets?: (url: string, orgId: string) => ClientKeySet
  /** True for an access token that was signed with a key that was retired at once; absent = none was. */
  readonly isRetired?: (token: string) => boolean
  /** Tokens that may be issued while the store is away; absent = none. */
  readonly pending?: PendingSessions
  /** To be called after a commit with a message for the outbox, so that it is sent at once; absent = found within a second. */
  readonly wakeDeliveries?: () => void
}
