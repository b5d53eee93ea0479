import type { FaultCode } from '../../errors/catalog.ts'

/** An event of an API, for its webhooks, handlers and log. */
export interface ApiEventRow {
  /** When it is raised, for the documentation. */
  readonly when: string
  /** The refusals of a request that raise it. */
  readonly refusals?: readonly FaultCode[]
  /** Members of its detail that name what it is about: a cooldown holds for each by itself. */
  readonly subject?: readonly string[]
  /** The line that the node logs when one of its upstreams raises it. */
  readonly log?: readonly [level: 'info' | 'warn', text: string]
  /** The state of a circuit breaker that raises it. */
  readonly breaker?: 'open' | 'closed'
  /** The change of a key that names the API which raises it. */
  readonly key?: 'created' | 'updated' | 'deleted'
}

/** All events, as definitions spell them. Those without a cause here are raised by name. */
const API_EVENTS = {
  AuthFailure: {
    when: 'the credential is missing, malformed, unknown or not proved',
    refusals: [
      'credential_missing',
      'key_unknown',
      'policies_unusable',
      'basic_malformed',
      'user_unknown',
      'signature_invalid',
      'client_certificate_required',
      'client_certificate_early',
      'client_certificate_revoked',
      'token_missing',
      'token_malformed',
      'token_unknown',
      'token_of_other_scheme',
      'token_client_gone',
      'token_audience_differs',
      'token_proof_missing',
      'token_proof_invalid',
    ],
  },
  KeyExpired: {
    when: 'the key, token or client certificate has expired, or the key is inactive',
    refusals: ['client_certificate_expired', 'key_inactive', 'key_expired', 'token_expired'],
    subject: ['key'],
  },
  VersionFailure: {
    when: 'the version is missing, unknown or has expired',
    refusals: ['version_missing', 'version_unknown', 'version_expired'],
  },
  RatelimitExceeded: {
    when: 'the rate limit of the key or of the API refuses',
    refusals: ['rate_exceeded', 'api_rate_exceeded'],
  },
  QuotaExceeded: { when: 'the quota of the key refuses', refusals: ['quota_exceeded'], subject: ['key'] },
  OrgRateLimitExceeded: { when: 'the rate limit of the organisation refuses', refusals: ['org_rate_exceeded'] },
  OrgQuotaExceeded: { when: 'the quota of the organisation refuses', refusals: ['org_quota_exceeded'] },
  TriggerExceeded: { when: 'a quota is used up to a share', subject: ['key', 'trigger_limit'] },
  BreakerTripped: {
    when: 'a circuit breaker opens',
    breaker: 'open',
    subject: ['operation'],
    log: ['warn', 'the breaker of an operation has opened'],
  },
  BreakerReset: {
    when: 'a circuit breaker closes',
    breaker: 'closed',
    subject: ['operation'],
    log: ['info', 'the breaker of an operation has closed'],
  },
  HostDown: {
    when: 'a target of the API is found down',
    subject: ['target'],
    log: ['warn', 'a target of an API is not asked any more, or failed its checks'],
  },
  HostUp: {
    when: 'a target of the API is up again',
    subject: ['target'],
    log: ['info', 'a target of an API is up again'],
  },
  TokenCreated: { when: 'a key that names the API is created', key: 'created' },
  TokenUpdated: { when: 'a key that names the API is changed', key: 'updated' },
  TokenDeleted: { when: 'a key that names the API is deleted', key: 'deleted' },
} as const satisfies Readonly<Record<string, ApiEventRow>>

export type ApiEventName = keyof typeof API_EVENTS

/** All names. */
export const API_EVENT_NAMES = Object.keys(API_EVENTS) as readonly ApiEventName[]

/** The row of an event, with the members that not all have. */
export function apiEventRow(name: ApiEventName): ApiEventRow {
  return API_EVENTS[name]
}

const BY_FOLDED: ReadonlyMap<string, ApiEventName> = new Map(API_EVENT_NAMES.map((name) => [name.toLowerCase(), name]))

/** The event of a name in a definition, in any letter case; undefined = unknown. */
export function apiEventOf(name: string): ApiEventName | undefined {
  return BY_FOLDED.get(name.toLowerCase())
}
