import type { JsonObject } from '../../json/json.ts'
import type { UpstreamRules } from '../definition/api.ts'
import { flagOf, numberOf, objectOf, objectsOf, textOf, textsOf } from '../definition/members.ts'
import { member } from '../definition/tree.ts'
import type {
  BreakerRule,
  DiscoveryRules,
  EjectionRules,
  HealthCheck,
  HealthRules,
  RetryRules,
  UpstreamTls,
} from '../definition/upstream-resilience.ts'

const NS_PER_MS = 1_000_000
const GATEWAY_ERRORS: readonly number[] = [502, 503, 504]

/** The upstream of a classic definition, with its resilience rules. */
export function readUpstream(classic: JsonObject): UpstreamRules {
  const proxy = objectOf(classic, 'proxy')
  const health = readHealth(classic, proxy)
  const ejection = readEjection(objectOf(proxy, 'outlier_ejection'))
  const retries = readRetries(objectOf(proxy, 'retries'))
  const discovery = readDiscovery(objectOf(proxy, 'service_discovery'))
  const tls = readTls(classic)
  return {
    targets: readTargets(proxy),
    preserveHost: flagOf(proxy, 'preserve_host_header'),
    ...(flagOf(proxy, 'disable_strip_slash') && { keepsLastSlash: true }),
    insecure: flagOf(objectOf(proxy, 'transport'), 'ssl_insecure_skip_verify'),
    timeoutMs: 0,
    ...(health && { health }),
    ...(ejection && { ejection }),
    ...(retries && { retries }),
    ...(discovery && { discovery }),
    ...(tls && { tls }),
  }
}

/** In the classic form a target's weight is the number of its repetitions in the list. Targets without a scheme take the target URL's, else `http`. */
function readTargets(proxy: JsonObject): UpstreamRules['targets'] {
  const single = textOf(proxy, 'target_url')
  const listed = flagOf(proxy, 'enable_load_balancing') ? textsOf(proxy, 'target_list') : []
  if (listed.length === 0) return [{ url: single, weight: 1 }]
  const scheme = single.includes('://') ? single.slice(0, single.indexOf('://')) : 'http'
  const weights = new Map<string, number>()
  for (const target of listed) {
    const url = target.includes('://') ? target : `${scheme}://${target}`
    weights.set(url, (weights.get(url) ?? 0) + 1)
  }
  return [...weights].map(([url, weight]) => ({ url, weight }))
}

function readHealth(classic: JsonObject, proxy: JsonObject): HealthRules | undefined {
  const tests = objectOf(classic, 'uptime_tests')
  const checks = objectsOf(tests, 'check_list').map(readCheck)
  if (flagOf(tests, 'disabled') || checks.length === 0) return undefined
  const config = objectOf(tests, 'config')
  const intervalMs = milliseconds(config, 'interval') || 10_000
  return {
    checks,
    intervalMs,
    downIntervalMs: milliseconds(config, 'recheck_wait') || intervalMs,
    failures: numberOf(config, 'failure_threshold') || 3,
    successes: numberOf(config, 'success_threshold') || 2,
    skip: flagOf(proxy, 'check_host_against_uptime_tests'),
  }
}

function readCheck(check: JsonObject): HealthCheck {
  const headers = Object.entries(objectOf(check, 'headers'))
  return {
    url: textOf(check, 'url'),
    method: textOf(check, 'method').toUpperCase() || 'GET',
    headers: headers.map(([name, value]) => [name, `${value ?? ''}`]),
    body: textOf(check, 'body'),
    timeoutMs: Math.ceil(numberOf(check, 'timeout') / NS_PER_MS) || 5000,
    statuses: numbersOf(check, 'expected_statuses'),
  }
}

function readEjection(rules: JsonObject): EjectionRules | undefined {
  if (!flagOf(rules, 'enabled')) return undefined
  const baseMs = milliseconds(rules, 'base_time') || 30_000
  return {
    failures: numberOf(rules, 'consecutive_failures') || 5,
    baseMs,
    maxMs: Math.max(baseMs, milliseconds(rules, 'max_time') || 300_000),
    maxShare: numberOr(rules, 'max_percent', 50) / 100,
  }
}

function readRetries(rules: JsonObject): RetryRules | undefined {
  if (!flagOf(rules, 'enabled')) return undefined
  const statuses = numbersOf(rules, 'statuses')
  return {
    attempts: numberOf(rules, 'attempts') || 2,
    statuses: statuses.length === 0 ? GATEWAY_ERRORS : statuses,
    budgetShare: numberOr(rules, 'budget_percent', 20) / 100,
    minPerSecond: numberOr(rules, 'min_per_second', 10),
  }
}

function readDiscovery(rules: JsonObject): DiscoveryRules | undefined {
  const srvName = textOf(rules, 'srv_name')
  if (!flagOf(rules, 'use_discovery_service') || srvName === '') return undefined
  return { srvName, refreshMs: milliseconds(rules, 'refresh_interval') || 300_000 }
}

function readTls(classic: JsonObject): UpstreamTls | undefined {
  const shown = flagOf(classic, 'upstream_certificates_disabled') ? {} : objectOf(classic, 'upstream_certificates')
  const wanted = flagOf(classic, 'certificate_pinning_disabled') ? {} : objectOf(classic, 'pinned_public_keys')
  const certificates = Object.keys(shown).map((host) => [host.toLowerCase(), textOf(shown, host)] as const)
  const pins = Object.keys(wanted).map((host) => [host.toLowerCase(), pinsOf(textOf(wanted, host))] as const)
  return certificates.length === 0 && pins.length === 0 ? undefined : { certificates, pins }
}

/** Hashes of a list with commas. What is none, which a save refuses, becomes a text that no key has. */
function pinsOf(list: string): string[] {
  return list.split(',').map((text) => readPin(text.trim()) ?? 'none')
}

/**
 * The lower-case hex of a pin: a SHA-256 in hex, with the organisation of a stored certificate in front or not, or in base64
 * after `sha256/` (RFC 7469 section 2.4). undefined when it is none.
 */
export function readPin(text: string): string | undefined {
  const hex = /^(?:[0-9a-f]{24})?([0-9a-f]{64})$/i.exec(text)?.[1]
  if (hex !== undefined) return hex.toLowerCase()
  const base64 = /^sha256\/([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1]
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex')
}

/** The breaker of an entry of `circuit_breakers`. */
export function readBreaker(entry: JsonObject): BreakerRule {
  return {
    threshold: numberOf(entry, 'threshold_percent'),
    samples: numberOf(entry, 'samples'),
    coolDownMs: milliseconds(entry, 'return_to_service_after'),
    halfOpen: !flagOf(entry, 'disable_half_open_state'),
  }
}

/** Milliseconds of a member in seconds. */
function milliseconds(holder: JsonObject, name: string): number {
  return Math.round(numberOf(holder, name) * 1000)
}

function numberOr(holder: JsonObject, name: string, absent: number): number {
  const value = member(holder, name)
  return typeof value === 'number' ? value : absent
}

function numbersOf(holder: JsonObject, name: string): number[] {
  const value = member(holder, name)
  return Array.isArray(value) ? value.filter((each) => typeof each === 'number') : []
}
