import { anything, bool, list, map, number, object, type Schema, text, whole } from './schema.ts'

/** Further attempts that a definition may ask for. */
const MAX_ATTEMPTS = 10
const MAX_THRESHOLD = 1000
const MAX_CHECKS = 20

const switched = (members: Readonly<Record<string, Schema>>) => object({ enabled: bool(), ...members })

/** Members of `proxy` of a classic definition. */
export const CLASSIC_PROXY_RESILIENCE = (): Readonly<Record<string, Schema>> => ({
  outlier_ejection: switched({
    consecutive_failures: whole(MAX_THRESHOLD),
    base_time: number(86_400),
    max_time: number(86_400),
    max_percent: whole(100),
  }),
  retries: switched({
    attempts: whole(MAX_ATTEMPTS),
    statuses: list(whole(599)),
    budget_percent: whole(100),
    min_per_second: whole(10_000),
  }),
  service_discovery: object({ use_discovery_service: bool(), srv_name: text(), refresh_interval: number(86_400) }),
})

/** Members of a classic definition itself. */
export const CLASSIC_RESILIENCE = (): Readonly<Record<string, Schema>> => ({
  uptime_tests: object({
    disabled: bool(),
    check_list: list(
      object({
        url: text(),
        method: text('method'),
        headers: map(text('fieldValue'), 'fieldName'),
        body: text(),
        timeout: number(),
        expected_statuses: list(whole(599)),
      }),
      MAX_CHECKS,
    ),
    config: object({
      interval: number(86_400),
      recheck_wait: number(86_400),
      failure_threshold: whole(MAX_THRESHOLD),
      success_threshold: whole(MAX_THRESHOLD),
    }),
  }),
  upstream_certificates: map(text()),
  upstream_certificates_disabled: bool(),
  pinned_public_keys: map(text()),
  certificate_pinning_disabled: bool(),
})

/** Members of `upstream` of the extension. */
export const OAS_RESILIENCE = (): Readonly<Record<string, Schema>> => ({
  mutualTLS: switched({
    domainToCertificates: list(object({ domain: text(), certificate: text() })),
    domainToCertificateMapping: list(object({ domain: text(), certificate: text() })),
  }),
  certificatePinning: switched({
    domainToPublicKeysMapping: list(object({ domain: text(), publicKeys: list(text()) })),
  }),
  serviceDiscovery: switched({ srvName: text(), refreshInterval: text('duration') }),
  uptimeTests: switched({
    tests: list(
      object({
        url: text(),
        method: text('method'),
        headers: map(text('fieldValue'), 'fieldName'),
        body: text(),
        timeout: text('duration'),
        expectedStatuses: list(whole(599)),
      }),
      MAX_CHECKS,
    ),
    interval: text('duration'),
    hostDownRetestPeriod: text('duration'),
    unhealthyThreshold: whole(MAX_THRESHOLD),
    healthyThreshold: whole(MAX_THRESHOLD),
    logRetentionPeriod: anything(),
  }),
  outlierEjection: switched({
    consecutiveFailures: whole(MAX_THRESHOLD),
    baseTime: text('duration'),
    maxTime: text('duration'),
    maxPercent: whole(100),
  }),
  retries: switched({
    attempts: whole(MAX_ATTEMPTS),
    statuses: list(whole(599)),
    budgetPercent: whole(100),
    minPerSecond: whole(10_000),
  }),
})
