// The resilience settings of a definition. docs/reference/upstreams.md describes them for users.

/** One question that a target is asked to see whether it is well. */
export interface HealthCheck {
  /** A path, asked of every target; or an absolute URL at one of them. */
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  readonly timeoutMs: number
  /** Statuses of a target that is well; [] = 200 to 299. */
  readonly statuses: readonly number[]
}

/** Active health checks. */
export interface HealthRules {
  readonly checks: readonly HealthCheck[]
  readonly intervalMs: number
  /** Between checks of a target that is down. */
  readonly downIntervalMs: number
  /** Checks in a row that must fail before a target is down. */
  readonly failures: number
  /** Checks in a row that must pass before it is up again. */
  readonly successes: number
  /** False = targets that are down are only reported. */
  readonly skip: boolean
}

/** Passive health checks: targets that fail requests are left out for a while (outlier ejection). */
export interface EjectionRules {
  /** Requests in a row that must fail. */
  readonly failures: number
  /** Length of the first ejection; the second one is twice as long, the third three times. */
  readonly baseMs: number
  readonly maxMs: number
  /** Largest share of the targets that may be out, 0 to 1. */
  readonly maxShare: number
}

/** When a request is retried. */
export interface RetryRules {
  /** Further attempts of one request. */
  readonly attempts: number
  /** Statuses of an answer that is thrown away for another. */
  readonly statuses: readonly number[]
  /** Retries that requests earn: 0.2 = one for five of them. */
  readonly budgetShare: number
  /** Retries that are there without any earned. */
  readonly minPerSecond: number
}

/** Targets that DNS names (SRV, RFC 2782). */
export interface DiscoveryRules {
  readonly srvName: string
  /** Longest time that a response is used, with any time to live. */
  readonly refreshMs: number
}

/** The client certificates and pins of upstreams, by host (`host`, `host:port`, `*.domain` or `*`). */
export interface UpstreamTls {
  /** Ids of stored certificates that the gateway shows. */
  readonly certificates: readonly (readonly [host: string, id: string])[]
  /** SHA-256 of public keys (SubjectPublicKeyInfo) or certificates, lower-case hex, one of which the upstream must have. */
  readonly pins: readonly (readonly [host: string, hashes: readonly string[]])[]
}

/** When an operation stops asking its upstream. */
export interface BreakerRule {
  /** Share of failures that opens it, above 0 to 1. */
  readonly threshold: number
  /** Last outcomes that are looked at; it stays closed before there are so many. */
  readonly samples: number
  readonly coolDownMs: number
  /** True = after the cool-down one request tries before all others may. */
  readonly halfOpen: boolean
}
